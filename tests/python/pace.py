# SPDX-License-Identifier: Apache-2.0
"""How many samples come of those asked for, and what that costs the program.

    pace.py rate|cost|stalls

For each line that it reads it measures that once."""
import json
import os
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


def busy_until_end(depth, pid):
    """Busy until a process has ended, in one frame all the while: a thread whose stack changes may be sampled less often."""
    if depth:
        return busy_until_end(depth - 1, pid)
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        for _ in range(5000):
            pass


def rate():
    """Of a second's thousand samples of a thread that never waits, the shares that came too late and that could not be had; and the
    share of its milliseconds that another process, which only sleeps, could not have either."""
    sleeper = subprocess.Popen([sys.executable, "-c", SLEEPER], stdout=subprocess.PIPE)
    history = profile.watch(interval="1ms", cycle="200ms")
    busy_until_end(30, sleeper.pid)
    history.stop()
    status = history.status()
    due = status["ticks"] + status["missed"]
    assert profile.get_profile(history)["count"] == status["samples"]
    return {"due": due, "elapsed": status["elapsed"], "missed": status["missed"] / due, "lost": status["ticks"] - status["samples"],
            "sleeper": 1 - float(sleeper.communicate()[0])}


def waited():
    """Seconds that this thread could have run and had no processor: that is the business of others."""
    try:
        with open("/proc/thread-self/schedstat") as file:
            return int(file.read().split()[1]) / 1e9
    except OSError:
        return 0.0


def time_of_work():
    before = time.perf_counter() - waited()
    for _ in range(5):
        down(30, 300000)
    return time.perf_counter() - waited() - before


def watched_work():
    history = profile.watch(interval="1ms", cycle="50ms")
    try:
        return time_of_work()
    finally:
        history.stop()


def cost():
    """Times that some work takes, watched and alone. Which comes first changes."""
    order.reverse()
    times = {measure: measure() for measure in order}
    return times[watched_work], times[time_of_work]


order = [watched_work, time_of_work]


def oversleeps(work):
    """By how much a thread that wants to sleep 5 ms oversleeps at most in a second, beside one that is busy."""
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
        work()
    done.append(True)
    thread.join()
    return max(late)


def stalls():
    """That time, with both threads watched and the history read, and without."""
    alone = oversleeps(lambda: down(30, 20000))
    history = profile.watch("all", interval="1ms", cycle="20ms")

    def work_and_read():
        down(30, 20000)
        history.recent()
        profile.get_profile(history)

    watched = oversleeps(work_and_read)
    history.stop()
    return watched, alone


for _ in sys.stdin:
    print(json.dumps(globals()[sys.argv[1]]()), flush=True)
