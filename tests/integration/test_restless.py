# SPDX-License-Identifier: Apache-2.0
"""A target that takes away what is read, dumped and run from its first moment; much of everything, dumped; and a debugger that
comes while plumb is there. (Attaching to such targets: test_faults.py.)"""
import json
import os
import resource
import shutil
import signal
import subprocess

import pytest

from harness.callgraph import CallGraph, check
from harness.dump import AT_ONCE, Looks
from harness.interpreters import TARGETS
from harness.plumb import finish, running
from harness.target import traces, wait_until

PARTS = ["unmap", "fork", "threads", "exec"]
# What may be said of a process that is between two programs when it is looked at, and of one that ends meanwhile.
BETWEEN = {"not-python", "no-process", "target-exited", "unsupported-python", "python-not-ready"}


@pytest.mark.parametrize("part, options", [*((part, []) for part in PARTS), ("unmap", ["--never-stop"])],
                         ids=[*PARTS, "unmap-never-stop"])
def test_dumping_what_does_not_keep_still(plumb, target, any_python, part, options):
    """Each look is a stack that could have been, or a sentence; and the target runs on."""
    graph, looks, failures = CallGraph(TARGETS / "restless.py"), Looks(TARGETS / "restless.py"), []
    with target(any_python, "restless.py", "--part", part, count=True) as restless:
        restless.wait_progress()
        for _ in range(20):
            if len(looks.stacks) > AT_ONCE and check(graph, looks).checked:
                break
            result = plumb("dump", "--json", *options, *[restless.pid] * AT_ONCE)
            answer = json.loads(result.stdout)
            assert len(result.stderr.splitlines()) <= 2 * len(answer["failures"]), result
            failures += answer["failures"]
            for process in answer["processes"]:
                looks.add(process)
        wait_until(lambda: not traces(restless.pid), "left behind: %s" % traces(restless.pid))
        restless.wait_progress()
    assert restless.process.returncode == 0, "the program itself came to its end"
    verdict = check(graph, looks)
    assert verdict.checked + verdict.partial > 0 and not verdict.impossible, verdict
    assert not failures or part == "exec", failures
    assert {failure["code"] for failure in failures} <= BETWEEN, failures


@pytest.mark.parametrize("part, option", list(zip(PARTS, ["--always-stop", "-rmax"] * 2)))
def test_running_what_does_not_keep_still(plumb, target, any_python, part, option):
    recording, graph = plumb.path(), CallGraph(TARGETS / "restless.py")
    before = [plumb.binary, "run", "-o", str(recording), "-r", "1000", option, "--"]
    with target(any_python, "restless.py", "--part", part, before=before, count=True, stderr=subprocess.DEVNULL) as restless:
        restless.wait_progress(10)
        wait_until(lambda: plumb.recorded(recording, lambda profile: check(graph, profile).checked), "it is not sampled")
    assert restless.process.returncode == 0, "plumb's is the program's"
    verdict = check(graph, plumb.report(recording))
    assert verdict.checked + verdict.partial > 0 and not verdict.impossible, verdict


# Much of everything -----------------------------------------------------------------------------------------------------


def dump_and_cost(plumb, pid):
    """(the process, the processor time that the look at it took: the least of three, as what others do can only add to it)"""
    looks = [one_dump_and_cost(plumb, pid) for _ in range(3)]
    return looks[-1][0], min(cost for _, cost in looks)


def one_dump_and_cost(plumb, pid):
    """The time limit is far off: it is not what is tested."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = plumb("dump", "--json", "--timeout", "50", pid)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert result.status == 0 and result.stderr == "", result
    (process,) = json.loads(result.stdout)["processes"]
    return process, (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


def crowd_of(plumb, target, python, count):
    with target(python, "many_threads.py", "--threads", str(count), "--depth", "5", "--busy", "0") as crowd:
        return dump_and_cost(plumb, crowd.pid)


def test_a_dump_of_a_thousand_threads_is_whole_and_its_cost_grows_with_their_number_only(plumb, target, any_python):
    _, small = crowd_of(plumb, target, any_python, 100)
    process, large = crowd_of(plumb, target, any_python, 1000)
    waiting = [thread for thread in process["threads"] if not thread["main"]]
    assert len(waiting) == 1000 == len({thread["tid"] for thread in waiting})
    for thread in waiting:
        names = [frame["name"] for frame in thread["frames"]]
        assert names[:6] == ["wait_for"] + ["down"] * 5 and thread["quality"] == "exact", thread
        assert thread["doing"] == "blocked" and thread["wait"]["call"] == "futex", thread
    assert large < 20 * max(small, 0.02), (small, large)


DEEP = """
import sys, threading
sys.setrecursionlimit(200000)
threading.stack_size(512 << 20)
def down(n):
    if n > 1:
        return down(n - 1)
    print("ready", flush=True)
    sys.stdin.read()
