# SPDX-License-Identifier: Apache-2.0
"""A fixed amount of work in --rounds, each of which is a tick. --depth calls lie below the work, --kind is "loop" (the stack rarely
changes) or "calls" (it changes every microsecond)."""
import sys

import parley


def loop(n):
    total = 0
    for i in range(n * 20):
        total += i & 7
    return total


def tiny(n):
    return n + 1


def calls(n):
    for i in range(n):
        tiny(tiny(i))


def work(n):
    (calls if parley.argument("kind", "loop") == "calls" else loop)(n)


def down(depth, function, *arguments):
    if depth > 1:
        return down(depth - 1, function, *arguments)
    return function(*arguments)


def rounds(n):
    parley.ready()
    left = parley.argument("rounds", 10)
    while left and not parley.over():
        work(n)
        left -= 1
        parley.tick()


def main():
    sys.setrecursionlimit(5000)
    down(parley.argument("depth", 1), rounds, parley.argument("work", 20000))


if __name__ == "__main__":
    main()
