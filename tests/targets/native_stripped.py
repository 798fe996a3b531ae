# SPDX-License-Identifier: Apache-2.0
"""Computes in the library that is named: native_stripped.c."""
import ctypes
import sys

import parley


def main():
    work = ctypes.CDLL(sys.argv[1]).outer_work
    work.argtypes, work.restype = [ctypes.c_uint64], ctypes.c_uint64
    parley.ready()
    while not parley.over():
        work(200000)
        parley.tick()


main()
