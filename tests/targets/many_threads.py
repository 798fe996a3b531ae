# SPDX-License-Identifier: Apache-2.0
"""--threads threads that wait on a lock, each --depth calls deep, and a main thread that is busy (or waits: --busy 0)."""
import threading
import time

import parley


WAITING = []  # for each thread that is about to wait


def wait_for(lock):
    WAITING.append(None)
    with lock:
        pass


def down(depth, lock):
    if depth > 1:
        return down(depth - 1, lock)
    return wait_for(lock)


def spin(n):
    total = 0
    for i in range(n):
        total += i
    return total


def main():
    lock = threading.Lock()
    lock.acquire()
    depth = parley.argument("depth", 10)
    threads = [threading.Thread(target=down, args=(depth, lock)) for _ in range(parley.argument("threads", 200))]
    for thread in threads:
        thread.start()
    while len(WAITING) < len(threads):
        time.sleep(0.001)
    parley.ready(threads=len(threads))
    if parley.argument("busy", 1):
        while not parley.over():
            spin(2000)
            parley.tick()
    parley.wait_over()
    lock.release()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
