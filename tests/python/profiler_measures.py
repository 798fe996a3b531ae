# SPDX-License-Identifier: Apache-2.0
"""What plumb.Profiler costs.

    profiler_measures.py MEASURE    for each line that it reads it takes measure_MEASURE once, and tells what it found"""
import json
import sys
import threading
import time

import plumb
from controlling import PERIOD, spin, tasks, until

STATES = ("idle", "running", "paused", "slow", "stopped", "cancelled")


def switches(tids):
    """How often threads have been given a processor."""
    total = 0
    for tid in tids:
        with open("/proc/self/task/%d/status" % tid) as file:
            total += sum(int(line.split()[1]) for line in file if "ctxt_switches" in line)
    return total


def measure_cancel():
    """Seconds that it takes in each state, and to have a thread of our own end."""
    return {"a thread": seconds_of_a_thread(), **{state: seconds_to_cancel(state) for state in STATES}}


def seconds_of_a_thread():
    thread = threading.Thread(target=lambda: None)
    begin = time.perf_counter()
    thread.start()
    thread.join()
    return time.perf_counter() - begin


def seconds_to_cancel(state):
    profiler = plumb.Profiler(interval=9 if state == "slow" else PERIOD)
    if state != "idle":
        profiler.start()
    if state == "paused":
        profiler.pause()
    if state == "stopped":
        profiler.stop()
    if state == "cancelled":
        profiler.cancel()
    begin = time.perf_counter()
    profiler.cancel()
    return time.perf_counter() - begin


def measure_paused():
    """How many threads it has that sleep when it is paused: from when there was a quiet second on nothing wakes up for another."""
    before = tasks()
    profiler = plumb.Profiler()
    profiler.start()
    until(profiler, 20)
    own = tasks() - before
    profiler.pause()
    while not is_quiet(own, 1):
        continue
    samples, quiet = profiler.status()["samples"], is_quiet(own, 1)
    assert quiet and profiler.status()["samples"] == samples
    profiler.resume()
    until(profiler, 20)
    profiler.cancel()
    return len(own)


def is_quiet(tids, seconds):
    """Whether threads sleep for so long."""
    before = switches(tids)
    asleep = all(state_of(tid) == "S" for tid in tids)
    time.sleep(seconds)
    return asleep and switches(tids) == before


def state_of(tid):
    with open("/proc/self/task/%d/stat" % tid) as file:
        return file.read().rpartition(")")[2].split()[0]


def measure_intervals():
    """{interval: by how many ticks more came, or were told as missed, than are due in a hundred periods}"""
    profiler, found = plumb.Profiler(), {}
    profiler.start()
    for interval in (0.001, 0.01, 0.002):
        profiler.set_interval(interval)
        assert profiler.status()["rate_asked"] == 1 / interval
        begin = profiler._now().session.status()
        spin(100 * interval)
        end = profiler._now().session.status()
        due = (end["elapsed"] - begin["elapsed"]) / interval
        found[interval] = sum(end[name] - begin[name] for name in ("ticks", "missed")) - due
    profiler.cancel()
    return found


def measure_stalls():
    """By how much a thread that wakes up each 5 ms is late at most, beside ten that ask for the status, and beside ten that do not."""
    profiler, end = plumb.Profiler(), threading.Event()

    def latest(ask):
        end.clear()
        clients = [threading.Thread(target=lambda: [ask() for _ in iter(end.is_set, True)]) for _ in range(10)]
        for client in clients:
            client.start()
        longest, last = 0.0, time.perf_counter()
        for _ in range(200):
            time.sleep(0.005)
            now = time.perf_counter()
            longest, last = max(longest, now - last - 0.005), now
        end.set()
        for client in clients:
            client.join()
        return longest

    alone = latest(lambda: time.sleep(0.001))
    profiler.start()
    asked = latest(lambda: (profiler.status(), time.sleep(0.001)))
    profiler.cancel()
    return asked, alone


def measures(name):
    for _ in sys.stdin:
        print(json.dumps(globals()["measure_" + name]()), flush=True)


if __name__ == "__main__":
    measures(sys.argv[1])
