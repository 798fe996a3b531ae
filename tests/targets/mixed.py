# SPDX-License-Identifier: Apache-2.0
"""Ordinary Python in small pieces: constructors, properties, operators, sort keys, comparisons, context managers,
comprehensions, closures, raised and caught exceptions, C functions that call back."""
import functools  # -> *

import parley  # -> *

EXPECT = [["areas", "area"], ["ordered", "<lambda>"], ["compared", "__lt__"], ["caught", "fails"]]


class Point(object):  # -> Point
    def __init__(self, x, y):
        self.x = x
        self.y = y

    @property
    def area(self):
        return self.x * self.y

    def __lt__(self, other):
        return self.area < other.area  # -> area

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)  # -> __init__


class Guard(object):  # -> Guard
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


def areas(points):
    total = 0
    for p in points:
        total += p.area  # -> area
    return total


def ordered(points):
    return sorted(points, key=lambda p: p.x)  # -> <lambda>


def compared(points):
    return sorted(points)  # -> __lt__


def summed(points):
    return sum((p.y for p in points), 0)  # -> <genexpr>


def added(points):
    return functools.reduce(lambda a, b: a + b, points)  # -> <lambda>, __add__


def guarded(n):
    with Guard() as guard:  # -> __enter__, __exit__
        n = n + (guard is not None)  # -> __exit__
    return n


def fails(n):
    raise LookupError(n)


def caught(n):
    try:
        fails(n)  # -> fails
    except LookupError:
        return n
    return 0


def closure(n):
    def inside(i):
        return i + n

    return sum(map(inside, range(20)))  # -> inside


def main():
    parley.ready()  # -> ready
    while not parley.over():  # -> over
        for n in range(20):
            points = [Point(i * 7 % 11, i) for i in range(20)]  # -> <listcomp>, __init__
            areas(points)  # -> areas
            ordered(points)  # -> ordered
            compared(points)  # -> compared
            summed(points)  # -> summed
            added(points)  # -> added
            guarded(n)  # -> guarded
            caught(n)  # -> caught
            closure(n)  # -> closure
        parley.tick()  # -> tick


if __name__ == "__main__":
    main()  # -> main
