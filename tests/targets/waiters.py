# SPDX-License-Identifier: Apache-2.0
"""asyncio: coroutines that wait for known times, as the program measures itself, each for another thing. Some compute in between,
some wait in a task of their own. With --tell 1 it tells when each waited."""
import asyncio

import parley


def spin(seconds):
    end = parley.perf_counter() + seconds
    while parley.perf_counter() < end:
        pass


def finish(future):
    if not future.done():
        future.set_result(None)


class Waits:
    """When each root waited."""

    def __init__(self):
        self.names, self.times = [], []

    def add(self, name, begin):
        self.names.append(name)
        self.times += [begin, parley.perf_counter_ns()]

    def tell(self):
        zero = parley.time_of_day_at_zero()
        parley.tell(event="waits", names=self.names, times=[zero + at for at in self.times])


WAITS = Waits()
now = parley.perf_counter_ns


async def sleeper():
    while not parley.over():
        begin = now()
        await asyncio.sleep(0.02)
        WAITS.add("sleeper", begin)
        spin(0.005)


async def holder(lock):
    while not parley.over():
        async with lock:
            begin = now()
            await asyncio.sleep(0.025)
            WAITS.add("holder", begin)
        await asyncio.sleep(0)


async def for_a_lock(lock):
    while not parley.over():
        begin = now()
        async with lock:
            WAITS.add("for_a_lock", begin)
            spin(0.004)
        await asyncio.sleep(0)


async def producer(queue):  # not measured
    while not parley.over():
        await asyncio.sleep(0.03)
        queue.put_nowait(1)


async def for_an_item(queue):
    while not parley.over():
        begin = now()
        await queue.get()
        WAITS.add("for_an_item", begin)
        spin(0.003)


async def for_a_future(loop):
    while not parley.over():
        future = loop.create_future()
        loop.call_later(0.015, finish, future)
        begin = now()
        await future
        WAITS.add("for_a_future", begin)
        spin(0.005)


async def awaited():
    begin = now()
    await asyncio.sleep(0.01)
    WAITS.add("awaiter", begin)
    spin(0.005)


async def awaiter():
    while not parley.over():
        await asyncio.ensure_future(awaited())


async def gathered(event):
    begin = now()
    await event.wait()
    WAITS.add("gatherer", begin)


async def gatherer(loop):
    while not parley.over():
        event = asyncio.Event()
        loop.call_later(0.02, event.set)
        await asyncio.gather(gathered(event))
        spin(0.004)


async def top(loop):
    lock, queue = asyncio.Lock(), asyncio.Queue()
    roots = [sleeper(), holder(lock), for_a_lock(lock), producer(queue), for_an_item(queue), for_a_future(loop), awaiter(), gatherer(loop)]
    tasks = [loop.create_task(root) for root in roots]
    while not parley.over():
        parley.tick()
        await asyncio.sleep(0.05)
    for task in tasks:
        task.cancel()


def main():
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    parley.ready()
    loop.run_until_complete(top(loop))
    if parley.argument("tell", 0):
        WAITS.tell()


if __name__ == "__main__":
    main()
