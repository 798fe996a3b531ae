# SPDX-License-Identifier: Apache-2.0
"""`plumb run` stands between a program and whoever started it: signals that were ignored or blocked stay so in the program, those
that are sent to plumb reach it, and as the first process of a container plumb does what an init has to do."""
import contextlib
import ctypes
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys

import pytest

from harness import sites
from harness.plumb import PATIENCE, running, until
from harness.target import children_of, status, thread_ids, wait_until
from harness.terminal import Terminal

STATE = ["grep", "-E", "^Sig(Ign|Blk)", "/proc/self/status"]
# SIGPIPE and SIGXFSZ are ignored by Python itself, so that only another program can tell what it was given.
SOME = [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE, signal.SIGTERM, signal.SIGCHLD, signal.SIGTSTP, signal.SIGTTIN,
        signal.SIGTTOU, signal.SIGUSR1, signal.SIGWINCH, signal.SIGRTMIN + 3]
STATES = {"nothing": ([], []), "ignored": (SOME, []), "blocked": ([], SOME), "both": (SOME, SOME), "SIGCHLD ignored": ([signal.SIGCHLD], [])}
DENY = pathlib.Path(__file__).resolve().parents[1] / "harness" / "deny.py"
BROWSER = """#!%s
import os, sys
with open("/proc/self/status") as status, open(sys.argv[1] + ".new", "w") as told:
    told.writelines(line for line in status if line.startswith(("SigIgn", "SigBlk")))
os.rename(sys.argv[1] + ".new", sys.argv[1] + ".told")
"""
NAMESPACE = ("--pid", "--mount-proc", "--fork", "--kill-child")


def begins_with(ignored=(), blocked=()):
    """Options of Popen: the program begins with these signals ignored and blocked."""

    def become():
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    return {"preexec_fn": become, "restore_signals": True}


def told(page):
    """What the browser found when it was to show that."""
    return page.with_suffix(".html.told")


@pytest.fixture(params=["ordinary", "first process"])
def way(request):
    """What stands before plumb: nothing, or what makes it the first process of a pid namespace, as in a container."""
    if request.param == "ordinary":
        return ()
    try:
        return sites.unshare(*NAMESPACE)
    except sites.Lacking as lacking:
        pytest.skip(str(lacking))


@pytest.fixture
def namespace():
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


def ends(job):
    """The status and what plumb said."""
    _, stderr = job.process.communicate(timeout=PATIENCE)
    return job.process.returncode, stderr


LEAVES = """
import os, time
left = os.fork()
while left == 0:
    time.sleep(600)
os.read(0, 1)
print(left)
"""


@contextlib.contextmanager
def leaves_one(plumb, python, way, **popen):
    """A plumb that samples what its program has left: (the process, the number of what is left as that knows it)."""
    recording = plumb.path()
    with running(plumb.start("run", "-o", recording, "--", *python.command, "-c", LEAVES, before=way, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, **popen)) as process:
        wait_until(lambda: plumb.recorded(recording, lambda profile: len(profile.json["processes"]) == 2), "it is not sampled")
        process.stdin.close()
        left = int(process.stdout.readline())
        assert b"sampling goes on for 1 process" in process.stderr.readline()
        yield process, left


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


def test_a_browser_begins_with_the_signals_that_plumb_began_with(plumb, any_python):
    program = plumb.path(".py")
    program.write_text(BROWSER % sys.executable)
    program.chmod(0o755)
    state = begins_with([signal.SIGINT, signal.SIGCHLD], [signal.SIGUSR2, signal.SIGTSTP])
    alone, page = plumb.path(".html"), plumb.path(".html")
    subprocess.run([program, alone], check=True, **state)

    def run(seconds):
        busy = "import time\nend = time.time() + %f\nwhile time.time() < end: pass" % seconds
        return plumb("run", "--open", "-o", page, "--", *any_python.command, "-c", busy, env={**os.environ, "BROWSER": str(program)}, **state)

    result = until(run, lambda result: "nothing to report" not in result.stderr, 0.3)
    assert result.status == 0, result
    wait_until(lambda: told(page).exists(), "no browser was started: %s" % result)
    assert told(page).read_text() == told(alone).read_text()


@pytest.mark.parametrize("code, expected", [("exit 0", 0), ("exit 3", 3), ("kill -TERM $$", 128 + signal.SIGTERM)])
def test_the_exit_status_is_the_programs_where_ends_of_children_are_ignored(plumb, way, code, expected):
    result = plumb("run", "--", "sh", "-c", code, before=way, **begins_with([signal.SIGCHLD]))
    assert result.status == expected, result


