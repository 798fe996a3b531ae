# SPDX-License-Identifier: Apache-2.0
"""The end of `./dev test`: who has only the last page of a log knows what failed, and what it said."""
import json
import subprocess
import sys

from harness.plumb import TOP

FAILING = """
import pytest

def test_sums():
    assert 1 + 1 == 3, "it is two"

@pytest.mark.parametrize("n", range(40))
def test_many(n):
    assert n < 3, "n is %d" % n
"""
OF_CMOCKA = "[  ERROR   ] --- 0x2 != 0x3\n[   LINE   ] --- ../tests/unit/x.c:7: error: Failure!\n[  FAILED  ] x: sums\n\n 1 FAILED TEST(S)\n"


def pytest_results(tmp_path, *chosen):
    (tmp_path / "test_it.py").write_text(FAILING)
    path = tmp_path / "results.xml"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", tmp_path, "--junitxml", path, "-q"]
    subprocess.run([*command, tmp_path / "test_it.py", *chosen], stdout=subprocess.DEVNULL)
    return path


def meson_results(tmp_path):
    path = tmp_path / "testlog.json"
    path.write_text(json.dumps({"name": "unit / x", "result": "FAIL", "duration": 0.1, "stdout": "", "stderr": OF_CMOCKA}) + "\n")
    return path


def closing_lines(tmp_path, *results):
    steps, notes = tmp_path / "steps.txt", tmp_path / "notes.txt"
    steps.write_text("3\t2\tend to end\n" * 30)
    notes.write_text("".join("run again, a defect to mend: %d, which had said: x\n" % n for n in range(30)))
    told = [sys.executable, TOP / "tests" / "totals.py", "--steps-failed", "end to end, ", "--steps", steps, "--notes", notes, *results]
    return subprocess.run(told, stdout=subprocess.PIPE, text=True).stdout.splitlines()


def test_the_last_page_says_what_failed_and_what_it_said(tmp_path):
    lines = closing_lines(tmp_path, meson_results(tmp_path), pytest_results(tmp_path, "-k", "sums"))
    assert lines[-1] == "0 passed, 2 failed, 0 skipped"
    page = lines[-30:]
    said = "failed: unit / x: FAIL, which said: [  ERROR   ] --- 0x2 != 0x3 | [   LINE   ] --- ../tests/unit/x.c:7: error: Failure!"
    assert said in page and "step failed: end to end" in page
    assert any(line.startswith("failed: test_it::test_sums, which said: AssertionError: it is two") for line in page), page


def test_of_very_many_the_first_are_told_and_all_are_named(tmp_path):
    lines = closing_lines(tmp_path, pytest_results(tmp_path))
    assert lines[-1] == "3 passed, 38 failed, 0 skipped"
    told = [line for line in lines[-30:] if line.startswith("failed: ")]
    assert len(told) == 20 and all("which said: AssertionError: " in line for line in told), told
    assert "and 18 more that failed: their names stand above" in lines[-30:]
    assert {"failed: test_it::test_many[%d]" % n for n in range(3, 40)} <= set(lines)
