# SPDX-License-Identifier: Apache-2.0
"""What tests of the live view share: whom it watches, and how it is left."""
import contextlib
import pathlib
import re
import subprocess
import termios

import pytest

from harness.plumb import Plumb
from harness.target import started

ORDINARY = 65534  # nobody


@pytest.fixture(scope="module")
def top():
    """The executable that plumb becomes; without ncurses there is none."""
    plumb = pathlib.Path(Plumb(".").binary)
    if not (plumb.parent / "plumb-top").exists():
        pytest.skip("this plumb was built without ncurses")


# It computes all the time: between the tests that look at it, it is not there.
@pytest.fixture
def busy(places, ordinary_python, top):
    with started(places, ordinary_python, "mixed.py") as target:
        yield target


def close(terminal):
    terminal.type("q")
    assert terminal.wait() == 0, terminal.text


def reads_lines(terminal):
    """As a new one does: it shows what is typed, and hands it over when the line ends."""
    flags = termios.ICANON | termios.ECHO | termios.ISIG
    return termios.tcgetattr(terminal.master)[3] & flags == flags


@contextlib.contextmanager
def phases(python, folder):
    """A program that is in first() until `next` of it is called, and then in second(); it waits all the time."""
    script = folder / "phases.py"
    script.write_text("import sys\ndef first():\n    sys.stdin.readline()\ndef second():\n    sys.stdin.readline()\n"
                      "print('ready', flush=True)\nfirst()\nsecond()\n")
    with subprocess.Popen([*python.command, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        program.stdout.readline()
        program.next = lambda: (program.stdin.write(b"\n"), program.stdin.flush())
        try:
            yield program
        finally:
            program.kill()


# A program that a terminal runs alone is not suspended: nobody could go on with it. 148: it was stopped by SIGTSTP.
_JOB = 'set -m; "$@"; while [ $? = 148 ]; do echo suspended; read line; fg; done'


def as_job(*command):
    """The command of a shell that runs @p command as a job, tells "suspended", and goes on with it when a line is typed."""
    return ["sh", "-c", _JOB, "sh", *map(str, command)]


def see_time(t, seconds):
    """Wait until so much has been sampled."""
    t.until(lambda: float(re.match(r"([\d.]+) s ", t.screen[1] + " s ")[1] if t.screen[1][:1].isdigit() else 0) >= seconds, seconds)
