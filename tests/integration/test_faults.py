# SPDX-License-Identifier: Apache-2.0
"""Faults of the target, of the machine and of plumb itself: what can be sampled is, what is lost is counted, what cannot
go on is told in one sentence; and the target runs on as if nobody were looking."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import pytest

from harness.callgraph import CallGraph, check
from harness.interpreters import TARGETS
from harness.plumb import PATIENCE, finish, running
from harness.scarce import limited, mounted, sentence
from harness.sites import Lacking, tool, unshare
from harness.statistics import NotNow, holds
from harness.target import status, thread_ids, traces, wait_until


# A thread that is blocked -----------------------------------------------------------------------------------------------


def runs(pid, tid):
    """How often the kernel has put the thread on a CPU."""
    return int(pathlib.Path("/proc/%d/task/%d/schedstat" % (pid, tid)).read_text().split()[2])


def all_asleep(pid, tids):
    """Wait until none of them runs any more: asleep, with the same counters twenty times in a row. (One that waits for the GIL wakes up
    more often, or is ready to run.)"""
    last, same = {}, 0

    def settled():
        nonlocal last, same
        now = {tid: runs(pid, tid) for tid in tids}
        asleep = all(status(pid, tid)["State"][0] == "S" for tid in tids)
        same = same + 1 if asleep and now == last else 0
        last = now
        return same >= 20

    wait_until(settled, "the threads do not go to sleep")
    return last


@pytest.mark.thinned(3, of=4)
@pytest.mark.parametrize("option", ["-r1000", "-rmax", "--always-stop", "--native"])
def test_a_blocked_thread_is_not_run_once(plumb, target, minor, option):
    """epoll_wait, nanosleep, recv, futex, waitpid and accept, while another thread works: none returns, none is woken,
    by a dump neither."""
    with target(minor, "asleep.py", count=True) as asleep:
        names = {asleep.told["threads"][name]: name for name in asleep.told["threads"]}
        assert len(names) == 6, asleep.told
        before = all_asleep(asleep.pid, names)

        def all_sampled(profile):
            samples = {thread["tid"]: thread["samples"] for thread in profile.threads}
            return all(samples.get(tid, 0) > 50 for tid in names)

        plumb.sampled(all_sampled, asleep.pid, option)
        assert plumb("dump", "--timeout", PATIENCE, "--locals", asleep.pid).status == 0
        after = {tid: runs(asleep.pid, tid) for tid in names}
        asleep.wait_progress()
        asleep.stop()
        returned = asleep.result("waited")["returned"]
    assert not returned, "returned: %s" % returned
    assert before == after, {names[tid]: (before[tid], after[tid]) for tid in names if before[tid] != after[tid]}


# A target that does not keep still --------------------------------------------------------------------------------------


def enough(part, profile):
    """Stacks of it and, if it is about threads, many that came and went."""
    verdict = check(CallGraph(TARGETS / "restless.py"), profile)
    return verdict.checked + verdict.partial > 0 and (part != "threads" or len(profile.threads) > 20)


@pytest.mark.parametrize("part", ["unmap", "fork", "threads", "exec"])
@pytest.mark.parametrize("option", ["--never-stop", "--always-stop", "-rmax"])
def test_what_the_target_takes_away_while_it_is_read(plumb, target, any_python, part, option):
    with target(any_python, "restless.py", "--part", part, count=True) as restless:
        restless.wait_progress()
        start = restless.progress
        _, profile = plumb.sampled(lambda profile: enough(part, profile) and restless.progress > start + 3, restless.pid, option)
        wait_until(lambda: not traces(restless.pid), "it is left traced or stopped")
        restless.wait_progress()
    assert restless.process.returncode == 0, "the program itself came to its end"
    verdict = check(CallGraph(TARGETS / "restless.py"), profile)
    assert not verdict.impossible, verdict


def test_attaching_at_any_moment_of_an_exec(plumb, target, any_python):
    """Between two programs there is no Python; the next one is waited for."""
    with target(any_python, "restless.py", "--part", "exec", count=True) as restless:
        for _ in range(40):
            result = plumb("attach", "-d", "0.05", "-o", plumb.path(), restless.pid)
            assert result.status == 0, result
        restless.wait_progress()
    assert restless.process.returncode == 0


def test_stacks_that_are_made_up_hold_up_nothing(plumb, target, pythons):
    """Each walk comes to as many frames as there may be, and none is whole: with a try for each thread this took hours."""
    found = [python for python in pythons if python.kind == (3, 11, "") and not python.missing]
    if not found:
        pytest.skip("the chain is made up of frames of CPython 3.11, which this machine does not have")
    with target(found[0], "endless.py") as endless:
        for command in (["attach", "-d", "0.1", "-o", plumb.path()], ["dump", "--timeout", "5"]):
            result = plumb(*command, endless.pid)
            assert result.status == 125, result
            assert re.search("no whole stack was found in this Python|did not let itself be read within 5 s", result.stderr), result
        endless.kill()


# Much of everything -----------------------------------------------------------------------------------------------------


def rounds(profile):
    """How often each thread that waits was sampled."""
    return [thread["samples"] for thread in profile.threads if not thread["main"]] or [0]


def test_of_a_thousand_threads_each_gets_its_share(plumb, target, any_python):
    """A round takes all or none of them: what differs is the rounds before a thread was on the list."""

    def all_get_the_same():
        _, profile = plumb.sampled(lambda profile: max(rounds(profile)) >= 50, crowd.pid, "-r", "50")
        blocked = rounds(profile)
        assert len(blocked) == 1000, len(blocked)
        assert profile.losses["unreadable"] <= profile.json["ticks"], "only of the thread that works: %s" % profile.losses
        if profile.losses["queue"]:
            raise NotNow("the thread that takes the samples had no processor: %s" % profile.losses)
        return "%d to %d samples" % (min(blocked), max(blocked)) if min(blocked) < max(blocked) - 2 else ""

    with target(any_python, "many_threads.py", "--threads", "1000", "--depth", "5", count=True) as crowd:
        holds(all_get_the_same)  # measured beside 40 programs: 109 samples of each in 109 rounds
        crowd.wait_progress()


def dump_of(plumb, pid):
    result = plumb("dump", "--timeout", PATIENCE, pid)
    assert result.status == 0, result
    return result.stdout


def long_named(profile):
    return [frame for stack in profile.stacks for frame in stack.python if frame.name.startswith("ffff")]


@pytest.mark.thinned(2, of=3)
@pytest.mark.parametrize("length", [65535, 65536, 200_000])
def test_names_of_any_length(plumb, target, minor, length):
    """Up to 64 KiB they are whole; longer ones are cut."""
    with target(minor, "long_names.py", "--length", str(length)) as named:
        found = long_named(plumb.sampled(long_named, named.pid)[1])
        # It may be looked at in between, too.
        wait_until(lambda: "f" * 100 in dump_of(plumb, named.pid), "the dump never shows the name")
    kept = min(length, 65536)
    assert {frame.name[:kept] for frame in found} == {"f" * kept}, {len(frame.name) for frame in found}
    assert {frame.file[:kept] for frame in found} == {"/" + "d" * (kept - 1)}, {len(frame.file) for frame in found}


# Too little for plumb ---------------------------------------------------------------------------------------------------


def sampled_or_told(profile):
    return sum(thread["samples"] > 0 for thread in profile.threads) + profile.losses["beyond"]


def test_too_few_descriptors_are_named_or_do_not_matter(plumb, target, any_python):
    """Whatever the number: samples of each thread but those that are counted as too many, or the sentence that says what
    is missing."""
    worked = set()
    with target(any_python, "many_threads.py", "--threads", "20", "--depth", "3", count=True) as crowd:
        for limit in [*range(3, 26), 40]:
            result, recording = plumb.try_sampling(lambda profile: sampled_or_told(profile) >= 21, crowd.pid, before=limited("-n", limit))
            if "shared libraries" in result.stderr:
                continue  # it was not we who ran
            if result.status != 0:
                sentence(result, "too many open files")
                assert not worked, "with %d it worked, with %d it does not: %s" % (min(worked), limit, result)
                continue
            worked.add(limit)
            profile = plumb.report(recording)
            assert profile.samples and sampled_or_told(profile) == 21, "limit %d: %s, losses %s" % (limit, profile.threads, profile.losses)
        crowd.wait_progress()
        assert not traces(crowd.pid)
    assert worked and min(worked) < 26, worked


def test_too_little_memory_is_told(plumb, target, any_python):
    """From what the dynamic loader just needs to plenty: no crash, and the program runs on."""
    if plumb.sanitized:
        pytest.skip("a sanitizer takes terabytes of address space for itself")
    statuses = {}
    with target(any_python, "exec_churn.py", count=True) as busy:
        for kilobytes in [*range(4_000, 12_000, 500), *range(12_000, 40_000, 4_000), 100_000, 400_000]:
            result = plumb("attach", "-d", "0.2", "-o", plumb.path(), busy.pid, before=limited("-v", kilobytes))
            if "shared libraries" in result.stderr or "ld.so" in result.stderr or result.status == 127:
                continue  # it was not we who ran
            statuses[kilobytes] = result.status
            if result.status != 0:  # what was recorded until then is still reported below
                told = result.stderr.splitlines()[0].lower()
                assert result.status == 125 and told.startswith("plumb: "), result
                assert any(cause in told for cause in ("memory", "resource temporarily unavailable")), result
        busy.wait_progress()
        assert not traces(busy.pid)
    assert statuses[400_000] == 0 and 125 in statuses.values(), statuses


def test_no_proc_at_all_is_told(plumb, target, any_python):
    try:
        inside = mounted("mount -t tmpfs none /proc")
    except Lacking as lacking:
        pytest.skip(str(lacking))
    with target(any_python, "calls.py", count=True) as busy:
        for command in ("attach", "dump"):
            sentence(plumb(command, busy.pid, before=inside), "/proc is not mounted")
        busy.wait_progress()


def test_a_proc_that_hides_other_users_is_told(plumb, target, any_python):
    """hidepid, seen by an ordinary user."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount /proc with hidepid, and become another user under it")
    if tuple(int(n) for n in re.findall(r"\d+", os.uname().release)[:2]) < (5, 8):
        pytest.skip("before Linux 5.8 the option would change every /proc of this machine")
    if not shutil.which("setpriv"):
        pytest.skip("setpriv is not installed")
    place = pathlib.Path("/tmp/plumb-%d-hidden" % os.getpid())
    shutil.copy(plumb.binary, place)
    place.chmod(0o755)
    remount = "mount --make-rprivate / && mount -t proc -o hidepid=%s proc /proc && exec setpriv --reuid=65534 --regid=65534 --clear-groups \"$@\""
    try:
        with target(any_python, "calls.py", count=True) as busy:
            for hidepid in ("1", "2"):
                script = remount % hidepid
                result = finish(subprocess.Popen(
                    [tool("unshare"), "--mount", "sh", "-c", script, "sh", place, "attach", str(busy.pid)], cwd="/tmp",
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE))
                sentence(result, "hides pid %d" % busy.pid)
                assert "hidepid=%s" % hidepid in result.stderr and "as the user that owns the process" in " ".join(result.stderr.split()), result
            busy.wait_progress()
        # Of our own user, but not dumpable: hidden as well, though it can be sent a signal.
        script = remount % "2"
        attach_to_itself = "import ctypes, os, subprocess, sys; ctypes.CDLL(None).prctl(4, 0); sys.exit(subprocess.call(sys.argv[1:] + [str(os.getpid())]))"
        result = finish(subprocess.Popen(
            [tool("unshare"), "--mount", "sh", "-c", script, "sh", "/usr/bin/python3", "-c", attach_to_itself, place, "attach"], cwd="/tmp",
            stdout=subprocess.PIPE, stderr=subprocess.PIPE))
        sentence(result, "from us")
        assert "hidepid=2" in result.stderr and "that owns" not in result.stderr, result
    finally:
        place.unlink()


