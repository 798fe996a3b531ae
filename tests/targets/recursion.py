# SPDX-License-Identifier: Apache-2.0
"""Recursion: a function that calls itself --depth times, and two that call each other. The bottom is busy."""
import sys
import threading  # -> *

import parley  # -> *

EXPECT = [["down", "down", "down", "bottom"], ["even", "odd", "even", "odd"]]
DEPTH = parley.argument("depth", 40)  # -> argument


def bottom():
    total = 0
    for i in range(3000):
        total += i
    return total


def down(n):
    if n > 1:
        return down(n - 1)  # -> down
    for _ in range(max(10, DEPTH // 50)):  # long enough at the bottom to be met there
        bottom()  # -> bottom
    return 0


def even(n):
    if n > 0:
        return odd(n - 1)  # -> odd
    return bottom()  # -> bottom


def odd(n):
    return even(n - 1)  # -> even


def work():  # root
    while not parley.over():  # -> over
        down(DEPTH)  # -> down
        even(20)  # -> even
        parley.tick()  # -> tick


def main():
    sys.setrecursionlimit(DEPTH + 200)
    threading.stack_size(512 << 20)  # before 3.11 each Python call takes C stack
    thread = threading.Thread(target=work, name="recursion")  # -> *
    parley.ready()  # -> ready
    thread.start()  # -> *
    thread.join()  # -> *


if __name__ == "__main__":
    main()  # -> main
