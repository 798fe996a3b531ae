# SPDX-License-Identifier: Apache-2.0
"""Threads that Python did not start (native_threads.c, --library): "cruncher" and "sleeper" never run Python, "caller" calls back
by turns, without a thread state in between. --threads names those to start. It tells what they have run."""
import ctypes

import parley

LIBRARY = ctypes.CDLL(parley.argument("library", ""))


def called_back():
    end = parley.thread_time_ns() + 5000000
    while parley.thread_time_ns() < end:
        sum(range(1000))


CALLED = ctypes.CFUNCTYPE(None)(called_back)


def times():
    found = (ctypes.c_uint64 * 3)()
    LIBRARY.times_of(found)
    return dict(zip(["alone", "between", "called"], found))


def main():
    starts = {
        "cruncher": LIBRARY.start_computing,
        "sleeper": LIBRARY.start_waiting,
        "caller": lambda: LIBRARY.start_calling(CALLED),
    }
    for name in parley.argument("threads", "cruncher,sleeper").split(","):
        starts[name]()
    parley.ready()
    parley.tell(event="began", **times())
    while not parley.over():
        parley.time.sleep(0.005)
        parley.tick()
    parley.tell(event="ended", **times())


main()
