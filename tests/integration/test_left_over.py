# SPDX-License-Identifier: Apache-2.0
"""That no test leaves a program behind which takes a core from those that come after it, and that one that hangs says where."""
import os
import re
import select
import subprocess
import sys

import pytest

from harness import left_over
from harness.target import PATIENCE, wait_until

# Its parent ends at once; it is in a session of its own and spins for ever.
SPINNER = """
import os
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print(os.getpid(), flush=True)
        while True:
            pass
"""
WORD = "%d of a test of the harness" % os.getpid()


@pytest.fixture
def started():
    """started(context) gives the number of a spinner; it ends with the test."""
    pids = []

    def start(context):
        with context, subprocess.Popen([sys.executable, "-c", SPINNER], stdout=subprocess.PIPE, text=True) as process:
            pids.append(int(process.stdout.readline()))
        return pids[-1]

    yield start
    for pid in pids:
        try:
            os.kill(pid, 9)
        except ProcessLookupError:
            continue


def test_a_grandchild_that_spins_is_ended_and_told(started):
    pid = started(left_over.marked(WORD))
    wait_until(lambda: left_over.running(WORD) == [pid], "its parent does not end")
    gone = select.poll()
    gone.register(os.pidfd_open(pid))
    said = left_over.ended(WORD, seconds=0)
    assert len(said) == 1 and sys.executable in said[0] and "setsid" in said[0], said
    assert gone.poll(PATIENCE * 1000) and left_over.ended(WORD) == []


def test_what_outlives_a_test_is_left_alone(started):
    with left_over.marked(WORD):
        started(left_over.unmarked())
        assert left_over.running(WORD) == []


def test_what_hangs_is_told_with_the_stacks_of_its_threads():
    """As what a test started that never ends."""
    script = "import threading\ndef stuck():\n    print(flush=True)\n    threading.Event().wait()\nstuck()\n"
    with left_over.marked(WORD), subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
        try:
            process.stdout.readline()
            told = left_over.stacks(WORD)
        finally:
            process.kill()
    assert "process %d: %s -c" % (process.pid, sys.executable) in told, told
    assert re.search(r"^.*\bstuck\b", told, re.MULTILINE), told
