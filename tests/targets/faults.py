# SPDX-License-Identifier: Apache-2.0
"""A program that has one fault, or looks as if it had: faults.py SHAPE. It runs for PLUMB_TEST_SECONDS; sleeps stand for what takes time and no CPU."""
import os
import sys
import threading
import time

SECONDS = float(os.environ["PLUMB_TEST_SECONDS"])
END = time.time() + SECONDS
LOCK = threading.Lock()


def again(step):
    while time.time() < END:
        step()


def in_threads(count, function):
    threads = [threading.Thread(target=again, args=(function,)) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def compute():
    total = 0
    for i in range(10000):
        total += i * i
    return total


def nap():
    time.sleep(0.002)


def under_a_lock():
    with LOCK:
        time.sleep(0.002)


def acquires():
    LOCK.acquire()
    time.sleep(0.002)
    LOCK.release()


def collects():
    import gc

    kept = [[[] for _ in range(100)] for _ in range(1000)]
    again(gc.collect)
    del kept


def imports():
    import faults_slow  # noqa: F401

    again(compute)


def event_loop(waits):
    import asyncio

    loop = asyncio.new_event_loop()

    def step():
        compute()
        if time.time() < END:
            loop.call_later(waits, step)
        else:
            loop.stop()

    loop.call_soon(step)
    loop.run_forever()


def pool():
    """One of eight works at a time, and the others wait for something to do."""
    import concurrent.futures

    with concurrent.futures.ThreadPoolExecutor(8) as executor:
        list(executor.map(lambda _: nap(), range(64)))
        again(lambda: executor.submit(nap).result())


def queue():
    from multiprocessing.pool import ThreadPool

    threads = ThreadPool(8)
    again(lambda: threads.map(lambda _: nap(), range(3), 1))
    threads.terminate()


def held_loop():
    """It waits as long as it is held."""
    import asyncio

    loop = asyncio.new_event_loop()

    def step():
        time.sleep(0.15)
        if time.time() < END:
            loop.call_later(0.15, step)
        else:
            loop.stop()

    loop.call_soon(step)
    loop.run_forever()


def crowd():
    """Three processes on one CPU."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    children = []
    for _ in range(2):
        child = os.fork()
        if child == 0:
            again(compute)
            os._exit(0)
        children.append(child)
    again(compute)
    for child in children:
        os.waitpid(child, 0)


SHAPES = {
    "gil": lambda: in_threads(4, compute),
    "lock": lambda: in_threads(6, under_a_lock),
    "acquire": lambda: in_threads(6, acquires),
    "gc": collects,
    "import": imports,
    "event-loop": lambda: event_loop(0.02),
    "loop-held": held_loop,
    "cpu": crowd,
    "busy-loop": lambda: event_loop(0),
    "plain": lambda: again(compute),
    "sleepers": lambda: in_threads(6, nap),
    "pool": pool,
    "queue": queue,
}
SHAPES[sys.argv[1]]()
