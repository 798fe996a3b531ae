# SPDX-License-Identifier: Apache-2.0
"""plumb.dask on a real cluster, by an interpreter that finds distributed and plumb.

    dask_cluster.py processes|threads"""
import asyncio
import contextlib
import json
import logging
import os
import pickle
import subprocess
import sys
import tempfile
import time
import warnings

import distributed
import plumb.dask
from raising import refusal

ENOUGH = 30  # samples of a task
MOST_ELSEWHERE = 0.2  # of them: it is less than a hundredth, so that more than this is by chance less often than once in 1e7 runs


def leaf():
    return sum(range(20000))


def spin(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        leaf()


def work(seconds):
    spin(seconds)
    return os.getpid()


async def awork(seconds):
    await asyncio.sleep(0.01)
    spin(seconds)


class Counter:
    def count(self, seconds):
        spin(seconds)
        return True


def names(tree):
    """Functions, with the samples that each is on the stack of."""
    found, waiting = {}, list(tree["children"].values())
    while waiting:
        node = waiting.pop()
        name = node["description"]["name"]
        found[name] = found.get(name, 0) + node["count"]
        waiting.extend(node["children"].values())
    return found


def until_sampled(client, key, submit, **which):
    """Run tasks until there are enough samples of them."""
    while True:
        submit()
        tree = client.profile(key=key, **which)
        if tree["count"] >= ENOUGH:
            return tree


def run_on_all(client, function=work):
    """A task on each worker."""
    workers = list(client.scheduler_info()["workers"])
    return client.gather([client.submit(function, 0.1, workers=[worker], pure=False) for worker in workers])


def is_true(tree):
    assert names(tree)["leaf"] >= (1 - MOST_ELSEWHERE) * tree["count"], names(tree)


# Cycles are so short that histories have some in which there was no task, and sums of them.
def check_what_dask_asks_for_is_what_tasks_did(client):
    assert set(plumb.dask.install(client, interval="5ms", cycle="50ms").values()) == {""}
    is_true(until_sampled(client, "work", lambda: run_on_all(client)))
    assert client.profile(key="nothing")["count"] == 0
    server, scheduler = client.profile(server=True), client.profile(scheduler=True)
    assert server["count"] and scheduler["count"]
    assert names(server).get("leaf", 0) <= MOST_ELSEWHERE * server["count"], names(server)


def check_each_worker_answers_for_itself(client):
    workers = set(client.scheduler_info()["workers"])
    while True:
        run_on_all(client)
        found = client.profile(merge_workers=False)
        if all(tree["count"] for tree in found.values()):
            break
    assert set(found) == workers
    assert client.profile(start=time.time() + 3600)["count"] == 0


def check_coroutines_and_actors_are_told_apart(client):
    is_true(until_sampled(client, "awork", lambda: run_on_all(client, awork)))
    counter = client.submit(Counter, actor=True).result()
    prefix = distributed.utils.key_split(counter.key)
    is_true(until_sampled(client, "%s.count" % prefix, lambda: counter.count(0.1).result()))
    counts = client.run_on_scheduler(metadata)
    assert {"work", "awork"} <= set(counts["keys"]) and sum(n for _, n in counts["counts"]) >= 3 * ENOUGH


async def metadata(dask_scheduler):
    return await dask_scheduler.get_profile_metadata()


def check_workers_that_come_later_are_sampled(client):
    client.cluster.scale(3)
    client.wait_for_workers(3)
    last = max(client.scheduler_info()["workers"].values(), key=lambda worker: worker["name"])
    address = next(address for address, worker in client.scheduler_info()["workers"].items() if worker["name"] == last["name"])
    submit = lambda: client.submit(work, 0.1, workers=[address], pure=False).result()
    is_true(until_sampled(client, "work", submit, workers=[address]))
    client.cluster.scale(2)
    while len(client.scheduler_info()["workers"]) > 2:
        time.sleep(0.02)


def check_restarted_workers_are_sampled(client):
    client.restart()
    is_true(until_sampled(client, "work", lambda: run_on_all(client)))


def state(dask_worker):
    changed = {"get_profile", "get_profile_metadata", "execute"} & set(vars(dask_worker))
    own = {name: dask_worker.handlers[name].__module__ for name in ("profile", "profile_metadata", "actor_execute")}
    return sorted(changed), sorted(dask_worker.periodic_callbacks), own, type(dask_worker.io_loop.profile).__name__


def check_nothing_is_left_of_it(client, before):
    plumb.dask.uninstall(client)
    for found in client.run(state).values():
        assert found == before, (found, before)
    assert not client.run_on_scheduler(lambda dask_scheduler: "plumb" in dask_scheduler.plugins or "get_profile" in vars(dask_scheduler))
    run_on_all(client)
    client.profile()
    plumb.dask.uninstall(client)  # the second time there is nothing to do


def check_a_recording_is_of_the_whole_cluster(client):
    with plumb.dask.profile(client) as p:
        refusal(RuntimeError, p.text)
        run_on_all(client)
        run_on_all(client, awork)
    labels = [node["description"]["name"] for node in p.tree()["children"].values()]
    workers = {str(worker["name"]) for worker in client.scheduler_info()["workers"].values()}
    for task in ("work", "awork"):
        assert {"[task=%s, worker=%s]" % (task, worker) for worker in workers} <= set(labels), labels
    assert p.lost == {} and "leaf" in p.text()
    assert not any("plumb" in name for plugins in client.run(lambda dask_worker: list(dask_worker.plugins)).values() for name in plugins)
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, "%d.plumb" % number) for number in range(20)]
        for path in paths:
            with plumb.profile() as one:
                leaf()
            one.save(path)
        on_cluster, here = plumb.dask.merge(paths, client), plumb.merge(*paths)
        assert on_cluster.tree() == here.tree() and on_cluster.info()["samples"] == here.info()["samples"]


