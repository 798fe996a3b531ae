# SPDX-License-Identifier: Apache-2.0
"""Tasks that mislead a sampler with the GIL, on a cluster of two workers: how far off Client.profile() is for each of them, on each worker.

    PYTHONPATH=build/python python bench/dask_skew.py [ROUNDS [SECONDS]]      with distributed, and numpy for one kind; by default 10 of 1

Each kind of task has two functions that take turns and take their own time; they run on one worker after the other. Told are the share of
the first function by the task's own clock, that in Client.profile(), by how much they differ, samples of both, and how many of those that
were due came too late: where that is more than some hundredths the machine had others to serve, and the figures say nothing."""
import asyncio
import collections
import importlib.util
import itertools
import json
import logging
import sys
import time
import warnings
import zlib

import distributed
import plumb.dask

BIG = list(range(600000))
BLOCK = bytes(range(256)) * 1000
DIGITS = 3**60000


def leaf():
    n = 20000
    while n:
        n -= 1


def search_in_c():
    return -1 in BIG


def big_integers():
    return DIGITS * DIGITS


def compressed():
    return zlib.compress(BLOCK, 1)


def of_numpy():
    import numpy

    return numpy.sort(numpy.arange(200000)[::-1] % 9973)


KINDS = {"leaves": leaf, "searching": search_in_c, "multiplying": big_integers, "compressing": compressed, "awaiting": leaf, "sorting": of_numpy}


def other():
    n = 30000
    while n:
        n -= 1


def turns(seconds, function):
    """{name: seconds spent in it}, once for each turn."""
    spent, before = {function.__name__: 0.0, other.__name__: 0.0}, time.perf_counter()
    end = before + seconds
    while before < end:
        for each in (function, other):
            each()
            after = time.perf_counter()
            spent[each.__name__] += after - before
            before = after
        yield spent


def by_turns(seconds, function):
    for spent in turns(seconds, function):
        pass
    return spent


async def by_turns_of_a_coroutine(seconds, function):
    for spent in turns(seconds, function):
        await asyncio.sleep(0)
    return spent


def counts(tree, names):
    found, waiting = dict.fromkeys(names, 0), [tree]
    while waiting:
        node = waiting.pop()
        if node["description"]["name"] in found:
            found[node["description"]["name"]] += node["count"]
        waiting.extend(node["children"].values())
    return found


Told = collections.namedtuple("Told", "samples truth ours late")


def status(dask_worker):
    return dask_worker.plugins["plumb"]._profile.status()


def measured(client, prefix, kind, worker, seconds):
    function, task = KINDS[kind], by_turns_of_a_coroutine if kind == "awaiting" else by_turns
    before = client.run(status, workers=[worker])[worker]
    spent = client.submit(task, seconds, function, key=prefix + "-0", workers=[worker]).result()
    after = client.run(status, workers=[worker])[worker]
    seen = counts(client.profile(key=prefix, workers=[worker]), spent)
    late, ticks = (after[name] - before[name] for name in ("missed", "ticks"))
    return Told(sum(seen.values()), spent[function.__name__] / sum(spent.values()), seen[function.__name__] / max(1, sum(seen.values())),
                late / max(1, late + ticks))


def mean(some, field):
    """Of rounds, each by its samples."""
    return sum(one.samples * getattr(one, field) for one in some) / max(1, sum(one.samples for one in some))


def main(rounds, seconds):
    kinds = [kind for kind in KINDS if kind != "sorting" or importlib.util.find_spec("numpy")]
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.ERROR}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        assert set(plumb.dask.install(client, interval="1ms").values()) == {""}
        numbers = itertools.count()
        for number, worker in enumerate(client.run(status)):
            for kind in kinds:  # each task has a prefix of its own
                told = [measured(client, "%s_%d" % (kind, next(numbers)), kind, worker, seconds) for _ in range(rounds)]
                truth, ours, late = (100 * mean(told, field) for field in ("truth", "ours", "late"))
                print("worker %d, %-12s itself %5.1f %%, profile %5.1f %% (%+5.1f points) of %5d samples, %4.1f %% too late"
                      % (number, kind, truth, ours, ours - truth, sum(one.samples for one in told), late), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    import dask_skew  # whose functions are sent by name: with their data they are large

    rounds, seconds = [*sys.argv[1:], *(10, 1)[len(sys.argv) - 1 :]]
    dask_skew.main(int(rounds), float(seconds))
