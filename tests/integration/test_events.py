# SPDX-License-Identifier: Apache-2.0
"""What becomes of processes is told as events: started, executing another program, ended."""
import collections
import os
import re
import signal
import subprocess
import time

import pytest

from harness.plumb import finish, running, until
from harness.target import children_of, status, thread_ids, wait_until
from test_several import wait_sampled
from test_trees import UNIT, sample, wait_sampled as wait_followed


def events_of(profile, kind):
    return [event for event in profile.json.get("events", []) if event["kind"] == kind]


def started_long_before_now(pid):
    """Of who was started in the last moment the kernel does not tell whether that was before plumb looked."""
    with open("/proc/%d/stat" % pid) as stat:
        ticks = int(stat.read().rpartition(")")[2].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) > ticks / os.sysconf("SC_CLK_TCK") + 0.1


@pytest.mark.parametrize("way", ["os.fork", "exec"])
def test_children_are_told_when_they_start_and_end(plumb, places, any_python, way):
    def run(seconds):
        _, profile, told = sample(plumb, places, any_python, "--way", way, "--unit", str(seconds))
        return profile, {t["pid"] for t in told if t["event"] == "worked"}

    profile, children = until(run, lambda found: found[1] <= {p["pid"] for p in found[0].json["processes"]}, UNIT)
    started, ended = events_of(profile, "started"), events_of(profile, "ended")
    assert {event["pid"] for event in started} == {event["pid"] for event in ended} == children, profile.json["events"]
    known = {p["pid"]: p for p in profile.json["processes"]}
    for event in started:
        assert event["time_ns"] == known[event["pid"]]["came_ns"] and known[event["pid"]]["program"].startswith(event["name"]), event
    for event in ended:
        assert event["time_ns"] == known[event["pid"]]["ended_ns"]
    recording = max(plumb.directory.glob("*.plumb"), key=lambda path: path.stat().st_mtime_ns)
    one = min(children)
    assert {event["pid"] for event in plumb.report(recording, "--process", str(one)).json["events"]} == {one}
    assert "events" not in plumb.report(recording, "--time", "..%.9f" % ((started[0]["time_ns"] - 1) / 1e9)).json


@pytest.mark.smoke
def test_what_ran_before_was_found_and_not_started(plumb, target, any_python):
    recording = plumb.path()
    with target(any_python, "calls.py") as second:
        with target(any_python, "calls.py") as first:
            process = plumb.start("attach", "-o", recording, first.pid, second.pid, stderr=subprocess.PIPE)
            with running(process):
                wait_sampled(plumb, recording, [first.pid, second.pid])
                first.stop()
                first.process.wait()
                wait_until(lambda: events_of(plumb.report(recording), "ended"), "its end is not told")
                process.send_signal(signal.SIGINT)
                finish(process)
    profile = plumb.report(recording)
    assert [(event["kind"], event["pid"]) for event in profile.json["events"]] == [("ended", first.pid)]


def test_a_child_that_comes_later_is_told_and_what_was_there_is_not(plumb, target, either):
    with target(either, "brood.py") as brood:
        [first] = children_of(brood.pid)
        wait_until(lambda: started_long_before_now(first), "time stands still")
        recording = plumb.path()
        with running(plumb.start("attach", "--subprocesses", "-o", recording, brood.pid, stderr=subprocess.PIPE)) as process:
            wait_followed(process.pid, first)
            os.kill(brood.pid, signal.SIGUSR1)
            second = brood.result("child")["pid"]
            wait_until(lambda: plumb.recorded(recording, lambda profile: events_of(profile, "started")), "it is not told")
            process.send_signal(signal.SIGINT)
            assert finish(process).status == 0
        assert [event["pid"] for event in events_of(plumb.report(recording), "started")] == [second]


