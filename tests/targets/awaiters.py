# SPDX-License-Identifier: Apache-2.0
"""asyncio: tasks that await tasks in each of the ways that asyncio has. With --tasks a line also "calls" the coroutine of the
task that it waits for, whatever asyncio has between the two: that is what the comments say here."""
import asyncio

import parley

FOREIGN = True  # asyncio itself: the loop below a task, and wait_for, wait, TaskGroup.__aexit__ between two
STEPS = parley.argument("steps", 20)  # of a task
LOOPS = parley.argument("loops", 3000)  # in each


def spin(n):
    total = 0
    for i in range(n):
        total += i
    return total


async def work():
    spin(LOOPS)  # -> spin
    await asyncio.sleep(0)
    spin(LOOPS)  # -> spin


async def query():
    for _ in range(STEPS):
        await work()  # -> work


async def gathered():
    await query()  # -> query


async def by_gather():
    await asyncio.gather(gathered(), gathered())  # -> gathered


async def created():  # root: it runs once before it is awaited
    await query()  # -> query


async def by_task():
    task = asyncio.ensure_future(created())
    await asyncio.sleep(0)
    await task  # -> created


async def timed():
    await query()  # -> query


async def by_wait_for():
    await asyncio.wait_for(asyncio.ensure_future(timed()), 1000)  # -> timed


async def shielded():
    await query()  # -> query


async def by_shield():
    await asyncio.shield(shielded())  # -> shielded


async def waited():
    await query()  # -> query


async def by_wait():
    await asyncio.wait([asyncio.ensure_future(waited()) for _ in range(2)])  # -> waited, <listcomp>


async def grouped():
    await query()  # -> query


async def by_group():
    if not hasattr(asyncio, "TaskGroup"):
        return
    async with asyncio.TaskGroup() as group:  # -> grouped
        group.create_task(grouped())
        group.create_task(grouped())


async def steps():
    for _ in range(2):
        await query()  # -> query
        yield spin(LOOPS)  # -> spin


async def generated():
    async for _ in steps():  # -> steps
        spin(LOOPS)  # -> spin


async def by_generator():
    await asyncio.ensure_future(generated())  # -> generated


async def inner():  # root: the same
    await asyncio.gather(gathered())  # -> gathered


async def by_nesting():
    await asyncio.shield(asyncio.wait_for(asyncio.ensure_future(inner()), 1000))  # -> inner


async def abandoned():  # root
    await query()  # -> query


async def by_nobody():
    task = asyncio.ensure_future(abandoned())
    while not task.done():
        await asyncio.sleep(0)


WAYS = by_gather, by_task, by_wait_for, by_shield, by_wait, by_group, by_generator, by_nesting, by_nobody


async def top():  # root
    while not parley.over():  # -> over
        await asyncio.gather(*[way() for way in WAYS])  # -> by_*, <listcomp>
        parley.tick()  # -> tick


def main():
    parley.ready()  # -> ready
    run = getattr(asyncio, "run", None) or asyncio.new_event_loop().run_until_complete
    run(top())


if __name__ == "__main__":
    main()  # -> main
