# SPDX-License-Identifier: Apache-2.0
"""Exceptions through five calls, caught, re-raised, with work in the handler and in the finally clause."""
import parley  # -> *

EXPECT = [["caught", "r0", "r1", "r2", "r3", "r4"], ["caught", "in_handler"], ["cleaned", "in_finally"]]


def busy(n):
    total = 0
    for i in range(n):
        total += i
    return total


def in_handler(n):
    return busy(n)  # -> busy


def in_finally(n):
    return busy(n)  # -> busy


def r4(n):
    busy(n)  # -> busy
    raise ValueError(n)


def r3(n):
    r4(n)  # -> r4


def r2(n):
    try:
        r3(n)  # -> r3
    except KeyError:
        pass


def r1(n):
    try:
        r2(n)  # -> r2
    except ValueError:
        raise


def r0(n):
    r1(n)  # -> r1


def caught():
    try:
        r0(300)  # -> r0
    except ValueError:
        in_handler(300)  # -> in_handler


def cleaned():
    try:
        try:
            r0(10)  # -> r0
        finally:
            in_finally(300)  # -> in_finally
    except ValueError:
        pass


def main():
    parley.ready()  # -> ready
    while not parley.over():  # -> over
        for _ in range(20):
            caught()  # -> caught
            cleaned()  # -> cleaned
        parley.tick()  # -> tick


if __name__ == "__main__":
    main()  # -> main
