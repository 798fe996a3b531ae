# SPDX-License-Identifier: Apache-2.0
"""A chain of asyncio tasks, each of which has callbacks that look like asyncio's own and lead nowhere: to find who awaits it
takes far more than it should. Runs on Python 3.7 and later."""
import asyncio

import parley

DEPTH, CALLBACKS, BASES = 8, 14, 20


def of_many_bases():
    made = object
    for _ in range(BASES):
        made = type("Made", (made,), {})
    return made()


THINGS = [of_many_bases() for _ in range(16)]


def callback():
    a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p = THINGS  # noqa: E741

    def done(future):
        return a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p

    done.__qualname__ = "gather.<locals>._done_callback"
    return done


async def chain(left):
    if not left:
        while not parley.over():
            pass
        return
    task = asyncio.ensure_future(chain(left - 1))
    for _ in range(CALLBACKS):
        task.add_done_callback(callback())
    await task


parley.ready()
asyncio.new_event_loop().run_until_complete(chain(DEPTH))
