# SPDX-License-Identifier: Apache-2.0
"""The live view: how it begins, what is told of the program, what that writes; and lines instead of a screen."""
import contextlib
import fcntl
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

import pytest

pytest.importorskip("pyte")

from harness.emulator import Emulator
from harness.live import ORDINARY, busy, close, phases, top
from harness.plumb import running, until
from harness.target import traces, wait_until


def test_a_program_that_is_started(plumb, any_python, top):
    """What it writes is in a file, and none of it on the screen; q is to it what Ctrl-C is."""
    code = "import time; print('written', flush=True)\nwhile True: sum(range(1000)); time.sleep(0.001)"
    with Emulator([plumb.binary, "top", "--", *map(str, any_python.command), "-c", code], directory=plumb.directory) as t:
        t.until(lambda: [out for out in plumb.directory.glob("*.out") if out.read_text() == "written\n"], "that it has begun")
        t.type("q")
        t.wait()
    output = plumb.directory / re.search(r"what the program wrote is in (\S+\.out)", t.text)[1]
    assert output.read_text().startswith("written\n") and "KeyboardInterrupt" in output.read_text()
    assert "written" not in t.text


# It ends when it gets SIGTERM, or when nobody is there any more.
STUBBORN = """
import os, signal, sys
signal.signal(signal.SIGINT, lambda *_: print("INT", flush=True))
signal.signal(signal.SIGTERM, lambda *_: sys.exit(print("TERM", flush=True)))
print("pid", os.getpid(), flush=True)
while True: signal.pause()
"""


@contextlib.contextmanager
def left_alone(plumb, python, *options):
    """A live view that was left by Ctrl-C, of a program that goes on; the terminal, and what the program wrote so far."""

    def wrote():
        return "".join(out.read_text() for out in plumb.directory.glob("*.out"))

    with Emulator([plumb.binary, "top", *options, "--", *map(str, python.command), "-c", STUBBORN], directory=plumb.directory, columns=200) as t:
        try:
            t.until(lambda: wrote().endswith("\n"), "that it has begun")
            t.see("±|last 5 s:|all:")
            t.type("\x03")
            t.until(lambda: "INT" in wrote(), "that it got SIGINT")
            t.see("the program goes on, and plumb waits for its end")
            yield t, wrote
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(wrote().split()[1]), signal.SIGKILL)


@pytest.mark.parametrize("options", [[], ["--plain"]], ids=["screen", "plain"])
def test_a_program_that_does_not_end_gets_what_ends_it(plumb, any_python, top, options):
    with left_alone(plumb, any_python, *options) as (t, wrote):
        os.kill(t.pid, signal.SIGTERM)
        t.wait()
        assert wrote().endswith("TERM\n") and "goes on without plumb" not in t.text


@pytest.mark.parametrize("options", [[], ["--plain"]], ids=["screen", "plain"])
def test_nobody_has_to_wait_for_a_program(plumb, any_python, top, options):
    """It goes on, and where is told."""
    with left_alone(plumb, any_python, *options) as (t, wrote):
        t.type("\x03")
        t.until(lambda: wrote().count("INT") == 2, "the second SIGINT")
        t.type("\x03")
        assert t.wait() == 0
        pid = int(wrote().split()[1])
        assert "process %d goes on without plumb" % pid in t.text and "what the program wrote is in" in t.text
        assert not traces(pid)


def test_what_a_program_writes_can_be_looked_at(plumb, any_python, top, tmp_path):
    """Its last lines, which go on while they are looked at; what a progress bar wrote over is gone, and nothing of it moves the cursor."""
    more = tmp_path / "more"
    code = ("import os, time\nprint('first\\r\\n' + 100 * 'between\\n' + '\\x1b[2Jred\\n10 %%\\r57 %%\\nlast', flush=True)\n"
            "while not os.path.exists('%s'): time.sleep(0.01)\nprint('more', flush=True)\ntime.sleep(1000)") % more
    with Emulator([plumb.binary, "top", "--", *map(str, any_python.command), "-c", code], directory=plumb.directory) as t:
        t.see(r"7 diff   8 out$")
        t.type("8")
        t.see(r"^ plumb\.top\.\d+\.out, \d+ bytes: what it wrote last$")
        t.see(r"^ \S*2Jred\n 57 %\n last$")
        more.write_text("")
        t.see(r"^ last\n more$")
        t.type("g")
        t.see(r"^ first$")
        t.type("G/57\r")
        t.until(lambda: [t.screen[y] for y in t.marked if y > 3] == [" 57 %"], "the row that was searched for")
        t.type("q")
        t.wait()
    assert b"\x1b[2Jred" not in t.raw


