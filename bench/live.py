# SPDX-License-Identifier: Apache-2.0
"""What live views cost, side by side: plumb top, py-spy top and CPython's own --live, each on a terminal of its own that is read at once.

    live.py PLUMB [--py-spy PROGRAM] [--seconds 20] [--rounds 3]

py-spy knows no Python 3.15, and --live no other: there is a program for each. The program has ten threads, of which two compute; all are asked for 100 samples a second. Of each viewer: CPU time as a share of a core,
bytes written to the terminal in a second, peak memory, and the time from its start to the first screen, which is when it has written as
much as a tenth of the terminal has cells. The first four seconds count for the last figure only. `plumb attach` is beside it: what the
sampling costs alone. Writes JSON: the medians of all rounds, in which all take turns; of a viewer that ends by itself, what it said last."""
import argparse
import ctypes
import fcntl
import json
import os
import pathlib
import pty
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests"))

from harness import interpreters

COLUMNS, ROWS = 120, 40
RATE = 100
WARM = 4  # seconds
PY_SPY_UP_TO = (3, 13)
CLONE_NEWNS = 0x20000

PROGRAM = """
import threading, time
def compute(n):
    return sum(i * i for i in range(n))
def work():
    while True:
        compute(300)
        time.sleep(0.001)
def rest():
    while True:
        time.sleep(0.02)
for i in range(2):
    threading.Thread(target=work, daemon=True).start()
for i in range(7):
    threading.Thread(target=rest, daemon=True).start()
print("ready", flush=True)
rest()
"""


def cpu_seconds(pid):
    """Of the process and what it has waited for."""
    fields = pathlib.Path("/proc/%d/stat" % pid).read_text().rsplit(")", 1)[1].split()
    return sum(int(field) for field in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def peak_bytes(pid):
    for line in pathlib.Path("/proc/%d/status" % pid).read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def take(master):
    """What it has written; None: it has ended."""
    if not select.select([master], [], [], 0.05)[0]:
        return b""
    try:
        return os.read(master, 65536) or None
    except OSError:
        return None


class Ended(Exception):
    """A viewer has, which nobody told to; what it wrote last."""


def look(command, seconds):
    """{figure: value} of one viewer."""
    began = time.monotonic()
    pid, master = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
        os.execvp(command[0], command)
    written, last, first, warm = 0, b"", None, None
    try:
        while time.monotonic() < began + WARM + seconds:
            data = take(master)
            if data is None:
                raise Ended(last.decode(errors="replace").strip())
            written += len(data)
            last = (last + data)[-300:]
            if first is None and written > COLUMNS * ROWS // 10:
                first = time.monotonic() - began
            if warm is None and time.monotonic() > began + WARM:
                warm = time.monotonic(), cpu_seconds(pid), written
        passed = time.monotonic() - warm[0]
        return {"cpu_share": (cpu_seconds(pid) - warm[1]) / passed, "bytes_per_s": (written - warm[2]) / passed,
                "rss_bytes": peak_bytes(pid), "first_screen_s": first}
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(master)


def show_processes(roots):
    """Where a Python's root is a directory of ours, --live finds no processes: it has no /proc, but for us and what we start from here on."""
    if not roots or os.geteuid() != 0:
        return
    if ctypes.CDLL(None).unshare(CLONE_NEWNS) != 0:
        return  # --live tells what it lacks
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    for root in roots:
        subprocess.run(["mount", "--rbind", "/proc", os.path.join(root, "proc")], check=True)


def viewers(options, pid, python):
    """{name: command}"""
    nowhere = os.path.join(tempfile.mkdtemp(prefix="plumb-bench-"), "out.plumb")
    commands = {"plumb top": [options.plumb, "top", str(pid)],
                "plumb attach": [options.plumb, "attach", "-q", "-r", str(RATE), "-o", nowhere, "--force", str(pid)]}
    if options.py_spy and python.minor <= PY_SPY_UP_TO:
        commands["py-spy top"] = [options.py_spy, "top", "-r", str(RATE), "--pid", str(pid)]
    if python.minor >= (3, 15):
        commands["profiling.sampling --live"] = [*python.command, "-m", "profiling.sampling", "attach", "--live", "-a", "-r", str(RATE),
                                                 "-d", "3600", str(pid)]
    return commands


def median_of(rows):
    """None: it never came so far, as a first screen of what draws none."""
    columns = {figure: [row[figure] for row in rows if row[figure] is not None] for figure in rows[0]}
    return {figure: statistics.median(values) if values else None for figure, values in columns.items()}


def measure(options, python):
    with tempfile.TemporaryDirectory(dir=os.path.join(python.root, "tmp") if python.root else None) as folder:
        script = pathlib.Path(folder) / "ten_threads.py"
        script.write_text(PROGRAM)
        inside = str(script)[len(python.root):]
        with subprocess.Popen([*python.command, inside], stdout=subprocess.PIPE) as target:
            try:
                target.stdout.readline()
                commands = viewers(options, target.pid, python)
                taken, failed = {name: [] for name in commands}, {}
                for name, command in list(commands.items()) * options.rounds:
                    if name not in failed:
                        try:
                            taken[name].append(look(command, options.seconds))
                        except Ended as error:
                            failed[name] = {"ended": str(error)}
            finally:
                target.kill()
    return {name: failed.get(name) or median_of(rows) for name, rows in taken.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("plumb")
    parser.add_argument("--py-spy", default="")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    there = {python.minor: python for python in interpreters.discover() if not python.missing and not python.build}
    wanted = [there[minor] for minor in (PY_SPY_UP_TO, (3, 15)) if minor in there]
    show_processes({python.root for python in wanted if python.root})
    json.dump({str(python): measure(options, python) for python in wanted}, sys.stdout, indent=1)
    print()


main()
