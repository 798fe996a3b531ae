# SPDX-License-Identifier: Apache-2.0
"""Recursion 24 deep by two ways in turn, which have no function in common: the stack is never the same for a microsecond."""
import parley  # -> *

EXPECT = [["main", "even", "odd", "even", "odd"], ["main", "up", "down", "up", "down"]]
DEPTH = 24


def even(n):
    return odd(n - 1) if n else 0  # -> odd


def odd(n):
    return even(n - 1) if n else 1  # -> even


def up(n):
    return down(n - 1) + 1 if n else 0  # -> down


def down(n):
    return up(n - 1) + 1 if n else 1  # -> up


def main():
    parley.ready()  # -> ready
    while not parley.over():  # -> over
        for _ in range(200):
            even(DEPTH)  # -> even
            up(DEPTH)  # -> up
        parley.tick()  # -> tick


if __name__ == "__main__":
    main()  # -> main
