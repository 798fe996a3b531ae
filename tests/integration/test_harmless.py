# SPDX-License-Identifier: Apache-2.0
"""The target is never left stopped or traced, never sees EINTR, gets all its signals, and outlives its profiler."""
import concurrent.futures
import contextlib
import os
import random
import re
import select
import shlex
import signal
import subprocess
import time

import pytest

from harness.live import as_job, top
from harness.plumb import PATIENCE, finish, running
from harness.recording import last_sample_ns
from harness.statistics import assert_at_most, in_turn, judged, undecided
from harness.target import of_threads, status, thread_ids, traces, wait_until
from harness.terminal import Terminal

STOPS = ["--always-stop", "--never-stop", "-rmax", "-r1000"]


def state(pid):
    return status(pid).get("State", "?")[0]


@pytest.mark.smoke
def test_attach_leaves_no_trace(plumb, target, python):
    with target(python, "threads.py", count=True) as running_target:
        before = thread_ids(running_target.pid)
        plumb.sampled(lambda profile: profile.samples, running_target.pid)
        assert thread_ids(running_target.pid) == before
        assert traces(running_target.pid) == ""
        running_target.wait_progress()
    assert running_target.process.returncode == 0


def wakeups(pid):
    """How often each thread that is asleep has gone to sleep of its own accord."""
    threads = {tid: status(pid, tid) for tid in thread_ids(pid)}
    return {tid: facts["voluntary_ctxt_switches"] for tid, facts in threads.items() if facts["State"][0] == "S"}


def sleepers(waiting, count):
    """Wait until so many threads sleep and stay asleep, while the one whose epoll has a time limit comes round; {thread: wakeups}."""
    found = {}

    def enough():
        before = wakeups(waiting.pid)
        waiting.wait_progress(20)
        found.clear()
        found.update({tid: number for tid, number in wakeups(waiting.pid).items() if before.get(tid) == number})
        return len(found) >= count

    wait_until(enough, "not so many threads stay asleep")
    return found


def interrupted(plumb, target, python, option, rounds):
    """(how often an epoll with a time limit was made and how often it saw EINTR, the share of the time in which plumb waited for a
    processor), while it came round so often. Who sleeps all the while is never woken."""
    with target(python, "waiting.py", count=True) as waiting:
        asleep = sleepers(waiting, 3)  # main, the epoll without a time limit, the recv
        with plumb.attached(waiting.pid, option) as process:
            start, waited = time.monotonic(), waited_s(process.pid)
            waiting.wait_progress(rounds)
            held_up = (waited_s(process.pid) - waited) / (time.monotonic() - start)
        now = wakeups(waiting.pid)
        woken = [tid for tid, number in asleep.items() if now.get(tid) != number]
        waiting.stop()
        counts = waiting.result("waited")["counts"]
    assert not woken, "a sleeping thread was woken"
    assert counts["recv"]["eintr"] == 0, counts
    return counts["epoll_wait"], held_up


# Of all waits. Measured on two processors that 25 programs wanted: 0 of 28,371 on all releases; in the worst case that is known 2 of
# 20,468. A sampler that took short bursts for long ones had 1 in 200.
EINTR_SHARE = 1 / 1000
# At the highest rate, on an idle virtual machine of whose time 1 % was stolen, which makes short bursts look long: 22 of 45,900, never
# more than 3 of 1,900. A sampler that took a burst after a long one for long, too, had 350 of 38,000.
EINTR_SHARE_AT_MAX = 1 / 200


HELD_UP = 0.05
BLIND = 4  # looks: beside 35 programs on two processors none of 24 met an interrupted wait while plumb was held up


@pytest.mark.thinned(2, of=len(STOPS))
@pytest.mark.parametrize("option", STOPS)
def test_blocked_system_calls_never_see_eintr(plumb, target, minor, option):
    """But for the gap that docs/design/002-true-stacks.md names: who falls asleep between our look and our stop. Once that is met, it is
    looked at for longer, until it is as seldom as it may be or more often than chance explains. The gap is as wide as plumb is held up
    in it: where others have the processors, nothing can be said of how wide it is by itself, and it is looked at again."""
    calls, seen, blind, limit = 0, 0, 0, EINTR_SHARE_AT_MAX if option == "-rmax" else EINTR_SHARE
    rounds = 100
    while rounds <= 8000:
        found, held_up = interrupted(plumb, target, minor, option, rounds)
        if found["eintr"] and held_up > HELD_UP and option != "--never-stop":
            blind += 1
            if blind == BLIND:
                undecided("plumb waited for a processor in %.0f %% of the time; %d of %d waits were interrupted" % (
                    100 * held_up, found["eintr"], found["calls"]))
            continue
        calls, seen, rounds = calls + found["calls"], seen + found["eintr"], max(1000, 2 * rounds)
        if option == "--never-stop":
            assert not seen, "nothing is stopped, but %d of %d waits were interrupted" % (seen, calls)
        assert_at_most(limit, seen, calls, "waits that were interrupted")
        if seen <= limit * calls:
            return
    undecided("%d of %d waits were interrupted" % (seen, calls))


