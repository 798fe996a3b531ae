# SPDX-License-Identifier: Apache-2.0
"""A thread that runs code in another interpreter of the process is one thread, at one place at a time."""
import collections

import pytest


def test_a_thread_is_in_one_interpreter_at_a_time(plumb, target, minor):
    if minor.version < (3, 8):
        pytest.skip("Python %d.%d has no module for interpreters" % minor.minor)
    with target(minor, "subinterpreters.py") as running:
        _, profile = plumb.attach(running.pid, "-d", "2")
    samples, within = collections.Counter(), collections.Counter()
    for stack in profile.stacks:
        name = stack.thread["name"]
        samples[name] += stack.samples
        within[name] += stack.samples * stack.has("turn", "within")
    assert set(samples) == {"MainThread", "visitor 0", "visitor 1"}, samples
    for name in ("visitor 0", "visitor 1"):
        # One sample a tick, whatever the number of interpreters that the thread has been in.
        assert samples[name] <= 1.02 * samples["MainThread"], samples
        # Before each interpreter had a GIL of its own, they waited for each other.
        least = 0.6 if minor.version >= (3, 12) else 0.05
        assert within[name] > least * samples[name], (samples, within)
    assert not within["MainThread"]
