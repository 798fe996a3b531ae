# SPDX-License-Identifier: Apache-2.0
# -*- coding: utf-8 -*-
"""Named threads: three that compute in a function of their own, one of them with a long name, and one that waits."""
import threading  # -> *

import parley  # -> *

EXPECT = [["work_alpha", "spin"], ["work_beta", "spin"], ["work_gamma", "spin_gamma"]]
# thread name -> the function of this file that every stack of the thread which has one must begin with
THREADS = {"alpha": "work_alpha", "beta": "work_beta", "größer, 名前": "work_gamma", "waiter": "wait_here"}
# A thread that lets go of the GIL more often than every 5 ms, as over() does, never hands it on: work for longer.
TURNS = 150
# A thread is in the list of threads, and so has its name, before it runs its function; not before start() returns.
STARTED = threading.Semaphore(0)  # -> *


def spin(n):
    total = 0
    for i in range(n):
        total += i
    return total


def spin_gamma(n):
    total = 0
    for i in range(n):
        total ^= i
    return total


def work_alpha(_):  # root
    STARTED.release()  # -> *
    while not parley.over():  # -> over
        for _ in range(TURNS):
            spin(3000)  # -> spin
        parley.tick()  # -> tick


def work_beta(_):  # root
    STARTED.release()  # -> *
    while not parley.over():  # -> over
        for _ in range(TURNS):
            spin(3000)  # -> spin


def work_gamma(_):  # root
    STARTED.release()  # -> *
    while not parley.over():  # -> over
        for _ in range(TURNS):
            spin_gamma(3000)  # -> spin_gamma


def wait_here(lock):  # root
    STARTED.release()  # -> *
    lock.acquire()


def main():
    lock = threading.Lock()
    lock.acquire()
    functions = {f.__name__: f for f in (work_alpha, work_beta, work_gamma, wait_here)}  # -> <dictcomp>
    threads = []
    for name, function in THREADS.items():
        threads.append(threading.Thread(target=functions[function], name=name, args=(lock,)))  # -> *
    for thread in threads:
        thread.start()  # -> *
    for _ in threads:
        STARTED.acquire()  # -> *
    parley.ready()  # -> ready
    parley.wait_over()  # -> wait_over
    lock.release()
    for thread in threads:
        thread.join()  # -> *


if __name__ == "__main__":
    main()  # -> main
