# SPDX-License-Identifier: Apache-2.0
"""Tells which signals were ignored and blocked when it began, then each one that it gets; SIGTERM ends it with status 3. --deaf: it
leaves signals as they are, and gets none."""
import os
import select
import signal
import sys

import parley

NAMES = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGTERM", "SIGWINCH", "SIGIO")
LOOK_MS = 20


def state():
    with open("/proc/self/status") as status:
        facts = dict(line.split(":", 1) for line in status)
    return {"ignored": facts["SigIgn"].strip(), "blocked": facts["SigBlk"].strip()}


def has_come(reading):
    poll = select.poll()
    poll.register(reading, select.POLLIN)
    try:
        return poll.poll(LOOK_MS)
    except select.error:  # 2.7: one has come just now
        return False


def hear(reading, names):
    number = ord(os.read(reading, 1))
    parley.tell(event="heard", signal=names[number])
    if number == signal.SIGTERM:
        sys.exit(3)


def main():
    began, names = state(), dict((getattr(signal, name), name) for name in NAMES)
    reading, writing = os.pipe()
    if "--deaf" not in sys.argv:
        for number in names:
            signal.signal(number, lambda number, frame: os.write(writing, bytearray([number])))
    parley.ready(**began)
    while not parley.over():
        parley.tick()
        if has_come(reading):
            hear(reading, names)


if __name__ == "__main__":
    main()
