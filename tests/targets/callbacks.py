# SPDX-License-Identifier: Apache-2.0
"""An event loop that is never idle: callbacks of a microsecond or two that put themselves back into its queue."""
import asyncio  # -> *

import parley  # -> *

EXPECT = [["run", "run_forever"], ["_run_once", "_run"]]
FOREIGN = True  # library code may run below any line


def half(n):
    return n / 2.0


def twice(n):
    return half(n) + half(n)  # -> half


def shallow(loop, n):  # root
    half(n)  # -> half
    loop.call_soon(shallow, loop, n + 1)  # -> *


def deep(loop, n):  # root
    twice(n)  # -> twice
    loop.call_soon(deep, loop, n + 1)  # -> *


def look(loop, n):  # root
    parley.tick()  # -> tick
    if parley.over():  # -> over
        loop.stop()  # -> *
    loop.call_later(0.01, look, loop, n)  # -> *


def run(loop):
    for callback in (shallow, deep, look):
        loop.call_soon(callback, loop, 0)  # -> *
    loop.run_forever()  # -> *


def main():
    loop = asyncio.new_event_loop()  # -> *
    parley.ready()  # -> ready
    run(loop)  # -> run
    loop.close()  # -> *


if __name__ == "__main__":
    main()  # -> main