def test_what_is_there_keeps_its_name(plumb, any_python, top):
    """In containers process ids repeat, and anybody can make a link where all may write."""
    victim = plumb.directory / "victim"
    victim.write_text("mine")
    begin = 'ln -s victim plumb.top.$$.out; echo theirs > plumb.top.$$.2.out; exec "$0" "$@"'
    code = "print('written')"
    result = subprocess.run(["sh", "-c", begin, plumb.binary, "top", "--plain", "--", *map(str, any_python.command), "-c", code],
                            cwd=plumb.directory, capture_output=True, text=True)
    output = plumb.directory / re.search(r"what the program wrote is in (\S+\.3\.out)", result.stderr)[1]
    assert result.returncode == 0 and output.read_text() == "written\n" and output.stat().st_mode & 0o777 == 0o600, result
    assert victim.read_text() == "mine" and (plumb.directory / output.name.replace(".3.", ".2.")).read_text() == "theirs\n"


def test_plain_lines(plumb, busy):
    """How soon there is a sample is the machine's to decide."""

    def lines(seconds):
        result = plumb("top", "--plain", "-d", seconds, busy.pid)
        assert result.status == 0, result
        for line in result.stdout.splitlines():
            assert re.match(r"[\d.]+ s  \d+ samples  \d+ threads?(  on CPU [\d.]+ %)?  last 5 s:", line), result
        return result.stdout

    assert until(lines, lambda told: re.search(r"[\d.]+ % \S+ \(\S+\.py:\d+\)", told), 1.5)


def test_lines_that_are_not_read_keep_nobody(plumb, busy, top):
    """Standard output is a pipe that is full."""
    recording = plumb.path()
    end, into = os.pipe()
    fcntl.fcntl(into, fcntl.F_SETPIPE_SZ, 4096)
    os.write(into, b"x" * 4096)
    with running(plumb.start("top", "--plain", "-o", recording, busy.pid, stdout=into)) as process:
        wait_until(lambda: plumb.recorded(recording, lambda profile: profile.samples), "it does not begin")
        process.send_signal(signal.SIGINT)
        wait_until(lambda: process.poll() is not None, "it waits for ever")
    os.close(end)
    os.close(into)
    assert plumb.report(recording).complete


def test_the_program_ends(plumb, any_python, top):
    """Its figures stay; the exit status of one that plumb started is its own."""
    result = plumb("top", "--plain", "--", *any_python.command, "-c", "import time; time.sleep(0.3); raise SystemExit(7)")
    assert result.status == 7, result


@pytest.mark.parametrize("arguments, message", [
    (["--"], "there is no program behind '--'"),
    (["-o", "x.plumb"], "-o is the recording of one process, and none is named"),
    (["1", "x"], "top does not take 'x' beside '1'"),
    (["--name", "x", "--", "y"], "top does not take '--name' beside a program"),
    (["-o", "x.json", "1"], "top records, and 'x.json' is no recording"),
    (["no.plumb"], "there is no file no.plumb"),
])
def test_refusals(plumb, top, arguments, message):
    result = plumb("top", *arguments)
    assert result.status in (1, 125) and message in result.stderr, result


def choose(t, pid):
    """Move to it in the list, which may change its order meanwhile: a row that was moved to stays marked wherever it goes."""
    def rows_below():
        """How far it is below the marked row, when both are shown."""
        listed = [re.match(r"[ \d.:a-z]*? (\d+)  /?\S", line) for line in t.screen]
        wanted = [y for y, row in enumerate(listed) if row and int(row[1]) == pid]
        marked = [y for y in t.marked if listed[y]]
        return [wanted[0] - marked[0]] if wanted and marked else None

    t.typed("g")
    while rows := t.until(rows_below, pid)[0]:
        t.typed(("j" if rows > 0 else "k") * abs(rows))


