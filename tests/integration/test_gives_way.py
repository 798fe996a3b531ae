# SPDX-License-Identifier: Apache-2.0
"""plumb gives way to the program: it runs at the priority it was started with, and where samples cost too much it takes fewer, and
says so; unless whoever runs it insists."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from harness.plumb import running, until
from harness.statistics import NotNow, holds
from harness.target import of_threads, wait_until

ORDINARY = 65534  # nobody
needs_root = pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root and setpriv")


def niceness(stat):
    return int(stat.rsplit(")", 1)[1].split()[16])


def nice_of_sampler(pid):
    """Of the thread that samples, as soon as it has its name and has asked for what it wants."""
    return [niceness(stat) for stat in of_threads(pid, "stat").values() if "(plumb-sampler)" in stat]


@pytest.fixture
def group_with_quota():
    """A cgroup that has a tenth of a processor: its list of processes."""
    own = dict(line.split(":")[1:3] for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines())
    controllers = next((names for names in own if "cpu" in names.split(",")), None)
    top = pathlib.Path("/sys/fs/cgroup") / (controllers or "") / (own[controllers] if controllers else own.get("", "/")).lstrip("/")
    group = top / ("plumb-test-%d" % os.getpid())
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip("no cgroup can be made here: %s" % error)
    try:
        try:
            if controllers:
                (group / "cpu.cfs_period_us").write_text("100000")
                (group / "cpu.cfs_quota_us").write_text("10000")
            else:
                (group / "cpu.max").write_text("10000 100000")
        except OSError as error:
            pytest.skip("cgroups have no quota here: %s" % error)
        yield group / "cgroup.procs"
    finally:
        wait_until(lambda: not (group / "cgroup.procs").read_text(), "somebody stays in the cgroup")
        group.rmdir()


def test_of_a_quota_sampling_takes_a_twentieth(plumb, any_python, group_with_quota):
    """The program is in the same group, and has what is left."""
    recording = plumb.path()
    enter = ["sh", "-c", 'echo $$ > "$0" && exec "$@"', group_with_quota]
    result = plumb("run", "-o", recording, "--", *any_python.command, "-c", "sum(range(3000000))", before=enter)
    assert result.status == 0, result
    assert plumb.report(recording).json["overhead"]["limit"] == pytest.approx(0.005), result


@pytest.mark.parametrize("inherited", [0, 5, 19])
def test_the_sampling_thread_has_the_priority_that_plumb_was_started_with(plumb, target, any_python, inherited):
    with target(any_python, "calls.py", count=True) as busy, plumb.attached(busy.pid) as process:
        assert nice_of_sampler(process.pid) == [os.getpriority(os.PRIO_PROCESS, 0)]
    with target(any_python, "calls.py", count=True) as busy:
        recording = plumb.path()
        with running(plumb.start("attach", "-o", recording, busy.pid, before=["nice", "-n", str(inherited)],
                                 stderr=subprocess.DEVNULL)) as process:
            wait_until(lambda: plumb.recorded(recording, lambda profile: profile.samples), "it is not sampled")
            assert nice_of_sampler(process.pid) == [min(19, niceness(pathlib.Path("/proc/self/stat").read_text()) + inherited)]


@needs_root
def test_who_insists_is_served_first(plumb, target, any_python):
    with target(any_python, "calls.py", count=True) as busy, plumb.attached(busy.pid, "--priority") as process:
        assert nice_of_sampler(process.pid) == [-10]


@needs_root
def test_who_may_not_insist_is_told_before_the_program_runs(plumb):
    plumb.directory.chmod(0o777)
    begun = plumb.path(".begun")
    result = plumb("run", "--priority", "--", "touch", begun, before=["setpriv", "--reuid", str(ORDINARY), "--clear-groups"])
    assert result.status == 125 and "cannot sample at nice -10" in result.stderr and "without --priority" in result.stderr, result
    assert not begun.exists()


def test_many_threads_are_sampled_less_often_and_that_is_told(plumb, target, any_python):
    """A round over so many threads takes longer than a period: at 20,000 a second for each it cannot be had for a fifth of a core. Where
    plumb hardly gets a processor it is missed instead."""
    with target(any_python, "many_threads.py", "--threads", "300", "--depth", "5", "--busy", "0") as crowd:
        result, profile = until(lambda seconds: plumb.attach(crowd.pid, "-d", str(seconds), "-r", "20k"),
                                lambda told: told[1].json["overhead"]["lowered_to_hz"], 0.5)
        rate = profile.json["overhead"]["lowered_to_hz"]
        assert rate < 18000 and profile.json["overhead"]["limit"] == 0.2 and profile.json["rate_hz"] == 20000
        said = " ".join(result.stderr.split())
        assert re.search(r"each of 301 threads was sampled at [\d,.]+/s, so that plumb takes no more than 20 % of a core", said), said


def test_a_program_is_not_held_up_for_longer_than_it_may_be(plumb, target, any_python):
    """A thread whose stack changes all the time is read from its processor, which it waits for. At 20,000 a second it would stand still
    most of the time. What is too much at first is saved afterwards, and no more than a hundredth of a second is."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("on one processor any thread stands still while another one runs")
    with target(any_python, "families.py") as busy:
        recording = plumb.path()

        def attach(seconds):
            result = plumb("attach", "-d", str(seconds), "-r", "20k", "--never-stop", "--force", "-o", recording, busy.pid)
            return result, plumb.report(recording)

        def is_much_lowered(told):
            overhead = told[1].json["overhead"]
            return overhead["lowered_for"] == "stopped" and overhead["lowered_to_hz"] < 10000

        result, profile = until(attach, is_much_lowered, 0.5)
        assert profile.json["overhead"]["stops"] == 0
        said = " ".join(result.stderr.split())
        assert re.search(r"! sampled at [\d,.]+/s, so that the program is held up for no more than 2.5 % of its time", said), said
        details = plumb("report", "--quality", recording).stdout
        assert re.search(r"program held up [\d.]+ %", details), details


