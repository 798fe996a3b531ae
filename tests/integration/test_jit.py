# SPDX-License-Identifier: Apache-2.0
"""Python's JIT compiler leaves out frames and lets lines lag behind: whoever reads a report is told when it ran. Its code has no
unwind tables, and is told to nobody (3.14)."""
import os
import subprocess

import pytest

from test_native import problems

TOLD = "ran code of Python's JIT compiler"


def has_jit(python):
    return subprocess.run([*python.command, "-c", "import sys; sys.exit(not sys._jit.is_available())"],
                          stderr=subprocess.DEVNULL).returncode == 0


def sampled(plumb, target, python, switch, enough):
    """The profile of calls.py with the compiler on or off, and its report in words."""
    with target(python, "calls.py", env=dict(os.environ, PYTHON_JIT=switch)) as busy:
        result, recording = plumb.try_sampling(enough, busy.pid)
    assert result.status == 0, result
    return plumb.report(recording).json, plumb("report", recording).stdout


def compiled(profile):
    return profile.json["states"]["jit"]["samples"]


def test_a_report_says_what_ran_compiled_code(plumb, target, jit):
    if not has_jit(jit):
        pytest.skip("Python %s has no JIT compiler" % jit)
    # Soon all of it is compiled.
    _, text = sampled(plumb, target, jit, "1", lambda profile: 2 * compiled(profile) > profile.samples)
    assert text.count(TOLD) == 1, text


def test_a_report_says_nothing_where_it_is_switched_off(plumb, target, jit):
    report, text = sampled(plumb, target, jit, "0", lambda profile: profile.samples > 100)
    assert report["states"]["jit"]["samples"] == 0, report["states"]
    assert TOLD not in text, text


def test_native_frames_are_known_on_both_sides_of_compiled_code(plumb, target, jit):
    """From the function that compiled code has called to the eval loop that has called it: nothing is missing."""
    if not has_jit(jit):
        pytest.skip("Python %s has no JIT compiler" % jit)

    def whole(profile):
        names = [({frame.name for frame in stack.frames}, stack.samples) for stack in profile.stacks]
        return sum(samples for found, samples in names if "<code that is in no file>" in found and "<missing frames>" not in found)

    with target(jit, "native_calls.py", env=dict(os.environ, PYTHON_JIT="1"), count=True) as program:
        _, profile = plumb.sampled(lambda profile: whole(profile) >= 30, program.pid, "--native=all", "-r", "500")
        program.wait_progress()
    assert not problems(jit, profile)