thread = threading.Thread(target=down, args=(int(sys.argv[1]),), name="deep")
thread.start()
thread.join()
"""


def deep(plumb, python, depth):
    process = subprocess.Popen([*python.command, "-c", DEEP, str(depth)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"ready\n"
        found, cost = dump_and_cost(plumb, process.pid)
    finally:
        process.communicate(b"")
    assert process.returncode == 0
    (thread,) = [thread for thread in found["threads"] if thread["name"] == "deep"]
    return thread, cost


def test_a_dump_of_ten_thousand_frames_is_whole_and_its_cost_grows_with_their_number_only(plumb, any_python):
    _, small = deep(plumb, any_python, 1_000)
    thread, large = deep(plumb, any_python, 10_000)
    assert thread["quality"] == "exact", thread["quality"]
    lines = [(frame["name"], frame["line"]) for frame in thread["frames"] if frame["name"] == "down"]
    assert lines == [("down", 9)] + [("down", 7)] * 9_999, (len(lines), lines[:3])
    assert large < 20 * max(small, 0.02), (small, large)


# A tracer that comes while plumb is there -------------------------------------------------------------------------------


def debugger(name, pid, directory):
    """What attaches, looks, and goes."""
    program = shutil.which(name)
    if not program:
        pytest.skip("%s is not installed" % name)
    if name == "gdb":
        return [program, "-nx", "-q", "-batch", "-p", str(pid), "-ex", "info threads", "-ex", "detach"]
    return ["timeout", "-s", "INT", "0.3", program, "-f", "-q", "-o", str(directory / "calls"), "-p", str(pid)]


@pytest.mark.parametrize("tracer, option", [("strace", "-r1000"), ("gdb", "-r1000"), ("strace", "--always-stop")])
def test_a_debugger_comes_and_goes_while_plumb_samples(plumb, target, any_python, tmp_path, tracer, option):
    """Neither keeps the other from its work, and the target has both behind it."""
    with target(any_python, "families.py", count=True) as busy:
        command = debugger(tracer, busy.pid, tmp_path)
        recording = plumb.path()
        with running(plumb.start("attach", "-o", recording, option, busy.pid, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)) as process:
            wait_until(recording.exists, "plumb does not attach")
            busy.wait_progress()
            # One that comes in the middle of a stop of ours is refused, as it would be by any other tracer; the next is not.
            came = any("not permitted" not in subprocess.run(command, capture_output=True, text=True, timeout=30).stderr
                       for _ in range(8))
            wait_until(lambda: not traces(busy.pid), "left behind: %s" % traces(busy.pid))
            busy.wait_progress(10)
            wait_until(lambda: plumb.recorded(recording, lambda profile: profile.samples), "it is not sampled")
            process.send_signal(signal.SIGINT)
            result = finish(process)
        assert not traces(busy.pid)
        busy.wait_progress()
    assert busy.process.returncode == 0
    assert result.status == 0, result
    verdict = check(CallGraph(TARGETS / "families.py"), plumb.report(recording))
    assert verdict.checked > 0 and not verdict.impossible, verdict
    assert came, "never could it attach"


@pytest.mark.parametrize("tracer", ["strace", "gdb"])
def test_a_debugger_comes_while_plumb_dumps(plumb, target, any_python, tmp_path, tracer):
    with target(any_python, "calls.py", count=True) as busy:
        looks = Looks(TARGETS / "calls.py")
        with subprocess.Popen(debugger(tracer, busy.pid, tmp_path), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as other:
            while not looks.count or other.poll() is None:
                result = plumb("dump", "--json", *[busy.pid] * AT_ONCE)
                assert result.status == 0 and result.stderr == "", result
                for process in json.loads(result.stdout)["processes"]:
                    looks.add(process)
        wait_until(lambda: not traces(busy.pid), "left behind: %s" % traces(busy.pid))
        busy.wait_progress()
    verdict = check(CallGraph(TARGETS / "calls.py"), looks)
    assert looks.count and not verdict.impossible, verdict