def test_as_fast_as_possible_is_as_fast_as_stacks_can_be_proved(plumb, target, any_python):
    """A thread whose stack changes all the time has to stand still for each sample. How many there were so is told."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("on one processor any thread stands still while another one runs")
    with target(any_python, "families.py") as busy:
        recording = plumb.path()

        def attach(seconds):
            result = plumb("attach", "-d", str(seconds), "-r", "max", "--force", "-o", recording, busy.pid)
            return result, plumb.report(recording)

        result, profile = until(attach, lambda told: told[1].json["overhead"]["lowered_to_hz"], 0.5)
        overhead = profile.json["overhead"]
        assert profile.json["rate_hz"] is None and overhead["lowered_for"] == "stopped"
        assert (overhead["limit"], overhead["stopped_limit"]) == (None, 0.025)
        said = " ".join(result.stderr.split())
        assert re.search(r"! sampled at [\d,.]+/s, so that the program is held up for no more than 2.5 % of its time", said), said


def test_what_need_not_stand_still_is_sampled_as_fast_as_possible(plumb, target, any_python):
    """Of threads that sleep a sample costs them nothing: at max there are as many as without a limit. Each trial is one recording of each in
    turn; what else the machine did meanwhile halved one of them in less than one trial in twenty."""
    def told(*options):
        json = plumb.attach_until(lambda profile: profile.json["ticks"] > 2000, crowd.pid, "-r", "max", *options).json
        stopped_ms = json["overhead"]["stopped_ns"] / 1e6
        if stopped_ms > 1:
            raise NotNow("a thread that was still awake stood still for %.1f ms" % stopped_ms)
        return json

    def per_second(json):
        return 1e9 * json["ticks"] / json["duration_ns"]

    def off():
        limited, free = told(), told("--max-overhead", "none")
        if limited["overhead"]["lowered_to_hz"]:
            return "lowered: %s" % limited["overhead"]
        return per_second(limited) < per_second(free) / 4 and "%.0f samples a second instead of %.0f" % (per_second(limited), per_second(free))

    with target(any_python, "many_threads.py", "--threads", "5", "--depth", "5", "--busy", "0") as crowd:
        holds(off)


def test_who_wants_all_samples_gets_them(plumb, target, any_python):
    """Whatever it costs: what is not had is missed, and told as that."""
    with target(any_python, "many_threads.py", "--threads", "300", "--depth", "5", "--busy", "0") as crowd:
        for options, limit in (["-r", "20k", "--max-overhead", "none"], None), (["-r", "max"], None), (["-r", "10"], 0.2):
            profile = plumb.attach_until(lambda profile: profile.json["ticks"] > 3, crowd.pid, *options)
            overhead = profile.json["overhead"]
            assert (overhead["limit"], overhead["lowered_to_hz"]) == (limit, None), options
