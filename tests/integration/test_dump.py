# SPDX-License-Identifier: Apache-2.0
"""plumb dump: what each thread is doing, on processes that really do it."""
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

from harness.cores import core_of
from harness.dump import PATIENCE as IN_TIME
from harness.plumb import finish
from harness.statistics import assert_at_most
from harness.target import PATIENCE, status, thread_ids, traces, wait_asleep, wait_until

TARGETS = pathlib.Path(__file__).resolve().parents[1] / "targets"
ORDINARY = 65534  # nobody


def dumps(plumb, *arguments, **options):
    """The dumps of processes, as their JSON has them."""
    result = plumb("dump", "--json", *IN_TIME, *arguments, **options)
    assert result.status == 0 and result.stderr == "", result
    answer = json.loads(result.stdout)
    assert answer["schema"] == "plumb.dump/1" and answer["failures"] == []
    return answer["processes"]


def dump(plumb, *arguments, **options):
    (process,) = dumps(plumb, *arguments, **options)
    return process


def dump_until(plumb, condition, *arguments):
    """Dump again and again until the condition holds."""
    found = []

    def holds():
        found[:] = [dump(plumb, *arguments)]
        return condition(found[0])

    wait_until(holds, "it never came about")
    return found[0]


def text_until(plumb, condition, *arguments):
    """The text that a dump shows, once the condition holds."""
    found = []

    def holds():
        found[:] = [plumb("dump", *IN_TIME, *arguments).stdout]
        return condition(found[0])

    wait_until(holds, "no dump says so")
    return found[0]


def threads_of(process):
    return {thread["name"]: thread for thread in process["threads"]}


def names(thread):
    return [frame["name"] for frame in thread["frames"]]


def waits_in(process, name, call):
    """Whether the thread of that name, if it is there already, stands in that system call."""
    thread = threads_of(process).get(name)
    return thread and thread["doing"] == "blocked" and thread["wait"] and thread["wait"]["call"] == call


def needs_3_8(python):
    if python.minor < (3, 8):
        pytest.skip("the program of this test needs Python 3.8")


@pytest.fixture
def blocked(target):
    """blocked(python): all threads of blocked.py wait in their calls; what it told is in .told."""

    def start(python, **options):
        needs_3_8(python)
        return target(python, "blocked.py", **options)

    return start


# name of the thread -> (calls it may be in, what it is on)
CALLS = {
    "in_read": ({"read"}, "fd"),
    "in_epoll": ({"epoll_wait"}, "fd"),
    "in_poll": ({"poll"}, "fds"),
    "in_select": ({"select"}, "fds"),
    "in_sleep": ({"clock_nanosleep", "nanosleep", "select"}, "time"),
    "in_accept": ({"accept", "accept4"}, "fd"),
    "in_recv": ({"recv"}, "fd"),
    "in_recv_unix": ({"recv"}, "fd"),
    "in_lock": ({"futex"}, "lock"),
    "in_condition": ({"futex"}, "lock"),
    "in_wait": ({"wait4"}, "child"),
    "in_flock": ({"flock"}, "file-lock"),
    "in_except": ({"read"}, "fd"),
    "in_generator_except": ({"read"}, "fd"),
}


def waiting_line(name):
    """(number, text, the waiting expression) of the line that a function of blocked.py waits in."""
    lines = (TARGETS / "blocked.py").read_text().splitlines()
    at = lines.index("def %s(things):" % name)
    for number in range(at, len(lines)):
        if lines[number].endswith("# here"):
            return number + 1, lines[number], lines[number].split("#")[0].strip()
    raise AssertionError(name)


def test_what_threads_wait_for_and_where(plumb, blocked, python):
    with blocked(python) as hung:
        wait_asleep(hung.pid)
        process, told = dump(plumb, hung.pid), hung.told
    assert process["pid"] == hung.pid
    assert process["python"].startswith("%d.%d" % python.minor)
    assert "blocked.py" in process["command"]
    assert 0 < process["age_ns"] < 600e9
    assert process["gil_holder"] is None
    threads = threads_of(process)
    assert process["threads"][0]["main"] and threads["MainThread"]["tid"] == hung.pid
    assert_calls(threads)
    assert_descriptors(threads, told, hung.pid)
    assert_limits(threads, python)
    assert_lines(threads, python)


def assert_calls(threads):
    for name, (calls, on) in CALLS.items():
        thread = threads[name]
        assert thread["doing"] == "blocked", thread
        assert thread["quality"] == "exact", thread
        assert not thread["has_gil"] and not thread["wants_gil"], thread
        assert thread["wait"]["call"] in calls and thread["wait"]["on"] == on, thread
        assert names(thread)[-2:] != [] and name in names(thread) and "run" in names(thread), thread
        assert thread["exception"] == (name in ("in_except", "in_generator_except")), thread


