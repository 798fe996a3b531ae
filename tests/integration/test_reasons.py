# SPDX-License-Identifier: Apache-2.0
"""For what sampled threads wait (targets/reasons.py): each kind of wait by a thread that does nothing else, and shares of one that waits for
two things in turn, which are what the program measured itself."""
import json
import os

import pytest

from harness.shares import LIMIT, compare
from harness.statistics import NotNow, holds
from harness.target import wait_asleep

ENOUGH = 20  # samples of each thread
TURNS = 150  # samples of both kinds
MISSED = 0.1  # of the time at most: what was missed may have been other than what was seen


def samples(profile):
    return {reason: figures["samples"] for reason, figures in profile.json.get("waits_for", {}).items()}


def test_each_kind_of_wait(plumb, target, minor):
    """In JSON, in the text report, and as a choice of samples."""
    with target(minor, "reasons.py") as program:
        wait_asleep(program.pid)
        reasons = program.told["reasons"]

        def enough(profile):
            counts = {thread["name"]: thread["samples"] for thread in profile.threads}
            return all(counts.get(name, 0) >= ENOUGH for name in reasons)

        result, recording = plumb.try_sampling(enough, program.pid)
    assert result.status == 0, result
    for name, reason in reasons.items():
        profile = plumb.report(recording, "--threads", name)
        assert samples(profile) == {reason: profile.samples}, name
        chosen = plumb.report(recording, "--threads", name, "--state", reason)
        assert chosen.samples == profile.samples and chosen.json["waits_for"][reason]["share"] == 1, name
    text = plumb("report", "--threads", "wait_recv", recording).stdout
    assert "waited" in text and "sockets 100 %" in text, text
    everything = plumb.report(recording)
    assert sum(samples(everything).values()) == everything.samples


def test_the_sum_of_a_merge_has_them(plumb, target, few):
    """Of one recording added to itself all are twice as many; in pprof's format they are labels, which come back."""
    with target(few, "reasons.py") as program:
        wait_asleep(program.pid)
        result, recording = plumb.try_sampling(lambda profile: profile.samples >= 10 * ENOUGH, program.pid)
    assert result.status == 0, result
    once, both = samples(plumb.report(recording)), plumb.path()
    assert plumb("merge", "-o", both, recording, recording).status == 0
    labelled = plumb.path(".pb.gz")
    assert plumb("convert", "-f", "pprof", recording, labelled).status == 0
    assert samples(plumb.report(labelled)) == once
    assert samples(plumb.report(both)) == {reason: 2 * count for reason, count in once.items()}


def test_shares_are_those_of_the_time(plumb, places, few):
    """One trial in 20 may be further off than its limit."""
    script = os.path.join(places.directory(few.root)[1], "reasons.py")

    def trial():
        recording = plumb.path()
        environment = dict(os.environ, PLUMB_TEST_SECONDS="3")
        result = plumb("run", "-o", recording, "--", *few.command, script, "--case", "turns", env=environment)
        assert result.status == 0, result
        profile = plumb.report(recording, "--threads", "MainThread", "--state", "sleep,pipe")
        if profile.samples < TURNS:
            raise NotNow("%d samples" % profile.samples)
        truth = json.loads(result.stdout.strip().splitlines()[-1])["waited"]
        seen = {reason: figures["share"] for reason, figures in profile.json["waits_for"].items()}
        off = [str(each) for each in compare(truth, seen, profile.samples) if abs(each.score) > LIMIT]
        return ", ".join(off)

    holds(trial)


def test_ready_without_a_cpu_is_what_the_kernel_says(plumb, places, few):
    """Three programs have one CPU: the share of the samples that are ready and have none is that of the kernel's run delay, which the
    program reads itself. It stays among those that run or are ready. One trial in 20 may be outside of the interval of the report,
    and one sample."""
    if few.root:
        pytest.skip("the program reads /proc, which its root does not have")
    script = os.path.join(places.directory(few.root)[1], "ready.py")

    def trial():
        recording = plumb.path()
        environment = dict(os.environ, PLUMB_TEST_SECONDS="4")
        result = plumb("run", "-r100", "-o", recording, "--", *few.command, script, env=environment)
        assert result.status == 0, result
        profile = plumb.report(recording, "--focus", "work")
        lost = profile.json["losses"]["missed_ns"]
        missed = lost / (lost + profile.json["taken_ns"])
        if profile.samples < TURNS or missed > MISSED:
            raise NotNow("%d samples, %.0f %% missed" % (profile.samples, 100 * missed))
        assert profile.json["states"]["on_cpu"]["share"] > 0.9
        chosen = plumb.report(recording, "--focus", "work", "--state", "cpu")
        assert chosen.samples == samples(profile)["cpu"] == chosen.json["states"]["on_cpu"]["samples"]
        told = json.loads(result.stdout.strip().splitlines()[-1])
        truth, seen = told["ready"] / told["worked"], profile.json["waits_for"]["cpu"]
        off = abs(seen["share"] - truth)
        if off <= seen["half_width"] + 1 / profile.samples:
            return None
        return "ready for %.1f %%, seen %.1f %% +-%.1f" % (100 * truth, 100 * seen["share"], 100 * seen["half_width"])

    holds(trial)
