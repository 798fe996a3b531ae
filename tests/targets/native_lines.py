# SPDX-License-Identifier: Apache-2.0
"""Computes in the library --library (native_lines.c), and tells for how long each of its loops has run."""
import ctypes

import parley

LIBRARY = ctypes.CDLL(parley.argument("library", ""))
LIBRARY.works.argtypes, LIBRARY.works.restype = [ctypes.c_uint64, ctypes.c_uint64], ctypes.c_uint64


def times():
    found = (ctypes.c_uint64 * 3)()
    LIBRARY.times_of(found)
    return dict(zip(["first", "second", "inlined"], found))


def main():
    x = 1
    parley.ready()
    parley.tell(event="began", **times())
    while not parley.over():
        x = LIBRARY.works(x, 50000)
        parley.tick()
    parley.tell(event="ended", **times())


main()