def test_what_is_sent_to_plumb_reaches_the_program(plumb, target, any_python, way):
    with heard(plumb, target, any_python, way) as (job, outer):
        for name in ("SIGHUP", "SIGINT", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGWINCH", "SIGIO", "SIGTERM"):
            os.kill(outer, getattr(signal, name))
            assert job.result("heard")["signal"] == name
        returned, stderr = ends(job)
        assert returned == 3, stderr


def test_a_signal_that_comes_with_the_end_of_the_program_is_sent_to_no_other_process(plumb, tmp_path):
    """Once plumb has waited for it, its id may be anybody's: by strace the signal comes in that very call."""
    strace, calls = shutil.which("strace"), tmp_path / "calls"
    if not strace:
        pytest.skip("strace is not installed")
    if plumb.sanitized:
        pytest.skip("the leak checker needs ptrace itself")
    traced = ["-e", "trace=wait4,kill", "-e", "inject=wait4:signal=SIGUSR1", "-e", "signal=SIGUSR1"]
    result = plumb("run", "-o", "/dev/null", "--", "sh", "-c", "exit 3", before=[strace, "-f", "-qq", *traced, "-o", calls])
    assert result.status == 3, result
    text = calls.read_text()
    _, reaped, after = text.partition("WEXITSTATUS(s) == 3}")
    assert reaped and "--- SIGUSR1" in after and "kill(" not in after, text


def test_what_is_ignored_or_blocked_in_plumb_reaches_a_program_that_wants_it(plumb, target, any_python, way):
    """It may have changed its mind about them."""
    with heard(plumb, target, any_python, way, **begins_with([signal.SIGHUP, signal.SIGINT], [])) as (job, outer):
        for name in ("SIGHUP", "SIGINT", "SIGTERM"):
            os.kill(outer, getattr(signal, name))
            assert job.result("heard")["signal"] == name
        assert ends(job)[0] == 3
    with heard(plumb, target, any_python, way, "--deaf", **begins_with([], [signal.SIGUSR1])) as (job, outer):
        os.kill(outer, signal.SIGUSR1)
        wait_until(lambda: int(status(job.pid)["ShdPnd"], 16) == 1 << signal.SIGUSR1 - 1, "it is not told")


def test_ignored_signals_end_neither_the_program_nor_the_sampling(plumb, target, any_python, way):
    """As with nohup, and in the background of a shell script."""
    numbers = [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1]
    with heard(plumb, target, any_python, way, "--deaf", count=True, **begins_with(numbers)) as (job, outer):
        for number in numbers:
            os.kill(outer, number)
        job.wait_progress()
        assert any("plumb-sampler" in status(pid, tid).get("Name", "") for pid in (outer, *children_of(outer)) for tid in thread_ids(pid))
        job.stop()
        returned, stderr = ends(job)
        assert returned == 0, stderr


def test_an_ignored_signal_does_not_end_the_waiting_for_what_a_program_left(plumb, any_python):
    with leaves_one(plumb, any_python, (), **begins_with([signal.SIGHUP])) as (process, left):
        process.send_signal(signal.SIGHUP)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1)  # nothing may happen meanwhile
        os.kill(left, signal.SIGKILL)
        assert process.wait(PATIENCE) == 0


def test_keys_of_a_terminal_reach_the_program_once(plumb, places, any_python, way):
    keys = {"\x03": "SIGINT"} if way else {"\x03": "SIGINT", "\x1c": "SIGQUIT"}  # unshare itself ends at Ctrl-\\
    script = os.path.join(places.directory(any_python.root)[1], "heard.py")
    command = [*way, plumb.binary, "run", "-q", "-o", plumb.path(), "--", *any_python.command, script, "--seconds", "600"]
    with Terminal(command) as terminal:
        terminal.expect('"ready"')
        for key, name in keys.items():
            terminal.type(key)
            terminal.expect(name)
        # plumb passes signals on in turn: what it had passed on of the keys would have come before this one.
        os.kill(children_of(terminal.pid)[0] if way else terminal.pid, signal.SIGTERM)
        assert terminal.wait() == 3, terminal.text
    assert re.findall('"heard", "signal": "(.*?)"', terminal.text) == [*keys.values(), "SIGTERM"], terminal.text


HEARS = """
import os, signal, sys, time
if sys.argv[2:] and os.fork():
    while True: time.sleep(0.01)
def heard(*_):
    open(sys.argv[1] + "/heard", "w").close()
    os._exit(0)
signal.signal(signal.SIGHUP, heard)
open(sys.argv[1] + "/ready", "w").close()
while True: time.sleep(0.01)
"""


