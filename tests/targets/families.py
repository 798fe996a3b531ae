# SPDX-License-Identifier: Apache-2.0
"""Two families of functions of about a microsecond each that never call each other, in hot alternation: one seventeen
calls deep, one bushy and shallow; a leaf that both share; and a function with 1,800 locals, whose frame needs a chunk of
the data stack to itself. Any caller and callee that the comments do not name together never existed."""
import parley  # -> *

EXPECT = [["a0", "a1", "a2", "a3", "a4"], ["a15", "a16", "shared"], ["b0", "b1"], ["b2", "shared"], ["huge", "c0", "c1"]]


def shared(n):
    return n + 1


def a0(n):
    n = a1(n)  # -> a1
    return n + 0


def a1(n):
    n = a2(n)  # -> a2
    return n + 1


def a2(n):
    n = a3(n)  # -> a3
    return n + 2


def a3(n):
    n = a4(n)  # -> a4
    return n + 3


def a4(n):
    n = a5(n)  # -> a5
    return n + 4


def a5(n):
    n = a6(n)  # -> a6
    return n + 5


def a6(n):
    n = a7(n)  # -> a7
    return n + 6


def a7(n):
    n = a8(n)  # -> a8
    return n + 7


def a8(n):
    n = a9(n)  # -> a9
    return n + 8


def a9(n):
    n = a10(n)  # -> a10
    return n + 9


def a10(n):
    n = a11(n)  # -> a11
    return n + 10


def a11(n):
    n = a12(n)  # -> a12
    return n + 11


def a12(n):
    n = a13(n)  # -> a13
    return n + 12


def a13(n):
    n = a14(n)  # -> a14
    return n + 13


def a14(n):
    n = a15(n)  # -> a15
    return n + 14


def a15(n):
    n = a16(n)  # -> a16
    return n + 15


def a16(n):
    n = shared(n)  # -> shared
    return n + 16


def b3(n):
    return n + 3


def b2(n):
    n = b3(n)  # -> b3
    n = shared(n)  # -> shared
    return n + 2


def b1(n):
    n = b3(n)  # -> b3
    n = b2(n)  # -> b2
    return n + 1


def b0(n):
    n = b1(n)  # -> b1
    n = b2(n)  # -> b2
    n = b3(n)  # -> b3
    return n


def c1(n):
    return n * 2


def c0(n):
    n = c1(n)  # -> c1
    return c1(n)  # -> c1


def with_locals(count):
    """A function `huge` of this file with so many locals, standing on the lines below HUGE_LINE."""
    names = ["v%d" % i for i in range(count)]  # -> <listcomp>
    body = "def huge(n):\n " + " = ".join(names) + " = n\n return c0(v0) + c0(v%d)\n" % (count - 1)
    found = {"c0": c0}
    exec(compile("\n" * (HUGE_LINE - 1) + body, __file__, "exec"), found)  # -> <module>
    return found["huge"]


def main():
    parley.ready()  # -> ready
    while not parley.over():  # -> over
        for n in range(300):
            a0(n)  # -> a0
            b0(n)  # -> b0
            b0(n)  # -> b0
            if n % 10 == 0:
                huge(n)  # -> huge
        parley.tick()  # -> tick


HUGE_LINE = 10000
EXTRA = {"huge": {"lines": [10000, 10002], "calls": {10002: ["c0"]}}}  # what the comments cannot say
huge = with_locals(1800)  # -> with_locals

if __name__ == "__main__":
    main()  # -> main
