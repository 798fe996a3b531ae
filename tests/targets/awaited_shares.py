# SPDX-License-Identifier: Apache-2.0
"""Two coroutines that await tasks of the same one, for a third and for two thirds of the time, as the program measures itself."""
import asyncio
import sys

import parley


def leaf(n):
    total = 0
    for i in range(n):
        total += i & 7
    return total


async def serve(truth, name, n):
    truth.measure(name, leaf, n)


async def part_light(truth, n):
    await asyncio.gather(serve(truth, "part_light", n))


async def part_heavy(truth, n):
    await asyncio.wait_for(asyncio.ensure_future(serve(truth, "part_heavy", 2 * n)), 1000)


async def top(truth, n):
    while not parley.over():
        for _ in range(4):
            await asyncio.gather(part_light(truth, n), part_heavy(truth, n))


def main():
    n = parley.repeat_for(4.0, lambda: leaf(100)) * 100
    truth = parley.Truth()
    parley.ready()
    asyncio.run(top(truth, n))
    truth.tell()


if __name__ == "__main__":
    sys.exit(main())
