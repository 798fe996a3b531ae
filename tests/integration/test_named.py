# SPDX-License-Identifier: Apache-2.0
"""By default next to every sample is named, also of programs that change their stack all the time and while others want the processors:
plumb has a thread stand still in the cheaper of two ways, and takes fewer samples where both cost too much (docs/design/009-standing-beside.md)."""
import os

import pytest

from harness.callgraph import CallGraph, Verdict, check
from harness.interpreters import TARGETS
from harness.proved import BLIND, seen_in_time, too_many, unproved
from harness.statistics import NotNow, holds

SAMPLES = 400  # of a trial
SECONDS = 0.7  # or longer: of less, what a single stop may take on a busy machine is too much
AT_ONCE_NS = 9e6  # of the program's time may be taken at once, next to MOST of all of it
MOST = 0.025
# Event loops of callbacks and of coroutines, generators, two families of functions, recursion by two ways, calls.
PROGRAMS = ["callbacks", "coroutines", "generators", "families", "alternating", "short_calls"]
TITLE = "Sampled from outside, by default, at -r %s: samples that were not proved"


def seen(profile):
    """No single stop was so long that it took all that may be taken."""
    taken_ns = profile.json["overhead"]["stopped_ns"]
    if taken_ns > MOST * profile.json["duration_ns"] + AT_ONCE_NS:
        raise NotNow("the program stood still for %d ms of %.1f s" % (taken_ns / 1e6, profile.duration_s))
    return seen_in_time(profile)


@pytest.mark.once
@pytest.mark.thinned(2, of=len(PROGRAMS))
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("rate", ["1000", "max"])
def test_a_stack_that_changes_all_the_time_is_named(plumb, target, few, rate, program, table):
    """As fast as possible is as fast as samples can be proved."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("on one processor any thread stands still while another one runs")
    if few.version < (3,) and program in ("callbacks", "coroutines"):
        pytest.skip("Python 2.7 has no event loop of its own")
    graph, verdict = CallGraph(TARGETS / (program + ".py")), Verdict()

    def off():
        _, profile = plumb.sampled(lambda profile: profile.samples >= SAMPLES and profile.duration_s > SECONDS, running.pid, "-r", rate)
        check(graph, profile, verdict)
        count = unproved(seen(profile))
        table(few.name, program, "%.1f %%" % (100 * count / profile.samples), title=TITLE % rate)
        return too_many(count, profile.samples)

    with target(few, program + ".py") as running:
        holds(off, blind=BLIND)
    assert verdict.checked and not verdict.impossible and not verdict.outer_impossible, verdict
