# SPDX-License-Identifier: Apache-2.0
"""Rounds of counted work in four functions, for `plumb diff`: `work` takes a fifth of the time, and --slow percent of what
it would take. With --rounds it ends after so many. Nothing in it depends on the clock or on hashes, so that two runs differ
only as runs do. --size is that of `work`, in which parse and render have 4000 each."""
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


def step(size):
    parse(4000)
    work(size)
    render(4000)


def main():
    size = parley.argument("size", 2000) * parley.argument("slow", 100) // 100
    rounds, done = parley.argument("rounds", 0), 0
    parley.ready()
    while done < rounds if rounds else not parley.over():
        done += 1
        for _ in range(20):
            step(size)


if __name__ == "__main__":
    main()