def test_a_list_to_choose_from(plumb, any_python, top, tmp_path):
    with phases(any_python, tmp_path) as program:
        with Emulator([plumb.binary, "top"], columns=200, rows=300, directory=plumb.directory) as t:
            t.see(r"^ *[\d.]+ .* %d  .*phases\.py" % program.pid)
            t.see(r"\Aplumb top  \d+ Pythons?")
            choose(t, program.pid)
            t.type("\r")
            t.see(r"^plumb top  phases\.py %d  CPython" % program.pid)
            t.see("q back")
            t.type("q")
            t.see(r"^plumb top  \d+ Pythons?")
            close(t)
        result = plumb("top")  # not on a terminal
        assert re.search(r"^%d  CPU \S+ s  .*phases\.py$" % program.pid, result.stdout, re.MULTILINE), result


EXECUTES = """import os, sys
input()
os.execv(sys.executable, [sys.executable, "-c", "import os, subprocess, sys; input(); "
    "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1000)']); input(); child.kill(); os.execv('/bin/sleep', ['sleep', '1000'])"])
"""


def test_what_happens_to_the_program_is_told(plumb, ordinary_python, top, tmp_path):
    """It executes another program, starts a child, and runs no Python any more."""
    script = tmp_path / "executes.py"
    script.write_text(EXECUTES)
    with subprocess.Popen([*ordinary_python.command, script], stdin=subprocess.PIPE) as program:
        try:
            with Emulator([plumb.binary, "top", "--subprocesses", str(program.pid)], directory=plumb.directory, columns=100) as t:
                for seen in (r"^plumb top  executes.py", r"^process %d has executed another program: \S" % program.pid, "^1 more process: 2 by now"):
                    t.see(seen)
                    program.stdin.write(b"\n")
                    program.stdin.flush()
                t.type("?x")
                t.see("^no sample for 5 s: it runs no Python now")
                close(t)
        finally:
            program.kill()


CLOSES = """import ctypes
print("ready", flush=True)
input()
ctypes.CDLL(None).prctl(4, 0)  # not "dumpable": for root alone
while True:
    __import__("time").sleep(0.01)
"""


ORDINARY_PYTHON = "/usr/bin/python3"
YAMA = pathlib.Path("/proc/sys/kernel/yama/ptrace_scope")


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv") or not os.path.exists(ORDINARY_PYTHON),
                    reason="needs root, setpriv, and a Python of an ordinary user")
@pytest.mark.skipif(YAMA.exists() and YAMA.read_text().strip() != "0", reason="users may not look into their own programs here (ptrace_scope)")
def test_rights_that_are_lost_are_told(plumb, top):
    """The program becomes one that users may not look into, as those that have been another user are."""
    drop = ["setpriv", "--reuid", str(ORDINARY), "--regid", str(ORDINARY), "--clear-groups"]
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        for name in ("plumb", "plumb-top"):
            shutil.copy(pathlib.Path(plumb.binary).parent / name, folder)
        command = [*drop, ORDINARY_PYTHON, "-c", CLOSES]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
            try:
                program.stdout.readline()  # it is an ordinary user's by then
                t = Emulator([*drop, os.path.join(folder, "plumb"), "top", str(program.pid)], directory="/")
                with t:
                    t.see(r"^100\.0 .* <module> ")
                    program.stdin.write(b"\n")
                    program.stdin.flush()
                    t.see("^no stack can be read: 'plumb doctor PID' says whether it may be")
                    close(t)
            finally:
                program.kill()


def test_a_file_that_is_no_recording_is_told_as_one(plumb, top):
    """`plumb top README.md` said that no process is called so."""
    (plumb.directory / "notes.md").write_text("nothing that was recorded")
    result = plumb("top", "notes.md")
    assert result.status == 125 and "'notes.md' is a file, and no process is called so" in result.stderr, result


def test_a_plumb_without_ncurses_says_so(plumb, top, tmp_path):
    """As one that was built so: it finds no plumb-top, neither beside it nor where it would be installed."""
    alone = tmp_path / "somewhere" / "plumb"
    alone.parent.mkdir()
    shutil.copy(plumb.binary, alone)
    result = subprocess.run([alone, "top", "1"], capture_output=True, text=True)
    if os.path.exists("/usr/local/libexec/plumb/plumb-top"):
        pytest.skip("a plumb-top is installed on this machine")
    assert result.returncode == 125 and "this plumb was built without its live view" in result.stderr, result.stderr
    assert "libncurses-dev" in result.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be somebody else")
