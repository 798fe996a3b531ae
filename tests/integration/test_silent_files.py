# SPDX-License-Identifier: Apache-2.0
"""Source files on a file system that does not answer: the stacks are safe, and everything ends."""
import contextlib
import fcntl
import json
import os
import select
import signal
import subprocess
import time

import pytest

from harness import package
from harness.plumb import PATIENCE, finish, running
from harness.silent import file_that_falls_silent, files_that_fall_silent, go_away, silent_files, silent_program
from harness.target import of_threads, wait_until

PROGRAM = """
import sys
found = {}
exec(compile("def work(n):\\n    return sum(range(n))\\n", sys.argv[1] + "/app.py", "exec"), found)
print("ready", flush=True)
for _ in range(int(sys.argv[2])):
    found["work"](100000)
sys.exit(7)
"""


def mounted(directory, kind, made=False):
    if not made:
        directory.mkdir()
    try:
        with kind(directory) as told:
            yield directory, told
    except OSError as why:
        pytest.skip("no file system can be mounted: %s" % why)


@pytest.fixture
def silent(tmp_path):
    for directory, _ in mounted(tmp_path / "silent", silent_files):
        yield directory


@pytest.fixture
def falls_silent(tmp_path):
    yield from mounted(tmp_path / "silent", files_that_fall_silent)


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def test_run_ends_with_the_program(plumb, any_python, silent, program):
    recording = plumb.path()
    result = plumb("run", "-o", recording, "--", *any_python.command, program, silent, "500")
    assert result.status == 7, result
    profile = plumb.report(recording)
    assert any(stack.python[-1].name == "work" for stack in profile.stacks if stack.python)
    assert profile.json["sources_left_out"] == 1 and any(source["file"].endswith("program.py") for source in profile.json["sources"])


def test_what_is_written_at_the_end_asks_for_no_file_again(plumb, any_python, silent, program):
    out = plumb.path(".flamegraph.json")
    result = plumb("run", "-o", out, "--", *any_python.command, program, silent, "500")
    assert result.status == 7 and '"work"' in out.read_text(), result


def test_attach_ends_at_ctrl_c(plumb, any_python, silent, program):
    recording = plumb.path()
    with running(subprocess.Popen([*any_python.command, program, silent, "1000000000"], stdout=subprocess.PIPE)) as busy:
        busy.stdout.readline()
        with running(plumb.start("attach", "-o", recording, busy.pid, stdout=subprocess.PIPE, stderr=subprocess.PIPE)) as process:
            wait_until(lambda: plumb.recorded(recording, lambda profile: profile.samples > 1000), "the recording does not go on")
            process.send_signal(signal.SIGINT)
            assert finish(process).status == 0
        busy.kill()
    assert plumb.report(recording).json["sources_left_out"] == 1


