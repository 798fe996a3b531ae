# SPDX-License-Identifier: Apache-2.0
"""Pools of two processes: pools.py pool|futures|joblib fork|spawn

What they work on: `count`, in several ways in which pools call functions, and `Job.measure`.
"""
import multiprocessing
import os
import sys
import time

SECONDS = float(os.environ.get("PLUMB_TEST_SECONDS", "1"))
PART = 0.05


def spin(seconds):
    end = time.time() + seconds
    while time.time() < end:
        sum(range(1000))
    return seconds


def count(seconds):
    return spin(seconds)


class Job(object):
    def measure(self, seconds):
        return spin(seconds)


def of_multiprocessing(start):
    # Before 3.4 there is no other way to start.
    context = multiprocessing.get_context(start) if sys.version_info >= (3, 4) else multiprocessing
    pool = context.Pool(2)
    while True:
        pool.map(count, [PART] * 4, 2)
        pool.apply(Job().measure if sys.version_info >= (3, 4) else count, (PART,))
        yield
        list(pool.imap(count, [PART] * 2))


def of_futures(start):
    import concurrent.futures

    options = {"mp_context": multiprocessing.get_context(start)} if sys.version_info >= (3, 7) else {}
    with concurrent.futures.ProcessPoolExecutor(2, **options) as pool:
        while True:
            list(pool.map(count, [PART] * 4, chunksize=2))
            pool.submit(Job().measure, PART).result()
            yield


def of_joblib(start):
    import joblib

    while True:
        with joblib.Parallel(2, backend={"fork": "multiprocessing", "spawn": "loky"}[start]) as parallel:
            while True:
                parallel(joblib.delayed(count)(PART) for _ in range(4))
                parallel([joblib.delayed(Job().measure)(PART)])
                yield


if __name__ == "__main__":
    until = time.time() + SECONDS
    for _ in {"pool": of_multiprocessing, "futures": of_futures, "joblib": of_joblib}[sys.argv[1]](sys.argv[2]):
        if time.time() > until:
            break
