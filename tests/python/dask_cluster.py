# SPDX-License-Identifier: Apache-2.0
"""plumb.dask on a real cluster, by an interpreter that finds distributed and plumb.

    dask_cluster.py processes|threads"""
import asyncio
import collections
import contextlib
import json
import logging
import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
import zlib

import dask
import distributed
import plumb.dask
from plumb.dask._history import TaskHistory
from plumb.dask._sampler import Sampled
from plumb.dask._settings import settings
from raising import refusal

BLOCK = bytes(range(256)) * 4000
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
    return distributed.get_worker().address


async def awork(seconds):
    await asyncio.sleep(0.01)
    spin(seconds)


class Burdensome:
    """Data that take long to be read."""

    def __reduce__(self):
        return read_slowly, (0.05,)


class Heavy:
    """Data that take long to be written."""

    def __sizeof__(self):
        return 10**9

    def __reduce__(self):
        spin(0.2)
        return Heavy, ()


def read_slowly(seconds):
    spin(seconds)
    return Burdensome()


class Counter:
    def count(self, seconds):
        spin(seconds)
        return True


def nodes(tree):
    waiting = list(tree["children"].values())
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(node["children"].values())


def names(tree):
    """Functions, with the samples that each is on the stack of."""
    found = {}
    for node in nodes(tree):
        name = node["description"]["name"]
        found[name] = found.get(name, 0) + node["count"]
    return found


def until_sampled(client, key, submit, **which):
    """Run tasks until there are enough samples of them, beyond those of before."""
    start = time.time()
    while True:
        submit()
        tree = client.profile(key=key, start=start, **which)
        if tree["count"] >= ENOUGH:
            return tree


def workers_of(client):
    """{address: name}. Client.scheduler_info() may have none of them: it returns what the client asks for in a while by itself, too, and
    that is without them in newer releases."""
    return client.run_on_scheduler(lambda dask_scheduler: {address: str(worker.name) for address, worker in dask_scheduler.workers.items()})


def run_on_all(client, function=work, **options):
    """A task on each worker."""
    workers = list(workers_of(client))
    return client.gather([client.submit(function, 0.1, workers=[worker], pure=False, **options) for worker in workers])


def is_true(tree):
    assert names(tree)["leaf"] >= (1 - MOST_ELSEWHERE) * tree["count"], names(tree)


# Cycles are so short that histories have some in which there was no task, and sums of them; they keep so many that none goes.
def check_what_dask_asks_for_is_what_tasks_did(client):
    assert set(plumb.dask.install(client, interval="5ms", cycle="50ms", cycles=10**6).values()) == {""}
    is_true(until_sampled(client, "work", lambda: run_on_all(client)))
    assert client.profile(key="nothing")["count"] == 0
    server = scheduler = {"count": 0}
    while not server["count"] or not scheduler["count"]:
        run_on_all(client)
        server, scheduler = client.profile(server=True), client.profile(scheduler=True)
    assert "leaf" not in names(server), names(server)  # a task of a thread is never on the event loop


def check_each_worker_answers_for_itself(client):
    workers = set(workers_of(client))
    while True:
        run_on_all(client)
        found = client.profile(merge_workers=False)
        if all(tree["count"] for tree in found.values()):
            break
    assert set(found) == workers
    assert client.profile(start=time.time() + 3600)["count"] == 0


def check_a_worker_whose_plumb_is_older_is_asked_for_trees(client):
    old, new = sorted(workers_of(client))
    before = client.profile(merge_workers=False)
    sends_bytes = client.run(become_older, workers=[old])[old]
    try:
        for _ in range(2):  # the second time it is known
            found = client.profile(merge_workers=False)
            assert all(found[worker]["count"] >= before[worker]["count"] > 0 for worker in (old, new)), found
            both, one_by_one = client.profile()["count"], {worker: tree["count"] for worker, tree in found.items()}
            assert both >= sum(one_by_one.values()), (both, one_by_one)
    finally:
        client.run(become_newer, workers=[old])
    assert sends_bytes


def become_older(dask_worker):
    """What it answers the scheduler is what it answers Dask's clients. Whether it was not."""
    dask_worker._newer, dask_worker.handlers["profile"] = dask_worker.handlers["profile"], dask_worker.get_profile
    return dask_worker._newer != dask_worker.get_profile


