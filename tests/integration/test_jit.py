# SPDX-License-Identifier: Apache-2.0
"""Python's JIT compiler leaves out frames and lets lines lag behind: whoever reads a report is told when it ran."""
import os
import subprocess

import pytest

TOLD = "ran code of Python's JIT compiler"


def has_jit(python):
    return subprocess.run([*python.command, "-c", "import sys; sys.exit(not sys._jit.is_available())"],
                          stderr=subprocess.DEVNULL).returncode == 0


def attached(plumb, target, python, switch):
    """The profile of calls.py with the compiler on or off, and its report in words."""
    with target(python, "calls.py", env=dict(os.environ, PYTHON_JIT=switch)) as busy:
        recording = plumb.path()
        result = plumb("attach", "-o", recording, "-d", "1", busy.pid)
    assert result.status == 0, result
    return plumb.report(recording).json, plumb("report", recording).stdout


def test_a_report_says_what_ran_compiled_code(plumb, target, jit):
    if not has_jit(jit):
        pytest.skip("Python %s has no JIT compiler" % jit)
    report, text = attached(plumb, target, jit, "1")
    share = report["states"]["jit"]["samples"] / report["samples"]["total"]
    assert share > 0.5, report["states"]
    assert text.count(TOLD) == 1, text


def test_a_report_says_nothing_where_it_is_switched_off(plumb, target, jit):
    report, text = attached(plumb, target, jit, "0")
    assert report["states"]["jit"]["samples"] == 0, report["states"]
    assert TOLD not in text, text
