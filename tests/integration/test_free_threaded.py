# SPDX-License-Identifier: Apache-2.0
"""Python without a GIL, and the same Python with its GIL switched on. The matrix, legality and accuracy run on it too."""
import collections
import os

from harness.statistics import holds


def test_gil_mode_says_that_there_is_no_gil(plumb, target, free_threaded):
    with target(free_threaded, "threads.py") as busy:
        result = plumb("attach", "-d", "0.3", "--mode", "gil", busy.pid)
    assert result.status != 0 and "without a GIL" in result.stderr and "--mode cpu" in result.stderr, result


def names_of(profile):
    return {stack.thread["name"] for stack in profile.stacks}


def test_a_gil_that_is_switched_on_is_seen(plumb, target, free_threaded):
    with target(free_threaded, "threads.py", env=dict(os.environ, PYTHON_GIL="1")) as busy:
        _, profile = plumb.sampled(lambda profile: {"alpha", "beta"} <= names_of(profile), busy.pid, "--mode", "gil")
    assert profile.samples <= profile.json["ticks"], names_of(profile)


def test_nobody_holds_a_gil_that_is_off(plumb, target, free_threaded):
    with target(free_threaded, "threads.py") as busy:
        _, profile = plumb.sampled(lambda profile: profile.json["states"]["on_cpu"]["samples"], busy.pid)
    assert profile.json["states"]["has_gil"]["samples"] == 0, profile.json["states"]


def stops_of(profile):
    """How often each thread that moves was stopped, by its name."""
    stops = collections.Counter()
    for stack in profile.stacks:
        if stack.quality == "stopped" and stack.thread["name"].isdigit():
            stops[stack.thread["name"]] += stack.samples
    return stops


def test_the_stops_that_are_allowed_are_shared_by_all_threads(plumb, target, free_threaded):
    """Without a GIL more threads move at once than may be stopped; the oldest of eight does not get most of the stops."""

    def the_oldest_gets_few():
        """An eighth is its share. To get a third of twenty by chance is 1 in 100."""
        _, profile = plumb.sampled(lambda profile: sum(stops_of(profile).values()) >= 20, busy.pid)
        stops = stops_of(profile)
        return "" if stops["0"] < sum(stops.values()) / 3 else str(stops)

    with target(free_threaded, "movers.py") as busy:
        holds(the_oldest_gets_few)
