# SPDX-License-Identifier: Apache-2.0
"""Several processes that have nothing to do with each other, in one recording."""
import contextlib
import os
import shlex
import signal
import subprocess
import sys

import pytest

from harness.compiled import shared_library
from harness.plumb import finish, running
from harness.target import children_of, wait_asleep, wait_until
from test_by_name import app, words  # noqa: F401 (a fixture)


def samples_of(profile):
    return {p["pid"]: p["samples"] for p in profile.json["processes"]}


def wait_sampled(plumb, recording, pids):
    """Until the recording has samples of each."""
    wait_until(lambda: plumb.recorded(recording, lambda profile: all(samples_of(profile).get(pid) for pid in pids)), "not all are sampled")


def never_used():
    """The number of a process that has ended, and was collected."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@contextlib.contextmanager
def no_python():
    with subprocess.Popen(["sleep", "1000"]) as process:
        try:
            yield process.pid
        finally:
            process.kill()


@pytest.mark.smoke
def test_three_are_in_one_recording_until_all_have_ended(plumb, target, any_python):
    """The first one that is named ends first; they are told in the order in which they were named."""
    recording = plumb.path()
    with target(any_python, "calls.py") as third, target(any_python, "calls.py") as second:
        with target(any_python, "calls.py") as first:
            pids = [first.pid, second.pid, third.pid]
            process = plumb.start("attach", "-o", recording, *pids, stderr=subprocess.PIPE)
            with running(process):
                wait_sampled(plumb, recording, pids)
                first.stop()
                first.process.wait()
                before = plumb.report(recording).json["processes"][1]["samples"]
                wait_until(lambda: plumb.report(recording).json["processes"][1]["samples"] > before, "it ended with the first one")
                for other in (second, third):
                    other.stop()
                result = finish(process)
    assert result.status == 0 and "3 processes" in result.stderr, result
    profile = plumb.report(recording)
    assert [p["pid"] for p in profile.json["processes"]] == pids
    ends = [p["ended_ns"] for p in profile.json["processes"]]
    assert all(ends) and ends[0] < ends[1] and ends[0] < ends[2], ends
    named = {name for p in profile.json["processes"] for name in [p["name"]]}
    assert named == {"calls.py"}


def test_who_cannot_be_sampled_is_told_and_left_out(plumb, target, any_python):
    """One that does not exist, one that is no Python, one that is named twice; the recording is named after the first that is sampled."""
    with target(any_python, "calls.py") as one, target(any_python, "calls.py") as other, no_python() as sleeps:
        gone = never_used()
        result = plumb("attach", "-d", "0.3", gone, sleeps, one.pid, one.pid, other.pid)
        [recording] = plumb.directory.glob("*.plumb")
        assert result.status == 0, result
        assert "there is no process with pid %d" % gone in result.stderr and "pid %d runs" % sleeps in result.stderr, result
        assert "note: 2 of those that were named could not be sampled; see above" in result.stderr, result
        assert [p["pid"] for p in plumb.report(recording).json["processes"]] == [one.pid, other.pid]
        assert recording.name == "plumb.calls.py.%d.plumb" % one.pid


@pytest.mark.parametrize("order", [1, -1])
def test_if_none_can_be_sampled_each_is_told_and_nothing_is_recorded(plumb, order):
    with no_python() as sleeps:
        gone = never_used()
        result = plumb("attach", *[gone, sleeps][::order])
    assert result.status == 125 and not list(plumb.directory.glob("*.plumb")), result
    assert result.stderr.count("there is no process with pid %d" % gone) == 1 and result.stderr.count("pid %d runs" % sleeps) == 1, result


def test_all_of_a_name(plumb, target, any_python, app):  # noqa: F811
    with contextlib.ExitStack() as stack:
        pids = [stack.enter_context(app.start(target, any_python)).pid for _ in range(3)]
        recording = plumb.path()
        result = plumb("attach", "--name", app.script, "-d", "0.3", "-o", recording)
        assert result.status == 0, result
        assert [p["pid"] for p in plumb.report(recording).json["processes"]] == pids, "the oldest first"
        top = plumb("top", "--name", app.script, "--plain", "-d", "1.5")
        assert top.status == 0 and "3 threads" in top.stdout, top
        listed = plumb("attach", app.script)
        assert words("plumb attach %d %d %d for all of them" % tuple(pids)) in words(listed.stderr), listed


def test_nobody_of_that_name(plumb):
    result = plumb("attach", "--name", "nobody-is-called-that")
    assert result.status == 125 and "no process is called 'nobody-is-called-that'" in result.stderr, result


HINTED = 8


def test_what_they_have_started_is_looked_for_of_the_first_few(plumb, target, any_python):
    """For each all processes there are are gone through: many that are no Python would keep plumb from the one that is."""
    script = 'while :; do %s -c "input()"; done' % shlex.join(any_python.command)
    with contextlib.ExitStack() as stack:
        shells = []
        for _ in range(HINTED + 2):
            shells.append(stack.enter_context(subprocess.Popen(["sh", "-c", script], stdin=subprocess.PIPE, start_new_session=True)))
            stack.callback(os.killpg, shells[-1].pid, signal.SIGKILL)
        for shell in shells:
            wait_until(lambda shell=shell: [wait_asleep(child) or child for child in children_of(shell.pid)], "it starts no Python")
        one = stack.enter_context(target(any_python, "calls.py"))
        pids = [*[shell.pid for shell in shells], one.pid]
        sampled, dumped = plumb("attach", "-d", "0.3", *pids), plumb("dump", "--timeout", "60", *pids)
    assert sampled.status == 0 and dumped.status == 1, (sampled, dumped)
    for result in (sampled, dumped):
        assert result.stderr.count("not Python") == len(shells), result
        assert result.stderr.count("hint: it has started one") == HINTED, result


STALLS = """
#include <unistd.h>
__attribute__((constructor)) static void stall(void) { for (;;) pause(); }
"""
STALLED = 4
WAITS = 400  # for all that are asked for


@pytest.fixture
def stalled(tmp_path, ordinary_python):
    """Processes whose interpreter never comes up; their numbers."""
    library = shared_library(tmp_path / "stalls.so", STALLS)
    environment = dict(os.environ, LD_PRELOAD=str(library))
    with contextlib.ExitStack() as stack:
        all_of_them = [stack.enter_context(subprocess.Popen(ordinary_python.command, env=environment)) for _ in range(STALLED)]
        for process in all_of_them:
            stack.callback(process.kill)
        for process in all_of_them:
            wait_asleep(process.pid)
        yield [process.pid for process in all_of_them]


def test_interpreters_that_never_come_up_are_waited_for_together(plumb, target, any_python, stalled):
    """Who is called as a program of somebody else, many times, cannot keep plumb from that one. Each that is left out is told by its number."""
    with target(any_python, "calls.py") as one:
        result = plumb("attach", "-d", "0.3", *stalled, one.pid, env=dict(os.environ, PLUMB_DEBUG="process"))
        assert result.status == 0, result
    looks = [line for line in result.stderr.splitlines() if line.startswith("plumb process ") and line.endswith("is not running yet")]
    assert STALLED <= len(looks) <= WAITS + STALLED, len(looks)
    for pid in stalled:
        assert "plumb: pid %d: the interpreter is not running yet" % pid in result.stderr, result


def test_with_children_a_child_that_is_named_too_is_sampled_once(plumb, target, either):
    with target(either, "brood.py") as brood, target(either, "calls.py") as other:
        [child] = children_of(brood.pid)
        recording = plumb.path()
        with running(plumb.start("attach", "--subprocesses", "-o", recording, child, brood.pid, other.pid, stderr=subprocess.PIPE)) as process:
            wait_sampled(plumb, recording, [brood.pid, other.pid])
            os.kill(brood.pid, signal.SIGUSR1)
            later = brood.result("child")["pid"]
            wait_until(lambda: plumb.recorded(recording, lambda profile: later in samples_of(profile)), "its child is not sampled")
            process.send_signal(signal.SIGINT)
            assert finish(process).status == 0
        told = [p["pid"] for p in plumb.report(recording).json["processes"]]
        assert sorted(told) == sorted([child, brood.pid, other.pid, later]), told


def test_top_of_two(plumb, target, any_python):
    with target(any_python, "calls.py") as one, target(any_python, "calls.py") as other:
        result = plumb("top", "--plain", "-d", "1.5", one.pid, other.pid)
    assert result.status == 0 and "2 threads" in result.stdout, result