def assert_descriptors(threads, told, pid):
    """By name."""
    flock = threads["in_flock"]["wait"]
    assert flock["fd"]["path"].endswith(told["path"]) and flock["holder"]["pid"] == pid
    wait = {name: thread["wait"] for name, thread in threads.items()}
    assert wait["in_read"]["fd"]["kind"] == "pipe" and wait["in_read"]["fd"]["process"]["pid"] == pid
    assert wait["in_recv_unix"]["fd"]["process"]["pid"] == pid
    accept, recv = wait["in_accept"]["fd"], wait["in_recv"]["fd"]
    assert (accept["protocol"], accept["state"], accept["local"], accept["peer"]) == ("tcp", "listening", told["listener"], None)
    assert (recv["protocol"], recv["state"], recv["local"], recv["peer"]) == ("tcp", "connected", told["client"], told["server"])
    assert wait["in_recv_unix"]["fd"]["protocol"] == "unix" and wait["in_recv_unix"]["fd"]["state"] == "connected"
    assert wait["in_wait"]["child"]["pid"] == told["child"]
    epoll = wait["in_epoll"]
    assert epoll["fd"]["kind"] == "epoll" and epoll["watched_total"] == 2
    assert sorted(fd["kind"] for fd in epoll["watched"]) == ["pipe", "socket"]
    assert [fd["kind"] for fd in wait["in_poll"]["watched"]] == ["pipe"]
    assert [fd["fd"] for fd in wait["in_select"]["watched"]] == [wait["in_poll"]["watched"][0]["fd"]]


def assert_limits(threads, python):
    """Of time."""
    wait = {name: thread["wait"] for name, thread in threads.items()}
    assert wait["in_poll"]["limit_ns"] is None and wait["in_select"]["limit_ns"] == 3600e9
    if python.minor >= (3, 11):
        assert 0 < wait["in_sleep"]["left_ns"] <= 3600e9
    else:
        assert wait["in_sleep"]["limit_ns"] == 3600e9
    assert 0 < wait["in_condition"]["left_ns"] <= 3600e9
    assert wait["in_lock"]["lock"] and wait["in_lock"]["left_ns"] is None and wait["in_lock"]["limit_ns"] is None


def assert_lines(threads, python):
    """Source lines, and the expression that waits."""
    for name in CALLS:
        if name == "in_condition":
            continue
        number, text, expression = waiting_line(name)
        frame = next(f for f in threads[name]["frames"] if f["name"] == name)
        assert frame["line"] == number and frame["source"] == text and not frame["source_changed"], frame
        if python.minor >= (3, 11):
            assert frame["end_line"] == number
            assert text[frame["column"] : frame["end_column"]] == expression, frame
        else:
            assert frame["column"] == -1, frame


def test_text(plumb, blocked, any_python):
    with blocked(any_python) as hung:
        wait_asleep(hung.pid)
        result = plumb("dump", *IN_TIME, hung.pid, env=dict(os.environ, LC_ALL="C.UTF-8"))
        told = hung.told
    assert result.status == 0 and result.stderr == "", result
    assert "\033" not in result.stdout
    assert result.stdout.startswith("process %d: " % hung.pid)
    assert "in_recv (" in result.stdout and "blocked in recv on fd" in result.stdout
    assert "tcp socket %s -> %s (connected)" % (told["client"], told["server"]) in result.stdout
    assert "sleeping in " in result.stdout
    assert "\n      os.read(things[\"pipe\"], 1)  # here\n" in result.stdout
    if any_python.minor >= (3, 11):
        assert "\n      ^^^^^^^^^^^^^^^^^^^^^^^^^^\n" in result.stdout, result


def test_narrow_text(plumb, blocked, any_python):
    with blocked(any_python) as hung:
        wait_asleep(hung.pid)
        for width in (20, 40, 79):
            result = plumb("dump", *IN_TIME, hung.pid, "--width", width, env=dict(os.environ, LC_ALL="C"))
            assert result.status == 0 and result.stdout.isascii(), result
            assert max(len(line) for line in result.stdout.splitlines()) <= width, result


def test_color_on_a_terminal_only_and_not_with_no_color(plumb, blocked, any_python):
    with blocked(any_python) as hung:
        for more, colored in (({}, True), ({"NO_COLOR": "1"}, False)):
            reader, writer = pty.openpty()
            environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "CLICOLOR_FORCE")}
            process = plumb.start("dump", *IN_TIME, hung.pid, stdout=writer, env=dict(environment, TERM="xterm", **more))
            os.close(writer)
            text = b""
            try:
                while True:
                    piece = os.read(reader, 65536)
                    if not piece:
                        break
                    text += piece
            except OSError:  # the other end is closed
                pass
            os.close(reader)
            assert process.wait(PATIENCE) == 0
            assert (b"\033[" in text) == colored, text
        assert "\033[" in plumb("dump", *IN_TIME, "--color", "always", hung.pid).stdout
        assert '"source":null' in plumb("dump", *IN_TIME, "--json", "--no-source", hung.pid).stdout


