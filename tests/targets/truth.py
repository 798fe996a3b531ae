# SPDX-License-Identifier: Apache-2.0
"""Programs that measure their own shares. --program names one; each part runs for a few milliseconds at a time between
two readings of the clocks, so that what is not measured is far below a thousandth. At the end: when each began and ended, and the sums, as JSON.

The parts are functions called part_*; a profile's share of a part is that of the stacks with its function in them."""
import hashlib
import os
import select
import sys

import parley

if sys.version_info >= (3, 5):
    from awaiting import part_coroutines
else:
    part_coroutines = None

# What a part is made of ---------------------------------------------------------------------------------------------


def loop(n):
    total = 0
    for i in range(n):
        total += i & 7
    return total


def tiny(n):
    return n + 1


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def numbers(n):
    for i in range(n):
        yield i


def doubled(source):
    for i in source:
        yield i * 2


def filtered(source):
    for i in source:
        if i & 2:
            yield i


class Box(object):
    def __init__(self, width, height):
        self.width = width
        self.height = height

    @property
    def area(self):
        return self.width * self.height

    def __lt__(self, other):
        return self.area < other.area


# The parts ----------------------------------------------------------------------------------------------------------


def part_loop(n):
    for _ in range(n):
        loop(100)


def part_tiny(n):
    for i in range(n):
        tiny(tiny(tiny(tiny(i))))


def part_recursion(n):
    for _ in range(n):
        fib(8)


def part_generators(n):
    for _ in range(n):
        sum(filtered(doubled(numbers(30))))


def part_objects(n):
    for i in range(n):
        boxes = [Box(j * 5 % 7, j) for j in range(6)]
        boxes.sort()
        sum(box.area for box in boxes)


def part_sorted(data):
    sorted(data)


def part_sorted_too(data):
    for _ in range(2):
        sorted(data)


def part_hash(rounds):
    hashlib.pbkdf2_hmac("sha1", b"word", b"salt", rounds)


def part_wait(milliseconds):
    select.poll().poll(milliseconds)


def leaf(n):
    total = 0
    for i in range(n):
        total += i & 3
    return total


def part_caller_a(n):
    leaf(n)


def part_caller_b(n):
    leaf(n)


def plan(*parts):
    """(function, argument) for each (function, milliseconds): how much work takes so long here."""
    planned = []
    for function, milliseconds in parts:
        planned.append((function, parley.repeat_for(milliseconds, lambda f=function: f(1))))
    return planned


def program_loops():
    part_first, part_second, part_third = distinct_loops()
    return plan((part_first, 5.0), (part_second, 3.0), (part_third, 2.0))


def distinct_loops():
    def part_first(n):
        for _ in range(n):
            loop(100)

    def part_second(n):
        for _ in range(n):
            loop(100)

    def part_third(n):
        for _ in range(n):
            loop(100)

    return part_first, part_second, part_third


def program_mixed():
    parts = [(part_loop, 3.0), (part_tiny, 3.0), (part_recursion, 2.0), (part_generators, 3.0), (part_objects, 2.0)]
    if part_coroutines:
        parts.append((part_coroutines, 2.0))
    return plan(*parts)


def program_ccalls():
    data = [(i * 7919) % 20011 for i in range(8000)]
    rounds = parley.repeat_for(2.0, lambda: hashlib.pbkdf2_hmac("sha1", b"word", b"salt", 10)) * 10
    loops = parley.repeat_for(2.0, lambda: part_loop(1))
    return [(part_sorted, data), (part_sorted_too, data), (part_hash, rounds), (part_loop, loops)]


def program_callers():
    """One leaf, called three times by one caller for each time by another, each call a third of a millisecond."""
    n = parley.repeat_for(0.3, lambda: leaf(10)) * 10
    return [(part_caller_a, n)] * 3 + [(part_caller_b, n)]


def negative(n):
    return -n


def program_natives():
    """Each part is one call of a function of C, as far as this build has them."""
    import re

    pattern = re.compile("(?:ab)*c")
    count = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT %d) SELECT max(x) FROM n"

    def part_zlib(data):
        zlib.compress(data, 9)

    def part_key(data):
        sorted(data, key=negative)

    def part_regex(text):
        pattern.match(text)

    def part_sqlite(query):
        connection.execute(query).fetchall()

    def part_matmul(matrix):
        numpy.matmul(matrix, matrix[:100])

    def as_long(milliseconds, function, argument):
        """(function, as much of it as takes so long), of which argument(1) is one."""
        return function, argument(parley.repeat_for(milliseconds, lambda: function(argument(1))))

    parts = [as_long(3.0, part_hash, lambda n: 50 * n), as_long(3.0, part_key, lambda n: list(range(1000 * n))),
             as_long(3.0, part_regex, lambda n: "ab" * 1000 * n)]
    try:
        import zlib
        parts.append(as_long(3.0, part_zlib, lambda n: b"some words, " * 4000 * n))
    except ImportError:
        pass
    try:
        import sqlite3
        connection = sqlite3.connect(":memory:")
        parts.append(as_long(3.0, part_sqlite, lambda n: count % (1000 * n)))
    except ImportError:
        pass
    try:
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
        import numpy
        parts.append(as_long(3.0, part_matmul, lambda n: numpy.ones((100 * n, 100))))
    except ImportError:
        pass
    return parts


def program_waits():
    """Work, work that lets go of the GIL, and waiting: wall, CPU and GIL time have different shares."""
    (_, loops), = plan((part_loop, 3.0))
    rounds = parley.repeat_for(2.0, lambda: hashlib.pbkdf2_hmac("sha1", b"word", b"salt", 10)) * 10
    return [(part_loop, loops), (part_wait, 3), (part_hash, rounds)]


def program_naps():
    """A loop that stays where it is, and short waits, of which falling asleep and waking up are CPU time."""
    n = parley.repeat_for(2.0, lambda: leaf(10)) * 10
    return [(part_caller_a, n), (part_wait, 1)]


def main():
    program = globals()["program_" + parley.argument("program", "loops")]
    parts = program()
    truth = parley.Truth()
    parley.ready()
    while not parley.over():
        for _ in range(4):
            for function, argument in parts:
                truth.measure(function.__name__, function, argument)
    truth.tell()


if __name__ == "__main__":
    sys.exit(main())
