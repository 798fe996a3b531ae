# SPDX-License-Identifier: Apache-2.0
"""Two threads, each of which makes an interpreter of its own and runs there most of the time; the main thread computes. For
3.8 and later, by the private module that every release has under one of two names. Up to 3.11 who waits for the GIL in one
interpreter is not heard by who holds it in another: all let go of it now and then. The code in the other interpreter takes
the time itself: the way back from there waits for the GIL of the main interpreter."""
import os
import threading
import time

import parley

try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

CODE = """
import os, time

def within(n):
    total = 0
    for i in range(n):
        total += i
    return total

def turn():
    start = time.perf_counter()
    for _ in range(400):
        within(2000)
    os.write(%d, repr(time.perf_counter() - start).encode())

turn()
"""
inside = {}  # thread's name -> share of its life


def outside(n):
    total = 0
    for i in range(n):
        total += i
    return total


def visit():
    """Up to 3.11 an interpreter has one thread state, which bears the number of the thread that made the interpreter."""
    run = getattr(interpreters, "exec", None) or interpreters.run_string
    seconds, start = 0, parley.perf_counter()
    interpreter = interpreters.create()
    read, write = os.pipe()
    while not parley.over():
        run(interpreter, CODE % write)
        seconds += float(os.read(read, 64).decode())
        time.sleep(0.002)
    inside[threading.current_thread().name] = seconds / (parley.perf_counter() - start)
    interpreters.destroy(interpreter)


def main():
    threads = [threading.Thread(target=visit, name="visitor %d" % n) for n in range(2)]
    for thread in threads:
        thread.start()
    parley.ready()
    while not parley.over():
        for _ in range(100):
            outside(2000)
        time.sleep(0.002)
    for thread in threads:
        thread.join()
    parley.tell(event="truth", wall=inside)


if __name__ == "__main__":
    main()
