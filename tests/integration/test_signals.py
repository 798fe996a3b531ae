# SPDX-License-Identifier: Apache-2.0
"""`plumb run` stands between a program and whoever started it: signals that were ignored or blocked stay so in the program."""
import contextlib
import signal
import subprocess

import pytest

from harness import sites
from harness.target import children_of, wait_until

STATE = ["grep", "-E", "^Sig(Ign|Blk)", "/proc/self/status"]
# SIGPIPE and SIGXFSZ are ignored by Python itself, so that only another program can tell what it was given.
SOME = [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE, signal.SIGTERM, signal.SIGCHLD, signal.SIGTSTP, signal.SIGTTIN,
        signal.SIGTTOU, signal.SIGUSR1, signal.SIGWINCH, signal.SIGRTMIN + 3]
STATES = {"nothing": ([], []), "ignored": (SOME, []), "blocked": ([], SOME), "both": (SOME, SOME), "SIGCHLD ignored": ([signal.SIGCHLD], [])}
NAMESPACE = ("--pid", "--mount-proc", "--fork", "--kill-child")


def begins_with(ignored=(), blocked=()):
    """Options of Popen: the program begins with these signals ignored and blocked."""

    def become():
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    return {"preexec_fn": become, "restore_signals": True}


@pytest.fixture(params=["ordinary", "first process"])
def way(request):
    """What stands before plumb: nothing, or what makes it the first process of a pid namespace, as in a container."""
    if request.param == "ordinary":
        return ()
    try:
        return sites.unshare(*NAMESPACE)
    except sites.Lacking as lacking:
        pytest.skip(str(lacking))


@contextlib.contextmanager
def heard(plumb, target, python, way, *arguments, **popen):
    """targets/heard.py under plumb, which samples it already: (the target, the pid of plumb)."""
    recording = plumb.path()
    with target(python, "heard.py", *arguments, before=[*way, plumb.binary, "run", "-o", recording, "--"], stderr=subprocess.PIPE,
                **popen) as job:
        outer = children_of(job.process.pid)[0] if way else job.process.pid
        wait_until(lambda: plumb.recorded(recording, lambda profile: profile.samples), "it is not sampled")
        yield job, outer


@pytest.mark.parametrize("name", STATES)
def test_signals_are_ignored_and_blocked_in_the_program_as_they_were_when_plumb_began(plumb, name, way):
    state = begins_with(*STATES[name])
    alone = subprocess.run([*way, *STATE], stdout=subprocess.PIPE, text=True, check=True, **state).stdout
    result = plumb("run", "--", *STATE, before=way, **state)
    assert result.status == 0 and result.stdout == alone, "%s, alone: %s" % (result, alone)


def test_a_python_begins_with_the_signals_that_it_would_have_alone(plumb, target, any_python):
    state = begins_with([signal.SIGINT, signal.SIGCHLD], [signal.SIGUSR2, signal.SIGTSTP])
    with target(any_python, "heard.py", **state) as alone:
        pass
    with heard(plumb, target, any_python, (), **state) as (job, _):
        assert [job.told[of] for of in ("ignored", "blocked")] == [alone.told[of] for of in ("ignored", "blocked")]


@pytest.mark.parametrize("code, expected", [("exit 0", 0), ("exit 3", 3), ("kill -TERM $$", 128 + signal.SIGTERM)])
def test_the_exit_status_is_the_programs_where_ends_of_children_are_ignored(plumb, way, code, expected):
    result = plumb("run", "--", "sh", "-c", code, before=way, **begins_with([signal.SIGCHLD]))
    assert result.status == expected, result