def stopped_together(pids, seconds):
    """They stand still for so long, as a job after Ctrl-Z; gives for how long all of them did."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: all(status(pid, tid)["State"][0] == "T" for pid in pids for tid in thread_ids(pid)), "they run on")
    since = time.monotonic()
    wait_until(lambda: time.monotonic() - since >= seconds, "time stands still")
    stood = time.monotonic() - since
    for pid in pids:
        os.kill(pid, signal.SIGCONT)
    return stood


def until_a_pause_is_told(plumb, recording, stop):
    """stop(), and once more where that looked as if plumb had waited for a processor, as on a machine with far too much to do; gives what the
    last stop() gave. What was sampled before a stop may be recorded behind it: that none is told shows when it has gone on three times."""
    told, samples = [], [0]

    def goes_on(profile):
        told[:] = events_of(profile, "pause")
        if profile.samples > samples[-1]:
            samples.append(profile.samples)
        return told or len(samples) > 3

    while not told:
        given = stop()
        del samples[:-1]
        wait_until(lambda: plumb.recorded(recording, goes_on), "it does not go on")
    return given


def test_a_time_for_which_plumb_stood_still_is_a_pause_and_was_not_missed(plumb, target, any_python):
    """It was told as missed, by which all times were scaled: of a program of 5 s that was suspended for 6 s, 12 s."""
    recording = plumb.path()
    with target(any_python, "calls.py") as busy:
        began = time.monotonic()
        with running(plumb.start("attach", "-o", recording, busy.pid, stderr=subprocess.PIPE)) as process:
            wait_until(lambda: plumb.recorded(recording, lambda profile: profile.samples), "it is not sampled")
            stood = until_a_pause_is_told(plumb, recording, lambda: stopped_together([process.pid, busy.pid], 3))
            process.send_signal(signal.SIGINT)
            assert finish(process).status == 0
        lasted = time.monotonic() - began
    profile = plumb.report(recording)
    [pause] = events_of(profile, "pause")
    assert pause["duration_ns"] > 0.5e9 * stood
    assert profile.json["duration_ns"] + pause["duration_ns"] <= 1e9 * lasted
    assert profile.json["losses"]["missed_ns"] <= profile.json["duration_ns"]


def cpu_seconds(pid):
    with open("/proc/%d/stat" % pid) as stat:
        return sum(map(int, stat.read().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")


WAKE_OFTEN = """
import sys, threading, time
def wake():
    while True:
        time.sleep(0.002)
for _ in range(60):
    thread = threading.Thread(target=wake)
    thread.daemon = True
    thread.start()
sys.stdin.read()
"""


def test_times_go_on_where_plumb_stood_still_within_a_round(plumb, any_python):
    """What a round saw behind a pause was told as later than what the next rounds saw, for as long as the pause had been, and timelines had
    all of that in one moment. As fast as possible, nearly all of the time is in rounds."""
    recording = plumb.path()
    with running(subprocess.Popen([*any_python.command, "-c", WAKE_OFTEN], stdin=subprocess.PIPE)) as busy:
        wait_until(lambda: len(thread_ids(busy.pid)) > 60, "it has no threads")
        with running(plumb.start("attach", "-r", "max", "-o", recording, busy.pid, stderr=subprocess.PIPE)) as process:
            wait_until(lambda: plumb.recorded(recording, lambda profile: profile.samples), "it is not sampled")
            for _ in range(3):
                stopped_together([process.pid], 2)
                size = recording.stat().st_size
                wait_until(lambda: recording.stat().st_size > size, "it does not go on")
            process.send_signal(signal.SIGINT)
            assert finish(process).status == 0
    text = plumb.path(".txt")
    assert plumb("report", recording, "-f", "perf-script", "-o", text).status == 0
    with open(text) as lines:
        moments = collections.Counter(re.findall(r"/(\d+) +\[\d+\] (\S+): ", lines.read()))
    assert max(moments.values()) <= 10, moments.most_common(3)


def test_what_a_program_runs_while_plumb_alone_is_suspended_is_not_sampled(plumb, target, any_python):
    """In CPU mode the samples beside the pause weighed all of it. One that stops plumb within a round is tried again: it is there for less
    than a hundredth of the time."""

    def ran_while_plumb_stood(process, busy):
        os.kill(process.pid, signal.SIGSTOP)
        wait_until(lambda: all(status(process.pid, tid)["State"][0] == "T" for tid in thread_ids(process.pid)), "it runs on")
        since, began = cpu_seconds(busy.pid), time.monotonic()
        wait_until(lambda: time.monotonic() - began > 3 and cpu_seconds(busy.pid) > since + 0.5, "the program does not run")
        meanwhile = cpu_seconds(busy.pid) - since
        process.send_signal(signal.SIGCONT)
        return meanwhile

    def weighs_no_more(busy):
        recording = plumb.path()
        with running(plumb.start("attach", "--mode", "cpu", "-r", 20, "-o", recording, busy.pid, stderr=subprocess.PIPE)) as process:
            wait_until(lambda: plumb.recorded(recording, lambda profile: profile.samples), "it is not sampled")
            meanwhile = until_a_pause_is_told(plumb, recording, lambda: ran_while_plumb_stood(process, busy))
            process.send_signal(signal.SIGINT)
            assert finish(process).status == 0
        ran = cpu_seconds(busy.pid) - before
        return plumb.report(recording).json["samples"]["weight_ns"] <= 1e9 * (ran - meanwhile + 0.05)

    with target(any_python, "calls.py") as busy:
        for _ in range(4):
            before = cpu_seconds(busy.pid)
            if weighs_no_more(busy):
                return
    raise AssertionError("what it ran meanwhile is in the samples")
