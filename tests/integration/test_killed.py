# SPDX-License-Identifier: Apache-2.0
"""kill -9 of `plumb run`, of the program under it and of whole trees, at random moments: who is left lives on or ends as it
should, and the recording opens. (Of `plumb attach` and its target: test_harmless.py.)"""
import contextlib
import os
import random
import select
import signal
import subprocess

import pytest

from harness.plumb import PATIENCE, finish, running
from harness.recording import chunks_with_samples
from harness.statistics import holds
from harness.target import Target, children_of, status, thread_ids, traces, wait_until

POLICIES = [("--always-stop", "-rmax"), ("-r1000",)]


def assert_opens(plumb, recording):
    """Whatever was written of it; one without a first chunk may be refused, in a sentence."""
    if not recording.exists():
        return
    result = plumb("report", recording)
    assert result.status == 0 or result.status == 1 and str(recording) in result.stderr, result
    assert result.status == 0 or len(result.stderr.splitlines()) <= 2, result


def wait(seconds):
    select.select([], [], [], seconds)


@contextlib.contextmanager
def under_plumb(plumb, places, python, script, options, recording):
    """A target that plumb has started: its .process is plumb, its .pid, once it is ready, its own."""
    before = [plumb.binary, "run", "-o", str(recording), *options, "--"]
    launched = Target(places, python, script, [], before=before, count=True, cwd=plumb.directory, stderr=subprocess.DEVNULL)
    try:
        yield launched
    finally:
        launched.stop()
        if launched.process.poll() is None:
            launched.process.kill()
        launched.process.wait()
        launched.lines.close()


def gone(pid):
    return lambda: status(pid).get("State", "X")[0] in "XZ"


@pytest.mark.parametrize("options", POLICIES, ids=" ".join)
def test_plumb_is_killed_and_the_program_lives_on(plumb, places, any_python, options, effort):
    """Sampled already: it goes on as if nothing had been, to its own end."""
    chance = random.Random(21)
    for _ in range(effort(2, 60)):
        recording = plumb.path()
        with under_plumb(plumb, places, any_python, "families.py", options, recording) as program:
            program.wait_ready()
            program.go()
            program.wait_progress()
            wait(chance.uniform(0, 0.3))
            program.process.kill()
            program.process.wait()
            wait_until(lambda: not traces(program.pid), "left behind: %s" % traces(program.pid))
            program.wait_progress(10)
            program.stop()
            wait_until(gone(program.pid), "the program does not end when it should")
        assert_opens(plumb, recording)


def test_plumb_is_killed_before_the_program_is_ready(plumb, places, any_python, effort):
    """At any moment of its start. There is a program that works, or none."""
    chance = random.Random(22)
    tries = lived = 0
    while tries < effort(6, 200) or not lived:
        tries += 1
        recording = plumb.path()
        with under_plumb(plumb, places, any_python, "families.py", ("--always-stop", "-rmax"), recording) as program:
            wait(chance.uniform(0, 0.02 * (2 + tries)))  # a busy machine may start nothing sooner
            program.process.kill()
            program.process.wait()
            told = program.lines.next("ready")  # None: the last one that could have told it has ended
            if told:
                lived += 1
                program.pid = told["pid"]
                program.go()
                program.wait_progress()
                assert not traces(program.pid)
                program.stop()
                wait_until(gone(program.pid), "the program does not end when it should")
        assert_opens(plumb, recording)


def pids_of(profile):
    return {process["pid"] for process in profile.json["processes"] if process["samples"]}


def tree_of(pid):
    """The process and all below it."""
    found = [pid]
    for one in found:
        found += children_of(one)
    return found


@pytest.mark.parametrize("options", POLICIES, ids=" ".join)
def test_processes_of_a_tree_are_killed_one_after_the_other(plumb, target, any_python, options, effort):
    """A child, then its parent: the other lives on, the recording is complete and knows both."""
    chance = random.Random(23)
    for _ in range(effort(1, 60)):
        recording = plumb.path()
        with target(any_python, "brood.py") as brood:
            (child,) = children_of(brood.pid)
            with running(plumb.start("attach", "--subprocesses", "-o", recording, *options, brood.pid,
                                     stderr=subprocess.PIPE)) as process:
                wait_until(lambda: plumb.recorded(recording, lambda profile: pids_of(profile) == {brood.pid, child}), "not both are sampled")
                wait(chance.uniform(0, 0.3))
                os.kill(child, signal.SIGKILL)
                wait(chance.uniform(0, 0.1))
                assert not gone(brood.pid)(), "the parent lives on"
                brood.kill()
                result = finish(process)
        assert result.status == 0, result
        profile = plumb.report(recording)
        assert profile.complete and pids_of(profile) == {brood.pid, child}, profile.json["processes"]


@pytest.mark.parametrize("who", ["plumb", "group", "program"])
def test_a_whole_tree_is_killed_under_a_run(plumb, places, any_python, who, effort):
    """plumb alone: the tree lives on. The group, as a supervisor does it: nobody is left. The program alone: its child, which
    it leaves behind, is sampled until it ends, too."""
    chance = random.Random(24)
    for _ in range(effort(1, 60)):
        recording = plumb.path()
        with under_plumb(plumb, places, any_python, "brood.py", ("-rmax",), recording) as program:
            program.wait_ready()
            (child,) = children_of(program.pid)
            program.go()
            wait(chance.uniform(0.05, 0.3))
            if who == "plumb":
                program.process.kill()
                program.process.wait()
                for pid in (program.pid, child):
                    wait_until(lambda pid=pid: not traces(pid), "left behind: %s" % traces(pid))
                    assert not gone(pid)(), "it lives on"
            elif who == "group":
                for pid in [program.process.pid, *tree_of(program.pid)]:
                    os.kill(pid, signal.SIGKILL)
                program.process.wait()
            else:
                os.kill(program.pid, signal.SIGKILL)
                wait(chance.uniform(0, 0.1))
                assert not gone(child)() and thread_ids(child), "a child outlives its parent"
                wait_until(lambda: plumb.recorded(recording, lambda profile: child in pids_of(profile)), "the child is not sampled")
            program.stop()
            for pid in (program.pid, child):
                wait_until(gone(pid), "process %d does not end when it should" % pid)
            assert program.process.wait(PATIENCE) == (128 + signal.SIGKILL if who == "program" else -signal.SIGKILL)
        assert_opens(plumb, recording)
        if who == "program":
            profile = plumb.report(recording)
            assert profile.complete and child in pids_of(profile), profile.json["processes"]


def test_the_first_samples_are_written_at_once(plumb, target, any_python):
    """And more soon after them, so that what is killed, or looked at, before its first second is over has something to show. Written late are
    only those of a plumb that had no processor for most of half a second."""

    def off():
        recording = plumb.path()
        assert plumb("attach", "-d", "0.5", "-o", recording, program.pid).status == 0
        return len(chunks_with_samples(recording)) < 2 and "all samples of half a second were written at its end"

    with target(any_python, "calls.py") as program:
        holds(off, by_chance=0.2)
