# SPDX-License-Identifier: Apache-2.0
"""Every interpreter, read by src/cpython alone: the variables of its frames and its asyncio tasks are what the program says
of itself. (The stacks are proved by the other tests.)"""
import os
import pathlib
import shlex
import subprocess
import sys

import pytest

from harness.plumb import PATIENCE

OLDEST = {"variables": (2, 7), "tasks": (3, 7)}
GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden" / "cpython"


@pytest.mark.parametrize("what", ["variables", "tasks"])
def test_variables_and_tasks_are_those_of_the_program(plumb, python, what):
    if python.version < OLDEST[what]:
        pytest.skip("%s are not read on Python %d.%d" % (what, *python.version[:2]))
    reader = os.path.join(os.path.dirname(plumb.binary), "tests", "unit", "cpython", "capture_image")
    if not os.access(reader, os.X_OK):
        pytest.skip("there is no %s: the binary is not in its build directory" % reader)
    command = python.command[-1:] if python.root else python.command
    result = subprocess.run(
        [sys.executable, str(GOLDEN / "capture.py"), reader, shlex.join(command), "all", "--print", what]
        + (["--root", python.root] if python.root else []),
        capture_output=True, text=True, timeout=PATIENCE,
    )
    assert result.returncode == 0, result.stdout[-8000:] + result.stderr
