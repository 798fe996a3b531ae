# SPDX-License-Identifier: Apache-2.0
"""Starting target programs and talking to them over pipes (see targets/parley.py for the other end)."""
import contextlib
import json
import mmap
import os
import pathlib
import select
import shutil
import signal
import subprocess
import tempfile
import time

from harness.interpreters import TARGETS

PATIENCE = 300  # seconds after which a target is taken for one that hangs: no measure of anything, on no machine


class TargetError(AssertionError):
    pass


class Places:
    """Where the targets lie as each interpreter sees them: here, or copied below its root directory."""

    def __init__(self):
        self._copies = {}

    def directory(self, root=""):
        """(path for us, path for the interpreter) of the targets."""
        if not root:
            return str(TARGETS), str(TARGETS)
        if root not in self._copies:
            copy = tempfile.mkdtemp(prefix="plumb-targets-", dir=os.path.join(root, "tmp"))
            os.chmod(copy, 0o755)
            for source in TARGETS.glob("*.py"):
                shutil.copy(source, copy)
            self._copies[root] = copy
        copy = self._copies[root]
        return copy, copy[len(root) :]

    def subdirectory(self, root, name):
        """A further directory of that (bytes) name with all the targets in it."""
        ours, theirs = (os.fsencode(path) for path in self.directory(root))
        if not root:
            ours = theirs = os.fsencode(tempfile.mkdtemp(prefix="plumb-targets-"))
            self._copies[theirs] = ours
        inner = os.path.join(ours, name)
        os.makedirs(inner, exist_ok=True)
        for source in TARGETS.glob("*.py"):
            shutil.copy(os.fsencode(str(source)), inner)
        return inner, os.path.join(theirs, name)

    def remove(self):
        for copy in self._copies.values():
            shutil.rmtree(copy, ignore_errors=True)


class Lines:
    """JSON objects, one per line, from a pipe."""

    def __init__(self, descriptor):
        self._descriptor = descriptor
        self._data = b""
        self.closed = False

    def next(self, event, seconds=PATIENCE):
        """The next object whose "event" is that; others are passed over. None at end of file."""
        deadline = time.monotonic() + seconds
        while True:
            line, newline, rest = self._data.partition(b"\n")
            if newline:
                self._data = rest
                told = json.loads(line)
                if told["event"] == event:
                    return told
                continue
            if self.closed:
                return None
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._descriptor], [], [], left)[0]:
                raise TargetError("the target did not say %r within %g s" % (event, seconds))
            data = os.read(self._descriptor, 65536)
            self.closed = not data
            self._data += data

    def close(self):
        os.close(self._descriptor)


class Target:
    """A running target; pid is the interpreter's own."""

    def __init__(self, places, python, script, arguments, before=(), directory=None, count=False, **popen):
        _, theirs = directory or places.directory(python.root)
        ready_read, ready_write = os.pipe()
        control_read, self._control = os.pipe()
        pass_fds = [ready_write, control_read]
        environment = dict(
            popen.pop("env", None) or os.environ,
            PLUMB_TEST_READY=str(ready_write),
            PLUMB_TEST_CONTROL=str(control_read),
            PYTHONDONTWRITEBYTECODE="1",
        )
        self._counter = None
        if count:
            memory = os.memfd_create("progress")
            os.ftruncate(memory, 4096)
            self._counter = memoryview(mmap.mmap(memory, 8)).cast("Q")
            environment["PLUMB_TEST_PROGRESS"] = str(memory)
            pass_fds.append(memory)
        popen.setdefault("stdin", subprocess.DEVNULL)
        command = [*before, *python.command, os.path.join(theirs, os.fsencode(script) if isinstance(theirs, bytes) else script)]
        self.process = subprocess.Popen([*command, *arguments], env=environment, pass_fds=pass_fds, **popen)
        for descriptor in pass_fds:
            os.close(descriptor)
        self.lines = Lines(ready_read)
        self.pid = None

    def wait_ready(self):
        told = self.lines.next("ready")
        if told is None:
            raise TargetError("the target ended with status %s before it was ready" % self.process.wait(PATIENCE))
        self.pid, self.told = our_pid(self.process.pid, told["pid"]), told
        return told

    def go(self):
        os.write(self._control, b"g")

    def stop(self):
        """Tell it to end."""
        if self._control is not None:
            os.close(self._control)
            self._control = None

    def result(self, event, seconds=PATIENCE):
        """What it tells at its end."""
        told = self.lines.next(event, seconds)
        if told is None:
            raise TargetError("the target ended without saying %r" % event)
        return told

    @property
    def progress(self):
        return self._counter[0]

    def wait_progress(self, steps=3, seconds=PATIENCE):
        """Return when the target has done so many more units of work; fail if it does not."""
        start, deadline = self.progress, time.monotonic() + seconds
        exited = select.poll()
        while self.progress < start + steps:
            if time.monotonic() > deadline:
                raise TargetError("the target makes no progress (state %s)" % status(self.pid).get("State"))
            exited.poll(2)  # gives the processor away for two milliseconds

    def close(self):
        self.stop()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
        self.lines.close()

    def kill(self):
        for pid in {self.process.pid, self.pid or self.process.pid}:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait(PATIENCE)


