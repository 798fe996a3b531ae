# SPDX-License-Identifier: Apache-2.0
"""plumb attach --native-threads: threads that Python did not start (targets/native_threads.c) are shown with their functions, one
that calls Python back now and then stays one thread, and CPU time is theirs who used it."""
import contextlib
import json
import math
import subprocess
import tempfile

import pytest

from harness.interpreters import TARGETS
from harness.scarce import sentence
from harness.sites import Lacking, tool
from harness.target import wait_until

LIMIT = 5  # standard errors: one comparison in a million is further off


@pytest.fixture
def library():
    """library(python): the path of native_threads.c's library as that interpreter sees it, which may have a root of its own."""
    try:
        compiler = tool("cc")
    except Lacking as lacking:
        pytest.skip(str(lacking))
    with contextlib.ExitStack() as made:
        def of(python):
            directory = made.enter_context(tempfile.TemporaryDirectory(dir=python.root + "/tmp"))
            path = directory + "/libthreads.so"
            subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", path, TARGETS / "native_threads.c", "-lpthread"], check=True)
            return path[len(python.root) :]

        yield of


def of_thread(profile, name):
    return [stack for stack in profile.stacks if stack.thread["name"] == name]


def samples(stacks, *names):
    return sum(stack.samples for stack in stacks if stack.has(*names))


def seen(profile):
    return min(samples(of_thread(profile, "cruncher"), "computes_alone"), samples(of_thread(profile, "sleeper"), "waits_for_good"))


def unshared(profile):
    """CPU time that the program used while it was sampled, and that no sample stands for."""
    return profile.json["used_cpu_ns"] - profile.json["samples"]["weight_ns"]


def in_one_line(plumb, recording):
    return " ".join(plumb("report", recording).stdout.split())


# In no share may be what was used before the first sample and behind the last, and what the kernel has not told yet.
def test_cpu_time_that_is_in_no_share_is_told(plumb, target, any_python, library):
    with target(any_python, "native_threads.py", "--library", library(any_python), "--threads", "cruncher") as program:
        _, recording = plumb.try_sampling(lambda profile: unshared(profile) >= 300e6, program.pid, "--mode", "cpu")
        _, whole = plumb.try_sampling(lambda profile: profile.json["used_cpu_ns"] >= 300e6, program.pid, "--mode", "cpu", "--native-threads")
    assert "is in no share: of threads that run no Python" in in_one_line(plumb, recording)
    assert "is in no share" not in in_one_line(plumb, whole)
    profile = plumb.report(whole)
    assert abs(unshared(profile)) <= 100e6 + profile.json["used_cpu_ns"] / 20, profile.json


def test_threads_that_run_no_python_are_shown_with_their_functions(plumb, target, minor, library):
    with target(minor, "native_threads.py", "--library", library(minor)) as program:
        _, profile = plumb.sampled(lambda profile: seen(profile) >= 20, program.pid, "--native-threads", "-r", "200")
        _, plain = plumb.sampled(lambda profile: profile.samples >= 20, program.pid, "--native", "-r", "200")
    assert profile.json["native_threads"] and not plain.json["native_threads"]
    names = [thread["name"] for thread in profile.json["threads"]]
    assert sorted(names) == ["MainThread", "cruncher", "sleeper"], names
    assert [thread["name"] for thread in plain.json["threads"]] == ["MainThread"]
    for name, outer in (("cruncher", "computing"), ("sleeper", "waiting")):
        for stack in of_thread(profile, name):
            frames = [frame.name for frame in stack.frames]
            assert outer in frames or frames == ["<moving>"] or "<missing frames>" in frames, stack
            assert not stack.python, stack
    threads = {thread["name"]: thread for thread in profile.json["threads"]}
    assert not any(thread["has_gil"] or thread["wants_gil"] for name, thread in threads.items() if name != "MainThread")
    assert threads["sleeper"]["on_cpu"] == 0 and threads["cruncher"]["on_cpu"] == threads["cruncher"]["samples"]


def test_a_thread_that_calls_python_now_and_then_is_one_thread(plumb, target, minor, library):
    """It has no thread state between its calls. As long as it has none, what native frames could not be had of is shown without any
    frame; it is between calls then, or in the very first moment of one."""
    def enough(profile):
        stacks = of_thread(profile, "caller")
        return min(samples(stacks, "computes_between"), samples(stacks, "called_back")) >= 100

    arguments = ("--library", library(minor), "--threads", "caller")
    with target(minor, "native_threads.py", *arguments) as program:
        began = program.lines.next("began")
        _, profile = plumb.sampled(enough, program.pid, "--native-threads", "--mode", "cpu", "-r", "200")
        program.stop()
        ended = program.lines.next("ended")
    assert len([thread for thread in profile.json["threads"] if thread["name"] == "caller"]) == 1, profile.json["threads"]
    threads = [thread for thread in profile.json["threads"] if thread["name"] == "caller"]
    assert len(threads) == 1, profile.json["threads"]
    assert 0.5 * threads[0]["cpu_ns"] <= threads[0]["weight_ns"] <= threads[0]["cpu_ns"], threads
    counts = {"between": 0, "called": 0, "unknown": 0}
    for stack in of_thread(profile, "caller"):
        kind = "between" if stack.has("computes_between") else "called" if stack.has("called_back") or stack.has("calls_back") else "unknown"
        counts[kind] += stack.samples
    times = {name: ended[name] - began[name] for name in ("between", "called")}
    truth, total = times["between"] / sum(times.values()), sum(counts.values())
    error = LIMIT * math.sqrt(truth * (1 - truth) / total)
    assert counts["between"] / total - error <= truth <= (counts["between"] + counts["unknown"]) / total + error, (truth, counts)


def test_threads_without_python_are_chosen_by_name(plumb, target, any_python, library):
    with target(any_python, "native_threads.py", "--library", library(any_python)) as program:
        options = ("--native-threads", "--threads", "cruncher", "-r", "200")
        _, profile = plumb.sampled(lambda profile: samples(profile.stacks, "computes_alone") >= 5, program.pid, *options)
    assert {stack.thread["name"] for stack in profile.stacks} == {"cruncher"}


def test_a_dump_has_the_functions_of_threads_without_python_that_run(plumb, target, any_python, library):
    def dumped():
        """{thread: names of its native frames}"""
        [process] = json.loads(plumb("dump", "--json", "--native", program.pid).stdout)["processes"]
        return {t["name"]: [f["name"] for f in t["frames"] if f["kind"] == "native"] for t in process["threads"]}

    with target(any_python, "native_threads.py", "--library", library(any_python)) as program:
        wait_until(lambda: {"computes_alone", "computing"} <= set(dumped()["cruncher"]), "no dump shows what computes")
        assert "waits_for_good" in dumped()["sleeper"]


@pytest.mark.parametrize("options, words", [
    (("--native-threads", "--mode", "gil"), "runs no python never has the gil"),
    (("--native-threads", "--never-stop"), "cannot be read without stopping"),
])
def test_what_does_not_go_together_is_refused(plumb, any_python, options, words):
    sentence(plumb("run", *options, "--", *any_python.command, "-c", "pass"), words)