# A plumb that is held up, and clocks that jump --------------------------------------------------------------------------


def grows(path):
    """A question: is the file larger than now?"""
    size = path.stat().st_size
    return lambda: path.stat().st_size > size


def test_a_suspended_profiler_makes_up_for_nothing(plumb, target, any_python):
    """SIGSTOP for a third of a second: the target runs on, the ticks of that time are missed and counted, and none comes twice. From a second
    on it is a pause, as where the machine holds this test up."""
    rate = 1000
    with target(any_python, "families.py", count=True) as busy:
        recording = plumb.path()
        options = ["-o", recording, "-r", rate, "--never-stop", "--max-overhead", "none"]
        with running(plumb.start("attach", *options, busy.pid, stderr=subprocess.DEVNULL)) as process:
            wait_until(lambda: plumb.recorded(recording, lambda profile: profile.samples), "it records nothing")
            process.send_signal(signal.SIGSTOP)
            wait_until(lambda: all_stopped(process.pid), "plumb does not stop")
            began = time.monotonic()
            while time.monotonic() < began + 0.35:
                busy.wait_progress()
            suspended = time.monotonic() - began
            process.send_signal(signal.SIGCONT)
            wait_until(grows(recording), "it does not go on recording")
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == 0
    profile = plumb.report(recording)
    planned, missed, ticks = profile.duration_s * rate, profile.losses["missed"], profile.json["ticks"]
    paused_s = sum(event["duration_ns"] for event in profile.json.get("events", []) if event["kind"] == "pause") / 1e9
    assert missed + paused_s * rate >= suspended * rate - 2, (missed, paused_s, suspended)
    assert ticks + missed <= planned + 2, "ticks were made up for: %d and %d missed of %d" % (ticks, missed, planned)


