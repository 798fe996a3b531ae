# SPDX-License-Identifier: Apache-2.0
"""What is told of wrong input names the cause, and what to do next: one sentence and one hint, as they stand here."""
import os
import pathlib
import re
import shlex
import subprocess

import pytest

from harness.plumb import Plumb, running, until


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


def waiting(python):
    """For a shell: a Python that says when it is there, in one write, and goes on until its input ends."""
    return shlex.join([*map(str, python.command), "-c", r"import os; os.write(1, b'ready\n'); input()"])


@pytest.mark.parametrize("command", ["attach", "dump"])
def test_a_shell_names_the_python_that_it_has_started(plumb, ordinary_python, command):
    with running(subprocess.Popen(["sh", "-c", waiting(ordinary_python) + "; exit"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)) as shell:
        assert shell.stdout.readline() == b"ready\n"
        result = plumb(command, shell.pid)
        found = re.search(r"not Python hint: it has started one \(.* -c .*\): 'plumb %s (\d+)'$" % command, told(result))
        assert result.status == 125 and found and plumb("dump", found[1]).status == 0, result
        shell.stdin.close()


@pytest.mark.parametrize("command", ["attach", "dump"])
def test_a_shell_names_several_of_the_pythons_that_it_has_started(plumb, ordinary_python, command):
    # In the background standard input would be /dev/null.
    four = "exec 3<&0; " + "%s <&3 & " % waiting(ordinary_python) * 4 + "wait"
    with running(subprocess.Popen(["sh", "-c", four], stdin=subprocess.PIPE, stdout=subprocess.PIPE)) as shell:
        for _ in range(4):
            assert shell.stdout.readline() == b"ready\n"
        result = plumb(command, shell.pid)
        shell.stdin.close()
        assert re.search(r"hint: it has started 4: (\d+), \d+, \d+, ...; the first is '.*': 'plumb %s \1'$" % command, told(result)), result


def as_somebody_else(plumb, *arguments, **options):
    if os.geteuid():
        pytest.skip("only root can become somebody else")
    return plumb(*arguments, before=["setpriv", "--reuid", "65534", "--clear-groups"], **options)


def test_a_recording_that_is_not_ours_to_read(plumb, recording):
    """It is named once."""
    result = as_somebody_else(plumb, "report", recording)
    wanted = "plumb: %s: it cannot be opened: Permission denied hint: a recording can be read by whoever made it, and by root" % recording
    assert result.status == 125 and told(result) == wanted, result


def test_a_directory_that_is_not_ours_to_write_to(plumb, any_python, tmp_path):
    tmp_path.chmod(0o755)
    result = as_somebody_else(plumb, "run", "--", "echo", "it ran", cwd=tmp_path)
    wanted = "plumb: cannot write plumb.PROG.PID.plumb: Permission denied hint: a recording goes into the current directory; '-o' names another place"
    assert result.status == 125 and told(result) == wanted and not result.stdout, result


def test_an_ending_that_is_of_no_format(plumb, recording, any_python, tmp_path):
    out = tmp_path / "x.docx"
    command = ["run", "-o", out, "--", *any_python.command, "-c", "print('it ran'); sum(range(10**6))"]
    result = plumb(*command)
    wanted = "plumb: no format ends in .docx hint: a recording is called NAME.plumb; 'plumb help formats' lists the other endings"
    assert result.status == 125 and told(result) == wanted and not result.stdout and not out.exists(), result
    assert plumb(*command[:1], "--force", *command[1:]).status == 0
    assert plumb(*command).status == 0  # a recording is there: it is replaced


def test_what_was_written_beside_the_recording_is_told(plumb, any_python, tmp_path):
    program = ["--", *any_python.command, "-c", "sum(range(10**7))"]
    assert "note: wrote x.svg\n" in plumb("run", "-o", "x.svg", *program, cwd=tmp_path).stderr
    assert plumb("run", "-q", "-o", "y.svg", *program, cwd=tmp_path).stderr == ""


def test_a_recording_that_was_cut(plumb, recording, tmp_path):
    cut = tmp_path / "cut.plumb"
    cut.write_bytes(recording.read_bytes()[:-20])
    result = plumb("report", cut)
    assert result.status == 0 and "! incomplete: the profiler was killed, or the file was cut" in result.stdout, result
