# SPDX-License-Identifier: Apache-2.0
"""What is seen on a terminal, on a narrow one, on none, and through a pipe."""
import os
import select
import signal
import subprocess
import unicodedata

import pytest

from harness.plumb import Plumb, finish, running
from harness.target import started, wait_until
from harness.terminal import Terminal


@pytest.fixture(scope="module")
def recording(tmp_path_factory, places, ordinary_python):
    """To be read only."""
    with started(places, ordinary_python, "mixed.py") as busy:
        _, path = Plumb(tmp_path_factory.mktemp("recording")).try_sampling(lambda profile: profile.samples > 100, busy.pid)
    return path


def columns_of(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 0 if unicodedata.combining(c) else 1 for c in line)


@pytest.mark.parametrize("columns", [40, 60, 80, 200])
def test_no_line_is_wider_than_the_terminal(plumb, recording, columns):
    # A short name, from its own directory: the commands at the end are to be copied and are never cut.
    with Terminal([plumb.binary, "report", recording.name], columns=columns, directory=recording.parent) as terminal:
        assert terminal.wait() == 0, terminal.text
    assert max(map(columns_of, terminal.plain.splitlines())) <= columns, terminal.plain
    assert len(terminal.plain.splitlines()) <= 25


def test_a_terminal_of_ten_columns_breaks_nothing(plumb, recording):
    with Terminal([plumb.binary, "report", recording], columns=10) as terminal:
        assert terminal.wait() == 0, terminal.text


@pytest.mark.parametrize("arguments, environment, coloured", [
    ([], {}, True),
    ([], {"NO_COLOR": "1"}, False),
    ([], {"TERM": "dumb"}, False),
    (["--color", "never"], {}, False),
    (["--color", "always"], {"NO_COLOR": "1"}, True),
], ids=["terminal", "NO_COLOR", "dumb", "never", "always"])
def test_colours_on_a_terminal(plumb, recording, arguments, environment, coloured):
    with Terminal([plumb.binary, "report", *arguments, recording], environment=environment) as terminal:
        assert terminal.wait() == 0, terminal.text
    assert terminal.coloured == coloured, terminal.text


def test_no_colours_in_a_pipe_unless_asked_for(plumb, recording):
    assert "\x1b" not in plumb("report", recording).stdout
    assert "\x1b" in plumb("report", "--color", "always", recording).stdout


def test_a_locale_without_utf8_gets_plain_letters(plumb, recording):
    result = plumb("report", recording, env=dict(os.environ, LC_ALL="C", LANG="C"))
    assert result.status == 0 and result.stdout.isascii(), result


@pytest.mark.smoke
def test_attach_shows_one_line_while_it_runs_and_ends_at_ctrl_c(plumb, target, any_python):
    recording = plumb.path()
    with target(any_python, "calls.py", count=True) as busy:
        with Terminal([plumb.binary, "attach", "-o", recording, str(busy.pid)], columns=70) as terminal:
            terminal.expect("inner")  # the hottest function, in the line that is written again and again
            assert "\n" not in terminal.text.strip("\r\n"), terminal.text
            terminal.type("\x03")
            assert terminal.wait() == 0, terminal.text
        busy.wait_progress()
    assert recording.name in terminal.text
    assert plumb.report(recording).complete


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_without_a_terminal_attach_is_silent_until_a_signal_ends_it(plumb, target, any_python, name):
    recording = plumb.path()
    with target(any_python, "calls.py", count=True) as busy:
        with running(plumb.start("attach", "-o", recording, busy.pid, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 start_new_session=True)) as process:
            wait_until(lambda: plumb.recorded(recording, lambda profile: profile.samples), "it is not sampled")
            assert not select.select([process.stdout, process.stderr], [], [], 0)[0], "it is silent"
            process.send_signal(getattr(signal, name))
            result = finish(process)
    assert result.status == 0, result
    assert result.stdout == "" and "\r" not in result.stderr and "\x1b" not in result.stderr, result
    assert len(result.stderr.splitlines()) <= 25
    assert plumb.report(recording).complete


def test_a_reader_that_goes_away_is_no_error(plumb, recording):
    """plumb report FILE | head -1"""
    reading, writing = os.pipe()
    process = plumb.start("report", "--json", recording, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    os.close(reading)
    result = finish(process)
    assert result.status in (0, -signal.SIGPIPE, 125) and result.stderr == "", result
