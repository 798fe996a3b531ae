# SPDX-License-Identifier: Apache-2.0
"""A fixed amount of work in rounds; prints the wall time and the CPU time of each. --depth calls lie below the work, --kind
is "loop" (the stack rarely changes) or "calls" (it changes every microsecond)."""
import sys
import time

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
    results = []
    while not parley.over():
        wall, cpu = parley.perf_counter(), time.process_time()
        work(n)
        results.append([parley.perf_counter() - wall, time.process_time() - cpu])
        if len(results) == parley.argument("rounds", 10):
            break
        parley.tick()
    return results


def main():
    sys.setrecursionlimit(5000)
    n = parley.argument("work", 20000)
    parley.tell(event="rounds", rounds=down(parley.argument("depth", 1), rounds, n))


if __name__ == "__main__":
    main()
