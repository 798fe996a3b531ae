# SPDX-License-Identifier: Apache-2.0
"""`plumb run` behaves like the program it runs: its output, its exit status, its signals."""
import os
import re
import signal
import subprocess
import sys

import pytest

from harness.plumb import PATIENCE, running, until
from harness.target import status, thread_ids, wait_until
from harness.terminal import Terminal

PROGRAM = "status.py"


@pytest.fixture
def program(plumb, places, any_python):
    """program("--exit", "3") is the command line of targets/status.py."""
    script = os.path.join(places.directory(any_python.root)[1], PROGRAM)
    return lambda *arguments: [*any_python.command, script, *arguments]


def spins(seconds):
    """As many as take about so long."""
    return str(int(400 * seconds))


@pytest.mark.smoke
@pytest.mark.parametrize("status", [0, 1, 3, 100, 255])
def test_exit_status_is_the_programs(plumb, program, status):
    assert plumb("run", "-o", plumb.path(), "--", *program("--exit", str(status))).status == status


@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL", "SIGHUP", "SIGUSR1"])
def test_a_program_killed_by_a_signal_gives_128_plus_its_number(plumb, program, name):
    number = getattr(signal, name)
    result = plumb("run", "-o", plumb.path(), "--", *program("--signal", str(int(number))))
    assert result.status == 128 + number, result
    assert "the program was killed by signal %d (" % number in result.stderr, result


def test_a_program_that_is_not_there_gives_127(plumb):
    result = plumb("run", "--", "no-such-program-anywhere")
    assert result.status == 127 and "no-such-program-anywhere" in result.stderr, result


@pytest.mark.parametrize("kind", ["no permission", "directory"])
def test_a_program_that_cannot_be_executed_gives_126(plumb, kind):
    path = plumb.path(".txt")
    if kind == "directory":
        path.mkdir()
    else:
        path.write_text("text")
    result = plumb("run", "--", str(path))
    assert result.status == 126 and str(path) in result.stderr, result


def test_nothing_to_run_gives_125(plumb):
    result = plumb("run")
    assert result.status == 125 and result.stderr.startswith("plumb: "), result


@pytest.mark.smoke
def test_output_and_input_are_the_programs_own(plumb, program):
    result = plumb("run", "-o", plumb.path(), "--", *program("--lines", "3"))
    assert result.stdout == "".join("line %d of the program's own output\n" % n for n in range(3)), result
    echo = [sys.executable, "-c", "import sys; sys.stdout.write(sys.stdin.read().upper())"]
    with running(plumb.start("run", "-o", plumb.path(), "--", *echo, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)) as process:
        stdout, _ = process.communicate(b"hello\n", timeout=PATIENCE)
    assert stdout == b"HELLO\n" and process.returncode == 0


CLOSED = """
import os
for fd in range(3):
    try:
        os.fstat(fd)
    except OSError:
        os.write(int(os.environ["TELL"]), str(fd).encode())
print("heard by whoever is there")
"""


@pytest.mark.smoke
@pytest.mark.parametrize("streams, expected", [("<&-", "0"), (">&-", "1"), ("2>&-", "2"), ("<&- >&- 2>&-", "012")])
def test_standard_streams_that_are_closed_are_so_for_the_program(plumb, any_python, tmp_path, streams, expected):
    """Python has no sys.stdout then, and print() says nothing; of one that is there and cannot be written to it raises."""
    program, told = [*any_python.command, "-c", CLOSED], {}
    for way, command in {"alone": program, "run": [plumb.binary, "run", "-o", str(plumb.path()), "--", *program]}.items():
        with open(tmp_path / way, "wb") as file:
            status = subprocess.run(["sh", "-c", 'exec "$@" %s' % streams, "sh", *command], pass_fds=[file.fileno()],
                                    env={**os.environ, "TELL": str(file.fileno())}, stdout=subprocess.PIPE, stderr=subprocess.PIPE).returncode
        told[way] = status, (tmp_path / way).read_text()
    assert told["alone"] == told["run"] == (0, expected)


def test_report_is_at_most_25_lines_and_names_the_recording(plumb, program):
    def run(seconds):
        for old in plumb.directory.glob("*.plumb"):
            old.unlink()
        return plumb("run", "--", *program("--spins", spins(seconds)))

    result = until(run, lambda result: "spin" in result.stderr, 0.1)
    lines = result.stderr.splitlines()
    assert 5 < len(lines) <= 25, result
    [recording] = plumb.directory.glob("plumb.status*.plumb")
    assert recording.name in result.stderr, result
    assert "spin" in result.stderr and "±" in result.stderr or "+-" in result.stderr, result
    assert max(map(len, lines)) <= 80, result


