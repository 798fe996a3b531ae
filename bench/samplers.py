# SPDX-License-Identifier: Apache-2.0
"""plumb and its peers: how each is started on a running process, and how many stacks it took.

A sampler is measured from outside: its CPU time from the kernel's accounts when it ends, its memory from /proc shortly
before, its stacks from what it wrote.
"""
import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import threading


@dataclasses.dataclass
class Run:
    stacks: int
    seconds: float  # CPU time, user and system
    rss_bytes: int
    file_bytes: int


class Sampler:
    name = ""

    def __init__(self, root=""):
        self.root = root  # directory the sampler runs in as its root; "" for ours
        directory = os.path.join(root, "tmp") if root else None
        self.directory = tempfile.mkdtemp(prefix="plumb-bench-", dir=directory)

    def close(self):
        shutil.rmtree(self.directory, ignore_errors=True)

    def inside(self, path):
        """A path of ours as the sampler sees it."""
        return path[len(self.root) :] if self.root else path

    def enter(self):
        return ["chroot", self.root] if self.root else []

    def works_on(self, python):
        return True

    ends_itself = True  # keeps to a number of seconds; if not it gets SIGINT
    start_seconds = 1.0  # until it surely samples

    def pairs(self, most):
        """How often it takes its turn when a slow-down is measured: what plumb costs is what we want to know closely."""
        return max(1, most // 5)

    def run(self, pid, rate, seconds):
        """Sample for so long at that rate (None: as fast as it can)."""
        output = os.path.join(self.directory, "out")
        if os.path.exists(output):
            os.unlink(output)
        with open(os.path.join(self.directory, "log"), "w+b") as log:
            process = subprocess.Popen(self.command(pid, rate, seconds, self.inside(output)), stdin=subprocess.DEVNULL,
                                       stdout=log, stderr=log, cwd=self.directory)
            peak = []
            timers = [threading.Timer(seconds * 0.8, lambda: peak.append(memory(process.pid)))]
            if not self.ends_itself:
                timers.append(threading.Timer(seconds, process.send_signal, [signal.SIGINT]))
            for timer in timers:
                timer.start()
            _, status, usage = os.wait4(process.pid, 0)
            for timer in timers:
                timer.cancel()
                timer.join()
            process.returncode = os.waitstatus_to_exitcode(status)
            log.seek(0)
            text = log.read().decode(errors="replace")
        stacks = self.stacks(output, text)
        if not stacks:
            raise RuntimeError("%s took no stacks: %s" % (self.name, text[-300:]))
        return Run(stacks, usage.ru_utime + usage.ru_stime, peak[0] if peak else 0, os.path.getsize(output))


def memory(pid):
    """Peak resident bytes of a process that still runs."""
    try:
        found = re.search(r"VmHWM:\s+(\d+) kB", pathlib.Path("/proc/%d/status" % pid).read_text())
    except OSError:
        found = None
    return int(found.group(1)) * 1024 if found else 0


def folded_stacks(path):
    return sum(int(line.rsplit(" ", 1)[1]) for line in pathlib.Path(path).read_text(errors="replace").splitlines())


class Plumb(Sampler):
    start_seconds = 0.1

    def pairs(self, most):
        return most

    def __init__(self, binary, *options):
        super().__init__()
        self.binary, self.options = binary, options
        self.name = " ".join(["plumb", *options])

    def command(self, pid, rate, seconds, output):
        rate = "max" if rate is None else str(rate)
        return [self.binary, "attach", "-q", "-r", rate, "-d", str(seconds), "-o", output, *self.options, str(pid)]

    def report(self):
        text = subprocess.run([self.binary, "report", "--json", "--idle", os.path.join(self.directory, "out")],
                              capture_output=True, check=True).stdout
        return json.loads(text)

    def stacks(self, output, _):
        return self.report()["samples"]["total"]

    def once(self, pid):
        return [self.binary, "dump", *self.options, str(pid)]


class PySpy(Sampler):
    def __init__(self, program, *options):
        super().__init__()
        self.program, self.options = program, options
        self.name = " ".join(["py-spy", *options])

    ends_itself = False  # its duration is a number of samples: it goes on until it has them

    def command(self, pid, rate, seconds, output):
        return [self.program, "record", "-r", str(rate or 200000), "-f", "raw", "-o", output, *self.options,
                "--pid", str(pid)]

    def stacks(self, output, _):
        return folded_stacks(output)

    def once(self, pid):
        return [self.program, "dump", *self.options, "--pid", str(pid)]


class Austin(Sampler):
    """Needs a newer C library than some systems have; then it runs in the directory that the interpreter is in."""

    name = "austin"

    def __init__(self, program, root=""):
        super().__init__(root)
        shutil.copy(program, self.directory)
        self.program = self.inside(os.path.join(self.directory, "austin"))

    def works_on(self, python):
        return python.root == self.root and python.minor <= (3, 14)

    def command(self, pid, rate, seconds, output):
        interval = 1 if rate is None else 1000000 // rate
        return [*self.enter(), self.program, "-i", str(interval), "-x", str(seconds), "-o", output, "-p", str(pid)]

    def counts(self, text):
        """(errors, all) of its last line; None: it says none."""
        found = re.search(r"(\d+)/(\d+)", re.sub(r"\x1b\[[0-9;]*m", "", text))
        return tuple(map(int, found.groups())) if found else None

    def stacks(self, _, text):
        counts = self.counts(text)
        return counts[1] if counts else 0

    def once(self, pid):
        return [*self.enter(), self.program, "-w", str(pid)]


class Tachyon(Sampler):
    """CPython's own, which samples its own release only."""

    def __init__(self, python, *options):
        super().__init__(python.root)
        self.python, self.options = python, options
        self.name = " ".join(["profiling.sampling", *options])

    def works_on(self, python):
        return python == self.python

    def _module(self):
        return [*self.python.command, "-m", "profiling.sampling"]

    def command(self, pid, rate, seconds, output):
        rate = "1000khz" if rate is None else str(rate)
        return [*self._module(), "attach", "-r", rate, "-d", str(seconds), "--binary", "-o", output, *self.options, str(pid)]

    def stacks(self, _, text):
        found = re.search(r"Captured ([\d,]+) samples", text)
        failed = re.search(r"Error rate: ([\d.]+)", text)
        count = int(found.group(1).replace(",", "")) if found else 0
        return round(count * (1 - float(failed.group(1)) / 100)) if failed else count

    def once(self, pid):
        return [*self._module(), "dump", str(pid)]
