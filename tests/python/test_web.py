# SPDX-License-Identifier: Apache-2.0
"""plumb.web: middleware and control without a server on every interpreter, and real applications on real sockets."""
import contextlib
import http.client
import json
import os
import pathlib
import socket
import subprocess
import sys
import threading

import pytest

from harness import package
from harness.interpreters import cache
from harness.statistics import assert_at_most
from harness.target import wait_until

TOKEN = "the token of this test"


@pytest.mark.once
@pytest.mark.parametrize("script, least", [("web_checks.py", 21), ("web_control_checks.py", 15), ("web_page_checks.py", 5)])
def test_requests_are_tagged_and_a_profiler_is_controlled(some, script, least):
    told = json.loads(package.run(some, script, options=["-X", "dev", "-W", "error"]))
    assert len(told["checks"]) >= least


@pytest.mark.once
def test_a_million_requests_take_no_more_memory_than_a_thousand(one):
    package.run(one, "web_checks.py", 10**6)


@pytest.mark.parametrize("packages", ["flask-2", "flask-3", "asgi", "django"])
def test_a_real_application_under_load_is_profiled_by_route(one, packages, table):
    """Flask and Django in servers with threads; Starlette in uvicorn, where requests overlap in one thread."""
    if not (cache() / packages).is_dir():
        pytest.skip("there is no %s: ./dev setup takes it from the package index" % packages)
    told = json.loads(package.run(one, "web_apps.py", packages.partition("-")[0], other=cache() / packages))
    tagged, untagged = sum(told["samples"].values()), told["untagged"]
    assert_at_most(package.UNTAGGED, untagged, tagged + untagged, "samples of a route without its tag")
    table(packages, str(one), "%d requests, samples %s" % (told["requests"], told["samples"]), title="plumb.web")


@contextlib.contextmanager
def gunicorn(application, workers):
    """The pid of its master, and the port it listens on. The application is loaded before it forks."""
    program = pathlib.Path(sys.executable).parent / "gunicorn"
    if not program.exists():
        pytest.skip("gunicorn is not installed in the tests' environment")
    listener = socket.create_server(("127.0.0.1", 0))
    os.set_inheritable(listener.fileno(), True)
    bind = "fd://%d" % listener.fileno()
    command = [program, "--preload", "--workers", str(workers), "--log-level", "critical", "--bind", bind, application]
    path = os.pathsep.join([str(package.built()), str(package.SCRIPTS)])
    environment = dict(os.environ, PYTHONPATH=path, PYTHONDONTWRITEBYTECODE="1", PLUMB_TEST_TOKEN=TOKEN)
    with subprocess.Popen(command, env=environment, pass_fds=[listener.fileno()]) as server:
        try:
            yield server.pid, listener.getsockname()[1]
        finally:
            server.terminate()
            listener.close()


def asked(port, method, path):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    with contextlib.closing(connection):
        connection.request(method, path, headers={"Authorization": "Bearer " + TOKEN})
        response = connection.getresponse()
        return response.status, response.read()


def test_each_worker_of_a_server_that_forks_has_a_profile(plumb):
    """That one worker answers and not another is the kernel's choice: it is asked until all have."""
    if not list((package.built() / "plumb").glob("_plumb*.so")):
        pytest.skip("the package was not built: there are no headers of a Python")
    states, recordings = {}, {}

    def all_workers(state):
        status, told = asked(port, "GET", "/plumb/status")
        assert status == 200, told
        states[json.loads(told)["pid"]] = json.loads(told)["state"]
        if state == "running" and "forked" in states.values():
            asked(port, "POST", "/plumb/start")
        return len(states) == 2 and set(states.values()) == {state}

    def recorded():
        assert asked(port, "GET", "/")[0] == 200
        recording = plumb.path()
        status, told = asked(port, "GET", "/plumb/recording")
        assert status == 200, told
        recording.write_bytes(told)
        profile = plumb.report(recording)
        if any(stack.has("work_for_a_request") for stack in profile.stacks):
            recordings[profile.json["processes"][0]["pid"]] = recording
        return len(recordings) == 2

    with gunicorn("prefork:application", workers=2) as (_, port):
        wait_until(lambda: all_workers("forked"), "not all workers say that they were forked")
        wait_until(lambda: all_workers("running"), "not all workers have begun anew")
        wait_until(recorded, "not all workers were at work")
    assert set(recordings) == set(states)
    whole = plumb.path()
    merged = plumb("merge", *recordings.values(), "-o", whole)
    assert merged.status == 0, merged
    assert {process["pid"] for process in plumb.report(whole).json["processes"]} == set(states)


def test_all_workers_of_a_server_are_one_recording_from_outside(plumb):
    """As docs/user/web.md has it: plumb attach --subprocesses on the master. Frames of the middleware are left out there, too."""
    if not list((package.built() / "plumb").glob("_plumb*.so")):
        pytest.skip("the package was not built: there are no headers of a Python")
    over, recording = threading.Event(), plumb.path()

    def load():
        while not over.is_set():
            with contextlib.suppress(OSError):  # it has not begun yet
                asked(port, "GET", "/")

    def at_work(profile):
        """The processes that were seen working."""
        return {stack.thread["pid"] for stack in profile.stacks if stack.has("work_for_a_request")}

    with gunicorn("prefork:application", workers=2) as (master, port):
        clients = [threading.Thread(target=load) for _ in range(4)]
        for client in clients:
            client.start()
        try:
            with plumb.attached(master, "--subprocesses", recording=recording):
                wait_until(lambda: plumb.recorded(recording, lambda profile: len(at_work(profile)) == 2), "not both workers were seen")
        finally:
            over.set()
            for client in clients:
                client.join()
    profile = plumb.report(recording)
    assert len(at_work(profile)) == 2 and {process["parent"] for process in profile.json["processes"]} > {master}
    assert ("__call__", "_wsgi.py") not in {(f["name"], os.path.basename(f["file"])) for f in profile.json["functions"]}
