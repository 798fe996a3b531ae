# SPDX-License-Identifier: Apache-2.0
"""Threads that wait in the innermost of many calls of one function of C: go(--deep) of the library --library. Runs on
Python 3.6 and later."""
import ctypes
import threading

import parley


def main():
    go = ctypes.CDLL(parley.argument("library", "")).go
    go.argtypes = [ctypes.c_long]
    threading.stack_size(64 << 20)
    for _ in range(parley.argument("threads", 4)):
        threading.Thread(target=go, args=(parley.argument("deep", 30000),), daemon=True).start()
    parley.ready()
    parley.wait_over()


main()
