# SPDX-License-Identifier: Apache-2.0
"""Python without a GIL, and the same Python with its GIL switched on. The matrix, legality and accuracy run on it too."""
import os


def test_gil_mode_says_that_there_is_no_gil(plumb, target, free_threaded):
    with target(free_threaded, "threads.py") as busy:
        result = plumb("attach", "-d", "0.3", "--mode", "gil", busy.pid)
    assert result.status != 0 and "without a GIL" in result.stderr and "--mode cpu" in result.stderr, result


def test_a_gil_that_is_switched_on_is_seen(plumb, target, free_threaded):
    with target(free_threaded, "threads.py", env=dict(os.environ, PYTHON_GIL="1")) as busy:
        _, profile = plumb.attach(busy.pid, "-d", "0.6", "--mode", "gil")
    names = {stack.thread["name"] for stack in profile.stacks}
    assert {"alpha", "beta"} <= names and profile.samples <= profile.json["ticks"], names


def test_nobody_holds_a_gil_that_is_off(plumb, target, free_threaded):
    with target(free_threaded, "threads.py") as busy:
        _, profile = plumb.attach(busy.pid, "-d", "0.6")
    assert profile.json["states"]["has_gil"]["samples"] == 0, profile.json["states"]
    assert profile.json["states"]["on_cpu"]["samples"] > 0, profile.json["states"]
