# SPDX-License-Identifier: Apache-2.0
"""Python without a GIL, and the same Python with its GIL switched on. The matrix, legality and accuracy run on it too."""
import collections
import os


def test_gil_mode_says_that_there_is_no_gil(plumb, target, free_threaded):
    with target(free_threaded, "threads.py") as busy:
        result = plumb("attach", "-d", "0.3", "--mode", "gil", busy.pid)
    assert result.status != 0 and "without a GIL" in result.stderr and "--mode cpu" in result.stderr, result


def names_of(profile):
    return {stack.thread["name"] for stack in profile.stacks}


def test_a_gil_that_is_switched_on_is_seen(plumb, target, free_threaded):
    with target(free_threaded, "threads.py", env=dict(os.environ, PYTHON_GIL="1")) as busy:
        profile = plumb.attach_until(lambda profile: {"alpha", "beta"} <= names_of(profile), busy.pid, "--mode", "gil")
    assert {"alpha", "beta"} <= names_of(profile) and profile.samples <= profile.json["ticks"], names_of(profile)


def test_nobody_holds_a_gil_that_is_off(plumb, target, free_threaded):
    with target(free_threaded, "threads.py") as busy:
        profile = plumb.attach_until(lambda profile: profile.json["states"]["on_cpu"]["samples"], busy.pid)
    assert profile.json["states"]["has_gil"]["samples"] == 0, profile.json["states"]
    assert profile.json["states"]["on_cpu"]["samples"] > 0, profile.json["states"]


def stops_of(profile):
    """How often each thread that moves was stopped, by its name."""
    stops = collections.Counter()
    for stack in profile.stacks:
        if stack.quality == "stopped" and stack.thread["name"].isdigit():
            stops[stack.thread["name"]] += stack.samples
    return stops


def test_the_stops_that_are_allowed_are_shared_by_all_threads(plumb, target, free_threaded):
    """Without a GIL more threads move at once than may be stopped; the oldest of eight does not get most of the stops."""
    looks = []
    with target(free_threaded, "movers.py") as busy:
        for seconds in ("1.5", "3", "5"):  # a machine that is busy elsewhere: look for longer before it counts
            _, profile = plumb.attach(busy.pid, "-d", seconds)
            looks.append(stops_of(profile))
            total = sum(looks[-1].values())
            if total >= 20 and looks[-1]["0"] < total / 3:
                return
    raise AssertionError(looks)
