# SPDX-License-Identifier: Apache-2.0
"""The default engine of `import plumb` names what changes its stack all the time: it reads a thread from the processor that the thread ran
on, where it does not run meanwhile (docs/design/009-standing-beside.md). And whatever it does, no thread but its own is bound to anything."""
import json
import os

import pytest

from harness import package
from harness.callgraph import CallGraph, Verdict, check
from harness.interpreters import TARGETS
from harness.report import Profile
from harness.statistics import NotNow, holds

STRETCH = 0.5  # seconds of a program
SAMPLES = 400  # of a trial
UNPROVED = 0.01
FIRST = 16  # samples of a thread of which nothing is known yet: doubtful unless it is seen to move
# Programs whose stack is never the same for long: event loops of callbacks and of coroutines, generators, recursion by two ways, calls.
PROGRAMS = ["callbacks", "coroutines", "generators", "alternating", "short_calls"]
TITLE = "Sampled from within, at 1 kHz: samples that were not proved"


def profile_of(told):
    return Profile(json.dumps(told["report"]))


def until_enough(ask, graph, verdict):
    """(samples, those that were not proved) of as many stretches as it takes. A machine on which most of them are missed says nothing."""
    total = unproved = 0
    while total < SAMPLES:
        profile = profile_of(ask())
        check(graph, profile, verdict)
        if profile.losses["missed"] > profile.samples:
            raise NotNow("%d samples came too late, %d did not" % (profile.losses["missed"], profile.samples))
        assert profile.quality["stopped"] == 0, profile.quality
        total += profile.samples
        unproved += max(0, profile.quality["doubtful"] - FIRST) + profile.quality["partial"]
    return total, unproved


# What a stack is made of differs with the release, and how we come to the processor of its thread does not: each release takes two of them.
@pytest.mark.once
@pytest.mark.thinned(2, of=len(PROGRAMS))
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_stack_that_changes_all_the_time_is_named(able, program, table):
    """In 0 to 2 of 1,000 samples the thread had gone to another processor by the time that we came to its own, three times, or stood between
    two instructions that link a frame; beside twelve programs on two processors in 4."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("on one processor any thread stands still while another one runs")
    graph, verdict = CallGraph(TARGETS / (program + ".py")), Verdict()
    with package.measuring(able, "standing.py", program, STRETCH, other=TARGETS) as ask:

        def off():
            total, unproved = until_enough(ask, graph, verdict)
            table(able.name, program, "%.1f %%" % (100 * unproved / total), title=TITLE)
            return unproved > UNPROVED * total and "%d of %d samples were not proved" % (unproved, total)

        holds(off)
    assert verdict.checked and not verdict.impossible and not verdict.outer_impossible, verdict


@pytest.mark.once
def test_no_thread_of_the_program_is_bound_to_a_processor(able):
    """Neither those that were there, nor a thread or a process that begins while we stand beside one."""
    with package.measuring(able, "standing.py", "alternating", STRETCH, other=TARGETS) as ask:
        told = ask()
        while profile_of(told).json["overhead"]["stopped_ns"] == 0:  # nobody stood beside one
            told = ask()
    everywhere = sorted(os.sched_getaffinity(0))
    for when in ("before", "during", "after"):
        assert all(cpus == everywhere for cpus in told[when].values()), told
    assert told["new"] == [everywhere] * 2, told