@contextlib.contextmanager
def started(places, python, script, *arguments, **options):
    """A target that has said "ready" and been told to go."""
    target = Target(places, python, script, arguments, **options)
    try:
        target.wait_ready()
        target.go()
        yield target
    finally:
        target.close()


def our_pid(ancestor, told):
    """The number that we know a process by which is `ancestor`, or descends from it, and calls itself `told`."""
    if ancestor == told:
        return told
    parents = {}
    for name in os.listdir("/proc"):
        facts = status(int(name)) if name.isdigit() else {}
        if facts:
            parents[int(name)] = int(facts["PPid"]), int(facts["NSpid"].split()[-1])
    for pid, (_, own) in parents.items():
        above = pid
        while own == told and above in parents:
            if above == ancestor:
                return pid
            above = parents[above][0]
    raise TargetError("no descendant of %d calls itself %d" % (ancestor, told))


def status(pid, tid=None):
    """/proc/PID/status (of one thread) as a dictionary; empty if it is gone."""
    path = "/proc/%d/status" % pid if tid is None else "/proc/%d/task/%d/status" % (pid, tid)
    try:
        text = pathlib.Path(path).read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return {}
    return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)


def thread_ids(pid):
    return sorted(int(tid) for tid in os.listdir("/proc/%d/task" % pid))


def of_threads(pid, name):
    """{thread: text of that file of it in /proc}, of those that are still there when it is read."""
    found = {}
    for tid in thread_ids(pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            found[tid] = pathlib.Path("/proc/%d/task/%d/%s" % (pid, tid, name)).read_text()
    return found


def children_of(pid):
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and status(int(name)).get("PPid", "").strip() == str(pid):
            found.append(int(name))
    return found


def wait_until(condition, what, seconds=PATIENCE):
    """Poll without burning the processor: every millisecond, and less often what takes longer, so that it is late by a fiftieth at most;
    fail with `what`."""
    start, idle = time.monotonic(), select.poll()
    while not condition():
        waited = time.monotonic() - start
        assert waited < seconds, what
        idle.poll(min(20, 1 + int(20 * waited)))


def resting(pid, tids=None):
    """{thread: how often it has gone to sleep or lost its processor}; None if one of them (of `tids`; of all) does not sleep."""
    facts = {tid: status(pid, tid) for tid in tids or thread_ids(pid)}
    if any(fact.get("State", "R")[0] != "S" for fact in facts.values()):
        return None
    return {tid: (fact["voluntary_ctxt_switches"], fact["nonvoluntary_ctxt_switches"]) for tid, fact in facts.items()}


def wait_asleep(pid, tids=None):
    """Until all threads sleep at one moment: while one is looked at, another may wake up."""
    wait_until(lambda: (first := resting(pid, tids)) and first == resting(pid, tids), "its threads never come to rest")


def traces(pid):
    """What a profiler left behind on a process, as text; empty if nothing."""
    found = []
    for tid in thread_ids(pid):
        facts = status(pid, tid)
        if facts.get("TracerPid", "0").strip() != "0":
            found.append("thread %d is traced by %s" % (tid, facts["TracerPid"].strip()))
        if facts.get("State", "R")[0] in "Tt":
            found.append("thread %d is stopped" % tid)
    return "; ".join(found)