def become_newer(dask_worker):
    dask_worker.handlers["profile"] = vars(dask_worker).pop("_newer")


def check_each_sample_is_told_once_whoever_asks_as_well(client):
    """Several ask all the time, each worker in threads of its own, while cycles end: what one has been told is in what it is told next."""
    workers, wrong, over = sorted(workers_of(client)), [], threading.Event()

    def ask(worker):
        before = 0
        while not over.is_set():
            count = client.profile(workers=[worker])["count"]
            if count < before:
                wrong.append((worker, before, count))
            before = count

    askers = [threading.Thread(target=ask, args=(worker,)) for worker in workers * 2]
    for asker in askers:
        asker.start()
    for _ in range(20):
        run_on_all(client)
    over.set()
    for asker in askers:
        asker.join()
    assert not wrong, wrong


def check_coroutines_and_actors_are_told_apart(client):
    is_true(until_sampled(client, "awork", lambda: run_on_all(client, awork)))
    future = client.submit(Counter, actor=True)  # it is kept: in a cluster of threads 2022.12.1 lets go of the actor with it
    counter = future.result()
    prefix = distributed.utils.key_split(counter.key)
    tree = until_sampled(client, "%s.count" % prefix, lambda: counter.count(0.1).result())
    is_true(tree)
    assert not {"actor_execute", "run_in_executor"} & set(names(tree)), names(tree)  # what the event loop does for it is no part of it
    counts = client.run_on_scheduler(metadata)
    assert {"work", "awork"} <= set(counts["keys"]) and sum(n for _, n in counts["counts"]) >= 3 * ENOUGH


async def metadata(dask_scheduler):
    return await dask_scheduler.get_profile_metadata()


def check_nannies_have_their_workers_sampled(client):
    """By their preload."""
    assert set(client.run(why_not).values()) == {""}


def why_not(dask_worker):
    return getattr(dask_worker.plugins.get("plumb"), "why_not", "not there")


def check_workers_that_come_later_are_sampled(client):
    before = set(workers_of(client))
    client.cluster.scale(2)
    is_true(until_others_are_sampled(client, before))


def until_others_are_sampled(client, before):
    """Run tasks until there are enough samples of them on a worker that was not there. It may go again before it has run one."""
    while True:
        run_on_all(client, allow_other_workers=True)
        found = client.profile(key="work", merge_workers=False)
        for worker, tree in found.items():
            if worker not in before and tree["count"] >= ENOUGH:
                return tree


def state(dask_worker):
    changed = {"get_profile", "get_profile_metadata", "execute", "gather_dep"} & set(vars(dask_worker))
    own = {name: dask_worker.handlers[name].__module__ for name in ("profile", "profile_metadata", "actor_execute", "get_data")}
    own["sums"] = distributed.profile.get_profile.__qualname__
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
    workers = set(workers_of(client).values())
    wanted = {"[task=%s, worker=%s]" % (task, worker) for worker in workers for task in ("work", "awork")}
    p = until_recorded(client, wanted, lambda: [run_on_all(client), run_on_all(client, awork)])
    assert "leaf" in names(p.tree())
    assert not any("plumb" in name for plugins in client.run(lambda dask_worker: list(dask_worker.plugins)).values() for name in plugins)
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, "%d.plumb" % number) for number in range(20)]
        for path in paths:
            with plumb.profile() as one:
                leaf()
            one.save(path)
        on_cluster, here = plumb.dask.merge(paths, client), plumb.merge(*paths)
        assert on_cluster.tree() == here.tree() and on_cluster.info()["samples"] == here.info()["samples"]


def check_what_is_missing_of_files_is_told(client):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "some.folded")
        with open(path, "w") as file:
            file.write("a;b 5\na;c -7\n")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            plumb.dask.merge([path], client)
    told = [str(one.message) for one in caught if one.category is RuntimeWarning and path in str(one.message)]
    assert len(told) == 1 and "held no sample" in told[0], told


def check_a_recording_that_is_interrupted_leaves_nothing(client):
    ask = client.run_on_scheduler

    def interrupted(function, *args):
        told = ask(function, *args)
        if function.__name__ == "_begun":
            raise KeyboardInterrupt
        return told

    client.run_on_scheduler = interrupted
    try:
        refusal(KeyboardInterrupt, plumb.dask.profile(client).__enter__)
    finally:
        del client.run_on_scheduler
    assert left_of_recordings(client) == []