def test_programs_on_it_do_not_hold_up_the_search_for_another(plumb, any_python, silent, tmp_path):
    """By a path, each Python can be the one that is meant."""
    (tmp_path / "app.py").write_text("import time\nprint('ready', flush=True)\ntime.sleep(1e6)\n")
    hang = [subprocess.Popen([*any_python.command, silent / "app.py"]) for _ in range(12)]
    try:
        with running(subprocess.Popen([*any_python.command, "app.py"], stdout=subprocess.PIPE, cwd=tmp_path)) as sleeper:
            sleeper.stdout.readline()
            looking = plumb.start("dump", "--json", "./app.py", cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            try:
                told, error = looking.communicate(timeout=PATIENCE)
            finally:
                go_away(silent)  # one that waits for it cannot be killed
                looking.wait()
    finally:
        go_away(silent)
        for process in hang:
            process.wait(PATIENCE)
    assert looking.returncode == 0, error
    assert [process["pid"] for process in json.loads(told)["processes"]] == [sleeper.pid]


IN_ITS_ROOT = """
import os, signal, sys
told = []
signal.signal(signal.SIGUSR1, lambda *_: told.append(1))
os.chroot(sys.argv[1])
os.chdir("/")
print("ready", flush=True)
while not told:
    sum(range(1000))
found = {}
exec(compile("def work(n):\\n    return sum(range(n))\\n", "/app.py", "exec"), found)
while True:
    found["work"](100000)
"""


def test_a_root_directory_that_falls_silent(plumb, any_python, falls_silent, tmp_path):
    """Whether a program still is who it was is asked when it brings new code: of the kernel, not of whoever has the files."""
    directory, silence = falls_silent
    (tmp_path / "program.py").write_text(IN_ITS_ROOT)
    recording = plumb.path()
    with running(subprocess.Popen([*any_python.command, tmp_path / "program.py", directory], stdout=subprocess.PIPE)) as busy:
        assert busy.stdout.readline() == b"ready\n"
        with plumb.attached(busy.pid, recording=recording) as process:
            try:
                silence.set()
                os.kill(busy.pid, signal.SIGUSR1)
                wait_until(lambda: plumb.recorded(recording, lambda profile: any(f["name"] == "work" for f in profile.functions)), "it hangs")
                process.send_signal(signal.SIGINT)
                assert process.wait(PATIENCE) == 0
            except BaseException:
                go_away(directory)  # a plumb that waits for it cannot be killed
                raise
        busy.kill()


EXECUTES = """
import ctypes, signal, sys, threading, time
execute = threading.Event()
signal.signal(signal.SIGUSR1, lambda *_: execute.set())
def spin():
    while True:
        sum(range(10000))
threading.Thread(target=spin, daemon=True).start()
print("ready", flush=True)
while not execute.is_set():
    time.sleep(0.01)
arguments = (ctypes.c_char_p * 2)(b"it", None)
ctypes.CDLL(None).execv(sys.argv[1].encode(), arguments)
"""


@pytest.mark.parametrize("end", ["SIGINT", "-d"])
def test_attach_ends_though_a_program_that_is_executed_does_not_come(plumb, any_python, tmp_path, end):
    """Whoever would stop a thread of that process waits in the kernel as long."""
    options = ["-d", "3"] if end == "-d" else []
    (tmp_path / "program.py").write_text(EXECUTES)
    silent, recording = tmp_path / "silent", plumb.path()
    silent.touch()
    for path, _ in mounted(silent, silent_program, made=True):
        with running(subprocess.Popen([*any_python.command, tmp_path / "program.py", path], stdout=subprocess.PIPE)) as busy:
            assert busy.stdout.readline() == b"ready\n"
            try:
                with running(plumb.start("attach", "--always-stop", *options, "-o", recording, busy.pid, stderr=subprocess.PIPE)) as process:
                    wait_until(lambda: plumb.recorded(recording, lambda profile: profile.samples), "it is not sampled")
                    os.kill(busy.pid, signal.SIGUSR1)
                    wait_until(lambda: waits_to_seize(process.pid), "it does not come to that")
                    if end == "SIGINT":
                        process.send_signal(signal.SIGINT)
                    result = finish(process)
            finally:
                go_away(path)
            busy.kill()
    assert result.status == 125 and "did not come back" in result.stderr and "samples" in result.stderr, result
    assert plumb.report(recording).complete


def test_top_ends_though_a_program_that_is_executed_does_not_come(plumb, any_python, tmp_path):
    """Keys are taken meanwhile: what the screen asks of the sampling thread it waits for as long as that is silent, and no longer."""
    emulator = pytest.importorskip("harness.emulator", reason="no terminal is emulated here")
    (tmp_path / "program.py").write_text(EXECUTES)
    silent = tmp_path / "silent"
    silent.touch()
    for path, _ in mounted(silent, silent_program, made=True):
        with running(subprocess.Popen([*any_python.command, tmp_path / "program.py", path], stdout=subprocess.PIPE)) as busy:
            assert busy.stdout.readline() == b"ready\n"
            try:
                with emulator.Emulator([plumb.binary, "top", "--always-stop", str(busy.pid)], directory=plumb.directory) as t:
                    t.see("spin")
                    os.kill(busy.pid, signal.SIGUSR1)
                    wait_until(lambda: waits_to_seize(t.pid), "it does not come to that")
                    t.type("sq")
                    t.wait()
            finally:
                go_away(path)
            busy.kill()


LEAVES_ONE = """
import subprocess, sys
child = subprocess.Popen([sys.executable, *sys.argv[1:3]], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
child.stdout.readline()
print(child.pid, flush=True)
sys.stdin.readline()
sys.exit(7)
"""


def test_run_ends_with_the_program_though_one_that_it_left_is_held_up(plumb, any_python, tmp_path):
    """That the program has ended is asked of the kernel: the sampling thread, which would tell, waits for its child."""
    for name, text in (("program.py", EXECUTES), ("parent.py", LEAVES_ONE)):
        (tmp_path / name).write_text(text)
    silent, recording = tmp_path / "silent", plumb.path()
    silent.touch()
    for path, _ in mounted(silent, silent_program, made=True):
        command = [*any_python.command, tmp_path / "parent.py", tmp_path / "program.py", path]
        pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        with running(plumb.start("run", "--always-stop", "-o", recording, "--", *command, **pipes)) as process:
            child = int(process.stdout.readline())
            try:
                wait_until(lambda: plumb.recorded(recording, lambda profile: len(profile.json["processes"]) == 2), "it is not sampled")
                os.kill(child, signal.SIGUSR1)
                wait_until(lambda: waits_to_seize(process.pid), "it does not come to that")
                process.stdin.write(b"\n")
                process.stdin.flush()
                result = finish(process)
            finally:
                go_away(path)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
    assert result.status == 7 and "did not come back" in result.stderr and "samples" in result.stderr, result
    assert plumb.report(recording).complete


def waits_to_seize(pid):
    """Whether its sampling thread stands in ptrace(2), at two looks."""
    for _ in range(2):
        if not any(call.startswith("101 ") for call in of_threads(pid, "syscall").values()):
            return False
        time.sleep(0.05)
    return True


def test_dump_shows_the_stacks(plumb, any_python, silent, program):
    with running(subprocess.Popen([*any_python.command, program, silent, "1000000000"], stdout=subprocess.PIPE)) as busy:
        busy.stdout.readline()
        while "work (" not in (result := plumb("dump", busy.pid)).stdout:
            assert result.status == 0 and "print(" in result.stdout, "it is just saying so: %s" % result
        busy.kill()
    assert result.status == 0 and "<module> (" in result.stdout, result
    told = " ".join(result.stdout.split())
    assert "app.py is on a file system that does not answer: source lines are left out (--no-source does not ask)" in told, told


OWN = """
import os, signal, sys, plumb
told = []
signal.signal(signal.SIGCHLD, lambda *_: told.append("a signal"))
found = {}
exec(compile("def work(n):\\n    return sum(range(n))\\n", sys.argv[1] + "/app.py", "exec"), found)

def a_child():
    try:
        return os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return None

with plumb.profile(output=sys.argv[2]) as recording:
    for _ in range(500):
        found["work"](100000)
        os.setgroups(os.getgroups())
        if a_child():
            told.append("a child")
print(recording.info()["samples"] > 0, told, flush=True)
"""


def test_the_own_process_changes_its_rights_and_ends(plumb, any_python, silent, tmp_path):
    """The C library changes the rights of all threads, and waits for each: none may stand where no signal reaches it, and none
    may have rights of its own. Of who does the program sees nothing, and ends without it."""
    if package.why_not(any_python):
        pytest.skip(package.why_not(any_python))
    script, recording = tmp_path / "own.py", plumb.path()
    script.write_text(OWN)
    own = subprocess.Popen(
        [*any_python.command, script, silent, recording], env=package.environment(any_python), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        told, error = own.communicate(timeout=PATIENCE)
    finally:
        go_away(silent)
        own.kill()
        own.communicate()
    assert (own.returncode, told) == (0, b"True []\n"), error
    assert plumb.report(recording).json["sources_left_out"] == 1


CALLS_A_LIBRARY = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
for line in open("/proc/self/maps"):
    if sys.argv[1] in line and line.split()[1][0] == "r":  # all of it is in memory
        begin, end = (int(word, 16) for word in line.split()[0].split("-"))
        ctypes.string_at(begin, end - begin)
source, target, length = bytes(range(256)) * 100, ctypes.create_string_buffer(50000), ctypes.c_ulong()
def work():
    length.value = 50000
    library.compress(target, ctypes.byref(length), source, ctypes.c_ulong(len(source)))
print("ready", flush=True)
while True:
    work()
"""


def test_native_functions_of_a_library_on_it_have_no_names(plumb, any_python, tmp_path):
    """Who reads the names is left behind after a second. The samples go on, and other files are read."""
    with open("/proc/self/maps") as maps:
        (libz, *_) = [line.split()[-1] for line in maps if "/libz.so" in line] or [None]
    if not libz:
        pytest.skip("this Python has no zlib of its own file")
    (tmp_path / "program.py").write_text(CALLS_A_LIBRARY)
    path, recording = tmp_path / "libfalls.so", plumb.path()
    path.touch()
    with open(libz, "rb") as file:
        content = file.read()
    for path, silence in mounted(path, lambda path: file_that_falls_silent(path, content), made=True):
        with running(subprocess.Popen([*any_python.command, tmp_path / "program.py", path], stdout=subprocess.PIPE)) as busy:
            assert busy.stdout.readline() == b"ready\n"
            silence.set()
            try:
                with plumb.attached(busy.pid, "--native", "-r", "200", recording=recording) as process:
                    wait_until(lambda: plumb.recorded(recording, goes_on), "it hangs")
                    process.send_signal(signal.SIGINT)
                    assert process.wait(PATIENCE) == 0
            finally:
                go_away(path)  # a plumb that waits for it cannot be killed
            busy.kill()
    profile = plumb.report(recording)
    assert profile.losses["queue"] == 0 and any(f["kind"] == "native" and "ctypes" in f["file"] and "+0x" not in f["name"]
                                                for f in profile.functions), profile.functions


def goes_on(profile):
    return profile.samples > 500 and any(f["name"].startswith("libfalls.so+0x") for f in profile.functions)


@pytest.fixture
def recording(plumb, any_python):
    recording = plumb.path()
    plumb("run", "-o", recording, "--", *any_python.command, "-c", "for _ in range(20000): sum(range(100))")
    return recording


@pytest.mark.parametrize("command", ["report -o", "convert", "merge -o", "symbolize -o"])
def test_who_writes_there_is_told_what_is_waited_for(plumb, recording, silent, command):
    name, *option = command.split()
    out = silent / "out.plumb"
    with running(plumb.start(name, recording, *option, out, stderr=subprocess.PIPE)) as process:
        try:
            said = process.stderr.readline().decode() + process.stderr.readline().decode()
        finally:
            go_away(silent)
        process.wait(PATIENCE)
    assert "plumb: waiting for %s, which has not answered for" % out in said and "hint: a file system that is gone" in said, said


@pytest.mark.parametrize("name, out", [("report", "/dev/stdout"), ("report", "pipe"), ("merge", "pipe")])
def test_who_waits_for_the_reader_of_a_pipe_is_told_nothing_of_file_systems(plumb, recording, tmp_path, name, out):
    if out == "pipe":
        out = tmp_path / out
        os.mkfifo(out)
        reader = os.open(out, os.O_RDONLY | os.O_NONBLOCK)
        writer = os.open(out, os.O_WRONLY)
        os.set_blocking(reader, True)
    else:
        reader, writer = os.pipe()
    os.write(writer, bytes(fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)))  # full
    command = plumb.start(name, recording, *(["-f", "html"] if name == "report" else ["-q"]), "-o", out, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    with open(reader, "rb") as pipe, running(command) as process:
        assert not select.select([process.stderr], [], [], 6)[0], process.stderr.readline()
        assert len(pipe.read()) > 4096
        assert process.wait(PATIENCE) == 0


def test_symbolize_ends_at_ctrl_c_though_debug_files_do_not_come(plumb, any_python, silent):
    recording = plumb.path()
    assert plumb("run", "--native", "-o", recording, "--", *any_python.command, "-c", "import zlib\nfor _ in range(2000): zlib.crc32(bytes(100000))").status == 0
    with running(plumb.start("symbolize", recording, "-o", plumb.path(), stderr=subprocess.PIPE, env={**os.environ, "PLUMB_DEBUG_PATH": str(silent)})) as process:
        try:
            assert "waiting for debug information of PLUMB_DEBUG_PATH" in process.stderr.readline().decode()
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == -signal.SIGINT
        finally:
            go_away(silent)
