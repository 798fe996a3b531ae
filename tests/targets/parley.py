# SPDX-License-Identifier: Apache-2.0
"""How a target and its test talk. Runs on Python 2.7 and later; imports little, so that a target stays small.

A test passes two pipes by number in the environment: PLUMB_TEST_READY, on which the target writes one JSON object per
line, and PLUMB_TEST_CONTROL, on which it reads: one byte is "go", end of file is "stop" (so a target never outlives its
test). Without them, run by hand, a target starts at once and runs for --seconds, or PLUMB_TEST_SECONDS.

PLUMB_TEST_PROGRESS may name a third descriptor, of shared memory, whose first eight bytes tick() counts up.
"""
import json
import mmap
import os
import select
import struct
import sys
import time

_ready = int(os.environ.get("PLUMB_TEST_READY", "-1"))
_control = int(os.environ.get("PLUMB_TEST_CONTROL", "-1"))
_progress = int(os.environ.get("PLUMB_TEST_PROGRESS", "-1"))

_counter = mmap.mmap(_progress, 8) if _progress >= 0 else None
# A program that executes itself goes on counting.
_ticks = struct.unpack_from("=Q", _counter, 0)[0] if _counter is not None else 0
_deadline = None


def _old_thread_time():
    """A function like time.thread_time_ns of 3.7."""
    if hasattr(time, "clock_gettime"):
        return lambda: int(time.clock_gettime(time.CLOCK_THREAD_CPUTIME_ID) * 1e9)
    import ctypes

    now, libc = (ctypes.c_long * 2)(), ctypes.CDLL(None)

    def thread_time_ns():
        libc.clock_gettime(3, now)  # CLOCK_THREAD_CPUTIME_ID
        return now[0] * 1000000000 + now[1]

    return thread_time_ns


perf_counter = getattr(time, "perf_counter", time.time)
perf_counter_ns = getattr(time, "perf_counter_ns", None) or (lambda: int(perf_counter() * 1e9))
thread_time_ns = getattr(time, "thread_time_ns", None) or _old_thread_time()


def argument(name, default):
    """The value of --name VALUE on the command line, of the type of the default."""
    option = "--" + name
    if option in sys.argv:
        return type(default)(sys.argv[sys.argv.index(option) + 1])
    return default


def tell(**facts):
    """Write one line of JSON to the test."""
    line = (json.dumps(facts, sort_keys=True) + "\n").encode()  # "event" comes first
    while line:
        line = line[os.write(_ready if _ready >= 0 else 1, line) :]


def ready(**facts):
    """Say that the target is set up, wait for "go", start the clock of --seconds. Without "go" there is nothing to do."""
    global _deadline
    tell(event="ready", pid=os.getpid(), **facts)
    if _control >= 0 and not os.read(_control, 1):
        sys.exit(0)
    seconds = argument("seconds", float(os.environ.get("PLUMB_TEST_SECONDS", 0 if _control >= 0 else 2)))
    if seconds:
        _deadline = perf_counter() + seconds


def over():
    """Whether --seconds have gone by since "go", or the test has closed its pipe."""
    if _deadline is not None and perf_counter() >= _deadline:
        return True
    if _control < 0:
        return False
    poll = select.poll()
    poll.register(_control, 0)  # the other end closed; the byte that says "go" may still be unread
    try:
        return bool(poll.poll(0))
    except select.error:  # 2.7: a signal came; later releases ask again by themselves
        return over()


def wait_over():
    """Block until over()."""
    while not over():
        poll = select.poll()
        if _control >= 0:
            poll.register(_control, 0)
        left = None if _deadline is None else max(0.0, _deadline - perf_counter()) * 1000 + 1
        poll.poll(left)


def tick():
    """Count one unit of work in the shared memory."""
    global _ticks
    if _counter is not None:
        _ticks += 1
        struct.pack_into("=Q", _counter, 0, _ticks)


class Waited:
    """waited() is how long this thread has been ready to run without a processor, in nanoseconds, as the kernel counts it:
    --schedstat is a descriptor of /proc/PID/schedstat. Without it, 0."""

    def __init__(self):
        self._file = argument("schedstat", -1)

    def __call__(self):
        if self._file < 0:
            return 0
        os.lseek(self._file, 0, os.SEEK_SET)
        return int(os.read(self._file, 64).split()[1])


def time_of_day_at_zero():
    """The time of day when perf_counter_ns() was 0, in nanoseconds; of some looks the one that took the shortest."""
    found = []
    for _ in range(10):
        before, now, after = perf_counter_ns(), time.time(), perf_counter_ns()
        found.append((after - before, int(now * 1e9) - (before + after) // 2))
    return min(found)[1]


class Truth:
    """Clocks around the parts of a program.

    measure(name, function, ...) calls the function and notes when it began and ended, the CPU time of this thread that went by, and
    the time in which it was ready to run, with a processor or without.
    """

    def __init__(self):
        self.waited = Waited()
        self.cpu, self.ready = {}, {}
        self.names, self.times = [], []  # of each call: its part; when it began and ended

    def measure(self, name, function, *arguments):
        # What costs most to read is outermost. At the clock of CPU time the kernel likes to take the processor away: outside of the times.
        waited, cpu, begin = self.waited(), thread_time_ns(), perf_counter_ns()
        function(*arguments)
        end, cpu, waited = perf_counter_ns(), thread_time_ns() - cpu, self.waited() - waited
        self.cpu[name] = self.cpu.get(name, 0) + cpu
        self.ready[name] = self.ready.get(name, 0) + cpu + waited
        self.names.append(name)
        self.times += [begin, end]

    def tell(self):
        zero = time_of_day_at_zero()
        tell(event="truth", cpu=self.cpu, ready=self.ready, names=self.names, times=[zero + at for at in self.times])


def repeat_for(milliseconds, function):
    """How often to call function() so that it takes about so long; measured now."""
    count = 1
    while True:
        start = perf_counter()
        for _ in range(count):
            function()
        took = perf_counter() - start
        if took > 0.002:
            return max(1, int(round(count * milliseconds / 1000 / took)))
        count *= 2
