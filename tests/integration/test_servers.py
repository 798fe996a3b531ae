# SPDX-License-Identifier: Apache-2.0
"""A real server under a real load: it answers as fast with plumb as without."""
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys

import pytest

from harness.interpreters import TARGETS
from harness.plumb import PATIENCE
from harness.statistics import in_turn, judged, undecided
from harness.target import children_of, wait_until

pytestmark = pytest.mark.alone

LIMIT = 1.5
PAUSES = pathlib.Path(__file__).resolve().parents[1] / "harness" / "pauses.lua"
UNITS_MS = {"us": 1e-3, "ms": 1, "s": 1e3}


@pytest.fixture
def gunicorn(tmp_path):
    """(its first process, the port it listens on): two workers."""
    program = pathlib.Path(sys.executable).parent / "gunicorn"
    if not program.exists():
        pytest.skip("gunicorn is not installed in the tests' environment")
    listener = socket.create_server(("127.0.0.1", 0))
    os.set_inheritable(listener.fileno(), True)
    command = [program, "--workers", "2", "--log-level", "critical", "--bind", "fd://%d" % listener.fileno(), "wsgi:application"]
    with subprocess.Popen(command, cwd=tmp_path, env=dict(os.environ, PYTHONPATH=str(TARGETS), PYTHONDONTWRITEBYTECODE="1"),
                          pass_fds=[listener.fileno()]) as server:
        try:
            wait_until(lambda: len(children_of(server.pid)) == 2, "no workers come up")
            yield server, listener.getsockname()[1]
        finally:
            server.terminate()
            listener.close()


def idle_s():
    """The processor time that nobody used since the machine came up."""
    with open("/proc/stat") as f:
        return int(f.readline().split()[4]) / os.sysconf("SC_CLK_TCK")


def p99_ms(wrk, port, seconds):
    """The time that 99 of 100 requests stay below: by wrk, over eight connections that rest between requests. None if there was
    not half a processor left: then any other program is in a server's way."""
    idle = idle_s()
    done = subprocess.run([wrk, "-t", "1", "-c", "8", "-d", "%ds" % seconds, "--latency", "-s", PAUSES, "http://127.0.0.1:%d/" % port],
                          capture_output=True, text=True, timeout=seconds + PATIENCE)
    assert done.returncode == 0 and "Non-2xx" not in done.stdout and "Socket errors" not in done.stdout, done
    value, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", done.stdout).groups()
    return float(value) * UNITS_MS[unit] if idle_s() - idle > 0.5 * seconds else None


def workers_seen(profile):
    return {stack.thread["pid"] for stack in profile.stacks if stack.has("application", "total")}


@pytest.mark.slow
def test_a_server_under_load_answers_as_fast_as_ever(plumb, gunicorn, table, effort):
    """The 99th percentile at 1 kHz and alone, in turn. The load leaves processor time, as one that a server is meant for does."""
    wrk = shutil.which("wrk")
    if not wrk:
        pytest.skip("wrk is not installed")
    server, port = gunicorn
    seconds = effort(1, 5)
    with subprocess.Popen([wrk, "-t", "1", "-c", "8", "-d", "%ds" % PATIENCE, "http://127.0.0.1:%d/" % port], stdout=subprocess.DEVNULL) as load:
        plumb.sampled(lambda profile: len(workers_seen(profile)) == 2, server.pid, "--subprocesses")
        load.terminate()
    pairs = in_turn(lambda: p99_ms(wrk, port, seconds), lambda: plumb.attached(server.pid, "--subprocesses", "-r", "1000"))
    found = judged(LIMIT, pairs, most=effort(40, 100), seconds=effort(60, 1200))
    table("gunicorn", "p99 at 1 kHz", str(found), title="time with plumb / alone")
    assert not found.slower, found
    if found.open:
        undecided(found)
