# SPDX-License-Identifier: Apache-2.0
"""Rounds of counted work in four functions, for `plumb diff`: `work` takes a fifth of the time, and --slow percent of what
it would take. Nothing in it depends on the clock or on hashes, so that two runs differ only as runs do."""
import parley


def count(n):
    total = 0
    for i in range(n):
        total += i & 7
    return total


def parse(n):
    total = 0
    for i in range(n):
        total += i & 7
    return total


def work(n):
    total = 0
    for i in range(n):
        total += i & 7
    return total


def render(n):
    total = count(n // 2)
    for i in range(n // 2):
        total += i & 7
    return total


def step(slow):
    parse(4000)
    work(2000 * slow // 100)
    render(4000)


def main():
    slow = parley.argument("slow", 100)
    parley.ready()
    while not parley.over():
        for _ in range(20):
            step(slow)


if __name__ == "__main__":
    main()
