# SPDX-License-Identifier: Apache-2.0
"""Run by an interpreter that finds plumb and a peer: what it costs to be sampled by a profiler in the same process, at 1 kHz.

    inprocess.py WHO KIND PAIRS

WHO samples the thread that works; KIND is "loop" (the stack rarely changes) or "calls" (it changes every microsecond). Work is timed
without the profiler, with it and without it again, all within a second, less the time in which other programs had the processor.
Writes JSON: how much slower each time was, the samples that were taken of those asked for, and the CPU time of all other threads by the
time of the work."""
import json
import sys
import time

INTERVAL = 0.001
DEPTH = 10
SECONDS = 0.25  # of work at a time


def tiny(n):
    return n + 1


def calls(n):
    for i in range(n):
        tiny(tiny(i))


def loop(n):
    total = 0
    for i in range(n * 5):
        total += i & 7
    return total


def down(depth, work, n):
    if depth > 1:
        return down(depth - 1, work, n)
    return work(n)


class Plumb:
    def __init__(self):
        import plumb

        self._start = plumb.start
        self._recording = None

    def start(self):
        self._recording = self._start(interval=INTERVAL)

    def stop(self):
        self._recording.stop()

    def samples(self):
        return self._recording.info()["samples"]


class Pyinstrument:
    def __init__(self):
        import pyinstrument

        self._profiler = pyinstrument.Profiler(interval=INTERVAL)

    def start(self):
        self._profiler.reset()
        self._profiler.start()

    def stop(self):
        self._profiler.stop()

    def samples(self):
        return self._profiler.last_session.sample_count


class Distributed:
    """It takes one sample a cycle, whatever the interval; a list of cycles of one sample is how it samples at all."""

    def __init__(self):
        import distributed.profile

        self._watch = distributed.profile.watch
        self._over, self._log = True, ()

    def start(self):
        self._over = over = []
        self._log = self._watch(interval="1ms", cycle="1ms", maxlen=None, stop=lambda: bool(over))

    def stop(self):
        self._over.append(True)

    def samples(self):
        return sum(tree["count"] for _, tree in list(self._log))


WHO = {"plumb": Plumb, "pyinstrument": Pyinstrument, "distributed": Distributed}


def waited():
    """Seconds in which this thread could have run, but others did."""
    with open("/proc/thread-self/schedstat") as f:
        return int(f.read().split()[1]) / 1e9


def pace(work, n):
    """Seconds of the work."""
    began, before = time.perf_counter(), waited()
    down(DEPTH, work, n)
    return time.perf_counter() - began - (waited() - before)


def enough(work):
    """How much work takes about so long."""
    n = 1000
    while pace(work, n) < SECONDS / 4:
        n *= 2
    return int(n * SECONDS / pace(work, n))


class Pair:
    """One look without, with and without the profiler."""

    def __init__(self, profiler, work, n):
        before = pace(work, n)
        profiler.start()
        wall, cpu, own = time.perf_counter(), time.process_time(), time.thread_time()
        sampled = pace(work, n)
        self.seconds = time.perf_counter() - wall
        self.others = time.process_time() - cpu - (time.thread_time() - own)
        profiler.stop()
        self.samples = profiler.samples()
        self.slower = 2 * sampled / (before + pace(work, n)) - 1


def main():
    who, kind, pairs = sys.argv[1], sys.argv[2], int(sys.argv[3])
    profiler, work = WHO[who](), {"loop": loop, "calls": calls}[kind]
    n = enough(work)
    found = [Pair(profiler, work, n) for _ in range(pairs)]
    seconds = sum(pair.seconds for pair in found)
    json.dump({"slower": [pair.slower for pair in found], "delivered": sum(pair.samples for pair in found) * INTERVAL / seconds,
               "others": sum(pair.others for pair in found) / seconds}, sys.stdout)


main()