def left_of_recordings(client):
    """On the scheduler and the workers."""
    plugins = client.run(lambda dask_worker: list(dask_worker.plugins))
    plugins["scheduler"] = client.run_on_scheduler(lambda dask_scheduler: [*dask_scheduler.plugins, *dask_scheduler.worker_plugins])
    held = [*client.run(recordings).values(), client.run_on_scheduler(recordings)]
    return [name for one in plugins.values() for name in one if name.startswith("plumb-recording")] + [one for some in held for one in some]


def recordings():
    return [type(recording).__name__ for recording in plumb.dask._recording._recordings.all()]


def until_recorded(client, wanted, submit, **options):
    """Record until there are samples with these labels."""
    while True:
        with plumb.dask.profile(client, **options) as p:
            refusal(RuntimeError, p.text)
            submit()
        assert p.lost == {}
        if wanted <= {node["description"]["name"] for node in p.tree()["children"].values()}:
            return p


def check_labels_tell_what_is_wanted(client):
    names_of = workers_of(client)
    first, second = sorted(names_of)

    def annotated():
        with dask.annotate(project="x"):
            part = client.submit(work, 0.1, key=("part-1", 0), workers=[first])
        part.result()

    label = "[group=part-1, project=x, task=part, worker=%s]" % names_of[first]
    until_recorded(client, {label}, annotated, labels=["group", "annotations"], scheduler=False)

    def transferred():
        data = client.submit(Burdensome, workers=[first], pure=False)
        client.submit(type, data, workers=[second], pure=False).result()

    until_recorded(client, {"[doing=transfer, worker=%s]" % names_of[second]}, transferred, scheduler=False)


