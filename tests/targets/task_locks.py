# SPDX-License-Identifier: Apache-2.0
"""asyncio tasks that wait for locks and for one another, as --case says. When each waits for what it is to wait for, the
numbers (id) of these things are told. Runs on 3.7 and later."""
import asyncio
import os
import sys

import parley

HOUR = 3600
STEPS = 50  # of the loop: more than any of the cases takes
PAIRS = 30
MANY = 300
KEPT = []


def start(name, coro):
    """A task of that name; one of 3.7 has none, and is called like its coroutine."""
    if sys.version_info < (3, 8):
        coro.__qualname__ = name
    task = asyncio.ensure_future(coro)
    if hasattr(task, "set_name"):
        task.set_name(name)
    KEPT.append(task)
    return task


async def pause():
    for _ in range(STEPS):
        await asyncio.sleep(0)


async def take(lock):
    async with lock:
        return


async def hold(lock, thing):
    async with lock:
        await thing


async def hold_and_take(mine, other, gate):
    async with mine:
        await gate.wait()
        async with other:
            return


async def hold_and_acquire(mine, other, gate):
    async with mine:
        await gate.wait()
        await other.acquire()


async def take_again(lock):
    async with lock:
        await take(lock)


async def take_back(lock, gate):
    """Lets go of the lock in its own block; what takes it then is no `async with`."""
    async with lock:
        lock.release()
        start("taker", keep(lock))
        await gate.wait()
        await lock.acquire()


async def wait_in_another(condition):
    """Another task lets go of the lock that this one has entered."""
    async with condition:
        await asyncio.gather(inner(condition.wait()))


async def notify_and_keep(condition):
    await condition.acquire()
    condition.notify_all()
    await asyncio.sleep(HOUR)


async def keep(lock):
    await lock.acquire()
    await asyncio.sleep(HOUR)


async def await_later(others, i, gate):
    await gate.wait()
    await others[i]


async def hold_and_gather(lock):
    async with lock:
        await asyncio.gather(inner(take(lock)), asyncio.sleep(HOUR))


async def hold_and_group(lock):
    async with lock:
        async with asyncio.TaskGroup() as group:
            KEPT.append(group.create_task(take(lock), name="inner"))


async def hold_and_wait(lock):
    async with lock:
        await asyncio.wait([inner(take(lock))])


async def hold_and_wait_in_time(lock):
    async with lock:
        await asyncio.wait_for(inner(take(lock)), HOUR)


def inner(coro):
    return start("inner", coro)


async def await_(thing):
    await thing


async def notified(condition):
    async with condition:
        await condition.wait()


async def notified_for(condition):
    async with condition:
        await condition.wait_for(lambda: False)


async def in_time(thing):
    async with asyncio.timeout(HOUR):
        await thing


async def without_limit(thing):
    async with asyncio.timeout(None):
        await thing


async def take_in_order(locks, i):
    """Much waiting, and never a deadlock: everybody takes the locks in the same order."""
    while True:
        async with locks[0]:
            await asyncio.sleep(0)
            if i % 2:
                async with locks[1]:
                    async with locks[2]:
                        locks[2].notify()
                        await asyncio.sleep(0)
            async with locks[2]:
                await asyncio.sleep(0)
        async with locks[1]:
            await asyncio.gather(take(locks[2]), asyncio.sleep(0))
        await asyncio.ensure_future(take(locks[2]))
        parley.tick()


class Meeting:
    """Two come, then both go on."""

    def __init__(self):
        self.first = None

    async def come(self):
        if self.first:
            self.first, first = None, self.first
            first.set_result(None)
        else:
            self.first = asyncio.get_running_loop().create_future()
            await self.first


async def take_turns(mine, other, i, meeting):
    """Two have a lock each, and now the one, now the other wants that of the other one, too: never both at once."""
    turn = 0
    while True:
        async with mine:
            await meeting.come()
            if turn % 2 == i:
                async with other:
                    pass
            else:
                await asyncio.sleep(0)
        await meeting.come()
        turn += 1
        parley.tick()


async def compute():
    while True:
        sum([n for n in range(1000)])
        parley.tick()
        await asyncio.sleep(0)


async def ring(locks, function):
    gate = asyncio.Event()
    for i in range(len(locks)):
        start("task-%d" % i, function(locks[i], locks[(i + 1) % len(locks)], gate))
    await pause()
    gate.set()
    return {"lock-%d" % i: id(lock) for i, lock in enumerate(locks)}


async def pair():
    return await ring([asyncio.Lock(), asyncio.Lock()], hold_and_take)