# A plumb that is killed while it samples ---------------------------------------------------------------------------------

AT_ONCE = 3  # plumbs, each on a target of its own
LAST = 1.3  # seconds: longer than what a recording may lack, so what happens in them is all that can delay its last chunk
LATE = 0.05  # of all kills; what keeps plumb from writing without being a wait for a processor, as a disk, is rarer: 0 of 30 beside 25 programs


class Kill:
    """When and how one plumb is to be killed. A long one has written chunks by then."""

    def __init__(self, number, recording, chance):
        self.number, self.recording, self.long = number, recording, number % 4 == 0
        self.moment = chance.uniform(0.0, 1.0) if self.long else chance.uniform(0.0, 0.2)
        self.stopping = chance.choice(["--always-stop", "-rmax", "-r5000"])


def lives_on(process, seconds):
    waiter = os.pidfd_open(process.pid)
    ended = select.select([waiter], [], [], seconds)[0]
    os.close(waiter)
    assert not ended, "plumb ended of its own accord"


def waited_s(pid):
    """For how long the threads of a process were ready to run but did not, added up; without waits that last."""
    return sum(int(text.split()[1]) for text in of_threads(pid, "schedstat").values()) / 1e9


def stop(process):
    """Return when all threads stand. Each had to run for that, so that no wait lasts."""
    process.send_signal(signal.SIGSTOP)
    wait_until(lambda: {status(process.pid, tid).get("State", "T")[0] for tid in thread_ids(process.pid)} == {"T"}, "SIGSTOP does not stop it")


def killed_well(plumb, victim, kill):
    """Whether what plumb had sampled up to a second before the end is there."""
    with running(plumb.start("attach", "-o", kill.recording, kill.stopping, victim.pid, stderr=subprocess.DEVNULL)) as process:
        if kill.long:
            wait_until(lambda: plumb.recorded(kill.recording, lambda profile: profile.samples), "it is not sampled")
        lives_on(process, kill.moment)
        if kill.long:
            before = waited_s(process.pid)
            lives_on(process, LAST)
            killed_ns = time.time_ns()
            stop(process)
            waited = waited_s(process.pid) - before
        process.send_signal(signal.SIGKILL)
        process.wait()
    wait_until(lambda: not traces(victim.pid), "it is left traced or stopped")
    victim.wait_progress()
    if kill.long:
        return lacks_a_second(plumb, kill.recording, killed_ns, waited)
    if kill.recording.exists():
        result = plumb("report", kill.recording)
        assert result.status == 0 or result.status == 1 and result.stderr.startswith("plumb: "), result
        assert result.status == 0 or str(kill.recording) in result.stderr and len(result.stderr.splitlines()) <= 2, result
    return True


def lacks_a_second(plumb, recording, killed_ns, waited):
    """It opens, and whether it lacks no more than a second. Plumb can do nothing while others have the processors: the time that its
    threads waited for one is on top."""
    profile = plumb.report(recording)
    assert not profile.complete and profile.samples > 0, profile.quality
    lost = (killed_ns - last_sample_ns(recording)) / 1e9
    print("%.3f s are lost; plumb waited %.3f s for a processor" % (lost, waited))
    return lost <= 1.0 + waited


def all_killed_well(plumb, victim, kills):
    """How many recordings lack more than they may."""
    late = 0
    for kill in kills:
        try:
            late += not killed_well(plumb, victim, kill)
        except AssertionError as failed:
            raise AssertionError("kill %d after %.3f s, %s: %s" % (kill.number, kill.moment, kill.stopping, failed)) from failed
    return late


