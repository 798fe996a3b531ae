# SPDX-License-Identifier: Apache-2.0
"""What a tick of sampling costs a Dask worker: distributed's own, and plumb.dask, beside each other in one process.

    PYTHONPATH=build/python python bench/dask_ticks.py [THREADS...]        with distributed; by default 4, 16 and 64 threads

Each thread has a task whose stack is 30 frames deep. The original samples on the event loop, with the GIL; plumb's samples
take neither, and what a cycle has counted is put into the history by a thread with the GIL, once a second."""
import logging
import statistics
import sys
import threading
import time

import distributed
import plumb.dask
from plumb.dask import _sampler
from plumb.dask._trees import by_kind

ROUNDS, TICKS = 10, 20
release = threading.Event()


def deep(depth):
    import __main__  # functions are sent by value, events are not

    return deep(depth - 1) if depth else __main__.release.wait()


def of_original(worker):
    began = time.thread_time()
    for _ in range(TICKS):
        worker.trigger_profile()
    return (time.thread_time() - began) / TICKS


def of_plumb(ticks_a_cycle):
    """With the GIL, for a tick: what the end of a cycle costs."""
    history = plumb.dask._history.TaskHistory(1000)
    profile = _sampler._samplers.all()[0]._publisher._session.recent()
    began = time.thread_time()
    for (_, task), tree in by_kind(profile).items():
        history.append(time.time(), {task: tree})
    return (time.thread_time() - began) / ticks_a_cycle


def measured(threads):
    release.clear()
    options = {"n_workers": 1, "threads_per_worker": threads, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(silence_logs=logging.ERROR, **options) as cluster, distributed.Client(cluster) as client:
        plumb.dask.install(client)
        futures = [client.submit(deep, 30, pure=False) for _ in range(threads)]
        worker = next(iter(cluster.workers.values()))
        while len(worker.active_threads) < threads:
            time.sleep(0.05)
        time.sleep(1.2)
        rounds = [(of_original(worker), of_plumb(100)) for _ in range(ROUNDS)]
        status = _sampler._samplers.all()[0].status()
        release.set()
        client.gather(futures)
    original, own = (statistics.median(column) for column in zip(*rounds))
    ratio = statistics.median(a / b for a, b in rounds)
    sampler = status["cpu"] / max(1, status["ticks"])
    print("%3d threads: original %7.1f us a tick on the event loop; plumb %6.2f us with the GIL (1/%.0f), 0 on the event loop, %5.1f us of another processor"
          % (threads, original * 1e6, own * 1e6, ratio, sampler * 1e6))  # fmt: skip


if __name__ == "__main__":
    for threads in map(int, sys.argv[1:] or (4, 16, 64)):
        measured(threads)