def all_stopped(pid):
    return {status(pid, tid).get("State", "T")[0] for tid in thread_ids(pid)} == {"T"}


CLOCK_JUMPS = r"""
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* The time of day jumps by an hour, to and fro, each time it is asked for; other clocks are as they are. */
static int jump(void)
{
	static _Atomic unsigned count;
	return count++ & 1 ? 3600 : -3600;
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	int r = (int)syscall(SYS_clock_gettime, id, ts);
	if (id == CLOCK_REALTIME)
		ts->tv_sec += jump();
	return r;
}

int gettimeofday(struct timeval *tv, void *tz)
{
	int r = (int)syscall(SYS_gettimeofday, tv, tz);
	tv->tv_sec += jump();
	return r;
}

time_t time(time_t *ret)
{
	struct timespec ts;
	clock_gettime(CLOCK_REALTIME, &ts);
	if (ret)
		*ret = ts.tv_sec;
	return ts.tv_sec;
}
"""


HALF_A_JUMP = 1800  # seconds; the other clock of the last test is further off


def sampled_for_a_second(plumb, pid, before):
    """By the clock that plumb has, and for longer where that leaves no time for a sample."""
    for seconds in range(1, HALF_A_JUMP):
        recording = plumb.path()
        result = plumb("attach", "-d", seconds, "-o", recording, pid, before=before)
        assert result.status == 0, result
        profile = plumb.report(recording)
        ticks = profile.json["ticks"] + profile.losses["missed"]
        assert seconds <= profile.duration_s < HALF_A_JUMP, profile.duration_s
        assert 0 < ticks <= profile.duration_s * 1000 + 2, (ticks, profile.duration_s)
        if profile.samples:
            return


