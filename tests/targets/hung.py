# SPDX-License-Identifier: Apache-2.0
"""Hangs in C and keeps the GIL: the main thread waits for a pipe that nobody writes to, with the GIL held, and a second
thread can do nothing about it. Ends only when it is killed."""
import ctypes
import os
import threading

import parley


def hang(descriptor):
    ctypes.PyDLL(None).read(descriptor, ctypes.create_string_buffer(1), 1)  # here


def work(started):
    started.set()
    while True:
        pass


def main():
    readable, writable = os.pipe()
    started = threading.Event()
    thread = threading.Thread(target=work, args=(started,), name="worker")
    thread.daemon = True
    thread.start()
    started.wait()
    parley.ready()
    hang(readable)
    os.close(writable)


if __name__ == "__main__":
    main()
