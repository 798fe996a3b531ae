# SPDX-License-Identifier: Apache-2.0
"""The default engine of `import plumb` names what changes its stack all the time: it reads a thread from the processor that the thread ran
on, where it does not run meanwhile (docs/design/009-standing-beside.md). And whatever it does, no thread but its own is bound to anything."""
import json
import os

import pytest

from harness import package
from harness.callgraph import CallGraph, Verdict, check
from harness.interpreters import TARGETS
from harness.proved import BLIND, seen_in_time, too_many, unproved
from harness.report import Profile
from harness.statistics import holds

STRETCH = 0.5  # seconds of a program
SAMPLES = 400  # of a trial
# Programs whose stack is never the same for long: event loops of callbacks and of coroutines, generators, recursion by two ways, calls.
PROGRAMS = ["callbacks", "coroutines", "generators", "alternating", "short_calls"]
TITLE = "Sampled from within, at 1 kHz: samples that were not proved"


def profile_of(told):
    return Profile(json.dumps(told["report"]))


def until_enough(ask, graph, verdict):
    """(samples, those that were not proved) of as many stretches as it takes. A machine on which most of them are missed says nothing."""
    total = count = 0
    while total < SAMPLES:
        profile = profile_of(ask())
        check(graph, profile, verdict)
        assert profile.quality["stopped"] == 0, profile.quality
        total += profile.samples
        count += unproved(seen_in_time(profile))
    return total, count


# What a stack is made of differs with the release, and how we come to the processor of its thread does not: each release takes two of them.
@pytest.mark.once
@pytest.mark.thinned(2, of=len(PROGRAMS))
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_stack_that_changes_all_the_time_is_named(able, program, table):
    """All but those of which the thread had gone to another processor by the time that we came to its own, three times, or stood between two
    instructions that link a frame (harness/proved.py)."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("on one processor any thread stands still while another one runs")
    graph, verdict = CallGraph(TARGETS / (program + ".py")), Verdict()
    with package.measuring(able, "standing.py", program, STRETCH, other=TARGETS) as ask:

        def off():
            total, count = until_enough(ask, graph, verdict)
            table(able.name, program, "%.1f %%" % (100 * count / total), title=TITLE)
            return too_many(count, total)

        holds(off, blind=BLIND)
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
