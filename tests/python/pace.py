# SPDX-License-Identifier: Apache-2.0
"""How many samples come of those asked for, and what that costs the program.

    pace.py

On a machine that others use each measure is taken again until it is as good as it has to be: they can only make it worse."""
import json
import subprocess
import sys
import threading
import time

import plumb.profile as profile


def leaf(n):
    while n:
        n -= 1


def down(depth, n):
    return leaf(n) if depth == 0 else down(depth - 1, n)


# A process that does nothing but sleep until the next millisecond, and tells in how many of a second it was awake.
SLEEPER = """
import time
start, awake = time.perf_counter(), set()
while len(awake) == 0 or max(awake) < 999:
    time.sleep(0.001 - (time.perf_counter() - start) % 0.001)
    awake.add(int((time.perf_counter() - start) * 1000))
print(len(awake) / 1000)
"""


def rate():
    """The share of 1,000 samples a second of a thread that never waits, of those that this machine lets anybody have now."""
    sleeper = subprocess.Popen([sys.executable, "-c", SLEEPER], stdout=subprocess.PIPE)
    history = profile.watch(interval="1ms", cycle="200ms")
    start = time.perf_counter()
    while sleeper.poll() is None:
        down(30, 5000)
    took = time.perf_counter() - start
    history.stop()
    possible = min(1.0, float(sleeper.communicate()[0]))
    return profile.get_profile(history)["count"] / took / 1000 / possible


def least(n):
    """Of so many times that a bit of work of some ten samples took."""
    times = []
    for _ in range(n):
        before = time.perf_counter()
        down(30, 300000)
        times.append(time.perf_counter() - before)
    return min(times)


def cost():
    """What being watched makes of the time that work takes, in turns."""
    without, watched = [], []
    for _ in range(6):
        without.append(least(6))
        history = profile.watch(interval="1ms", cycle="50ms")
        watched.append(least(6))
        history.stop()
    return min(watched) / min(without)


def stalls():
    """How often a thread that wants to sleep 5 ms sleeps 50 ms longer, beside a busy one, both watched and the history read."""
    history = profile.watch("all", interval="1ms", cycle="20ms")
    late, done = [], []

    def heart():
        while not done:
            before = time.perf_counter()
            time.sleep(0.005)
            late.append(time.perf_counter() - before - 0.005)

    thread = threading.Thread(target=heart)
    thread.start()
    end = time.perf_counter() + 1
    while time.perf_counter() < end:
        down(30, 20000)
        history.recent()
        profile.get_profile(history)
    done.append(True)
    thread.join()
    history.stop()
    return sum(1 for seconds in late if seconds > 0.05)


def until_good(measure, is_good, times):
    """(the last, how many times it was taken)"""
    results = [measure()]
    while not is_good(results[-1]) and len(results) < times:
        results.append(measure())
    return results[-1], len(results)


def main():
    print(json.dumps({
        "rate": until_good(rate, lambda share: share >= 0.98, 12),
        "cost": until_good(cost, lambda ratio: ratio <= 1.01, 8),
        "stalls": until_good(stalls, lambda count: count == 0, 8),
    }))  # fmt: skip


main()
