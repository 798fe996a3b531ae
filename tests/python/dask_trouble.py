# SPDX-License-Identifier: Apache-2.0
"""plumb.dask on a real cluster to which something happens, by an interpreter that finds distributed and plumb.

    dask_trouble.py all|most

`most` is without what can hardly differ from one release to another."""
import asyncio
import concurrent.futures
import contextlib
import json
import logging
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import warnings

import dask
import distributed
import plumb.dask
from dask_cluster import ENOUGH, cluster, is_true, left_of_recordings, run_on_all, until_others_are_sampled, until_sampled, work
from raising import refusal

NAP = 0.3  # between two looks at something that comes by itself
READERS, MANY = 10, 20
FOREVER = 3600  # seconds for which a client looks for its scheduler
SILENT = "3s"  # after which a worker is not waited for, where one hangs


def until(condition):
    while not condition():
        time.sleep(NAP)


def addresses(client):
    return set(client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.workers)))


def pid_of(client, worker):
    return client.run(os.getpid, workers=[worker])[worker]


def recorded(client):
    """As cheaply as it shows what is asked: each worker is a process, and they share the machine with other tests."""
    return plumb.dask.profile(client, interval=0.02)


def install(client):
    return plumb.dask.install(client, interval="20ms", cycle="200ms")


def check_ten_readers_at_once_see_what_tasks_did(client):
    is_true(until_sampled(client, "work", lambda: run_on_all(client)))
    with concurrent.futures.ThreadPoolExecutor(READERS) as readers:
        for tree in readers.map(lambda _: client.profile(key="work"), range(READERS)):
            assert tree["count"] >= ENOUGH
            is_true(tree)


def check_a_worker_that_is_killed_is_named_and_the_next_one_is_sampled(client):
    before = addresses(client)
    killed = min(before)
    with recorded(client) as p:
        os.kill(pid_of(client, killed), signal.SIGKILL)
        until(lambda: killed not in addresses(client) and len(addresses(client)) == len(before))
        run_on_all(client)
    assert list(p.lost) == [killed], p.lost
    assert p.info()["samples"] > 0
    is_true(until_others_are_sampled(client, before))


def check_workers_that_restart_are_sampled_and_recorded(client):
    before = addresses(client)
    with recorded(client) as p:
        # Dask gives up a process that does not end within five seconds, which is long, and not on every machine.
        with contextlib.suppress(TimeoutError, asyncio.TimeoutError):
            client.restart()
        until(lambda: addresses(client) - before)
        came = addresses(client) - before
        run_on_all(client)
    assert not set(p.lost) & came, (p.lost, came)
    is_true(until_others_are_sampled(client, before))


def check_one_that_hangs_is_left_out(client):
    hangs = min(addresses(client))
    pid = pid_of(client, hangs)
    with dask.config.set({"distributed.comm.timeouts.connect": SILENT}):
        with recorded(client) as p:
            os.kill(pid, signal.SIGSTOP)
        try:
            # We wait for a sign of life, Dask as long for a connection, where it makes a new one: whoever gives up first says so.
            assert any(said in p.lost[hangs] for said in ("does not answer", "Timed out trying to connect")), p.lost
            assert hangs not in client.profile(merge_workers=False)
        finally:
            os.kill(pid, signal.SIGCONT)
    until(lambda: left_of_recordings(client) == [])
    until(lambda: hangs in client.profile(merge_workers=False))


DIES = """
import os, sys, distributed, plumb.dask
with distributed.Client(sys.argv[1], security=distributed.Security(**eval(sys.argv[2]))) as client:
    with plumb.dask.profile(client):
        os.kill(os.getpid(), 9)
"""


def check_a_recording_ends_with_its_client(client, tls):
    ended = subprocess.run([sys.executable, "-c", DIES, client.scheduler.address, repr(tls)])
    assert ended.returncode == -signal.SIGKILL
    until(lambda: left_of_recordings(client) == [])