@pytest.mark.slow
def test_profilers_killed_at_random_moments(plumb, target, any_python, effort):
    """kill -9 of plumb while it stops the target all the time: the target runs on, and the recording opens and lacks at most
    its last second. One that was killed before its first chunk opens as well or is refused in a sentence."""
    seed = random.randrange(1 << 30)
    print("seed %d" % seed)
    chance = random.Random(seed)
    kills = [Kill(number, plumb.path(), chance) for number in range(effort(120, 1000))]
    with contextlib.ExitStack() as stack:
        victims = [stack.enter_context(target(any_python, "families.py", count=True)) for _ in range(AT_ONCE)]
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            late = sum(pool.map(lambda n: all_killed_well(plumb, victims[n], kills[n::AT_ONCE]), range(AT_ONCE)))
    assert [victim.process.returncode for victim in victims] == [0] * AT_ONCE
    assert_at_most(LATE, late, sum(kill.long for kill in kills), "recordings that lack more than a second")


# A target that is killed while it is sampled ----------------------------------------------------------------------------


def assert_told(plumb, result, recording, status):
    """What a target that was gone in the middle left: its samples, or a sentence."""
    assert result.status in (status, 125), result
    assert "plumb" in result.stderr or "samples" in result.stderr, result
    if result.status == status and recording.exists():
        assert plumb.report(recording).samples > 0 or "no samples" in result.stderr, result


POLICIES = [("--always-stop", "-rmax"), ("--always-stop", "-r1000"), ("--never-stop", "-rmax"), ("-r1000",)]


