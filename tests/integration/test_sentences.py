# SPDX-License-Identifier: Apache-2.0
"""What is told of wrong input names the cause, and what to do next: one sentence and one hint, as they stand here."""
import pathlib
import subprocess

import pytest

from harness.plumb import Plumb, until


@pytest.fixture(scope="module")
def recording(tmp_path_factory, ordinary_python):
    plumb = Plumb(tmp_path_factory.mktemp("sentences"))

    def run(seconds):
        path = plumb.path()
        code = "import time\nend = time.time() + %g\nwhile time.time() < end: sum(range(1000))" % seconds
        assert plumb("run", "-q", "-o", path, "--", *ordinary_python.command, "-c", code).status == 0
        return path

    return until(run, lambda path: path.exists() and plumb.report(path).samples > 20, 0.2)


def told(result):
    return " ".join(result.stderr.split())


def test_a_place_that_is_not_there(plumb, any_python, tmp_path):
    result = plumb("run", "-o", tmp_path / "nowhere" / "x.plumb", "--", *any_python.command, "-c", "open('ran', 'w')", cwd=tmp_path)
    assert result.status == 125 and "No such file or directory hint: there is no such folder: make it, or name another one" in told(result), result
    assert not (tmp_path / "ran").exists()


def test_a_regular_expression_that_is_none(plumb, recording):
    result = plumb("report", recording, "--focus", "(")
    assert result.status == 125 and "'(' is no regular expression" in told(result) and "write a \\ before it" in told(result), result


def test_a_measure_that_is_no_function(plumb, recording):
    result = plumb("diff", recording, recording, "--normalize", "nobody")
    assert result.status == 125 and "no samples of a function 'nobody'" in told(result) and "name a function that 'plumb report' shows" in told(result), result


@pytest.mark.parametrize("form", ["collapsed", "json", "pprof", "svg", "csv"])
def test_threads_that_are_not_there_are_answered_with_those_that_are(plumb, recording, form):
    out = pathlib.Path(plumb.path())
    for command in (["report", recording, "-f", form, "-o", out], ["convert", recording, out, "-f", form]):
        result = plumb(*command, "--threads", "MainThread,nobody")
        assert result.status == 125 and "no samples of a thread 'nobody'; there are: " in told(result) and "MainThread" in told(result), result
        assert not out.exists()


def test_a_process_that_is_no_python_may_have_started_one(plumb):
    with subprocess.Popen(["sleep", "infinity"]) as other:
        result = plumb("attach", str(other.pid))
        other.kill()
    assert result.status == 125 and "not Python hint: if it has started a Python: 'plumb attach %d --subprocesses'" % other.pid in told(result), result


def test_a_recording_that_was_cut(plumb, recording, tmp_path):
    cut = tmp_path / "cut.plumb"
    cut.write_bytes(recording.read_bytes()[:-20])
    result = plumb("report", cut)
    assert result.status == 0 and "! incomplete: the profiler was killed, or the file was cut" in result.stdout, result
