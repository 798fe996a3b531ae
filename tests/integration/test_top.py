# SPDX-License-Identifier: Apache-2.0
"""The live view, on a terminal that a library emulates."""
import contextlib
import curses
import json
import os
import pathlib
import random
import re
import signal
import subprocess

import pytest

pytest.importorskip("pyte")

from harness.emulator import Emulator
from harness.live import as_job, busy, close, phases, reads_lines, see_time, top
from harness.plumb import Plumb
from harness.target import started


def test_the_views(plumb, busy):
    """Each of them at two sizes; nothing is wider than the terminal, and what is there fits its heading."""
    with Emulator([plumb.binary, "top", str(busy.pid)], directory=plumb.directory) as t:
        t.see(r"^ *[\d.]+ +[\d.]+ +±[\d.]+ +[\d.]+  \S+ .*\.py:\d+$")
        t.see(r"\Aplumb top  mixed.py %d  CPython \S+  wall 100 Hz\n[\d.]+ s  \d+ samples  \d+ threads?  5 s: on CPU [\d.]+ %%" % busy.pid)
        t.type("2")
        t.see(r"5 s % total %   95 % self %  calls, own code")
        t.type("a")
        t.see("calls, all code")
        t.type("3")
        t.see(r"\d +G? *MainThread")
        t.type("1\r")
        t.see(r"^ *[\d.]+ +[\d.]+ +[\d.]+ +\d+  \S")
        t.type("?")
        t.see("Ctrl-C +quit")
        t.resized(40, 10)  # is no key that would end the help
        t.see("^1 to 7, Tab +the views$")
        t.type("x")
        t.see(r"^5 s % self % +line  source$")
        t.type("1")
        t.see(r"^5 s % self %  function, by self, ")
        assert all(len(line) <= 40 for line in t.screen)
        close(t)


def test_ascii_without_colours(plumb, busy):
    with Emulator([plumb.binary, "top", str(busy.pid)], environment={"LC_ALL": "C", "NO_COLOR": "1"}) as t:
        t.see(r"\+-[\d.]+ ")
        close(t)
    assert t.text.isascii() and not re.search(r"\x1b\[[\d;]*3\dm", t.text)


ROW = r"^ *(?:[\d.]+)? +([\d.]+) +±([\d.]+) +([\d.]+)  (\S.*?)  +\S+:\d+$"


def see_rows(t, told):
    """Wait until its functions are those of the JSON report, share by share."""
    functions = {f["qualname"]: f for f in told["functions"]}

    def is_told(share, half_width, total, name):
        f = functions.get(name)
        figures = f and ((share, f["self"]["share"]), (half_width, f["self"]["half_width"]), (total, f["total"]["share"]))
        return f and all(abs(100 * value - float(text)) <= 0.0501 for text, value in figures)

    def are_told():
        rows = re.findall(ROW, t.shown, re.MULTILINE)
        return rows and all(is_told(*row) for row in rows)

    t.until(are_told, "the rows of the report: %s" % told["functions"])


def test_what_is_saved_says_what_the_screen_shows(plumb, target, any_python, top):
    """All figures since the start, when the program has ended: shares, intervals, and the number of samples."""
    with target(any_python, "mixed.py") as program, Emulator([plumb.binary, "top", str(program.pid)], directory=plumb.directory, columns=120) as t:
        t.see(r"±")
        program.kill()
        t.see("the program has ended")
        t.type("s")
        name = "plumb.top.%d.plumb" % program.pid
        t.see("saved " + re.escape(name))
        t.type("s")  # a name of plumb's own choice is a free one
        t.see(r"saved plumb\.top\.%d\.2\.plumb" % program.pid)
        told = json.loads(plumb("report", "--json", name).stdout)
        see_rows(t, told)
        t.see(r"\A.*\n.* %d samples" % told["samples"]["total"])
        assert abs(float(t.see(r"\A.*\n.*  all: ([\d.]+) %")[1]) - 100 * told["states"]["on_cpu"]["share"]) <= 0.0501, told["states"]
        close(t)
    with Emulator([plumb.binary, "top", name], directory=plumb.directory, columns=120) as t:
        t.see(r"±")
        see_rows(t, told)
        close(t)