@pytest.mark.parametrize("options", POLICIES, ids=" ".join)
def test_targets_killed_at_random_moments_of_an_attach(plumb, target, either, options, effort):
    chance = random.Random(7)
    for _ in range(effort(5, 100)):
        with target(either, "families.py") as victim:
            recording = plumb.path()
            process = plumb.start("attach", "-o", recording, *options, victim.pid, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            with running(process):
                select.select([process.stderr], [], [], chance.uniform(0, 0.5))
                victim.kill()
                result = finish(process, timeout=PATIENCE)
            assert_told(plumb, result, recording, 0)


def child_of(pid):
    return next((int(name) for name in os.listdir("/proc") if name.isdigit() and status(int(name)).get("PPid") == str(pid)), None)


@pytest.mark.parametrize("options", POLICIES, ids=" ".join)
def test_targets_killed_at_random_moments_of_a_run(plumb, places, either, options, effort):
    """From its first moment on, before it has become a Python."""
    chance = random.Random(8)
    program = [*either.command, places.directory(either.root)[1] + "/families.py", "--seconds", "30"]
    for _ in range(effort(5, 100)):
        recording = plumb.path()
        process = plumb.start("run", "-o", recording, *options, "--", *program, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        with running(process):
            wait_until(lambda: child_of(process.pid), "the program is not started")
            victim = child_of(process.pid)
            select.select([process.stderr], [], [], chance.uniform(0, 0.5))
            os.kill(victim, signal.SIGKILL)
            result = finish(process, timeout=PATIENCE)
        assert_told(plumb, result, recording, 128 + signal.SIGKILL)


@pytest.mark.thinned(2, of=len(STOPS))
@pytest.mark.parametrize("option", STOPS)
def test_no_signal_is_lost_or_wrong(plumb, target, minor, option):
    """Of those that are sent each is acknowledged. The timer is set anew by the handler of its signal, so it stands still if one is lost."""
    with target(minor, "signals.py", count=True) as busy:
        busy.wait_progress()
        sent = 0
        with plumb.attached(busy.pid, option):
            before, timer = None, 0
            while sent < 200 or timer < before + 200:
                os.kill(busy.pid, signal.SIGUSR1)
                sent += 1
                told = busy.result("ack")
                assert told["user"] == sent, told
                timer = told["timer"]
                before = timer if before is None else before
        busy.stop()
        told = busy.result("signals")
    assert told["wrong"] == 0 and told["user"] == sent, told


def test_stops_wake_up_no_other_thread_of_plumb(plumb, target, any_python):
    """The kernel tells a tracer of each stop by SIGCHLD, too: whichever thread of plumb takes it wakes up for nothing."""
    recording = plumb.path()

    def stops():
        return plumb.report(recording).json["overhead"]["stops"]

    with target(any_python, "calls.py") as busy, plumb.attached(busy.pid, "--always-stop", "-rmax", "--max-overhead", "none", recording=recording) as running:
        woken, stopped = int(status(running.pid)["voluntary_ctxt_switches"]), stops()
        wait_until(lambda: stops() >= stopped + 1000, "it is not stopped")
        woken = int(status(running.pid)["voluntary_ctxt_switches"]) - woken
        assert woken < 250, "woken up %d times" % woken


@pytest.mark.parametrize("option", STOPS)
def test_job_control_goes_on_working(plumb, target, any_python, option):
    """A stop by SIGSTOP lasts until SIGCONT, however often plumb stops and continues the thread for itself."""
    with target(any_python, "families.py", count=True) as job:
        with plumb.attached(job.pid, option):
            for _ in range(5):
                job.wait_progress()
                os.kill(job.pid, signal.SIGSTOP)
                wait_until(lambda: state(job.pid) == "T", "SIGSTOP does not stop it")
                frozen = job.progress
                select.select([], [], [], 0.1)  # a tenth of a second in which nothing may happen
                assert job.progress == frozen, "it runs although it is stopped"
                os.kill(job.pid, signal.SIGCONT)
            job.wait_progress()
        assert traces(job.pid) == ""
        job.wait_progress()


# Each child computes for a while and asks to be traced by its parent, which fails if somebody traces it by then.
TRACED = """
import ctypes, os
call = ctypes.CDLL(None, use_errno=True).ptrace
refused = 0
for _ in range(80):
    child = os.fork()
    if not child:
        n = 200000
        while n:
            n -= 1
        os._exit(call(0, 0, 0, 0) != 0)
    refused += os.WEXITSTATUS(os.waitpid(child, 0)[1])
print(refused)
"""


@pytest.mark.parametrize("option", ["--always-stop", "--native"])
def test_who_has_just_been_forked_is_not_traced(plumb, any_python, option):
    """It may be about to execute: who is traced then has not the rights of a set-user-ID program. Here it asks to be traced itself."""
    result = plumb("run", option, "-rmax", "--max-overhead", "none", "-o", plumb.path, "--", *any_python.command, "-c", TRACED)
    assert result.stdout == "0\n" and result.status == 0, result


@pytest.mark.parametrize("option", ["--always-stop", "-rmax"])
def test_a_plumb_that_is_suspended_holds_no_thread(plumb, target, any_python, option):
    """Ctrl-Z at random moments. A process group of its own: the kernel does not stop one that nobody could continue."""
    chance = random.Random(11)
    with target(any_python, "families.py", count=True) as busy:
        recording = plumb.path()
        started = plumb.start("attach", "-o", recording, "--always-stop", option, busy.pid, stderr=subprocess.DEVNULL,
                              preexec_fn=lambda: os.setpgid(0, 0))
        with running(started) as process:
            wait_until(recording.exists, "plumb does not attach")
            for number in range(60):
                select.select([], [], [], chance.uniform(0, 0.01))
                process.send_signal(signal.SIGTSTP)
                wait_until(lambda: state(process.pid) == "T", "SIGTSTP does not suspend it")
                assert not traces(busy.pid), "suspended for the %d. time: %s" % (number + 1, traces(busy.pid))
                process.send_signal(signal.SIGCONT)
                wait_until(lambda: state(process.pid) != "T", "SIGCONT does not continue it")
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == 0
        busy.wait_progress()
    assert plumb.report(recording).samples > 0


# It has the processor of somebody who computes all the time, when that one leaves it some.
STARVED = """
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
parent = os.getpid()
if not os.fork():
    while os.getppid() == parent: pass
    os._exit(0)
os.nice(19)
print("ready", flush=True)
while True: sum(range(1000))
"""


def test_a_live_view_that_is_suspended_holds_no_thread(plumb, any_python, top):
    """A stop that was asked for before a pause comes about when the thread gets on a processor again: it is awaited."""
    with running(subprocess.Popen([*any_python.command, "-c", STARVED], stdout=subprocess.PIPE)) as starved:
        starved.stdout.readline()
        command = as_job(plumb.binary, "top", "--plain", "--always-stop", "-r", "1000", starved.pid)
        with Terminal(command, columns=1000, directory=plumb.directory) as shell:
            for number in range(20):
                shell.expect(" last 5 s:")
                shell.type("\x1a")
                shell.expect("suspended")
                assert not traces(starved.pid), "suspended for the %d. time: %s" % (number + 1, traces(starved.pid))
                shell.text = ""
                shell.type("\n")
            shell.expect(" last 5 s:")
            shell.type("\x03")
            shell.wait()


ECHO = "import os, sys; print('it is', os.getpid(), flush=True); [print('heard', line, flush=True) for line in iter(sys.stdin.readline, '')]"


def test_ctrl_z_and_fg_on_a_terminal(plumb, any_python, tmp_path):
    """Program and plumb are suspended together and continued together, as a shell expects of a job."""
    program = shlex.join([plumb.binary, "run", "-q", "-o", "job.plumb", "--", *any_python.command, "-c", ECHO])
    with Terminal(["sh", "-i"], columns=1000, directory=tmp_path) as shell:
        shell.type(program + "\n")
        shell.type("line\n")
        shell.expect("heard line")
        pid = int(re.search(r"it is (\d+)", shell.text).group(1))
        for number in range(3):
            shell.type("line %d\n" % number)
            shell.expect("heard line %d" % number)
            shell.type("\x1a")
            shell.expect("Stopped")
            wait_until(lambda: state(pid) == "T", "the program is not suspended")  # else it takes the next line
            shell.text = ""
            shell.type("fg\n")
        shell.type("last\n")
        shell.expect("heard last")
        shell.type("\x04")
        shell.type("echo status=$?\n")
        shell.expect("status=0")
        shell.type("exit\n")
        shell.wait()
    assert plumb.report(tmp_path / "job.plumb").complete


def test_a_stopped_target_can_be_attached_to_and_stays_stopped(plumb, target, any_python):
    with target(any_python, "families.py", count=True) as job:
        job.wait_progress()
        os.kill(job.pid, signal.SIGSTOP)
        wait_until(lambda: state(job.pid) == "T", "SIGSTOP does not stop it")
        plumb.sampled(lambda profile: profile.samples, job.pid)
        assert state(job.pid) == "T", status(job.pid)["State"]
        os.kill(job.pid, signal.SIGCONT)
        job.wait_progress()


def test_a_target_that_is_traced_already_is_sampled_without_stops(plumb, target, any_python, tmp_path):
    """A debugger holds the process; reading its memory is still allowed."""
    tracer = subprocess.run(["which", "strace"], capture_output=True, text=True).stdout.strip()
    if not tracer:
        pytest.skip("strace is not installed")
    with target(any_python, "calls.py") as traced:
        with running(subprocess.Popen([tracer, "-f", "-p", str(traced.pid), "-o", tmp_path / "strace"], stderr=subprocess.PIPE)) as other:
            other.stderr.readline()  # "attached"
            _, profile = plumb.sampled(lambda profile: profile.samples and profile.json["overhead"]["stops_refused"]["tracer"], traced.pid)
            assert profile.quality["stopped"] == 0, profile.quality
            refused = profile.json["overhead"]["stops_refused"]
            assert refused["tracer"] >= 1 and refused["last"] == "strace (pid %d) traces it" % other.pid, refused
            other.terminate()
            other.wait()


UNITS = 100  # of work, of a millisecond or two: that one of them is counted to the wrong side is of no weight then


@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.parametrize("options, limit", [(["--never-stop"], 1.05), ([], 1.08)], ids=["never-stop", "default"])
def test_fixed_work_takes_no_longer(plumb, target, any_python, table, options, limit):
    """Rounds of equal work, with and without a sampler in turn. The limits leave room for a shared machine; what is really
    reached is the benchmark's to measure."""
    with target(any_python, "fixed_work.py", "--rounds", "1000000000", "--work", "1000", count=True) as worker:
        found = judged(limit, in_turn(lambda: pace(worker), lambda: plumb.attached(worker.pid, *options)), most=40, seconds=90)
    table("fixed work", "never-stop" if options else "default", str(found), title="time with plumb / alone")
    assert not found.slower, found
    if found.open:
        undecided(found)


def pace(worker):
    """Nanoseconds for a unit of work over half a second or more, without those other programs had the processor; stops count."""
    units, (start, waited) = worker.progress, times(worker.pid)
    select.select([], [], [], 0.5)
    worker.wait_progress(UNITS - (worker.progress - units))
    end, waited_then = times(worker.pid)
    return (end - start - (waited_then - waited)) / (worker.progress - units)


def times(pid):
    """(now, time spent ready to run but not running), of the main thread."""
    with open("/proc/%d/schedstat" % pid) as f:
        return time.monotonic_ns(), int(f.read().split()[1])
