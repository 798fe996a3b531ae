# SPDX-License-Identifier: Apache-2.0
"""What a program says with plumb.event() is heard by the plumb that reads it from outside, on every interpreter."""
import ast
import contextlib
import json
import os
import signal
import subprocess

import pytest

from harness import package
from harness.plumb import finish, running
from harness.target import wait_until

SLOTS = 4096  # of a program's ring


class Program:
    """says.py, at the other end of two pipes."""

    def __init__(self, process):
        self.process = process
        self.pid = self.answer()["pid"]

    def answer(self):
        return ast.literal_eval(self.process.stdout.readline().decode())

    def tell(self, *words):
        self.process.stdin.write((" ".join(map(str, words)) + "\n").encode())
        self.process.stdin.flush()

    def do(self, *words):
        self.tell(*words)
        assert self.answer() == {"done": words[0]}


def command_of(python):
    command, (ours, scripts, _) = package._command(python, None)
    return [*command, scripts + "/says.py"], package.environment(python, [ours])


@contextlib.contextmanager
def program(python):
    command, environment = command_of(python)
    process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with running(process):
        yield Program(process)
        process.stdin.close()
        assert process.wait() == 0


@contextlib.contextmanager
def launched(plumb, python):
    """(the program, its recording)"""
    recording = plumb.path()
    command, environment = command_of(python)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with running(plumb.start("run", "-o", recording, "--", *command, env=environment, **pipes)) as process:
        yield Program(process), recording
        assert finish(process).status == 0


@contextlib.contextmanager
def attached(plumb, pid, *options):
    recording = plumb.path()
    with plumb.attached(pid, *options, recording=recording) as process:
        yield process, recording


def marks(profile, name=None):
    return [event for event in profile.json.get("events", []) if event["kind"] == "mark" and name in (None, event["name"])]


def wait_heard(plumb, recording, count, name=None):
    """Nothing is lost of what was said while it was attached."""
    wait_until(lambda: plumb.recorded(recording, lambda profile: len(marks(profile, name)) + profile.json["losses"]["events"] >= count),
               "%d events are not heard" % count)  # fmt: skip


def numbers(events):
    return [int(event["labels"]["number"]) for event in events]


def test_all_that_is_said_is_heard_in_order(plumb, able):
    with program(able) as target:
        target.do("say", 10, "before")  # it was attached
        with attached(plumb, target.pid) as (_, recording):
            target.do("say", 1000)
            wait_heard(plumb, recording, 1000)
    profile = plumb.report(recording)
    found = marks(profile)
    assert numbers(found) == list(range(1000)) and profile.json["losses"]["events"] == 0, (len(found), profile.json["losses"])
    assert {(event["name"], event["labels"]["text"], event["pid"], event["tid"]) for event in found} == {
        ("step", "gr\u00f6\u00dfe\ufffd", target.pid, target.pid)
    }
    times = [event["time_ns"] for event in found]
    assert times == sorted(times) and 0 < times[0] and times[-1] < profile.json["duration_ns"]


def test_its_time_is_between_the_samples_around(plumb, able):
    def functions(recording, *time):
        result = plumb("report", "--format", "collapsed", "--idle", *time, "-o", "-", recording)
        assert result.status == 0, result
        return {name for name in ("before", "after") if "says.py:%s:" % name in result.stdout}

    rounds = 300000
    with program(able) as target:
        while True:
            with attached(plumb, target.pid) as (_, recording):
                target.do("between", rounds)
                wait_heard(plumb, recording, 1)
            if functions(recording) == {"before", "after"}:
                break
            rounds *= 2  # it was not sampled often enough
    [event] = marks(plumb.report(recording))
    time = "%.9f" % (event["time_ns"] / 1e9)
    assert functions(recording, "--time", ".." + time) == {"before"} and functions(recording, "--time", time + "..") == {"after"}


def test_what_was_overwritten_is_counted_exactly(plumb, able):
    with program(able) as target, attached(plumb, target.pid, "--never-stop") as (process, recording):
        target.do("say", 1)  # it is known where they are
        wait_heard(plumb, recording, 1)
        process.send_signal(signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)
        target.do("say", SLOTS + 5000, "much")
        process.send_signal(signal.SIGCONT)
        wait_heard(plumb, recording, SLOTS + 5000 + 1)
    profile = plumb.report(recording)
    assert profile.json["losses"]["events"] == 5000
    assert "5,000 left out" in plumb("report", recording).stdout
    assert numbers(marks(profile, "much")) == list(range(5000, SLOTS + 5000))


def test_threads_say_each_its_own(plumb, able):
    threads, count = 4, 500
    with program(able) as target, attached(plumb, target.pid) as (_, recording):
        target.tell("together", threads, count)
        tids = target.answer()["tids"]
        wait_heard(plumb, recording, threads * count)
        target.tell("over")
        assert target.answer() == {"done": "together"}
    profile = plumb.report(recording)
    assert profile.json["losses"]["events"] == 0
    for number, tid in enumerate(tids):
        found = marks(profile, "thread %d" % number)
        assert numbers(found) == list(range(count)) and {event.get("tid", tid) for event in found} == {tid}, (number, tid)


def test_a_child_of_a_fork_says_its_own(plumb, able):
    with launched(plumb, able) as (target, recording):
        target.do("say", 3)
        target.tell("fork")
        child = target.answer()["child"]
        wait_heard(plumb, recording, 5)
        target.tell("over")
        assert target.answer() == {"done": "fork"}
        target.do("say", 1, "later")
        wait_heard(plumb, recording, 6)
        target.process.stdin.close()
        target.process.stdin = None
    profile = plumb.report(recording)
    assert [(event["name"], event["pid"] == target.pid) for event in marks(profile)] == [
        ("step", True), ("step", True), ("step", True), ("of the child", False), ("of the child", False), ("later", True)
    ], marks(profile)  # fmt: skip
    assert {event["pid"] for event in marks(profile, "of the child")} == {child} and profile.json["losses"]["events"] == 0


@pytest.mark.smoke
def test_the_program_that_is_executed_is_heard_anew(plumb, one):
    with launched(plumb, one) as (target, recording):
        target.do("say", 2)
        wait_heard(plumb, recording, 2)
        target.tell("execute")
        assert target.answer() == {"pid": target.pid}
        target.do("say", 3, "again")
        wait_heard(plumb, recording, 5)
        target.process.stdin.close()
        target.process.stdin = None
    profile = plumb.report(recording)
    assert [event["name"] for event in marks(profile)] == 2 * ["step"] + 3 * ["again"] and profile.json["losses"]["events"] == 0


def test_other_interpreters_of_the_process_are_heard(plumb, one):
    with program(one) as target, attached(plumb, target.pid) as (_, recording):
        target.do("inner", 5)
        target.do("say", 1)
        wait_heard(plumb, recording, 6)
    assert [event["name"] for event in marks(plumb.report(recording))] == 5 * ["inner"] + ["step"]


def test_the_external_engine_hears_too(one):
    told = json.loads(package.run(one, "said_to_external.py"))
    assert told == {"names": ["first", "second"], "again": ["third"], "labels": {"number": "1"}}, told
