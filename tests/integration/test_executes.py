# SPDX-License-Identifier: Apache-2.0
"""plumb never runs what it looks at, nor any other program to learn something: what the kernel was asked to execute, by
strace's word."""
import os
import re
import shutil

import pytest

from harness.dump import PATIENCE

STARTS = {
    "dump": lambda pid, script: ["dump", *PATIENCE, "--locals", pid],
    "attach": lambda pid, script: ["attach", "-d", "0.2", "-o", "/dev/null", pid],
    "attach by name": lambda pid, script: ["attach", "-d", "0.2", "-o", "/dev/null", script],
    "doctor": lambda pid, script: ["doctor", pid],
}


@pytest.fixture
def executed(plumb, tmp_path):
    """executed(arguments): every program that was executed while plumb ran with them, plumb itself first."""
    strace = shutil.which("strace")
    if not strace:
        pytest.skip("strace is not installed")
    if plumb.sanitized:
        pytest.skip("the leak checker needs ptrace itself")

    def trace(arguments):
        calls = tmp_path / "calls"
        result = plumb(*arguments, before=[strace, "-f", "-qq", "-e", "trace=execve,execveat", "-e", "signal=none", "-o", str(calls)])
        assert result.status == 0, result
        text = calls.read_text()
        assert "execveat" not in text, text
        return [match.group(1) for match in re.finditer(r'execve\("([^"]*)".* = 0$', text, re.M)]

    return trace


@pytest.mark.parametrize("name", STARTS)
def test_nothing_is_executed_to_look_at_a_process(plumb, target, places, any_python, executed, name, tmp_path):
    for script in ("threads.py", "parley.py"):  # at a path that no other process has
        shutil.copy(os.path.join(places.directory()[0], script), tmp_path)
    with target(any_python, "threads.py", directory=(str(tmp_path), str(tmp_path))) as busy:
        assert executed(STARTS[name](busy.pid, tmp_path / "threads.py")) == [str(plumb.binary)]


def test_a_run_executes_its_program_and_nothing_else(plumb, any_python, executed):
    program = [*any_python.command, "-S", "-c", "for i in range(1000000): pass"]
    assert executed(["run", "-o", "/dev/null", "--", *program]) == [str(plumb.binary), program[0]]