def check_a_recording_that_is_interrupted_leaves_nothing(client):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    name = "register_plugin" if hasattr(client, "register_plugin") else "register_worker_plugin"
    setattr(client, name, interrupted)
    try:
        refusal(KeyboardInterrupt, plumb.dask.profile(client).__enter__)
    finally:
        delattr(client, name)
    assert client.run_on_scheduler(recordings) == []


def recordings():
    return list(plumb.dask._recording._recordings)


def check_wrong_calls_are_told(client):
    assert "interval" in refusal(ValueError, lambda: plumb.dask.Plugin(interval="quick"))
    assert "engine" in refusal(TypeError, lambda: plumb.dask.profile(client, engine="gil"))
    assert "intervall" in refusal(TypeError, lambda: plumb.dask.profile(client, intervall=3))
    assert "at least one" in refusal(TypeError, lambda: plumb.dask.merge([], client))


def check_a_process_without_plumb_says_so_and_goes_on():
    sent = distributed.protocol.pickle.dumps(plumb.dask.WorkerPlugin(interval="5ms"))
    code = "import sys, pickle; sys.modules['plumb'] = None; print(pickle.load(sys.stdin.buffer).why_not)"
    told = subprocess.run([sys.executable, "-c", code], input=sent, stdout=subprocess.PIPE, check=True).stdout.decode()
    assert "has no plumb" in told and "install plumb-profiler there" in told
    assert isinstance(pickle.loads(sent), plumb.dask.WorkerPlugin)


@contextlib.contextmanager
def cluster(processes):
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": processes, "dashboard_address": None}
    with distributed.LocalCluster(silence_logs=logging.ERROR, **options) as made, distributed.Client(made) as client:
        yield client


def main(processes):
    checks = []
    with cluster(processes) as client:
        before = next(iter(client.run(state).values()))
        todo = [check_what_dask_asks_for_is_what_tasks_did, check_each_worker_answers_for_itself, check_coroutines_and_actors_are_told_apart]
        if processes:
            todo += [check_workers_that_come_later_are_sampled, check_restarted_workers_are_sampled]
        todo += [lambda client: check_nothing_is_left_of_it(client, before), check_a_recording_is_of_the_whole_cluster]
        todo += [check_a_recording_that_is_interrupted_leaves_nothing, check_wrong_calls_are_told]
        for check in todo:
            check(client)
            checks.append(check.__name__)
    if processes:
        check_a_process_without_plumb_says_so_and_goes_on()
    print(json.dumps({"checks": checks, "version": distributed.__version__}))


if __name__ == "__main__":
    warnings.simplefilter("ignore", DeprecationWarning)
    main(sys.argv[1] == "processes")
