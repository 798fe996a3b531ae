# SPDX-License-Identifier: Apache-2.0
"""asyncio: tasks in two towers of coroutines, five and three high, that hand over at every step."""
import asyncio  # -> *

import parley  # -> *

EXPECT = [["a0", "a1", "a2", "a3", "a4"], ["b0", "b1", "b2"], ["a4", "spin_a"], ["b2", "spin_b"]]
FOREIGN = True  # library code may run below any line: the event loop, and weak references when a task dies


def spin_a(n):
    total = 0
    for i in range(n):
        total += i
    return total


def spin_b(n):
    total = 0
    for i in range(n):
        total += i
    return total


async def a4():
    spin_a(300)  # -> spin_a
    await asyncio.sleep(0)  # -> *
    spin_a(300)  # -> spin_a


async def a3():
    await a4()  # -> a4


async def a2():
    await a3()  # -> a3


async def a1():
    await a2()  # -> a2


async def a0():  # root
    while not parley.over():  # -> over
        for _ in range(20):
            await a1()  # -> a1


async def b2():
    spin_b(300)  # -> spin_b
    await asyncio.sleep(0)  # -> *


async def b1():
    await b2()  # -> b2


async def b0():  # root
    while not parley.over():  # -> over
        for _ in range(20):
            await b1()  # -> b1
        parley.tick()  # -> tick


async def top():  # root
    await asyncio.gather(a0(), b0(), a0(), b0())  # -> *


def main():
    parley.ready()  # -> ready
    run = getattr(asyncio, "run", None) or asyncio.new_event_loop().run_until_complete  # -> *
    run(top())  # -> *


if __name__ == "__main__":
    main()  # -> main
