# SPDX-License-Identifier: Apache-2.0
"""What --part names, again and again: memory that goes away under the frames (unmap), children (fork), threads by the
hundred (threads), the program itself executed anew (exec)."""
import mmap  # -> *
import os  # -> *
import sys  # -> *
import threading  # -> *

import parley  # -> *

AGAIN = "--again"


def spin(n):
    total = 0
    for i in range(n):
        total += i
    return total


def down(n):
    if n > 1:
        return down(n - 1)  # -> down
    return spin(200)  # -> spin


def unmap():
    """Deep calls take and give back pieces of the data stack; what the code of generated functions lies in goes too."""
    down(3000)  # -> down
    names = {}
    exec("\n".join("def f%d(n): return n + %d" % (i, i) for i in range(300)), names)  # -> *
    names.clear()
    memory = mmap.mmap(-1, 1 << 22)  # -> *
    memory[::4096] = b"x" * (1 << 10)  # -> *
    memory.close()  # -> *


def fork():
    for _ in range(20):
        pid = os.fork()  # -> *
        if pid == 0:
            spin(2000)  # -> spin
            os._exit(0)
        os.waitpid(pid, 0)


def short_work(lock):  # root
    with lock:
        spin(2000)  # -> spin


def threads():
    lock = threading.Lock()
    lock.acquire()
    some = [threading.Thread(target=short_work, args=(lock,)) for _ in range(200)]  # -> *
    for thread in some:
        thread.start()  # -> *
    lock.release()  # now they end, all together
    for thread in some:
        thread.join()  # -> *


def execute():
    for _ in range(20):
        spin(20000)  # -> spin
    parley.tick()  # -> tick
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable] + [argument for argument in sys.argv if argument != AGAIN] + [AGAIN])  # -> *


def main():
    sys.setrecursionlimit(4000)
    part = {"unmap": unmap, "fork": fork, "threads": threads, "exec": execute}[parley.argument("part", "unmap")]  # -> argument
    if AGAIN not in sys.argv:
        parley.ready()  # -> ready
    while not parley.over():  # -> over
        # _remove is the callback of the weak references to threads: their list goes away as threads() returns.
        part()  # -> unmap, fork, threads, execute, _remove
        parley.tick()  # -> tick


if __name__ == "__main__":
    main()  # -> main