def test_threads_that_are_not_there_are_answered_with_those_that_are(plumb, program):
    result = plumb("run", "-o", plumb.path(), "--threads", "nobody", "--", *program())
    told = " ".join(result.stderr.replace("!", " ").split())
    assert result.status == 0 and re.search(r"no samples of a thread 'nobody'; there are: \d+ MainThread", told), result


@pytest.mark.parametrize("seconds", ["0", "0.02", "0.3"])
def test_a_program_without_python_is_run_all_the_same(plumb, seconds):
    """Whether it ends before plumb has had a look at it or long after."""
    for _ in range(5):
        result = plumb("run", "--", "sh", "-c", "sleep %s; echo out; exit 4" % seconds)
        assert result.stdout == "out\n" and result.status == 4, result
        assert "Python" in result.stderr, result
        assert len(result.stderr.splitlines()) <= 2, "said twice: %s" % result


def test_duration_ends_the_sampling_and_not_the_program(plumb, target, any_python):
    def run(seconds):
        recording = plumb.path()
        before = [plumb.binary, "run", "-d", str(seconds), "-o", recording, "--"]
        with target(any_python, "calls.py", before=before, count=True, stderr=subprocess.DEVNULL) as job:
            wait_until(lambda: "plumb-sampler" not in thread_names(job.process.pid), "the sampling does not end")
            job.wait_progress()
            assert job.process.poll() is None, "plumb waits for its program"
        assert job.process.returncode == 0
        return recording

    def whole(recording):
        """There is none if no Python was found in time; it is short if the program was told to end before the sampling had begun."""
        return recording.exists() and plumb.report(recording).duration_s >= 0.29

    recording = until(run, whole, 0.3)
    assert whole(recording) and plumb.report(recording).complete


def thread_names(pid):
    return {status(pid, tid).get("Name", "").strip() for tid in thread_ids(pid)}


@pytest.mark.smoke
def test_ctrl_c_goes_to_the_program_and_the_report_still_comes(plumb, places, any_python):
    recording = plumb.path()
    script = os.path.join(places.directory(any_python.root)[1], "calls.py")
    with Terminal([plumb.binary, "run", "-o", recording, "--", *any_python.command, script, "--seconds", "600"]) as terminal:
        terminal.expect('"ready"')
        wait_until(lambda: plumb.recorded(recording, lambda profile: profile.samples), "it is not sampled")
        terminal.type("\x03")
        status = terminal.wait()
    assert "KeyboardInterrupt" in terminal.text, terminal.text
    assert status == 128 + signal.SIGINT, (status, terminal.text)
    assert recording.name in terminal.text and plumb.report(recording).complete


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_to_plumb_reaches_the_program(plumb, target, any_python, name):
    number = getattr(signal, name)
    recording = plumb.path()
    with target(any_python, "calls.py", before=[plumb.binary, "run", "-o", recording, "--"], count=True,
                stderr=subprocess.PIPE) as job:
        wait_until(lambda: plumb.recorded(recording, lambda profile: profile.samples), "it is not sampled")
        job.process.send_signal(number)
        _, stderr = job.process.communicate(timeout=PATIENCE)
        assert job.process.returncode == 128 + number, stderr
    assert plumb.report(recording).samples > 0


def test_two_programs_in_a_row_under_one_shell(plumb, program):
    """What the shell starts and what it becomes are two processes."""
    def run(seconds):
        busy = "' '".join(program("--spins", spins(seconds), "--exit"))
        recording = plumb.path()
        result = plumb("run", "-o", recording, "--", "sh", "-c", "'%s' 0; exec '%s' 6" % (busy, busy))
        assert result.status == 6, result
        return plumb.report(recording)

    profile = until(run, lambda profile: len(with_spin(profile)) == 2, 0.1)
    assert len(with_spin(profile)) == 2 and {thread["pid"] for thread in profile.threads} == with_spin(profile), profile.threads


def with_spin(profile):
    """The processes that were seen in it."""
    return {stack.thread["pid"] for stack in profile.stacks if stack.has("main", "spin")}
