# SPDX-License-Identifier: Apache-2.0
"""Two towers of generators, six and two high, never with a function in common. Their frames live in heap objects and
change hands at each value, which is where a reader that does not prove its stacks invents callers."""
import parley  # -> *

EXPECT = [["g0", "g1", "g2", "g3", "g4", "g5"], ["h0", "h1"], ["yard", "w_g", "g0"], ["yard", "w_h", "h0"]]


def g5(n):
    for i in range(n):
        yield i


def g4(n):
    for i in g5(n):  # -> g5
        yield i + 1


def g3(n):
    for i in g4(n):  # -> g4
        yield i + 1


def g2(n):
    for i in g3(n):  # -> g3
        yield i + 1


def g1(n):
    for i in g2(n):  # -> g2
        yield i + 1


def g0(n):
    for i in g1(n):  # -> g1
        yield i + 1


def w_g(n):
    total = 0
    for i in g0(n):  # -> g0
        total += i
    return total


def h1(n):
    for i in range(n):
        yield i * 2


def h0(n):
    for i in h1(n):  # -> h1
        yield i * 2


def w_h(n):
    total = 0
    for i in h0(n):  # -> h0
        total += i
    return total


def yard():
    w_g(40)  # -> w_g
    w_h(80)  # -> w_h


def main():
    parley.ready()  # -> ready
    while not parley.over():  # -> over
        for _ in range(50):
            yard()  # -> yard
        parley.tick()  # -> tick


if __name__ == "__main__":
    main()  # -> main
