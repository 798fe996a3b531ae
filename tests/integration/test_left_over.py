# SPDX-License-Identifier: Apache-2.0
"""That no test leaves a program behind which takes a core from those that come after it."""
import os
import select
import subprocess
import sys

from harness import left_over

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


def started(context):
    with context, subprocess.Popen([sys.executable, "-c", SPINNER], stdout=subprocess.PIPE, text=True) as process:
        return int(process.stdout.readline())


def test_a_grandchild_that_spins_is_ended_and_told():
    pid = started(left_over.marked(WORD))
    assert left_over.running(WORD) == [pid]
    gone = select.poll()
    gone.register(os.pidfd_open(pid))
    said = left_over.ended(WORD)
    assert len(said) == 1 and sys.executable in said[0] and "setsid" in said[0], said
    assert gone.poll(10000) and left_over.ended(WORD) == []


def test_what_outlives_a_test_is_left_alone():
    with left_over.marked(WORD):
        pid = started(left_over.unmarked())
        assert left_over.running(WORD) == []
    os.kill(pid, 9)
