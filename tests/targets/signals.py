# SPDX-License-Identifier: Apache-2.0
"""A busy program that gets many signals: a timer of a millisecond, which is set again when its signal has come, and SIGUSR1 from the
test, each of which it acknowledges with a line: not in the handler, which the next signal may interrupt while it writes. Its sum must
come out right in spite of it all."""
import signal

import parley

seen = {"timer": 0, "user": 0}


def set_timer():
    signal.setitimer(signal.ITIMER_REAL, 0.001)


def on_timer(*_):
    seen["timer"] += 1
    set_timer()


def on_user(*_):
    seen["user"] += 1


def work():
    total = 0
    for i in range(1000):
        total += i
    return total


def main():
    signal.signal(signal.SIGALRM, on_timer)
    signal.signal(signal.SIGUSR1, on_user)
    parley.ready()
    set_timer()
    wrong = acknowledged = 0
    while not parley.over():
        for _ in range(50):
            wrong += work() != 499500
        if acknowledged < seen["user"]:
            acknowledged = seen["user"]
            parley.tell(event="ack", **seen)
        parley.tick()
    signal.setitimer(signal.ITIMER_REAL, 0)
    parley.tell(event="signals", wrong=wrong, **seen)


if __name__ == "__main__":
    main()
