# SPDX-License-Identifier: Apache-2.0
"""Two threads, each of which makes an interpreter of its own and runs there most of the time; the main thread computes. For
3.8 and later, by the private module that every release has under one of two names. Up to 3.11 who waits for the GIL in one
interpreter is not heard by who holds it in another: all let go of it now and then."""
import threading
import time

import parley

try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

CODE = """
def within(n):
    total = 0
    for i in range(n):
        total += i
    return total

def turn():
    for _ in range(400):
        within(2000)

turn()
"""


def outside(n):
    total = 0
    for i in range(n):
        total += i
    return total


def visit():
    """Up to 3.11 an interpreter has one thread state, which bears the number of the thread that made the interpreter."""
    run = getattr(interpreters, "exec", None) or interpreters.run_string
    interpreter = interpreters.create()
    while not parley.over():
        run(interpreter, CODE)
        time.sleep(0.002)
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


if __name__ == "__main__":
    main()
