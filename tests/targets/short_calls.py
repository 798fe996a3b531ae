# SPDX-License-Identifier: Apache-2.0
"""A loop of calls of a microsecond or less, by two ways of which neither makes the other's calls."""
import parley  # -> *

EXPECT = [["main", "left", "add"], ["main", "right", "double"]]


def add(n):
    return n + 1


def double(n):
    return n * 2


def left(n):
    return add(add(n))  # -> add


def right(n):
    return double(double(n))  # -> double


def main():
    parley.ready()  # -> ready
    while not parley.over():  # -> over
        for i in range(2000):
            left(i)  # -> left
            right(i)  # -> right
        parley.tick()  # -> tick


if __name__ == "__main__":
    main()  # -> main
