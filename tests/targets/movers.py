# SPDX-License-Identifier: Apache-2.0
"""--threads threads, named by their numbers, that call and return all the time: no stack stands still for long."""
import threading

import parley


def leaf(n):
    return n + 1


def branch(n):
    return leaf(leaf(n))


def move():
    n = 0
    while not parley.over():
        for _ in range(1000):
            n = branch(n)


def main():
    threads = [threading.Thread(target=move, name=str(number)) for number in range(parley.argument("threads", 8))]
    for thread in threads:
        thread.start()
    parley.ready()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