def check_a_scheduler_may_die_and_come_back():
    """Processes of their own, which end with this one. Dask's workers end when their scheduler has gone."""
    port = free_port()
    with contextlib.ExitStack() as processes:
        scheduler = processes.enter_context(dasks("scheduler", "--port", str(port), "--preload", "plumb.dask"))
        worker = processes.enter_context(dasks("worker", "tcp://127.0.0.1:%d" % port, "--no-nanny", "--nthreads", "1"))
        with distributed.Client("tcp://127.0.0.1:%d" % port, timeout=FOREVER) as client:
            client.wait_for_workers(1)
            before = addresses(client)
            is_true(until_sampled(client, "work", lambda: run_on_all(client)))
            recording = recorded(client)
            recording.__enter__()
            scheduler.kill()
            scheduler.wait()
            worker.wait()
            processes.enter_context(dasks("scheduler", "--port", str(port), "--preload", "plumb.dask"))
            processes.enter_context(dasks("worker", "tcp://127.0.0.1:%d" % port, "--no-nanny", "--nthreads", "1"))
            assert "has ended before" in refusal(plumb.Error, lambda: recording.__exit__(None, None, None))
            until(lambda: client.status == "running" and addresses(client) - before)
            is_true(until_others_are_sampled(client, before))
            assert left_of_recordings(client) == []
            with recorded(client) as p:
                run_on_all(client)
            assert p.lost == {} and p.info()["samples"] > 0


@contextlib.contextmanager
def dasks(program, *arguments):
    """It is killed with us, too, if we are."""
    main = "import ctypes, sys; ctypes.CDLL(None).prctl(1, 9); from distributed.cli.dask_%s import main; main()" % program
    options = ["--host", "127.0.0.1", "--no-dashboard"]
    process = subprocess.Popen(
        [sys.executable, "-c", main, *arguments, *options], env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def free_port():
    """Which nobody gets who does not ask for it by number."""
    with open("/proc/sys/net/ipv4/ip_local_port_range") as file:
        first = int(file.read().split()[0])
    while True:
        port = random.randrange(first - first // 4, first)
        with socket.socket() as taken, contextlib.suppress(OSError):
            taken.bind(("127.0.0.1", port))
            return port


def check_there_may_be_many_workers():
    with cluster(False, n_workers=MANY) as client:
        assert list(install(client).values()) == [""] * MANY
        with recorded(client) as p:
            until_sampled(client, "work", lambda: client.gather([client.submit(work, 0.03, workers=[one], pure=False) for one in addresses(client)]))
        assert p.lost == {} and p.info()["samples"] > 0
        found = client.profile(merge_workers=False)
        assert set(found) == addresses(client) and len(found) == MANY
        plumb.dask.uninstall(client)


def certificate(folder):
    """Whose key is in the same file: of a test, and for nothing else."""
    path = os.path.join(folder, "both.pem")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-keyout", path, "-out", path + ".cert"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    names = ["tls_%s_%s" % (who, what) for who in ("worker", "scheduler", "client") for what in ("cert", "key")]
    return {"tls_ca_file": path + ".cert", **{name: path + (".cert" if name.endswith("cert") else "") for name in names}}


def main(all_of_them):
    # One process is there for all workers, which are forked from it.
    dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
    if all_of_them:
        check_there_may_be_many_workers()
        check_a_scheduler_may_die_and_come_back()
    with tempfile.TemporaryDirectory() as folder:
        tls = certificate(folder) if shutil.which("openssl") else {}
        options = {"security": distributed.Security(**tls, require_encryption=True), "protocol": "tls://"} if tls else {}
        with cluster(True, n_workers=2, preload_nanny=[], **options) as client:
            assert client.scheduler.address.startswith("tls://" if tls else "tcp://")
            assert set(install(client).values()) == {""}
            if all_of_them:
                check_ten_readers_at_once_see_what_tasks_did(client)
            done = 0
            for check in (
                check_a_worker_that_is_killed_is_named_and_the_next_one_is_sampled,
                check_workers_that_restart_are_sampled_and_recorded,
                check_one_that_hangs_is_left_out,
                lambda client: check_a_recording_ends_with_its_client(client, tls),
            ):
                check(client)
                done += 1
    print(json.dumps({"checks": done, "version": distributed.__version__}))


if __name__ == "__main__":
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    warnings.simplefilter("ignore")
    main(sys.argv[1] == "all")