def test_who_holds_the_gil_and_who_waits(plumb, target, minor):
    """Three threads compute: one has the GIL, the others wait for it."""
    if minor.free_threaded:
        pytest.skip("there is no GIL")
    with target(minor, "threads.py") as busy:

        def contended(process):
            waiting = [t for t in process["threads"] if t["doing"] == "gil"]
            return waiting and any(t["gil_holder"] not in (None, t["tid"]) for t in waiting)

        process = dump_until(plumb, contended, busy.pid)
        left = traces(busy.pid)
    threads = threads_of(process)
    tids = {thread["tid"] for thread in process["threads"]}
    for thread in process["threads"]:
        if thread["doing"] == "gil":
            assert thread["wants_gil"] and not thread["has_gil"], thread
            assert thread["gil_holder"] is None or thread["gil_holder"] in tids, thread
        if thread["doing"] == "running" and thread["has_gil"]:
            assert thread["quality"] in ("exact", "stopped", "doubtful", "partial"), thread
    assert threads["waiter"]["doing"] == "blocked" and names(threads["waiter"])[0] == "wait_here"
    assert not left, left


LOOKS = 20


def test_running_threads_are_proved(plumb, target, minor):
    """A thread that runs all the time is stopped for its stack, or shown only as far as it is sure."""
    with target(minor, "mixed.py", count=True) as busy:
        found = dumps(plumb, *[busy.pid] * LOOKS)
        left = traces(busy.pid)
        busy.wait_progress()
    main = [process["threads"][0] for process in found]
    assert all(thread["quality"] for thread in main)
    sure = [thread for thread in main if thread["quality"] in ("exact", "stopped")]
    # A thread is stopped at any instruction, now and then at one where its stack is just being changed.
    assert_at_most(0.1, LOOKS - len(sure), LOOKS, [thread["quality"] for thread in main])
    assert all(names(thread)[-1] == "<module>" for thread in sure), [names(t) for t in sure]
    assert not left, left


def test_never_stop(plumb, target, any_python):
    with target(any_python, "mixed.py", count=True) as busy:
        for process in dumps(plumb, "--never-stop", *[busy.pid] * LOOKS):
            thread = process["threads"][0]
            assert thread["quality"] in ("exact", "doubtful", "partial", None), thread


def test_a_stopped_process(plumb, target, minor):
    with target(minor, "threads.py", count=True) as busy:
        os.kill(busy.pid, signal.SIGSTOP)
        try:
            wait_until(lambda: all(status(busy.pid, tid).get("State", "T")[0] == "T" for tid in thread_ids(busy.pid)), "it does not stop")
            process = dump(plumb, busy.pid)
            still = [status(busy.pid, tid)["State"][0] for tid in thread_ids(busy.pid)]
        finally:
            os.kill(busy.pid, signal.SIGCONT)
        busy.wait_progress()
    threads = threads_of(process)
    assert {"MainThread", "alpha", "beta", "waiter"} <= set(threads)
    assert {thread["doing"] for thread in process["threads"]} == {"stopped"}
    assert {thread["quality"] for thread in process["threads"]} == {"exact"}
    assert "work_alpha" in names(threads["alpha"])
    assert set(still) == {"T"}, "it stays stopped"


def test_a_process_whose_main_thread_has_ended(plumb, any_python, tmp_path):
    """Its own entry in /proc has neither descriptors nor a root directory any more; those of its threads have."""
    script = tmp_path / "left_over.py"
    script.write_text("import ctypes, os, socket, threading\n"
                      "listener = socket.socket()\n"
                      "listener.bind(('127.0.0.1', 0))\n"
                      "listener.listen(1)\n"
                      "client = socket.create_connection(listener.getsockname())\n"
                      "def waits():\n"
                      "    client.recv(1)\n"
                      "threading.Thread(target=waits, name='left over').start()\n"
                      "print('%s:%d' % listener.getsockname(), flush=True)\n"
                      "ctypes.CDLL(None).pthread_exit(None)\n")
    process = subprocess.Popen([*any_python.command, str(script)], stdout=subprocess.PIPE, text=True)
    try:
        listener = process.stdout.readline().strip()
        wait_until(lambda: status(process.pid)["State"][0] == "Z", "its main thread does not end")
        found = dump_until(plumb, lambda p: waits_in(p, "left over", "recv"), process.pid)
    finally:
        process.kill()
        process.communicate()
    [main] = [t for t in found["threads"] if t["main"]]
    assert main["doing"] == "ended" and main["wait"] is None and main["tid"] == process.pid, main
    thread = threads_of(found)["left over"]
    assert thread["doing"] == "blocked" and thread["wait"]["call"] == "recv", thread
    fd = thread["wait"]["fd"]
    assert (fd["kind"], fd["protocol"], fd["state"], fd["peer"]) == ("socket", "tcp", "connected", listener), fd
    assert thread["frames"][0]["source"] == "    client.recv(1)", thread