async def three():
    """The lock of a Condition is what is entered and taken in its place."""
    inner = asyncio.Lock()
    locks = [asyncio.Lock(), asyncio.Condition(inner), asyncio.Lock()]
    return dict(await ring(locks, hold_and_acquire), inner=id(inner))


async def busy():
    """Beside a task that does not let the loop rest."""
    told = await pair()
    start("computing", compute())
    return told


async def crowded():
    """The same with a ring of many."""
    told = await ring([asyncio.Lock() for _ in range(MANY)], hold_and_take)
    start("computing", compute())
    return told


async def tasks(count):
    gate, others = asyncio.Event(), []
    for i in range(count):
        others.append(start("task-%d" % i, await_later(others, (i + 1) % count, gate)))
    await pause()
    gate.set()
    return {}


async def two_tasks():
    return await tasks(2)


async def three_tasks():
    return await tasks(3)


async def alone(function):
    lock = asyncio.Lock()
    start("outer", function(lock))
    return {"lock": id(lock)}


async def itself():
    return await alone(take_again)


async def gathered():
    return await alone(hold_and_gather)


async def grouped():
    return await alone(hold_and_group)


async def waited():
    return await alone(hold_and_wait)


async def timed():
    return await alone(hold_and_wait_in_time)


async def taken_back():
    lock, gate = asyncio.Lock(), asyncio.Event()
    start("outer", take_back(lock, gate))
    await pause()
    gate.set()
    return {"lock": id(lock)}


async def given_away():
    lock = asyncio.Lock()
    condition = asyncio.Condition(lock)
    start("outer", wait_in_another(condition))
    await pause()
    start("taker", notify_and_keep(condition))
    return {"lock": id(lock)}


async def orderly():
    locks = [asyncio.Lock(), asyncio.Lock(), asyncio.Condition()]
    for i in range(4):
        start("task-%d" % i, take_in_order(locks, i))
    return {}


async def turns():
    """Many of such pairs: from one task to its partner, a look takes longer than their turns do."""
    for _ in range(PAIRS):
        locks, meeting = (asyncio.Lock(), asyncio.Lock()), Meeting()
        for i in range(2):
            start("task-%d" % i, take_turns(locks[i], locks[1 - i], i, meeting))
    return {}


async def waits():
    """One task for each thing that can be waited for."""
    loop = asyncio.get_running_loop()
    things = {"lock": asyncio.Lock(), "taken": asyncio.Lock(), "condition": asyncio.Condition(), "event": asyncio.Event(),
              "semaphore": asyncio.Semaphore(0), "bounded": asyncio.BoundedSemaphore(1), "empty": asyncio.Queue(),
              "full": asyncio.PriorityQueue(1), "undone": asyncio.Queue(), "future": loop.create_future()}
    await things["taken"].acquire()
    await things["bounded"].acquire()
    things["full"].put_nowait(1)
    things["undone"].put_nowait(1)
    start("holder", hold(things["lock"], things["future"]))
    await pause()
    start("in_lock", take(things["lock"]))
    start("in_lock_too", take(things["lock"]))
    start("in_taken", await_(things["taken"].acquire()))
    start("in_condition", notified(things["condition"]))
    start("in_condition_for", notified_for(things["condition"]))
    start("in_event", await_(things["event"].wait()))
    start("in_semaphore", take(things["semaphore"]))
    start("in_bounded", take(things["bounded"]))
    start("in_get", await_(things["empty"].get()))
    start("in_get_too", await_(asyncio.wait_for(things["empty"].get(), None)))
    start("in_put", await_(things["full"].put(2)))
    start("in_queue_join", await_(things["undone"].join()))
    start("in_future", await_(things["future"]))
    start("in_sleep", await_(asyncio.sleep(HOUR)))
    if hasattr(asyncio, "Barrier"):
        things["barrier"] = asyncio.Barrier(2)
        start("in_barrier", await_(things["barrier"].wait()))
    if hasattr(asyncio, "timeout"):
        things["limited"], things["unlimited"] = asyncio.Event(), asyncio.Event()
        start("in_limited", in_time(things["limited"].wait()))
        start("in_unlimited", without_limit(things["unlimited"].wait()))
    things["slow"] = asyncio.Event()
    start("in_wait_for", await_(asyncio.wait_for(inner(await_(things["slow"].wait())), HOUR)))
    KEPT.append(things)
    return {name: id(thing) for name, thing in things.items()}


CASES = {f.__name__: f for f in (pair, three, busy, crowded, two_tasks, three_tasks, itself, gathered, grouped, waited,
                                 timed, taken_back, given_away, orderly, turns, waits)}


async def main():
    things = await CASES[parley.argument("case", "waits")]()
    await pause()
    parley.ready(things=things)
    await asyncio.get_running_loop().run_in_executor(None, parley.wait_over)
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main())
