# SPDX-License-Identifier: Apache-2.0
"""A program that spends its time in one function, which is called in one of many ways: answers.py SHAPE SEED. It runs for PLUMB_TEST_SECONDS. What else it does takes less
than a tenth of that."""
import functools
import json
import os
import random
import sys
import threading
import time

END = time.time() + float(os.environ["PLUMB_TEST_SECONDS"])
RANDOM = random.Random(sys.argv[2])
WORK, COLD = RANDOM.randint(6000, 20000), [RANDOM.randint(20, 80) for _ in range(RANDOM.randint(1, 8))]
TEXT = json.dumps([{"a": i} for i in range(RANDOM.randint(2000, 5000))])


def hot(*_):
    total = 0
    for i in range(WORK):
        total += i * i
    return total


def cold():
    return [small(n) for n in COLD]


def small(n):
    return sum(range(n))


def logged(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        return function(*arguments)

    return wrapper


def down(n):
    return down(n - 1) if n else hot()


def generator():
    for _ in range(5):
        yield hot()


def in_coroutines():
    import asyncio  # which takes as long as all the rest

    async def coroutine():
        await asyncio.sleep(0)
        hot()

    async def gather():
        while time.time() < END:
            await asyncio.gather(*(coroutine() for _ in range(4)))
            cold()

    asyncio.run(gather())


def again(step):
    while time.time() < END:
        step()
        cold()


def in_threads():
    threads = [threading.Thread(target=again, args=(hot,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def in_a_pool():
    """Who waits for the pool is seldom woken: on a busy machine it would then wait for a processor, which counts as computing."""
    import concurrent.futures

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        again(lambda: pool.submit(lambda: [hot(x) for x in range(100)]).result())


def parse():  # the library is hot
    return json.loads(TEXT)


def nap():
    time.sleep(0.002)


SHAPES = {
    "plain": lambda: again(hot),
    "library": lambda: again(lambda: json.loads("[{}, {}, {}]", object_hook=hot)),
    "sorted": lambda: again(lambda: sorted(range(5), key=hot)),
    "recursion": lambda: again(lambda: down(12)),
    "decorator": lambda: again(logged(hot)),
    "comprehension": lambda: again(lambda: [hot(x) for x in range(5)]),
    "generator": lambda: again(lambda: list(generator())),
    "coroutine": in_coroutines,
    "threads": in_threads,
    "pool": in_a_pool,
    "parser": lambda: again(parse),
    "sleeper": lambda: again(nap),
}
SHAPES[sys.argv[1]]()
