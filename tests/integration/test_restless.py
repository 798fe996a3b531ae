# SPDX-License-Identifier: Apache-2.0
"""A target that takes away what is read, dumped and run from its first moment; much of everything, dumped; and a debugger that
comes while plumb is there. (Attaching to such targets: test_faults.py.)"""
import concurrent.futures
import contextlib
import json
import resource
import shutil
import signal
import subprocess

import pytest

from harness.callgraph import CallGraph, check
from harness.dump import AT_ONCE, Looks
from harness.interpreters import TARGETS
from harness.plumb import PATIENCE
from harness.statistics import holds
from harness.target import status, traces, wait_asleep, wait_until

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

        def enough():
            result = plumb("dump", "--json", "--timeout", PATIENCE, *options, *[restless.pid] * AT_ONCE)
            answer = json.loads(result.stdout)
            assert len(result.stderr.splitlines()) <= 2 * len(answer["failures"]), result
            failures.extend(answer["failures"])
            for process in answer["processes"]:
                looks.add(process)
            verdict = check(graph, looks)
            return len(looks.stacks) > AT_ONCE and (verdict.checked or "--never-stop" in options and verdict.partial)

        wait_until(enough, "no look is good for anything")
        wait_until(lambda: not traces(restless.pid), "it is left traced or stopped")
        restless.wait_progress()
    assert restless.process.returncode == 0, "the program itself came to its end"
    verdict = check(graph, looks)
    assert not verdict.impossible, verdict
    assert not failures or part == "exec", failures
    assert {failure["code"] for failure in failures} <= BETWEEN, failures


@pytest.mark.parametrize("part, option", list(zip(PARTS, ["--always-stop", "-rmax"] * 2)))
def test_running_what_does_not_keep_still(plumb, target, any_python, part, option):
    recording, graph = plumb.path(), CallGraph(TARGETS / "restless.py")
    before = [plumb.binary, "run", "-o", str(recording), "-r", "1000", option, "--"]
    with target(any_python, "restless.py", "--part", part, before=before, count=True, stderr=subprocess.DEVNULL) as restless:
        restless.wait_progress()
        wait_until(lambda: plumb.recorded(recording, lambda profile: check(graph, profile).checked), "it is not sampled")
    assert restless.process.returncode == 0, "plumb's is the program's"
    verdict = check(graph, plumb.report(recording))
    assert verdict.checked + verdict.partial > 0 and not verdict.impossible, verdict


# Much of everything -----------------------------------------------------------------------------------------------------


