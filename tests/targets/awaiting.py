# SPDX-License-Identifier: Apache-2.0
"""The part of truth.py that Python 2.7 could not even read: coroutines that await coroutines."""


class Step:
    def __await__(self):
        yield self


async def await_three():
    await Step()


async def await_two():
    await await_three()


async def await_one():
    await await_two()
    await await_two()


def part_coroutines(n):
    for _ in range(n):
        coroutine = await_one()
        try:
            while True:
                coroutine.send(None)
        except StopIteration:
            pass
