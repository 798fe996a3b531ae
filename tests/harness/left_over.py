# SPDX-License-Identifier: Apache-2.0
"""What a test started and left running. It is known by a word in its environment, which all that it starts inherits, whatever
process group or session they are in and whoever their parent is by now."""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess

from harness.plumb import binary
from harness.target import wait_until

NAME = "PLUMB_TEST_OF"
_SECONDS = 20  # for what is about to end; waited for only where something still runs
_MOST_SHOWN, _LONGEST = 8, 20000  # processes, and characters of each
_PATIENCE = 20  # seconds: what shows stacks may hang, too, where the machine or plumb is what is broken


@contextlib.contextmanager
def _with(value):
    before = os.environ.pop(NAME, None)
    if value:
        os.environ[NAME] = value
    try:
        yield
    finally:
        os.environ.pop(NAME, None)
        if before:
            os.environ[NAME] = before


def marked(word=str(os.getpid())):
    """What is started meanwhile is the test's."""
    return _with(word)


def unmarked():
    """What is started meanwhile outlives the test."""
    return _with(None)


def _has(pid, entry):
    try:
        with open("/proc/%s/environ" % pid, "rb", buffering=0) as file:
            return entry in b"\0%s\0" % file.read()
    except OSError:  # it is gone, or another user's
        return False


def running(word=str(os.getpid())):
    entry = os.fsencode("\0%s=%s\0" % (NAME, word))
    return [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and _has(pid, entry)]


def _command(pid):
    with contextlib.suppress(OSError):
        words = pathlib.Path("/proc/%d/cmdline" % pid).read_text(errors="replace").split("\0")
        return " ".join(" ".join(words).split())[:200]
    return "?"


def stacks(word=str(os.getpid())):
    """Where all threads of all that runs are, as text: what hangs is to say where."""
    return "\n".join(_stacks_of(pid) for pid in running(word)[:_MOST_SHOWN])


def _stacks_of(pid):
    """Python's as plumb sees them, and all as gdb does, where it is there."""
    gdb = ["gdb", "-p", str(pid), "-batch", "-nx", "-ex", "thread apply all backtrace 40"]
    commands = [[binary(), "dump", "--native", str(pid)], *([gdb] if shutil.which("gdb") else [])]
    return "process %d: %s\n%s" % (pid, _command(pid), "\n".join(map(_said, commands)))


def _said(command):
    # An own word, so that who asks next does not find what shows stacks among what hangs.
    environment = {**os.environ, NAME: "stacks"}
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    try:
        done = subprocess.run(command, env=environment, timeout=_PATIENCE, errors="replace", text=True, **pipes)
        return done.stdout[-_LONGEST:]
    except (OSError, subprocess.TimeoutExpired) as error:
        return "%s: %s" % (command[0], error)


def ended(word=str(os.getpid()), seconds=_SECONDS):
    """End all that still runs, and tell what that was: processes may fork until the last one is gone."""
    if not running(word):  # as mostly
        return []
    killed = {}

    def none_runs():
        for pid in running(word):
            killed.setdefault(pid, "process %d: %s" % (pid, _command(pid)))
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return not running(word)

    with contextlib.suppress(AssertionError):
        wait_until(lambda: not running(word), "", seconds)
    wait_until(none_runs, "what a test left running cannot be killed: %r" % killed)
    return list(killed.values())
