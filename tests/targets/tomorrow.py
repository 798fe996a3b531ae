# SPDX-License-Identifier: Apache-2.0
"""Plain nested calls in a Python that says of itself that it is of another minor: --minor NUMBER. Only what it tells others about
its layout (_Py_DebugOffsets) says so; the interpreter itself is what it was."""
import ctypes
import sys

import parley  # -> *

COOKIE = b"xdebugpy"


def inner(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


def outer(n):
    return inner(n) + 1  # -> inner


def pretend(minor):
    words = (ctypes.c_char * 24).in_dll(ctypes.pythonapi, "_PyRuntime")  # -> *
    version = ctypes.c_uint64.from_buffer(words, 8)
    if words.raw[:8] != COOKIE or version.value != sys.hexversion:
        sys.exit("this Python has no debug offsets to change")
    version.value = version.value & ~0xFF0000 | minor << 16


def main():
    pretend(parley.argument("minor", 0))  # -> pretend, argument
    parley.ready()  # -> ready
    while not parley.over():  # -> over
        outer(4000)  # -> outer


if __name__ == "__main__":
    main()  # -> main