def squeeze(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        zlib.compress(BLOCK)
        time.sleep(0.002)
    return distributed.get_worker().address


def check_frames_of_machine_code_and_of_the_kernel_are_those_of_tasks(client):
    """They are recorded from outside, where labels are seen, too."""
    wanted = {"[task=squeeze, worker=%s]" % name for name in workers_of(client).values()}
    native, kernel = set(), set()
    while not wanted <= native & kernel:
        with plumb.dask.profile(client, native=True, kernel=True, scheduler=False) as p:
            run_on_all(client, squeeze)
        assert p.lost == {}
        native |= {task["description"]["name"] for task in p.tree()["children"].values() if any(map(is_native, nodes(task)))}
        kernel |= {task["description"]["name"] for task in p.tree()["children"].values() if any(map(is_kernels, nodes(task)))}


def wait_in_line(seconds):
    """For a lock that another thread has."""
    lock, held = threading.Lock(), threading.Event()

    def keep():
        with lock:
            held.set()
            spin(seconds)

    other = threading.Thread(target=keep)
    other.start()
    held.wait()
    with lock:
        other.join()


def check_who_held_the_gil_and_locks_is_told_by_worker(client):
    """Several threads of a process compute, so that one of them waits now and then."""
    of_gil, of_locks = set(), set()
    while not of_gil or "keep" not in of_locks:
        with plumb.dask.profile(client, scheduler=False) as p:
            run_on_all(client, wait_in_line)
        assert {*p.gil_blame, *p.lock_blame} <= set(workers_of(client))
        of_gil |= {holder["name"] for blame in p.gil_blame.values() for holder in blame["holders"]}
        locks = [lock for blame in p.lock_blame.values() for lock in blame["locks"]]
        of_locks |= {place["name"].split(".")[-1] for lock in locks for place in lock["held_in"]}


def check_pages_may_have_such_frames(client):
    """Also when the program that samples was killed."""
    assert set(plumb.dask.install(client, interval="5ms", cycle="100ms", native=True, kernel=True).values()) == {""}
    native = kernel = 0
    for kill in (True, False):
        start = time.time()
        while not native or not kernel or not client.profile(key="squeeze", start=start)["count"]:
            run_on_all(client, squeeze)
            found = list(nodes(client.profile(key="squeeze")))
            native, kernel = native + sum(map(is_native, found)), kernel + sum(map(is_kernels, found))
        if kill:
            (sampler,) = plumb.dask._sampler._samplers.all()
            os.kill(sampler._publisher._session._growing.session._process.pid, signal.SIGKILL)
    plumb.dask.uninstall(client)


def is_native(node):
    """Of a library, or of the interpreter itself."""
    name = node["description"]["filename"]
    return name.startswith("/") and not name.endswith(".py")


def is_kernels(node):
    return node["description"]["filename"] == "[kernel]"


def check_what_is_spilled_is_told():
    """Dask spills what is kept when a process has more memory than it may, which it always has here."""
    memory = {"target": False, "spill": 1e-6, "pause": False, "terminate": False, "monitor-interval": "20ms"}
    with dask.config.set({"distributed.worker.memory.%s" % name: value for name, value in memory.items()}):
        with cluster(False, n_workers=1, memory_limit="1 TB") as client:
            kept = []

            def spilled():
                kept.append(client.submit(Heavy, pure=False))
                while any(client.run(spills).values()):
                    pass

            until_recorded(client, {"[doing=spill, worker=0]"}, spilled, scheduler=False)


def spills(dask_worker):
    """Whether there is something to spill yet."""
    return len(dask_worker.data.fast) > 0


def check_sums_are_those_of_each_cycle():
    """A history adds up any part of itself, of all tasks or of one, as one cycle after the other would."""
    draw = random.Random(7)
    tree, cycles, history = own_samples(), [], TaskHistory(40)
    for end in range(100):
        counted = {task: tree for task in ("often", "seldom") if draw.random() < (0.9 if task == "often" else 0.1)}
        history.append(float(end), counted)
        cycles = [*cycles, (float(end), counted)][-40:]
        start, stop = (draw.choice([None, 55.5, draw.uniform(0, 100)]) for _ in range(2))
        for task in (None, "often", "seldom", "never"):
            each = [(at, plumb.profile.merge(*(t for name, t in found.items() if task in (None, name)))) for at, found in cycles]
            told, recent = history.profile({"often": tree}, start, stop, task), tree if task in (None, "often") else None
            assert told == plumb.profile.get_profile(each, recent, start, stop), (end, start, stop, task)


def check_what_one_asker_fetches_is_in_the_answers_of_others():
    """A cycle that has ended is on its way into the histories of two workers, and waits for who reads the first one."""
    given = settings(interval="5ms", cycle="1h")
    first, second = Sampled("first", given), Sampled("second", given)
    ended, found = collections.deque([(time.time(), {("second", "work"): own_samples()})]), []
    count = ended[0][1]["second", "work"]["count"]
    fetch = threading.Thread(target=first._sampler._take, args=(ended,))
    ask = threading.Thread(target=lambda: found.append(second.with_recent(lambda recent: second.history.profile(recent, None, None, None))))
    with first.history._lock:
        fetch.start()
        while ended:
            pass
        ask.start()
        while ask.is_alive() and not is_in(ask, "with_recent"):
            pass
    for thread in (fetch, ask):
        thread.join()
    for sampled in (first, second):
        sampled.stop()
    assert found[0]["count"] == count, (found[0]["count"], count)


def is_in(thread, name):
    frame = sys._current_frames().get(thread.ident)
    return frame is not None and frame.f_code.co_name == name


def check_tasks_can_record_themselves(client):
    assert "leaf" in names(client.submit(own_samples, pure=False).result())


def own_samples():
    while True:
        with plumb.profile() as p:
            spin(0.05)
        if "leaf" in names(p.tree()):
            return p.tree()


def check_wrong_calls_are_told(client):
    assert "host" in refusal(ValueError, lambda: plumb.dask.profile(client, labels=["colour"]))
    assert "interval" in refusal(ValueError, lambda: plumb.dask.Plugin(interval="quick"))
    assert "engine" in refusal(TypeError, lambda: plumb.dask.profile(client, engine="gil"))
    assert "intervall" in refusal(TypeError, lambda: plumb.dask.profile(client, intervall=3))
    assert "at least one" in refusal(TypeError, lambda: plumb.dask.merge([], client))
    for call in (plumb.dask.install, plumb.dask.uninstall, plumb.dask.profile):
        assert refusal(TypeError, call, None) == "client is a distributed.Client, not None", call
        assert refusal(TypeError, call, "tcp://x:8786") == "client is a distributed.Client, not 'tcp://x:8786'", call
    assert refusal(TypeError, plumb.dask.merge, ["x"], 3) == "client is a distributed.Client, not 3"
    asyncio.run(wrong_calls_of_an_asynchronous_client(client))


async def wrong_calls_of_an_asynchronous_client(other):
    async with distributed.Client(other.scheduler.address, security=other.security, asynchronous=True) as client:
        for call in (plumb.dask.install, plumb.dask.uninstall, plumb.dask.profile, lambda client: plumb.dask.merge(["x"], client)):
            assert refusal(TypeError, call, client).startswith("client is one that is not asynchronous: "), call


# Which plumb a process finds: "none", a folder with another one, or "" for ours.
TAKES = """
import asyncio, pickle, sys
class Worker: pass
for place, sent in pickle.load(sys.stdin.buffer):
    sys.modules.pop("plumb", None)
    if place == "none":
        sys.modules["plumb"] = None
    elif place:
        sys.path.insert(0, place)
    worker, plugin = Worker(), pickle.loads(sent)
    worker.handlers = {}
    plugin.setup(worker)
    print(plugin.why_not, *(asyncio.run(answer())["why_not"] for answer in worker.handlers.values()))
"""


def taken(*given, **environment):
    """What a process says that takes plug-ins."""
    sent = pickle.dumps([(place, distributed.protocol.pickle.dumps(plugin)) for place, plugin in given])
    done = subprocess.run([sys.executable, "-c", TAKES], input=sent, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
                          env={**os.environ, **environment})  # fmt: skip
    return done.stdout.decode().splitlines()


def check_a_process_that_cannot_sample_says_so_and_goes_on():
    plugin, recorder = plumb.dask.WorkerPlugin(interval="5ms"), plumb.dask._recording._Recorder(name="r", labels=(), options={})
    with tempfile.TemporaryDirectory() as other:
        os.mkdir(os.path.join(other, "plumb"))
        with open(os.path.join(other, "plumb", "__init__.py"), "w") as file:
            file.write("__version__ = '0.0.1'")
        for told in taken(("none", plugin), ("none", recorder), (other, recorder)):
            assert told.count("has no plumb of this kind: install plumb-profiler there") == 2, told
    (told,) = taken(("", plugin), DASK_DISTRIBUTED__PLUMB__MAX_NODES="many")
    assert "max_nodes" in told, told
    assert isinstance(pickle.loads(distributed.protocol.pickle.dumps(plugin)), plumb.dask.WorkerPlugin)


@contextlib.contextmanager
def cluster(processes, **given):
    options = {"n_workers": 1 if processes else 2, "threads_per_worker": 1, "processes": processes, "dashboard_address": None}
    if processes:
        options["preload_nanny"] = ["plumb.dask"]
    options.update(given)
    with distributed.LocalCluster(silence_logs=logging.ERROR, **options) as made, distributed.Client(made) as client:
        yield client


def in_threads(client):
    before = next(iter(client.run(state).values()))
    return [
        check_what_dask_asks_for_is_what_tasks_did,
        check_each_worker_answers_for_itself,
        check_a_worker_whose_plumb_is_older_is_asked_for_trees,
        check_each_sample_is_told_once_whoever_asks_as_well,
        check_coroutines_and_actors_are_told_apart,
        lambda client: check_nothing_is_left_of_it(client, before),
        check_a_recording_is_of_the_whole_cluster,
        check_labels_tell_what_is_wanted,
        check_frames_of_machine_code_and_of_the_kernel_are_those_of_tasks,
        check_pages_may_have_such_frames,
        check_who_held_the_gil_and_locks_is_told_by_worker,
        check_a_recording_that_is_interrupted_leaves_nothing,
        check_tasks_can_record_themselves,
        check_wrong_calls_are_told,
        lambda client: check_what_is_spilled_is_told(),
        lambda client: check_sums_are_those_of_each_cycle(),
        lambda client: check_what_one_asker_fetches_is_in_the_answers_of_others(),
    ]


def in_processes(client):
    return [
        check_nannies_have_their_workers_sampled,
        check_what_dask_asks_for_is_what_tasks_did,
        check_workers_that_come_later_are_sampled,
        lambda client: check_a_process_that_cannot_sample_says_so_and_goes_on(),
    ]


def main(processes):
    with cluster(processes) as client:
        checks = (in_processes if processes else in_threads)(client)
        for check in checks:
            check(client)
    print(json.dumps({"checks": len(checks), "version": distributed.__version__}))


if __name__ == "__main__":
    warnings.simplefilter("ignore", DeprecationWarning)
    main(sys.argv[1] == "processes")