@pytest.mark.parametrize("command", [["run"], ["top", "--plain"]], ids=["run", "top"])
@pytest.mark.parametrize("who", [(), ("a child of it",)], ids=["it", "its child"])
def test_a_terminal_that_closes_ends_the_program(plumb, any_python, way, command, who, tmp_path):
    """The kernel tells nobody of it but the leader of the session, which is plumb where a terminal starts nothing else: in a window of
    tmux, by ssh -t, in a container."""
    if way and command[0] == "top":
        pytest.skip("it ends itself, and with the first process of a namespace the kernel kills all others of it")
    master, terminal = pty.openpty()
    whole = [*way, "setsid", "-c", plumb.binary, *command, "--", *any_python.command, "-c", HEARS, tmp_path, *who]
    with running(subprocess.Popen(list(map(str, whole)), stdin=terminal, stdout=terminal, stderr=terminal, cwd=plumb.directory)) as process:
        os.close(terminal)
        wait_until((tmp_path / "ready").exists, "it does not begin")
        os.close(master)
        wait_until((tmp_path / "heard").exists, "it goes on")
        process.wait(PATIENCE)


# The first process of a pid namespace ------------------------------------------------------------------------------------

ORPHANS = """
import os, sys, time
def orphan():
    told, tell = os.pipe()
    held, hold = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(hold)
        grandchild = os.fork()
        if grandchild == 0:
            os.read(held, 1)
            os._exit(9)
        os.write(tell, b"%d" % grandchild)
        os._exit(0)
    os.waitpid(child, 0)
    pid = int(os.read(told, 9))
    os.close(hold)
    return pid
pids = [orphan() for _ in range(5)]
while any(os.path.exists("/proc/%d" % pid) for pid in pids):
    time.sleep(0.01)
sys.exit(int(sys.argv[1]))
"""


@pytest.mark.parametrize("options", [[], ["--no-subprocesses"], ["--always-stop"]], ids=lambda options: " ".join(options) or "default")
def test_orphans_of_a_container_are_reaped_and_the_exit_status_is_the_programs(plumb, any_python, namespace, options):
    """The program waits until none of them is left, not even as a zombie."""
    result = plumb("run", *options, "-o", plumb.path(), "--", *any_python.command, "-c", ORPHANS, "7", before=namespace)
    assert result.status == 7, result


@pytest.mark.parametrize("code, expected", [("exit 0", 0), ("exit 255", 255), ("kill -KILL $$", 128 + signal.SIGKILL)])
def test_a_container_ends_as_its_program_does(plumb, namespace, code, expected):
    result = plumb("run", "--", "sh", "-c", code, before=namespace)
    assert result.status == expected, result


def test_in_a_container_a_command_that_is_not_there_gives_127(plumb, namespace):
    result = plumb("run", "--", "no-such-program-anywhere", before=namespace)
    assert result.status == 127 and "no-such-program-anywhere" in result.stderr, result


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGUSR1", "SIGRTMIN"])
def test_a_container_is_stopped_by_a_signal(plumb, target, any_python, namespace, name):
    """One that the program does not handle, with a report and a whole recording."""
    number = getattr(signal, name)
    with heard(plumb, target, any_python, namespace, "--deaf") as (job, outer):
        os.kill(outer, number)
        returned, stderr = ends(job)
    assert returned == 128 + number and b"Python" in stderr, stderr


def test_in_a_container_without_room_for_another_process_that_is_told(plumb, namespace):
    result = plumb("run", "--", "true", before=[*namespace, sys.executable, str(DENY), "clone"])
    assert result.status == 125 and "cannot start a process: Operation not permitted" in result.stderr, result


def test_a_container_can_be_stopped_from_inside(plumb, namespace):
    result = plumb("run", "--", "sh", "-c", "kill -TERM 1; exec sleep 600", before=namespace)
    assert result.status == 128 + signal.SIGTERM, result


def test_what_a_program_leaves_in_a_container_is_sampled_until_a_signal_comes(plumb, any_python, namespace):
    with leaves_one(plumb, any_python, namespace) as (process, _):
        os.kill(children_of(process.pid)[0], signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_attach_ends_at_a_signal_while_it_looks_for_the_python(plumb, any_python, name):
    """It may wait for files of the program meanwhile, where only what a signal does by itself can end it. The Python does not come up: it
    stands where it was executed, traced."""

    def held():
        return int(status(process.pid)["SigBlk"], 16) >> (signal.SIGTSTP - 1) & 1

    def ends_at_once():
        nonlocal process
        process = plumb.start("attach", stands.pid, stderr=subprocess.DEVNULL)
        wait_until(lambda: held() or process.poll() is not None, "it does not begin")
        process.send_signal(getattr(signal, name))
        return process.wait(PATIENCE) == -getattr(signal, name)

    process, libc = None, ctypes.CDLL(None)
    stands = subprocess.Popen(any_python.command, stdin=subprocess.DEVNULL, preexec_fn=lambda: libc.ptrace(0, 0, 0, 0))
    try:
        assert any(ends_at_once() for _ in range(5))  # it looks for a second, which may be over before the signal comes
    finally:
        os.kill(stands.pid, signal.SIGKILL)
        stands.wait()
