# SPDX-License-Identifier: Apache-2.0
"""A thread whose child of vfork (of the C library --library) lives until the test is over: it shares all memory with us, and
its parent thread stands still meanwhile. The main thread computes."""
import ctypes  # -> *
import os  # -> *
import threading  # -> *

import parley  # -> *


def spin(n):
    total = 0
    for i in range(n):
        total += i
    return total


def lingers(library, descriptor):  # root
    library.linger(descriptor)  # -> *


def main():
    library = ctypes.CDLL(parley.argument("library", ""))  # -> *
    read, write = os.pipe()
    thread = threading.Thread(target=lingers, args=(library, read), name="lingers")  # -> *
    thread.start()  # -> *
    parley.ready()  # -> *
    while not parley.over():  # -> over
        spin(2000)  # -> spin
        parley.tick()  # -> tick
    os.write(write, b"x")  # the child has a copy of our end: closing it would not do
    thread.join()  # -> *


if __name__ == "__main__":
    main()  # -> main