def test_code_of_the_jit_compiler_is_marked(plumb, target, jit):
    """Its place is not published: on a release where it moved nothing is told, and this test says so."""
    if subprocess.run([*jit.command, "-c", "import sys; sys.exit(not sys._jit.is_available())"], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("Python %s has no JIT compiler" % jit)
    for switch in ("1", "0"):
        with target(jit, "calls.py", env=dict(os.environ, PYTHON_JIT=switch)) as busy:
            if switch == "1":
                dump_until(plumb, lambda process: any(thread["jit"] for thread in process["threads"]), busy.pid)
                text_until(plumb, lambda text: "runs compiled code (JIT)" in text, busy.pid)
            else:
                looks = [process["threads"][0]["jit"] for process in dumps(plumb, *[busy.pid] * LOOKS)]
                assert looks == [False] * LOOKS, looks


def test_every_look_at_a_busy_program_finds_its_stacks(plumb, target, minor):
    """Stacks that change faster than they can be read are torn at many tries in a row."""
    with target(minor, "generators.py") as busy:
        assert len(dumps(plumb, *[busy.pid] * 60)) == 60


def hangs(process):
    main, worker = process["threads"]
    told = main["idle_ns"] or not os.access("/proc/self/sched", os.R_OK)
    # Nobody holds the GIL at the moment at which it is handed over.
    holders = process["gil_holder"], worker["gil_holder"]
    return told and holders == (main["tid"],) * 2 and main["wait"] and main["wait"]["call"] == "read" and worker["doing"] == "gil"


def told_long(text):
    """Once it is worth telling, and if the kernel tells it."""
    return "for at least" in text or not os.access("/proc/self/sched", os.R_OK)


def test_no_thread_waits_for_longer_than_the_process_is_up(plumb, target, minor):
    """The first of many threads has waited since shortly after the beginning, and is looked at when others were."""
    with target(minor, "many_threads.py", "--threads", "400", "--busy", "0") as many:
        process = dump(plumb, many.pid)
    longest = max(thread["idle_ns"] or 0 for thread in process["threads"])
    assert longest <= process["age_ns"], process
    assert longest or not os.access("/proc/self/sched", os.R_OK)


def test_hung_in_c_with_the_gil(plumb, target, minor):
    if minor.free_threaded:
        pytest.skip("there is no GIL")
    with target(minor, "hung.py") as hung:
        try:
            process = dump_until(plumb, hangs, hung.pid)
            held = "waiting for the GIL, held by MainThread (%d)" % hung.pid
            # A thread that waits for the GIL wakes up every 5 ms and may be met running.
            text = text_until(plumb, lambda text: held in text and told_long(text), hung.pid)
        finally:
            hung.kill()
    main, worker = process["threads"]
    if os.access("/proc/self/sched", os.R_OK):
        assert main["idle_ns"] and re.search("%s for at least [0-9.]+ m?s" % re.escape(held), text), (main, text)
    assert worker["idle_ns"] is None, worker
    assert names(main)[0] == "hang" and main["doing"] == "blocked" and main["quality"] == "exact", main
    assert main["wait"]["fd"]["kind"] == "pipe"
    assert main["has_gil"] and "holds the GIL" in text


def test_waiting_threads_are_not_disturbed(plumb, target, minor):
    needs_3_8(minor)
    with target(minor, "waiting.py") as waiting:
        dumps(plumb, "--no-source", *[waiting.pid] * LOOKS)
        waiting.stop()
        counts = waiting.result("waited")["counts"]
    assert counts["epoll_wait"]["eintr"] == 0 and counts["recv"]["eintr"] == 0, counts


def test_a_source_file_that_changed(plumb, any_python, tmp_path):
    script = tmp_path / "changed.py"
    script.write_text("import os, sys\nprint('ready', flush=True)\nos.read(0, 1)\n")
    process = subprocess.Popen([*any_python.command, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"ready\n"
        wait_asleep(process.pid)
        assert not dump(plumb, process.pid)["threads"][0]["frames"][0]["source_changed"]
        script.write_text("\n\nsomething_else()\n")
        os.utime(script, (time.time() + 1,) * 2)
        frame = dump(plumb, process.pid)["threads"][0]["frames"][0]
        assert frame["source_changed"] and frame["source"] == "something_else()"
        assert "changed.py was changed after the process had started" in plumb("dump", *IN_TIME, process.pid).stdout
        script.unlink()
        assert dump(plumb, process.pid)["threads"][0]["frames"][0]["source"] is None
    finally:
        process.kill()
        process.communicate()


MANY_FILES = """
from __future__ import print_function
import os, sys, threading
def stack():
    call = lambda: (print("ready"), os.read(0, 1))
    for i in range(1000):
        found = {"call": call}
        exec(compile("def work():\\n    call()\\n", "/nowhere/%d.py" % i, "exec"), found)
        call = found["work"]
    call()
sys.setrecursionlimit(10000)
threading.stack_size(64 << 20)
threading.Thread(target=stack).start()
"""


def test_a_stack_of_many_source_files(plumb, any_python, tmp_path):
    script = tmp_path / "many.py"
    script.write_text(MANY_FILES)
    process = subprocess.Popen([*any_python.command, "-u", str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"ready\n"
        wait_asleep(process.pid)
        told = dump(plumb, process.pid)
        text = plumb("dump", *IN_TIME, process.pid).stdout
    finally:
        process.kill()
        process.communicate()
    files = {frame["file"] for thread in told["threads"] for frame in thread["frames"]}
    assert {"/nowhere/%d.py" % i for i in range(1000)} <= files
    assert told["sources_left_out"] >= 1000 - 256
    assert "source files are left out: too many files" in " ".join(text.split()), text[-2000:]


def test_several_processes_and_one_that_is_none(plumb, target, any_python):
    gone = subprocess.Popen(["true"])
    gone.wait()
    sleeper = subprocess.Popen(["sleep", "600"])
    try:
        with target(any_python, "threads.py") as one, target(any_python, "names.py") as two:
            result = plumb("dump", *IN_TIME, "--json", one.pid, gone.pid, sleeper.pid, two.pid)
            text = plumb("dump", *IN_TIME, one.pid, two.pid, env=dict(os.environ, LC_ALL="C"))
    finally:
        sleeper.kill()
        sleeper.wait()
    assert result.status == 1
    answer = json.loads(result.stdout)
    assert [process["pid"] for process in answer["processes"]] == [one.pid, two.pid]
    assert [(f["pid"], f["code"]) for f in answer["failures"]] == [(gone.pid, "no-process"), (sleeper.pid, "not-python")]
    assert "there is no process" in result.stderr and "sleep, not Python" in result.stderr
    assert text.status == 0 and text.stdout.count("process ") >= 2
    assert all(line == "" or line.isprintable() for line in text.stdout.splitlines()), "hostile names stay on their line"


def test_nothing_to_dump(plumb):
    gone = subprocess.Popen(["true"])
    gone.wait()
    result = plumb("dump", *IN_TIME, gone.pid)
    assert result.status == 125 and result.stdout == "" and str(gone.pid) in result.stderr, result
    for word in ("-1", "+1", "0", "01", "0x1", "99999999999", ""):
        result = plumb("dump", "--", word)
        assert result.status == 125 and "is not a process id" in result.stderr, result
    assert "needs" in plumb("dump").stderr


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root and setpriv")
def test_a_process_of_root_for_somebody_else(plumb, target, any_python):
    binary = "/tmp/plumb-dump-%d" % os.getpid()
    shutil.copy(plumb.binary, binary)
    try:
        os.chmod(binary, 0o755)
        drop = ["setpriv", "--reuid", str(ORDINARY), "--regid", str(ORDINARY), "--clear-groups", binary]
        with target(any_python, "threads.py") as busy:
            process = subprocess.Popen([*drop, "dump", str(busy.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd="/")
            result = finish(process)
    finally:
        os.unlink(binary)
    assert result.status == 125 and "it belongs to user root (uid 0)" in result.stderr, result


WAITS_ON_OVERLAYFS = """
set -e
mkdir "$1/lower" "$1/upper"
mount -t tmpfs tmpfs "$1/upper"
mkdir "$1/upper/files" "$1/upper/work" "$1/root"
mount -t overlay -o "lowerdir=$1/lower,upperdir=$1/upper/files,workdir=$1/upper/work" overlay "$1/root"
exec "$2" -c '
import fcntl, os, sys
first = open(sys.argv[1], "w")
fcntl.flock(first, fcntl.LOCK_EX)
second = open(sys.argv[1], "w")
waiter = os.fork()
if waiter == 0:
    first.close()
    fcntl.flock(second, fcntl.LOCK_EX)
    sys.exit()
print(os.getpid(), waiter, flush=True)
sys.stdin.read()
' "$1/root/lock"
"""


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="only root may mount")
def test_who_holds_a_lock_on_overlayfs(plumb, tmp_path):
    """The kernel lists the lock under a device that is not the file's own."""
    try:
        program = subprocess.Popen([shutil.which("unshare"), "--mount", "sh", "-c", WAITS_ON_OVERLAYFS, "sh", tmp_path, sys.executable],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = program.stdout.readline()
        if not line:
            pytest.skip("there is no overlayfs here")
        holder, waiter = map(int, line.split())
        process = dump_until(plumb, lambda found: waits_in(found, found["threads"][0]["name"], "flock"), str(waiter))
        assert process["threads"][0]["wait"]["holder"]["pid"] == holder, process["threads"][0]
    finally:
        program.stdin.close()
        program.wait(PATIENCE)


def core_of_hung(plumb, target, python, directory, signo):
    """A core of blocked.py after that signal, and what the program told."""
    before = []

    def look(hung):
        wait_asleep(hung.pid)
        before.append(dump(plumb, hung.pid))

    needs_3_8(python)
    return core_of(target, python, directory, ("blocked.py",), look, signo), before[0]


def test_a_core_shows_what_the_living_process_showed(plumb, target, minor, tmp_path):
    core, before = core_of_hung(plumb, target, minor, tmp_path, signal.SIGABRT)
    # The interpreters may be where only we may read, and root's cores are not believed.
    where = ["--trust-core", *(["--root", minor.root] if minor.root else [])]
    process = dump(plumb, "--core", core, *where)
    assert process["pid"] == before["pid"] and process["python"] == before["python"] and process["core"] == str(core)
    assert before["command"].startswith(process["command"]) and process["command"], "the kernel keeps 79 bytes of it"
    now, then = threads_of(process), threads_of(before)
    assert set(now) == set(then)
    for name, thread in now.items():
        assert thread["quality"] == "exact" and thread["tid"] == then[name]["tid"], thread
        lines = [(f["qualname"], f["file"], f["line"], f["column"], f["source"]) for f in thread["frames"]]
        assert lines == [(f["qualname"], f["file"], f["line"], f["column"], f["source"]) for f in then[name]["frames"]]
        assert thread["wait"]["call"] == then[name]["wait"]["call"], thread
    assert {t["signal"] for t in process["threads"]} == {None, signal.SIGABRT}
    assert dump(plumb, "--core", core, *where)["threads"] == process["threads"], "nothing is counted from now"
    assert not any(thread["wait"] and thread["wait"]["left_ns"] is not None for thread in now.values())
    text = plumb("dump", *IN_TIME, "--core", core, *where)
    assert text.status == 0 and "from the core %s" % core in text.stdout and "received signal 6" in text.stdout, text


def cut(core, share):
    """A copy of the core that ends early."""
    short = core.with_name("short")
    short.write_bytes(core.read_bytes()[: int(core.stat().st_size * share)])
    return short


def test_a_core_that_was_cut_says_so(plumb, target, any_python, tmp_path):
    """A full disk and 'ulimit -c' cut cores; nothing else is the cause of what is missing then."""
    core, _ = core_of_hung(plumb, target, any_python, tmp_path, signal.SIGABRT)
    size = core.stat().st_size
    for share in (0.95, 0.7, 0.4, 0.1, 0.01):
        short = cut(core, share)
        result = plumb("dump", *IN_TIME, "--core", short, "--trust-core")
        told = "the core is cut, %d of %d bytes are there" % (short.stat().st_size, size)
        assert told in " ".join((result.stdout + result.stderr).split()), (share, result)
        assert result.status == 0 or "ulimit -c" in result.stderr, (share, result)
        assert "sampling" not in result.stderr, (share, result)
    without_notes = plumb("dump", *IN_TIME, "--core", cut(core, 16384 / size))
    assert "the core is cut" in without_notes.stderr and "--trust-core" not in without_notes.stderr, without_notes
    headers = plumb("dump", *IN_TIME, "--core", cut(core, 100 / size))
    assert headers.status == 125 and "is cut within its headers" in headers.stderr, headers


def test_a_core_that_lacks_little_is_shown(plumb, target, any_python, tmp_path):
    core, _ = core_of_hung(plumb, target, any_python, tmp_path, signal.SIGABRT)
    assert dump(plumb, "--core", core, "--trust-core")["core_missing_bytes"] == 0
    short = core.with_name("short")
    short.write_bytes(core.read_bytes()[:-1])
    process = dump(plumb, "--core", short, "--trust-core")
    assert process["core_missing_bytes"] == 1 and len(process["threads"]) > 1, process
    shown = plumb("dump", *IN_TIME, "--core", short, "--trust-core")
    assert "note: the core is cut" in shown.stdout, shown


def test_a_core_from_which_memory_was_left_out(plumb, target, any_python, tmp_path):
    def leave_out(program):
        pathlib.Path("/proc/%d/coredump_filter" % program.pid).write_text("0")

    core = core_of(target, any_python, tmp_path, ("blocked.py",), leave_out, signal.SIGABRT)
    result = plumb("dump", *IN_TIME, "--core", core, "--trust-core")
    assert result.status == 125 and "coredump_filter" in result.stderr, result


def test_what_is_no_core(plumb, any_python, tmp_path):
    for path, code in (("/bin/true", "not-a-core"), (tmp_path / "none", "not-found"), (tmp_path, "not-a-core")):
        result = plumb("dump", *IN_TIME, "--json", "--core", path)
        assert result.status == 125, result
        assert [f["code"] for f in json.loads(result.stdout)["failures"]] == [code], result


def test_the_root_of_a_core(plumb, any_python, tmp_path):
    nowhere = plumb("dump", *IN_TIME, "--core", "core", "--root", tmp_path / "none")
    assert nowhere.status == 125 and "there is no directory '%s'" % (tmp_path / "none") in nowhere.stderr, nowhere
    alone = plumb("dump", *IN_TIME, "--root", tmp_path, os.getpid())
    assert alone.status == 125 and "'--root' goes with '--core FILE'" in alone.stderr, alone
    trusted = plumb("dump", "--trust-core", os.getpid())
    assert trusted.status == 125 and "'--trust-core' goes with '--core FILE'" in trusted.stderr, trusted


def test_a_core_whose_files_are_not_below_the_root(plumb, target, any_python, tmp_path):
    """Files elsewhere are never taken in their place."""
    core, _ = core_of_hung(plumb, target, any_python, tmp_path, signal.SIGABRT)
    (tmp_path / "empty").mkdir()
    result = plumb("dump", *IN_TIME, "--trust-core", "--core", core, "--root", tmp_path / "empty")
    assert result.status == 125 and "no Python was found in the files of %s/empty/" % tmp_path in result.stderr, result


def test_a_link_below_the_root_does_not_lead_out_of_it(plumb, target, any_python, tmp_path):
    """It means what it meant to the process, whose root was there."""
    core, _ = core_of_hung(plumb, target, any_python, tmp_path, signal.SIGABRT)
    program = pathlib.Path(any_python.command[0]).resolve()
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / program.parts[1]).symlink_to("/" + program.parts[1])
    result = plumb("dump", *IN_TIME, "--trust-core", "--core", core, "--root", tmp_path / "root")
    assert result.status == 125 and "no Python was found in the files of %s/root/" % tmp_path in result.stderr, result


def test_a_traced_process(plumb, target, any_python):
    """Its threads cannot be stopped by us: what cannot be proved without is marked as such."""
    if not shutil.which("strace"):
        pytest.skip("needs strace, to trace")
    with target(any_python, "threads.py", before=["strace", "-f", "-qq", "-e", "trace=none"], count=True) as busy:
        process = dump_until(plumb, lambda process: process["stop_refused"], busy.pid)  # one look may prove all without a stop
        text_until(plumb, lambda text: "note: its threads cannot be stopped: strace" in text, busy.pid)
        busy.wait_progress()
    assert process["stop_refused"] == "strace (pid %d) traces it" % process["tracer"]["pid"], process["stop_refused"]
    assert process["tracer"]["name"] == "strace", process["tracer"]
    assert {"MainThread", "alpha", "beta", "waiter"} <= set(threads_of(process))
    assert "stopped" not in {thread["quality"] for thread in process["threads"]}


def test_the_time_limit_is_kept(plumb, blocked, any_python):
    """Naming the holder of a file lock alone takes longer than this; what is not done in time is left behind."""
    with blocked(any_python) as hung:
        wait_asleep(hung.pid)
        result = plumb("dump", "--json", "--timeout", "0.2ms", hung.pid)
        after = dump(plumb, hung.pid)
        left = traces(hung.pid)
    assert result.status == 125 and "did not let itself be read within 0.0002 s" in result.stderr, result
    assert [f["code"] for f in json.loads(result.stdout)["failures"]] == ["timeout"]
    assert len(after["threads"]) == len(CALLS) + 1 and not left, left


def test_processes_that_come_and_go(plumb, target, any_python):
    """A process may end at any moment of the dump."""
    for number in range(10):
        with target(any_python, "threads.py") as busy:
            process = plumb.start("dump", *IN_TIME, "--json", busy.pid, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            busy.stop()
            result = finish(process)
        assert result.status in (0, 125), result
        json.loads(result.stdout)


def variables(frame):
    return {local["name"]: local["value"] for local in frame["locals"]}


def test_variables_of_a_waiting_thread(plumb, target, minor):
    needs_3_8(minor)
    with target(minor, "variables.py", stderr=subprocess.PIPE) as busy:
        thread = threads_of(dump_until(plumb, lambda process: waits_in(process, "waits", "read"), "--locals", busy.pid))["waits"]
        text = plumb("dump", *IN_TIME, "--locals", busy.pid, env=dict(os.environ, LC_ALL="C.UTF-8")).stdout
        without = threads_of(dump(plumb, busy.pid))["waits"]
        busy.stop()
        assert busy.process.stderr.read() == b"", "the target's code was run"
        busy.process.stderr.close()
    assert thread["quality"] == "exact"
    inner, waits = thread["frames"][:2]
    assert variables(inner)["number"] == "42", inner
    found = variables(waits)
    assert found["number"] == "42" and found["flag"] == "True" and found["text"] == "'größer'", found
    assert found["rest"] == "('more', 'still more')" and found["more"] == "{'other': b'bytes'}", found
    assert found["items"].startswith("[1, 2.5, None, 'xxx") and len(found["items"]) < 500, found
    assert "s3cr3t" not in text and "t0k3n" not in text and "hunter2" not in text, text
    assert found["api_key"] == "***" and found["table"] == "{'a': 1, 'token': ***}", found
    assert found["shy"].startswith("<__main__.Shy ") and "size=3" in found["shy"] and "password=***" in found["shy"], found
    assert "unset" not in found
    kinds = {local["name"]: local["kind"] for local in waits["locals"]}
    assert kinds["number"] == kinds["rest"] == kinds["flag"] == kinds["more"] == "argument" and kinds["text"] == "local"
    assert "\n      text = 'größer'\n" in text
    assert {frame["locals"] is None for frame in without["frames"]} == {True}


def test_variables_of_a_running_thread_are_of_one_moment(plumb, target, minor):
    needs_3_8(minor)
    sure = []

    def sure_enough():
        threads = [threads_of(process)["computes"] for process in dumps(plumb, "--locals", *[busy.pid] * LOOKS)]
        found = [variables(t["frames"][0]) for t in threads if t["quality"] == "stopped" and t["frames"] and t["frames"][0]["locals"]]
        sure.extend(values for values in found if "label" in values)
        return len(sure) >= 10

    with target(minor, "variables.py") as busy:
        wait_until(sure_enough, "it is never stopped for them")
        left = traces(busy.pid)
    for values in sure:
        counter = int(values["counter"])
        assert values["label"] in ("'at %d'" % counter, "'at %d'" % (counter - 1)), values
    assert not left, left


def test_tasks_and_who_waits_for_whom(plumb, target, minor):
    needs_3_8(minor)
    with target(minor, "tasktree.py") as loop:
        wait_asleep(loop.pid)
        process = dump_until(plumb, lambda p: all(t["doing"] == "waiting" for t in p["tasks"]), loop.pid)
        text = plumb("dump", *IN_TIME, loop.pid, env=dict(os.environ, LC_ALL="C")).stdout
    tasks = {task["name"]: task for task in process["tasks"]}
    assert process["tasks_lost"] == 0 and set(tasks) == {"Task-1", "outer", "left", "right", "innermost"}, tasks
    assert {task["tid"] for task in tasks.values()} == {loop.pid}
    assert names(tasks["innermost"]) == ["innermost", "middle"]
    assert names(tasks["left"]) == ["left"] and names(tasks["outer"]) == ["outer"]
    assert names(tasks["right"]) == ["sleep", "right"]
    assert tasks["left"]["waits_for"] == tasks["innermost"]["id"]
    assert tasks["innermost"]["awaited_by"] == [tasks["left"]["id"]]
    assert tasks["left"]["awaited_by"] == tasks["right"]["awaited_by"] == [tasks["outer"]["id"]]
    assert (tasks["left"]["waits_on"], tasks["outer"]["waits_on"], tasks["right"]["waits_on"]) == ("task", "gather", "future")
    assert tasks["right"]["awaits"] == "_asyncio.Future"
    assert tasks["innermost"]["frames"][0]["source"] == "    await future"
    lines = text[text.index("asyncio: 5 tasks") :].splitlines()
    heads = [line for line in lines if line.strip().split(":")[0] in tasks]
    assert heads == [
        "Task-1: waiting for outer", "  outer: waiting for left, right", "    left: waiting for innermost",
        "      innermost: waiting for the result of asyncio.Future %#x" % tasks["innermost"]["waits_for"], "    right: sleeping"], text
