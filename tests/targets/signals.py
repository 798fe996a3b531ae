# SPDX-License-Identifier: Apache-2.0
"""A busy program that gets many signals: an interval timer every millisecond, and SIGUSR1 from the test, each of which it
acknowledges with a line. Its sum must come out right in spite of it all."""
import signal

import parley

seen = {"timer": 0, "user": 0}


def on_timer(*_):
    seen["timer"] += 1


def on_user(*_):
    seen["user"] += 1
    parley.tell(event="ack", number=seen["user"])


def work():
    total = 0
    for i in range(1000):
        total += i
    return total


def main():
    signal.signal(signal.SIGALRM, on_timer)
    signal.signal(signal.SIGUSR1, on_user)
    parley.ready()
    start = parley.thread_time_ns()
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    wrong = 0
    while not parley.over():
        for _ in range(50):
            wrong += work() != 499500
        parley.tick()
    signal.setitimer(signal.ITIMER_REAL, 0)
    parley.tell(event="signals", wrong=wrong, cpu_ns=parley.thread_time_ns() - start, **seen)


if __name__ == "__main__":
    main()
