# SPDX-License-Identifier: Apache-2.0
"""A program whose main thread ends, as that of a C program may, while another thread goes on computing."""
import ctypes
import os
import threading  # -> *

import parley  # -> *

EXPECT = [["work", "outer", "inner"]]
THREADS = {"left over": "work"}
FOREIGN = True  # what ctypes calls


def inner(n):
    total = 0
    for i in range(n):
        total += i
    return total


def outer(n):
    return inner(n) + 1  # -> inner


def work():  # root
    parley.ready()  # -> ready
    while not parley.over():  # -> over
        outer(4000)  # -> outer
        parley.tick()  # -> tick
    os._exit(0)


def main():
    threading.Thread(target=work, name="left over").start()  # -> *
    ctypes.CDLL(None).pthread_exit(None)  # -> *


if __name__ == "__main__":
    main()  # -> main
