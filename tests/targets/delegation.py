# SPDX-License-Identifier: Apache-2.0
"""Generators that delegate with `yield from` (3.3 and later): a value passes all of them without running the outer ones."""
import parley  # -> *

EXPECT = [["all_of", "d0", "d1", "d2", "d3"], ["all_of", "e0", "e1"]]


def d3(n):
    for i in range(n):
        yield i


def d2(n):
    yield from d3(n)  # -> d3


def d1(n):
    yield from d2(n)  # -> d2


def d0(n):
    yield from d1(n)  # -> d1
    yield from d1(n)  # -> d1


def e1(n):
    for i in range(n):
        yield i * 2


def e0(n):
    yield from e1(n)  # -> e1


def all_of(n):
    total = 0
    for i in d0(n):  # -> d0
        total += i
    for i in e0(n):  # -> e0
        total += i
    return total


def main():
    parley.ready()  # -> ready
    while not parley.over():  # -> over
        for _ in range(50):
            all_of(40)  # -> all_of
        parley.tick()  # -> tick


if __name__ == "__main__":
    main()  # -> main