def samples_of(t):
    return int(t.see(r"\A.*\n\S+ s  (\d+) samples")[1])


def test_what_the_header_says_is_of_the_time(plumb, any_python, top):
    """Not of the samples, of which there are eight times as many in a second when the program computes."""
    code = "print('ready', flush=True)\ninput()\nwhile True: pass"
    with subprocess.Popen([*any_python.command, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        try:
            program.stdout.readline()
            with Emulator([plumb.binary, "top", str(program.pid)], directory=plumb.directory, columns=120) as t:
                t.see("wall 100 Hz$")
                t.type("---")
                see_time(t, 2)
                t.type("+++")
                waited = samples_of(t)
                program.stdin.write(b"\n")
                program.stdin.flush()
                t.until(lambda: samples_of(t) > waited + 100, "samples")
                program.kill()
                t.type("g")  # what the last key did is told until another comes
                t.see("the program has ended")
                t.type("s")
                name = t.see(r"saved (\S+\.plumb)")[1]
                share = float(t.see(r"\A.*\n.*  all: ([\d.]+) %")[1]) / 100
                close(t)
        finally:
            program.kill()
    told = json.loads(plumb("report", "--json", name).stdout)
    on_cpu = told["states"]["on_cpu"]
    assert abs(share - on_cpu["share"]) <= 0.000501, told["states"]
    assert abs(on_cpu["samples"] / told["samples"]["total"] - share) > 0.01, "it was the same for both"


@pytest.mark.parametrize("signo", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_the_terminal_is_given_back(plumb, busy, signo):
    with Emulator([plumb.binary, "top", str(busy.pid)], directory=plumb.directory) as t:
        t.see(r"±")
        assert not reads_lines(t)
        assert t.end(signo) == 0
        assert reads_lines(t)
    assert t.raw.rfind(b"\x1b[?25h") > t.raw.rfind(b"\x1b[?25l"), "the cursor is hidden still"


def test_suspended_and_gone_on_with(plumb, busy):
    """Ctrl-Z gives the terminal back, and whoever goes on with it has the screen again."""
    with Emulator(as_job(plumb.binary, "top", busy.pid), directory=plumb.directory) as t:
        t.see(r"±")
        t.type("\x1a")
        t.see("^suspended")
        assert reads_lines(t)
        t.type("\n")
        t.see(r"±")
        t.type("3")
        t.see("MainThread")
        close(t)


@pytest.mark.parametrize("watched", [["top"], ["list"], ["top", "--plain"]], ids=" ".join)
def test_who_nobody_could_go_on_with_is_not_suspended(plumb, busy, watched):
    """As with `ssh -t` and `docker exec -it`: plumb is all that the terminal runs. Ctrl-C ends it as ever."""
    operands = ["top"] if watched == ["list"] else [*watched, str(busy.pid)]
    with Emulator([plumb.binary, *operands], directory=plumb.directory) as t:
        t.see("s  5 s|last 5 s|q quit")
        before = len(t.raw)
        t.type("\x1a")
        t.until(lambda: re.search(rb"\d", t.raw[before:]), "more figures")
        t.type("\x03")
        assert t.wait() == 0


def test_keys_that_come_at_once(plumb, busy):
    """One of them shows another view, whose rows were of a look that is gone by now. What is freed is overwritten here."""
    overwritten = {"MALLOC_PERTURB_": "90", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
    with Emulator([plumb.binary, "top", str(busy.pid)], columns=250, directory=plumb.directory, environment=overwritten) as t:
        t.see(r"±")
        t.type("3")
        t.see("MainThread")
        for _ in range(2):
            t.see(r"\A.*\n(?!%s)" % re.escape(t.screen[1]))
        t.type("1/.py\ry")
        t.see(r"^/\S+\.py:\d+$")
        close(t)


def test_filters_and_views_that_come_at_once(plumb, busy):
    """What is shown is of the look before: it has the filter that it was made with, also when that is another one by now."""
    overwritten = {"MALLOC_PERTURB_": "90", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
    with Emulator([plumb.binary, "top", str(busy.pid)], columns=120, directory=plumb.directory, environment=overwritten) as t:
        t.see(r"±")
        t.type("tMainThread\r")
        t.see("thread MainThread$")
        t.type("1\rt\r4t1\rtMainThread\r2a415")
        t.see("thread MainThread$")
        t.type("t\r4")
        t.see("100 Hz$")
        close(t)


def test_names_cannot_write_to_the_terminal(plumb, places, any_python, top):
    with started(places, any_python, "odd_names.py") as target:
        with Emulator([plumb.binary, "top", str(target.pid)], directory=plumb.directory) as t:
            t.see(r"±")
            for key in "23456?x1":
                t.type(key)
            t.type(">")
            t.see("by self, since the start")
            close(t)
    assert not re.search(rb"\x1b\]|\x1b\[\d+;\d+t|\x07", t.raw)


def test_back_in_time_and_what_changed_since(plumb, any_python, top, tmp_path):
    with phases(any_python, tmp_path) as program:
        with Emulator([plumb.binary, "top", str(program.pid)], directory=plumb.directory) as t:
            see_time(t, 2)
            t.type("f")
            t.see("a stretch begins at")
            see_time(t, 4)
            t.type("f")
            t.see(r"kept: [\d.]+ s to [\d.]+ s; d compares")
            program.next()
            t.see(r"^100\.0 .* second ")
            t.type("d")
            t.see("what changed")
            t.see(r"^  new .* second ")
            t.until(lambda: t.shown.count("of such findings") == 1 and all(re.search(r"\b%s\b" % name, t.shown) for name in ("first", "second")),
                    "one finding, and both functions")
            t.type("/findings\rffn")  # a comparison that goes takes its rows with it
            t.see("'findings' is in no row")
            t.type("1" + 60 * "{")  # ten seconds each: longer than all of this may take
            t.see(r"^PAUSED at 1\.\d s  phases.py")
            t.type("{")
            t.see("^nothing older is kept")
            t.see(r"^ ?[1-9][\d.]+ .* first ")
            t.see(r"^ {6,}[\d.]+ .* second ")
            t.type("p")
            t.see(r"^plumb top")
            t.see(r"^100\.0 .* second ")
            t.type("s")
            name = t.see(r"saved (\S+\.plumb)")[1]
            close(t)
    with Emulator([plumb.binary, "top", name], directory=plumb.directory) as t:  # what has no times
        t.see(r" second ")
        t.type("[")
        t.see("a time cannot be chosen")
        close(t)


def test_the_times_of_a_recording(plumb, any_python, top):
    recording = plumb.run_and_end(lambda profile: profile.duration_s > 2.2, *any_python.command, "-c", "import time; time.sleep(1000)")
    with Emulator([plumb.binary, "top", recording], directory=plumb.directory) as t:
        t.see("^plumb top")
        t.type("{")
        t.see(r"^at 1\.0 s  ")
        t.type("]")
        t.see(r"^at 2\.0 s  ")
        t.type("p")
        t.see("^plumb top")
        close(t)


WAITS = """import socket, threading
lock, inside = threading.Lock(), threading.Event()
ours, theirs = socket.socketpair()
def holds():
    with lock:
        inside.set()
        ours.recv(1)
def wants():
    inside.wait()
    with lock:
        pass
for function in (holds, wants):
    threading.Thread(target=function, name=function.__name__).start()
print("ready", flush=True)
theirs.recv(1)
"""


FORKS = """import os, threading
def waits(name):
    thread = threading.Thread(target=threading.Event().wait, name=name)
    thread.start()
    return thread
child = os.fork()
thread = waits("theirs" if child else "ours")
print("ready", flush=True)
thread.join()
"""


def test_whose_threads_they_are(plumb, ordinary_python, top, tmp_path):
    """Of several processes, by number, and by name where there is room."""
    script = tmp_path / "forks.py"
    script.write_text(FORKS)
    with Emulator([plumb.binary, "top", "--", *map(str, ordinary_python.command), str(script)], columns=120, directory=plumb.directory) as t:
        t.type("3")
        child = t.see(r" (\d+) forks\.py ours ")[1]  # which rests: its name is known all the same
        parent = t.see(r" (\d+) forks\.py theirs ")[1]
        assert child != parent
        t.see("thread  process, name ")
        t.resized(40, 10)  # one of the four rows is below its end, and the names of the others are whole
        t.see(r"^ *[\d.]+ +[\d.]+ +%s (MainThread|ours)" % child)
        t.see(r"^ *[\d.]+ +[\d.]+ +%s (MainThread|theirs)" % parent)
        t.end()


def test_what_threads_wait_for(plumb, any_python, top, tmp_path):
    """As a dump says it: for which lock, and who has it, or on which descriptor; of a time that has passed nothing is known."""
    script = tmp_path / "waits.py"
    script.write_text(WAITS)
    with subprocess.Popen([*any_python.command, script], stdout=subprocess.PIPE) as program:
        try:
            program.stdout.readline()
            with Emulator([plumb.binary, "top", str(program.pid)], columns=200, directory=plumb.directory) as t:
                t.type("3")
                t.see(r"  wants  for lock 0x[0-9a-f]+ \(threading\.Lock\), held by holds \(\d+\) ")
                t.see(r"  holds  recv on fd \d+, unix socket \(connected\) to %d " % program.pid)
                t.type("/wants\r")
                t.see(r"^wants \(\d+\): blocked in futex for lock 0x[0-9a-f]+ \(threading\.Lock\), held by holds \(\d+\)")
                see_time(t, 2.5)
                t.typed("p")
                while "held by holds" not in t.shown:  # a look that had too little time does not know by whom
                    t.type("p")
                    t.see("held by holds")
                    t.typed("p")
                t.type("[")
                t.until(lambda: t.screen[0].startswith("PAUSED") and "held by" not in t.shown, "nothing that is of now")
                t.type("p")
                t.see("held by holds")
                close(t)
        finally:
            program.kill()


def mouse(button, row):
    """What an xterm types then, in its first column: ncurses is told by the terminal's description how it says so."""
    with open(os.devnull, "w") as nowhere:
        curses.setupterm("xterm", nowhere.fileno())
    modern = curses.tigetstr("kmous") == b"\x1b[<"
    return "\x1b[<%d;1;%dM" % (button, row) if modern else "\x1b[M%c!%c" % (32 + button, 32 + row)


def test_the_mouse(plumb, any_python, top, tmp_path):
    """A click chooses the row, here the second one; the wheel moves."""
    with phases(any_python, tmp_path) as program:
        with Emulator([plumb.binary, "top", str(program.pid)], environment={"TERM": "xterm"}) as t:
            t.see(r" <module> ")
            t.until(lambda: t.marked == [5], "the first row marked")
            t.type(mouse(0, 7))
            t.until(lambda: t.marked == [6], "the second row marked")
            t.type(mouse(64, 7))
            t.until(lambda: t.marked == [5], "the first row marked")
            close(t)


TASKS = """import asyncio
async def inner():
    await asyncio.sleep(1000)
async def outer():
    print("ready", flush=True)
    await asyncio.gather(inner(), inner())
asyncio.run(outer())
"""


@contextlib.contextmanager
def tasks(python, folder):
    """Two tasks that sleep, for one that awaits both."""
    script = folder / "tasks.py"
    script.write_text(TASKS)
    with subprocess.Popen([*python.command, script], stdout=subprocess.PIPE) as program:
        try:
            program.stdout.readline()
            yield program
        finally:
            program.kill()


def test_tasks_that_wait(plumb, ordinary_python, top, tmp_path):
    """Below who awaits them, as many as there are; who has not asked for them is told how."""
    with tasks(ordinary_python, tmp_path) as program:
        with Emulator([plumb.binary, "top", "--tasks", str(program.pid)], directory=plumb.directory) as t:
            t.see(r"^plumb top  tasks.py")
            t.type("6")
            t.see(r"^ +[12]\.\d +[\d.]+ s +100\.0  \S outer .*\n +[12]\.\d +[\d.]+ s +100\.0 +\S inner .*\n.* library: sleep ")
            t.type("a")
            t.see("all code\n")
            t.type("\r")
            t.see(r" outer [^\n]*\n\n")
            close(t)
        with Emulator([plumb.binary, "top", str(program.pid)], directory=plumb.directory) as t:
            t.see(r"^plumb top  tasks.py")
            t.type("6")
            t.see("no task was looked at: 'plumb top --tasks' does")
            t.type("N")
            t.see("native frames are not sampled: 'plumb top --native' does")
            close(t)


def test_both_shares_are_of_the_same_threads(plumb, any_python, top):
    """One that rests is hidden in both: the share of the main thread is all, since the start as in the last seconds, as its bars show."""
    code = ("import threading, time\ndef rests(): time.sleep(1000)\ndef works(): time.sleep(1000)\n"
            "threading.Thread(target=rests, daemon=True).start()\nprint('ready', flush=True)\nworks()")
    with subprocess.Popen([*any_python.command, "-c", code], stdout=subprocess.PIPE) as program:
        try:
            program.stdout.readline()
            with Emulator([plumb.binary, "top", str(program.pid)], columns=140, directory=plumb.directory) as t:
                t.see("  5 s {22}since the start {10}function, by self, last 5 s$")
                t.see(r"^100\.0 +[\d.]+ .*  █+▒*  +█+▒*  +works ")
                assert " rests " not in t.shown, t.shown
                close(t)
        finally:
            program.kill()


def test_functions_of_own_code(plumb, any_python, top):
    """`a` leaves out those of libraries, and shows them again; the tree, which has its own choice, is as before."""
    code = "import threading\ndef works(): threading.Event().wait()\nprint('ready', flush=True)\nworks()"
    with subprocess.Popen([*any_python.command, "-c", code], stdout=subprocess.PIPE) as program:
        try:
            program.stdout.readline()
            with Emulator([plumb.binary, "top", str(program.pid)], directory=plumb.directory) as t:
                t.see(r"threading\.py:\d+$")
                t.type("a")
                t.see("  own function, by self, last 5 s$")
                t.until(lambda: " works " in t.shown and "threading.py" not in t.shown, "own code alone")
                t.type("2")
                t.see("calls, own code")
                t.type("1a")
                t.see(r"threading\.py:\d+$")
                close(t)
        finally:
            program.kill()


def test_native_frames_come_and_go(plumb, ordinary_python, top, tmp_path):
    code = "import time\ndef f(): time.sleep(1000)\nprint('ready', flush=True)\nf()"
    with subprocess.Popen([*ordinary_python.command, "-c", code], stdout=subprocess.PIPE) as program:
        try:
            program.stdout.readline()
            with Emulator([plumb.binary, "top", "--native", str(program.pid)], directory=plumb.directory) as t:
                t.see(r"^100\.0 .*\.so")
                t.type("N")
                t.see("native frames are left out")
                t.see(r"^100\.0 +100\.0 .*  f ")
                t.type("N")
                t.see("native frames are shown")
                t.see(r"^100\.0 .*\.so")
                close(t)
        finally:
            program.kill()


def test_the_states_that_are_shown(plumb, busy):
    with Emulator([plumb.binary, "top", str(busy.pid)], columns=120, directory=plumb.directory) as t:
        t.see(r"±")
        for name in ("on CPU", "waiting", "holding the GIL", "waiting for the GIL"):
            t.type("c")
            t.see("  %s only$" % name)
        t.type("c")
        t.see("100 Hz$")
        close(t)


def test_filters_that_are_typed(shop):
    """By module and by regular expression; empty is all again, and what is no expression is told."""
    with Emulator([Plumb(".").binary, "top", "shop.plumb"], directory=shop) as t:
        t.see(r"^ +31\.0 .* escape ")
        t.type("Fexec.*db\r")
        t.see(r"^ +100\.0 .* Connection.execute ")
        t.until(lambda: "like exec.*db" in t.screen[0] and "escape" not in t.shown, "what passes alone")
        t.type("F(\r")
        t.see(r"^'\(' is no regular expression: ")
        t.type("F\r")
        t.see(r"^ +31\.0 .* escape ")
        t.type("mshop/page.py\r")
        t.see(r"^ +72\.1 .* escape ")
        t.until(lambda: "module shop/page.py" in t.screen[0] and "query" not in t.shown, "what passes alone")
        t.type("m\r")
        t.see(r"^ +26\.0 .* Connection.execute ")
        close(t)


def test_a_label_that_is_typed(plumb, any_python, places, top):
    """Of the workers of a pool, which work on two functions in turn: by name, or by name and value."""
    script = os.path.join(places.directory(any_python.root)[1], "pools.py")
    command = [plumb.binary, "top", "--", *any_python.command, script, "pool", "fork"]
    with Emulator(command, columns=120, rows=60, directory=plumb.directory, environment={"PLUMB_TEST_SECONDS": "3600"}) as t:
        t.type("T=count\r")
        t.see(r"^'=count' is no label: give its name, or name=value")
        t.type("Ttask\r")
        t.see(r" Job\.measure ")
        assert t.screen[0].endswith("label task"), t.shown
        t.type("Ttask=count\r")
        t.until(lambda: t.screen[0].endswith("label task=count") and " count " in t.shown and "measure" not in t.shown, "what has the label")
        t.type("Ttask=nothing\r")
        t.see(r"^plumb top  \(no sample passes the filters\)")
        t.type("s")
        t.see(r"^saved plumb\.top\.[1-9]\d*\.plumb")  # of the process that there is all the same
        t.type("T\r")
        t.see(r" Connection\._recv ")
        t.end()


FOLDED = """<module> (shop.py:1);serve (shop.py:40);handle (shop.py:52);render (shop/page.py:8);escape (shop/page.py:30) 310
<module> (shop.py:1);serve (shop.py:40);handle (shop.py:52);render (shop/page.py:8) 120
<module> (shop.py:1);serve (shop.py:40);handle (shop.py:52);query (shop/db.py:14);Connection.execute (shop/db.py:77) 260
<module> (shop.py:1);serve (shop.py:40);handle (shop.py:52);query (shop/db.py:14) 40
<module> (shop.py:1);serve (shop.py:40);handle (shop.py:52);a_name_that_is_much_longer_than_any_terminal_of_forty_columns_is_wide (shop/x.py:3) 90
<module> (shop.py:1);serve (shop.py:40);handle (shop.py:52);größe_名前 (shop/names.py:5) 70
<module> (shop.py:1);serve (shop.py:40);accept (shop.py:61) 60
<module> (shop.py:1);load (shop.py:12) 50
"""


GOLDEN = pathlib.Path(__file__).parents[1] / "golden" / "top"


@pytest.fixture(scope="module")
def shop(places, top, tmp_path_factory):
    """A recording of which each screen is known."""
    folder = tmp_path_factory.mktemp("shop")
    (folder / "shop.collapsed").write_text(FOLDED)
    assert subprocess.run([Plumb(".").binary, "convert", "shop.collapsed", "shop.plumb"], cwd=folder, capture_output=True).returncode == 0
    return folder


def settle(t, golden, key):
    """The screen, when it is that of the file; or, to write that, when nothing has come for a second."""
    if os.environ.get("PLUMB_UPDATE_GOLDEN"):
        seen = None
        while seen != len(t.raw):
            seen = len(t.raw)
            t._read(1)
    else:
        t.until(lambda: t.shown.strip("\n") == golden.get(key), "key %s of its golden file:\n%s" % (key, golden.get(key)))
    return t.shown.strip("\n")


@pytest.mark.parametrize("charset", ["C.UTF-8", "C"])
@pytest.mark.parametrize("columns, rows", [(40, 10), (80, 24), (132, 43), (250, 60)])
def test_golden_screens(shop, columns, rows, charset):
    """Each view that a recording of another tool has, and the flame graph walked through; PLUMB_UPDATE_GOLDEN=1 writes them anew."""
    path = GOLDEN / ("%dx%d-%s.txt" % (columns, rows, charset))
    parts = path.read_text(encoding="utf-8").split("---- key ")[1:] if path.exists() else []
    golden = {part.split("\n", 1)[0]: part.split("\n", 1)[1].strip("\n") for part in parts}
    written = {}
    with Emulator([Plumb(".").binary, "top", "shop.plumb"], columns, rows, {"LC_ALL": charset}, directory=shop) as t:
        t.see("^q quit")  # what comes before is for another terminal yet
        for key in "1>235jjj\r6?":
            t.type(key)
            name = "%d %s" % (len(written), repr(key))
            written[name] = settle(t, golden, name)
        t.type("q")
        assert t.wait() == 0
    if os.environ.get("PLUMB_UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join("---- key %s\n%s\n" % item for item in written.items()), encoding="utf-8")


def test_the_flame_graph_is_walked_through(shop):
    """Up to who calls, down to what is called, to the sides; Enter widens and takes back; a click chooses."""
    with Emulator([Plumb(".").binary, "top", "shop.plumb"], directory=shop, environment={"TERM": "xterm"}) as t:
        t.type("5")
        t.see(r"^100\.0 % \S+  <module> ")
        for key, name in (("j", "serve"), ("j", "handle"), ("j", "render"), ("\x1bOC", "query"), ("\x1bOC", "a_name"), ("\x1bOD", "query"),
                          ("j", "Connection.execute"), ("k", "query")):
            t.type(key)
            t.see(r"^\d\S+ % \S+(  self: \S+ %)?  " + name)
        t.type("\r")
        t.see(r"^▏query$")
        t.until(lambda: not re.search("render|load", t.shown), "nothing of the others")
        t.type("\r")
        t.see(r"^▏render .*▏query ")
        t.type(mouse(0, 6))
        t.see(r"^\d\S+ % \S+  serve ")
        t.type("/escape\r")
        t.see(r"^\d\S+ % \S+  self: \S+ %  escape ")
        t.type("4")
        t.see("line  source$")
        close(t)


KEYS = "12345678\t\r?/ntacN<>+-pfd[]{}ys jkgG\x0c\x1b\x7fx\u00e9"


@pytest.mark.parametrize("columns, rows, term, seed", [(40, 10, "linux", 1), (80, 24, "xterm-256color", 2), (400, 120, "vt100", 3)])
def test_any_keys(plumb, any_python, top, tmp_path, columns, rows, term, seed):
    """Whatever is typed, it is there still, and does what it is asked for."""
    chance = random.Random(seed)
    with phases(any_python, tmp_path) as program:
        with Emulator([plumb.binary, "top", str(program.pid)], columns, rows, {"TERM": term}, directory=plumb.directory) as t:
            t.see("MainThread|first")
            for turn in range(8):
                t.type("".join(chance.choice(KEYS) for _ in range(20)))
                t.resize(chance.choice([40, columns]), chance.choice([10, rows]))
                t.type("\x1b?")  # out of a prompt, if it is in one, and out of help or into it
                t.until(lambda: t.screen[-1], "its last line")
            t.resize(columns, rows)
            t.type("\x1b\x1b\x0c?")
            t.see("^1 to 7, Tab")
            close(t)