def dump_and_cost(plumb, pid):
    """(the process, the processor time that the look at it took). The time limit is far off: it is not what is tested."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = plumb("dump", "--json", "--timeout", PATIENCE, pid)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert result.status == 0 and result.stderr == "", result
    (process,) = json.loads(result.stdout)["processes"]
    return process, (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


def assert_grows_with_the_number_only(plumb, small, large):
    """The processor time of a dump of a process, and of one with ten times as much: ten times, and not a hundred times. Beside 45 other
    programs it was 2.3 to 9.5 times in 30 pairs."""

    def ratio_is_small():
        costs = dump_and_cost(plumb, small)[1], dump_and_cost(plumb, large)[1]
        return "%.3f s and %.3f s" % costs if costs[1] >= 30 * costs[0] else ""

    holds(ratio_is_small)


def crowd_of(target, python, count):
    return target(python, "many_threads.py", "--threads", str(count), "--depth", "5", "--busy", "0")


def test_a_dump_of_a_thousand_threads_is_whole_and_its_cost_grows_with_their_number_only(plumb, target, any_python):
    with crowd_of(target, any_python, 100) as small, crowd_of(target, any_python, 1000) as large:
        wait_asleep(large.pid)
        process, _ = dump_and_cost(plumb, large.pid)
        assert_grows_with_the_number_only(plumb, small.pid, large.pid)
    waiting = [thread for thread in process["threads"] if not thread["main"]]
    assert len(waiting) == 1000 == len({thread["tid"] for thread in waiting})
    for thread in waiting:
        names = [frame["name"] for frame in thread["frames"]]
        assert names[:6] == ["wait_for"] + ["down"] * 5 and thread["quality"] == "exact", thread
        assert thread["doing"] == "blocked" and thread["wait"]["call"] == "futex", thread


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


@contextlib.contextmanager
def deep(python, depth):
    process = subprocess.Popen([*python.command, "-c", DEEP, str(depth)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"ready\n"
        yield process
    finally:
        process.communicate(b"")
    assert process.returncode == 0


def test_a_dump_of_ten_thousand_frames_is_whole_and_its_cost_grows_with_their_number_only(plumb, any_python):
    with deep(any_python, 1_000) as small, deep(any_python, 10_000) as large:
        wait_asleep(large.pid)
        found, _ = dump_and_cost(plumb, large.pid)
        assert_grows_with_the_number_only(plumb, small.pid, large.pid)
    (thread,) = [thread for thread in found["threads"] if thread["name"] == "deep"]
    assert thread["quality"] == "exact", thread["quality"]
    lines = [(frame["name"], frame["line"]) for frame in thread["frames"] if frame["name"] == "down"]
    assert lines == [("down", 9)] + [("down", 7)] * 9_999, (len(lines), lines[:3])


# A tracer that comes while plumb is there -------------------------------------------------------------------------------


@pytest.fixture
def debugger(tmp_path):
    """debugger(name, pid, look) attaches one, looks while it is there, and lets it go; whether it came. One that comes in the middle of a
    stop of plumb's is refused, as it would be by any other tracer."""

    def visit(name, pid, look):
        program = shutil.which(name)
        if not program:
            pytest.skip("%s is not installed" % name)
        # gdb holds the program, and goes through its commands even if it was refused; strace lets it run.
        stay = "shell grep -q \"^TracerPid:.$PPID$\" /proc/%d/status && read line" % pid
        command = {"gdb": [program, "-nx", "-q", "-batch", "-p", str(pid), "-ex", "info threads", "-ex", stay, "-ex", "detach"],
                   "strace": [program, "-f", "-q", "-o", str(tmp_path / "calls"), "-p", str(pid)]}[name]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as tracer:
            wait_until(lambda: tracer.poll() is not None or status(pid)["TracerPid"] == str(tracer.pid), "it neither comes nor goes")
            came = tracer.poll() is None
            if came:
                look()
            tracer.stdin.close()
            if name == "strace":
                tracer.send_signal(signal.SIGINT)
        return came

    return visit


@pytest.mark.parametrize("tracer, option", [("strace", "-r1000"), ("gdb", "-r1000"), ("strace", "--always-stop")])
def test_a_debugger_comes_and_goes_while_plumb_samples(plumb, target, any_python, debugger, tracer, option):
    """Neither keeps the other from its work, and the target has both behind it."""
    graph, recording = CallGraph(TARGETS / "families.py"), plumb.path()
    with target(any_python, "families.py", count=True) as busy:
        look = busy.wait_progress if tracer == "strace" else lambda: None
        with plumb.attached(busy.pid, option, recording=recording):
            wait_until(lambda: debugger(tracer, busy.pid, look), "never can it attach")
            busy.wait_progress(10)
            wait_until(lambda: plumb.recorded(recording, lambda profile: check(graph, profile).checked), "it is not sampled")
        assert not traces(busy.pid)
        busy.wait_progress()
    assert busy.process.returncode == 0
    verdict = check(graph, plumb.report(recording))
    assert not verdict.impossible, verdict


@pytest.mark.parametrize("tracer", ["strace", "gdb"])
def test_a_debugger_comes_while_plumb_dumps(plumb, target, any_python, debugger, tracer):
    """Before it, while it is there, and after it."""
    looks = Looks(TARGETS / "calls.py")

    def dump():
        result = plumb("dump", "--json", "--timeout", PATIENCE, *[busy.pid] * AT_ONCE)
        assert result.status == 0 and result.stderr == "", result
        for process in json.loads(result.stdout)["processes"]:
            looks.add(process)

    with target(any_python, "calls.py", count=True) as busy, concurrent.futures.ThreadPoolExecutor(1) as pool:
        visit = pool.submit(debugger, tracer, busy.pid, dump)
        while not visit.done():
            dump()
        wait_until(lambda: visit.result() or debugger(tracer, busy.pid, dump), "never can it attach")
        wait_until(lambda: not traces(busy.pid), "it is left traced or stopped")
        busy.wait_progress()
    verdict = check(CallGraph(TARGETS / "calls.py"), looks)
    assert not verdict.impossible, verdict
