# SPDX-License-Identifier: Apache-2.0
"""What plumb imports when it is first used, and forks. Each check_ is run; their names are told."""
import os
import subprocess
import sys

from recorded import run_checks
from sanitizer import MAY_FORK

# Of each program: `imported` is set by another thread at the first line of plumb.profile, which waits there until `go` is.
BEGINNING = """
import os, signal, sys, threading, warnings
import plumb
from plumb import _imports
warnings.simplefilter("ignore", DeprecationWarning)  # a fork of a process with threads
imported, go = threading.Event(), threading.Event()
def trace(frame, event, arg):
    if frame.f_globals["__name__"] == "plumb.profile" and not imported.is_set():
        imported.set()
        go.wait()
    return trace
def first():
    sys.settrace(trace)
    plumb.profile
    sys.settrace(None)
def fork():
    pid = os.fork()
    if not pid:
        signal.alarm(30)
    return pid
def succeeds(pid):
    return os.waitpid(pid, 0)[1] == 0
def work():
    with plumb.profile() as p:
        sum(range(1000))
    plumb.profile.merge(p.tree())
    p.text()
"""

WAITS = """
os.register_at_fork(before=go.set)  # what is registered last is done first
thread = threading.Thread(target=first)
thread.start()
imported.wait()
pid = fork()
work()
if not pid:
    os._exit(0)
thread.join()
print(succeeds(pid))
"""

LOSES = """
_imports._MOST_S = 0.01
thread = threading.Thread(target=first)
thread.start()
imported.wait()
pid = fork()
if not pid:
    try:
        plumb.profile
    except ImportError as error:
        print(error, flush=True)
        os._exit(0)
go.set()
thread.join()
work()
print(succeeds(pid))
"""

FORKS_ITSELF = """
pids = []
def trace(frame, event, arg):
    if frame.f_globals["__name__"] == "plumb.profile" and not pids:
        pids.append(fork())
    return trace
sys.settrace(trace)
plumb.profile
sys.settrace(None)
work()
if not pids[0]:
    os._exit(0)
print(succeeds(pids[0]))
"""


def said_by(program):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", BEGINNING + program]
    ended = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True, universal_newlines=True)
    assert not ended.stderr, ended.stderr
    return ended.stdout


def check_a_fork_waits_for_what_another_thread_imports():
    assert not MAY_FORK or said_by(WAITS) == "True\n"


def check_a_child_that_has_lost_an_import_is_told():
    said = "plumb.profile cannot be imported in the child of a fork that happened while another thread imported what belongs to plumb: use it once before\n"
    assert not MAY_FORK or said_by(LOSES) == said + "True\n"


def check_who_imports_may_fork():
    """Who traces the lines may do at one what a signal handler that comes there would."""
    assert not MAY_FORK or said_by(FORKS_ITSELF) == "True\n"


if __name__ == "__main__":
    run_checks(globals())