def test_what_somebody_else_has_put_beside_plumb_is_not_run(plumb, top, tmp_path):
    """As in /tmp, where anybody can: root has a copy of plumb there."""
    alone, theirs = tmp_path / "plumb", tmp_path / "plumb-top"
    shutil.copy(plumb.binary, alone)
    theirs.write_text("#!/bin/sh\necho it ran\n")
    theirs.chmod(0o755)
    os.chown(theirs, ORDINARY, ORDINARY)
    result = subprocess.run([alone, "top", "1"], capture_output=True, text=True)
    if os.path.exists("/usr/local/libexec/plumb/plumb-top"):
        pytest.skip("a plumb-top is installed on this machine")
    assert result.returncode == 125 and "it is not run" in result.stderr, result
    os.chown(theirs, 0, 0)
    theirs.unlink()
    theirs.symlink_to("/bin/echo")  # of whoever made the link
    os.chown(theirs, ORDINARY, ORDINARY, follow_symlinks=False)
    result = subprocess.run([alone, "top", "1"], capture_output=True, text=True)
    assert result.returncode == 125 and "it is not run" in result.stderr, result


def sticky(folder):
    folder.chmod(0o1777)


def sticky_of_a_group(folder):
    os.chown(folder, 0, ORDINARY)
    folder.chmod(0o1775)


def somebody_elses(folder):
    os.chown(folder, ORDINARY, ORDINARY)


def of_a_group(folder):
    os.chown(folder, 0, ORDINARY)
    folder.chmod(0o775)


def somebody_elses_above(folder):
    os.chown(folder.parent, ORDINARY, ORDINARY)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be somebody else")
@pytest.mark.parametrize("give", [sticky, sticky_of_a_group, somebody_elses, of_a_group, somebody_elses_above])
def test_a_file_of_roots_beside_plumb_is_not_run_where_others_may_put_one(plumb, top, tmp_path, give):
    """Any that root has made where they can rename it, such as a shell, which runs what is called `top` in the current directory. But
    where they can put another plumb in the place of plumb, nothing is gained."""
    folder = tmp_path / "above" / "folder"
    folder.mkdir(parents=True)
    shutil.copy(plumb.binary, folder / "plumb")
    shutil.copy(shutil.which("echo"), folder / "plumb-top")
    give(folder)
    result = subprocess.run([folder / "plumb", "top", "1"], capture_output=True, text=True)
    if os.path.exists("/usr/local/libexec/plumb/plumb-top"):
        pytest.skip("a plumb-top is installed on this machine")
    if give in (sticky, sticky_of_a_group):
        assert result.returncode == 125 and "it is not run" in result.stderr, result
    else:
        assert (result.returncode, result.stdout) == (0, "top 1\n"), result


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be somebody else")
def test_plumb_top_of_those_whose_plumb_is_runs(plumb, top, tmp_path):
    """Who can replace plumb itself may give it its view: as of a tree that one user has built in a directory of his group, for root."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    shutil.copy(plumb.binary, folder / "plumb")
    shutil.copy(os.path.join(os.path.dirname(plumb.binary), "plumb-top"), folder / "plumb-top")
    for path in (folder, folder / "plumb", folder / "plumb-top"):
        os.chown(path, ORDINARY, ORDINARY)
        path.chmod(0o775)
    result = subprocess.run([folder / "plumb", "top", "no-such-program"], capture_output=True, text=True)
    assert "no-such-program" in result.stderr and "it is not run" not in result.stderr, result


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="only root may have processes of its own")
def test_a_list_of_none_says_so(plumb, top):
    result = subprocess.run([shutil.which("unshare"), "--pid", "--fork", "--mount-proc", plumb.binary, "top"], capture_output=True, text=True)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "plumb: no Python runs here\n"), result


def test_a_terminal_that_ncurses_does_not_know(plumb, busy):
    with Emulator([plumb.binary, "top", "-d", "0.5", str(busy.pid)], environment={"TERM": "no-such-terminal"}) as t:
        assert t.wait() == 0, t.text
    assert "ncurses does not know this terminal" in t.text and "last 5 s:" in t.text
