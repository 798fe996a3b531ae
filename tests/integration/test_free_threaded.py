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


def proved_of(profile):
    """How many samples of each thread that moves were proved, by its name."""
    proved = collections.Counter()
    for stack in profile.stacks:
        if stack.quality in ("exact", "stopped") and stack.thread["name"].isdigit():
            proved[stack.thread["name"]] += stack.samples
    return proved


def test_the_time_that_may_be_taken_is_shared_by_all_threads(plumb, target, free_threaded):
    """Without a GIL more threads move at once than may be had to stand still; the oldest of eight is not preferred."""

    def the_oldest_gets_few():
        """An eighth is its share. To get a third of a hundred by chance is less than 1 in a million."""
        _, profile = plumb.sampled(lambda profile: sum(proved_of(profile).values()) >= 100, busy.pid)
        proved = proved_of(profile)
        return "" if proved["0"] < sum(proved.values()) / 3 else str(proved)

    with target(free_threaded, "movers.py") as busy:
        holds(the_oldest_gets_few)
