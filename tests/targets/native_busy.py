# SPDX-License-Identifier: Apache-2.0
"""A thread that computes in C without the GIL for most of its time, and one that runs Python. Runs on Python 3.6 and
later."""
import threading
import zlib

import parley

DATA = bytes(range(256)) * 20000


def in_zlib():
    while True:
        zlib.compress(DATA, 9)
        parley.tick()


def add_up():
    return sum(range(1000))


def in_python():
    while True:
        add_up()


def main():
    for function in (in_zlib, in_python):
        threading.Thread(target=function, name=function.__name__, daemon=True).start()
    parley.ready()
    parley.wait_over()


main()