def test_a_time_of_day_that_jumps_does_not_matter(plumb, target, any_python, tmp_path):
    if plumb.sanitized:
        pytest.skip("a sanitizer must be the first library of a program")
    try:
        compiler = tool("cc")
    except Lacking as lacking:
        pytest.skip(str(lacking))
    source, library = tmp_path / "jumps.c", tmp_path / "jumps.so"
    source.write_text(CLOCK_JUMPS)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    jumping = ["env", "LD_PRELOAD=%s" % library]
    with target(any_python, "calls.py") as busy:
        sampled_for_a_second(plumb, busy.pid, jumping)
        dumped = plumb("dump", "--timeout", PATIENCE, busy.pid, before=jumping)
    assert dumped.status == 0 and "main" in dumped.stdout, dumped


def test_another_monotonic_clock_than_the_targets_does_not_matter(plumb, target, any_python):
    """In a time namespace a million seconds ahead."""
    try:
        ahead = unshare("--time", "--fork", "--monotonic", "1000000", "--boottime", "1000000")
    except Lacking as lacking:
        pytest.skip(str(lacking))
    with target(any_python, "calls.py") as busy:
        # A user namespace of its own would take away the right to read the target: root needs none.
        if os.geteuid() == 0:
            ahead = [word for word in ahead if word not in ("--user", "--map-root-user")]
        elif "namespace" in plumb("attach", "-d", "0.1", "-o", plumb.path(), busy.pid, before=ahead).stderr:
            pytest.skip("only root may read a process from another user namespace")
        sampled_for_a_second(plumb, busy.pid, ahead)
