# SPDX-License-Identifier: Apache-2.0
"""What is seen on a terminal, on a narrow one, on none, and through a pipe."""
import os
import re
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
    # Short names, of plumb and of a file in its directory: the commands at the end are to be copied and are never cut.
    found = {"PATH": os.path.dirname(plumb.binary)}
    with Terminal(["plumb", "report", recording.name], columns=columns, directory=recording.parent, environment=found) as terminal:
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


# Sets the title, clears the screen, colours and hides what follows, turns it around: as ESC, as C1 in UTF-8 and as a bare byte.
HOSTILE = "\x1b]0;title\x07\x1b[2J\u009b31m\x1b[31mred\x1b[8m\b\u202e\udc9bend"
COMMANDS_A_TERMINAL = re.compile("[^\\t\\n -~\u00a0-\u200a\u2010-\u2027\u2070-\ud7ff\uf900-\ufefe\uff00-\uffef\U00010000-\U000dffff\ufffd]")


def formats(plumb, command):
    if command == "diff":
        return ["text", "json", "markdown", "html", "collapsed", "svg"]
    return re.findall(r"^  (\S+) {2,}", plumb("help", "formats").stdout, re.M)


@pytest.mark.parametrize("command", ["report", "diff"])
def test_no_format_lets_a_name_command_the_terminal(plumb, tmp_path, command):
    profile, shown = tmp_path / "hostile.folded", set()
    names = [HOSTILE.replace(";", ":"), HOSTILE.replace(";", ":")[::-1]]
    profile.write_bytes(("main;%s 10\nmain;%s 5\n" % tuple(names)).encode("utf-8", "surrogateescape"))
    for format in formats(plumb, command):
        for color in ("always", "never"):
            arguments = [plumb.binary, command, "--format", format, "--color", color, *[profile] * (1 + (command == "diff"))]
            with Terminal(arguments, directory=tmp_path) as terminal:
                terminal.wait()
            told = terminal.plain.replace("\r\n", "\n")  # csv has such line ends itself
            assert not COMMANDS_A_TERMINAL.search(told), (format, COMMANDS_A_TERMINAL.findall(told), told[:2000])
            if "end" in terminal.plain:
                shown.add(format)
    assert len(shown) >= 5, shown


def test_no_name_of_a_file_commands_the_terminal(plumb, recording, tmp_path):
    with Terminal([plumb.binary, "merge", recording, "-o", HOSTILE], directory=tmp_path) as terminal:
        assert terminal.wait() == 0
    told = terminal.plain.replace("\r\n", "\n")
    assert "end" in told and not COMMANDS_A_TERMINAL.search(told), told


@pytest.mark.parametrize("color", ["always", "never"])
def test_no_program_commands_the_terminal_by_its_names(plumb, tmp_path, ordinary_python, color):
    """Its file, its function, its thread, its arguments and its source."""
    text = HOSTILE.replace("\udc9b", "")
    program, recording = tmp_path / HOSTILE, tmp_path / "hostile.plumb"
    program.write_text("""import threading
def work(secret="%s"):
    while True: sum(range(1000))  # %s
work.__code__ = work.__code__.replace(co_name=%r, **({"co_qualname": %r} if hasattr(work.__code__, "co_qualname") else {}))
threading.Thread(target=work, name=%r).start()
print("ready", flush=True)
work()
""" % (text, text, text, text, text))
    with running(subprocess.Popen([*ordinary_python.command, program, HOSTILE], stdout=subprocess.PIPE)) as busy:
        assert busy.stdout.readline() == b"ready\n"
        for command in [["dump", busy.pid], ["dump", "--locals", busy.pid], ["dump", "--json", busy.pid], ["doctor", busy.pid],
                        ["attach", "-o", recording, busy.pid], ["report", recording], ["report", "--lines", recording],
                        ["report", "--thread", "x", recording]]:
            with Terminal([plumb.binary, *map(str, command)], environment={} if color == "always" else {"NO_COLOR": "1"}) as terminal:
                if "attach" in command:
                    terminal.until(lambda: plumb.recorded(recording, lambda profile: profile.samples > 20), "twenty samples")
                    terminal.type("\x03")
                status = terminal.wait()
            told = re.sub(r"\r|\x1b\[K", "", terminal.plain)  # the line that is written over
            expected = 125 if "--thread" in command else 0  # there is none of that name: those there are stand in the error
            assert status == expected and "end" in told, (command, status, told)
            assert not COMMANDS_A_TERMINAL.search(told), (command, COMMANDS_A_TERMINAL.findall(told), told[:3000])
        busy.kill()


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


def test_attach_shows_how_much_of_its_time_has_passed(plumb, target, any_python):
    with target(any_python, "calls.py", count=True) as busy:
        with Terminal([plumb.binary, "attach", "-d", "600", "-o", plumb.path(), str(busy.pid)], columns=70) as terminal:
            terminal.expect(" of 600 s  ")
            terminal.type("\x03")
            assert terminal.wait() == 0, terminal.text


@pytest.mark.parametrize("options, said", [
    (["-d", "600", "-o", "x.plumb"], "note: sampling for 600 s into x.plumb; the report comes at the end"),
    ([], "note: sampling into plumb.PROG.PID.plumb; the report comes at the end"),
])  # fmt: skip
def test_run_says_at_once_that_it_samples(plumb, any_python, options, said):
    program = [*map(str, any_python.command), "-c", "input()"]
    with Terminal([plumb.binary, "run", *options, "--", *program], columns=120, directory=plumb.directory) as terminal:
        terminal.expect(said)
        terminal.type("\n")
        assert terminal.wait() == 0, terminal.text
    with Terminal([plumb.binary, "run", "-q", *options, "--", *program], columns=120, directory=plumb.directory) as terminal:
        terminal.type("\n")
        assert terminal.wait() == 0 and "note:" not in terminal.text, terminal.text


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
