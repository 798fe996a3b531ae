# SPDX-License-Identifier: Apache-2.0
"""--until: the sampling ends when the shares are known. Intervals narrow with time, so it ends for sure; that of a program that does one thing is next to nothing after the two
looks that it takes at least."""
import os
import re

import pytest

from harness.plumb import finish
from harness.target import wait_until

# Works until there is a file, and ends with a status of its own.
GOES_ON = "import os, sys\nwhile not os.path.exists(sys.argv[1]): sum(range(1000))\nsys.exit(7)"
TOO_EARLY = r"the sampling ended too early: the shares are known to ([\d.]+) points, and ([\d.]+) takes? about (\d+) times as long"


def widest(profile):
    """Of the shares that the report shows, at least."""
    return max(f["total"]["half_width"] for f in profile.json["functions"] if f["own"] and f["total"]["share"] >= 0.05)


def test_attach_ends_when_the_shares_are_known(plumb, target, any_python):
    with target(any_python, "threads.py") as busy:
        result, profile = plumb.attach(busy.pid, "--until", "10%")
        assert "too early" not in result.stderr, result
        assert profile.complete and profile.samples
        assert busy.process.poll() is None
    assert widest(profile) < 0.2  # a little more was sampled after the last look


@pytest.mark.parametrize("options", [[], ["--no-subprocesses"]])
def test_a_program_that_is_run_goes_on(plumb, any_python, tmp_path, options):
    recording, stop = plumb.path(), tmp_path / "stop"
    running = plumb.start("run", "-q", "--until", "20%", *options, "-o", recording, "--", *any_python.command, "-c", GOES_ON, stop)
    try:
        wait_until(lambda: plumb.recorded(recording, lambda profile: profile.complete), "the sampling did not end")
        assert running.poll() is None
    finally:
        stop.touch()
    result = finish(running)
    assert result.status == 7 and plumb.report(recording).json["duration_ns"] >= 2e9, result


def test_what_is_not_known_at_the_end_is_told_with_what_it_takes(plumb, any_python):
    code = "import time; end = time.time() + 0.5\nwhile time.time() < end: sum(range(1000))"
    result = plumb("run", "--until", "0.02%", "-o", plumb.path(), "--", *any_python.command, "-c", code)
    assert result.status == 0, result
    known, asked, times = map(float, re.search(TOO_EARLY, result.stderr).groups())
    assert asked == 0.02 and times >= 1 and abs(times / (known / asked) ** 2 - 1) < 0.2  # figures of two digits
    quiet = plumb("run", "-q", "--until", "0.02%", "-o", plumb.path(), "--", *any_python.command, "-c", code)
    assert quiet.stderr == "", quiet


@pytest.mark.parametrize("value", ["0", "101", "x", "-1"])
def test_what_is_no_number_of_points_is_refused(plumb, value):
    result = plumb("run", "--until=" + value, "--", "true")
    assert result.status == 125 and "give points from 0.01 to 100" in result.stderr, result
