# SPDX-License-Identifier: Apache-2.0
"""How long a worker's event loop stands still while its profile is asked for: distributed's own, and plumb.dask.

    PYTHONPATH=build/python python bench/dask_stalls.py [CYCLES [NODES]]        with distributed; by default 1,000 cycles of 200 nodes

What is told is the time of the processor from one turn of the loop to the next one. The histories are filled with trees of five kinds
of tasks, of which each cycle has four. The worker is alone in its process."""
import asyncio
import logging
import statistics
import sys
import time

import distributed
import plumb.dask

ROUNDS, TASKS, IN_A_CYCLE = 10, 5, 4
ASKED = {"all": {}, "one kind of task": {"key": "task0"}, "event loop": {"server": True}}


def node(name, count, children=()):
    described = {"name": name, "filename": "/srv/%s.py" % name, "line_number": 1, "line": "%s()" % name}
    below = {child["identifier"]: child for child in children}
    return {"identifier": "%s;/srv/%s.py;1" % (name, name), "description": described, "count": count, "children": below}


def tree(nodes, cycle):
    """A root, and branches of ten frames, one in another."""
    branches = []
    for branch in range(nodes // 10):
        inner = None
        for depth in reversed(range(10)):
            inner = node("f%d_%d_%d" % (branch, depth, cycle % 7), 3, [inner] if inner else [])
        branches.append(inner)
    return {**node("root", 3 * len(branches), branches), "identifier": "root"}


def cycles_of(count, nodes):
    """(time, {task: tree}) of each."""
    made = [tree(nodes // IN_A_CYCLE, cycle) for cycle in range(7)]
    now = time.time()
    for cycle in range(count):
        yield now + cycle * 1e-3, {"task%d" % ((cycle + n) % TASKS): made[cycle % 7] for n in range(IN_A_CYCLE)}


def fill_original(count, nodes, dask_worker):
    loop = dask_worker.io_loop.profile
    for end, trees in cycles_of(count, nodes):
        dask_worker.profile_history.append((end, distributed.profile.merge(*trees.values())))
        dask_worker.profile_keys_history.append((end, trees))
        loop.append((end, dask_worker.profile_history[-1][1]))


def fill_plumb(count, nodes, dask_worker):
    profiled = dask_worker.plugins["plumb"]._profile
    for end, trees in cycles_of(count, nodes):
        profiled._sampled.history.append(end, trees)
        profiled._loop.append((end, plumb.profile.merge(*trees.values())))


async def watched(asked, dask_worker):
    """The longest time between two turns of the event loop while a question is answered, in seconds: what this process computed
    meanwhile, so that it does not count who else had the processor."""
    longest, last = 0.0, time.process_time()
    answer = asyncio.ensure_future(_page(dask_worker) if asked == "page" else dask_worker.handlers["profile"](**asked))
    while not answer.done():
        await asyncio.sleep(0)
        now = time.process_time()
        longest, last = max(longest, now - last), now
    return longest


async def _page(dask_worker):
    """What the page of a server's event loop does."""
    distributed.profile.get_profile(dask_worker.io_loop.profile)


def measured(name, fill, count, nodes):
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(silence_logs=logging.ERROR, **options) as cluster, distributed.Client(cluster) as client:
        if name == "plumb":
            plumb.dask.install(client)
        client.run(fill, count, nodes)
        for what, asked in {**ASKED, "page of the event loop": "page"}.items():
            stalls = [next(iter(client.run(watched, asked).values())) * 1e3 for _ in range(ROUNDS)]
            print("%-12s %-24s median %6.1f ms, longest %6.1f ms" % (name, what, statistics.median(stalls), max(stalls)), flush=True)


if __name__ == "__main__":
    count, nodes = [*map(int, sys.argv[1:]), *(1000, 200)[len(sys.argv) - 1 :]]
    measured("distributed", fill_original, count, nodes)
    measured("plumb", fill_plumb, count, nodes)
