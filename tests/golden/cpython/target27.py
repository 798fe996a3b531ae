# SPDX-License-Identifier: Apache-2.0
# -*- coding: utf-8 -*-
# As target.py, for Python 2.7: what it has of the same, under the same names.
import json
import sys
import threading

started = []
release = threading.Event()


def park():
    started.append(1)
    release.wait()


def fib(n):
    if n:
        return fib(n - 1) + \
            1
    park()
    return 0


def numbers():
    yield 1
    park()
    yield 2


def all_numbers():
    for n in numbers():
        yield n


def sum_of_numbers():
    return sum(
        x for x in all_numbers())


class Thing(object):
    def __init__(self, work):
        self.value = work()


class Old:
    def __init__(self, work):
        self.value = work()


def in_exec():
    exec(compile("def inner():\n  park()\n\ninner()", "<exec_\xc3\xa9\xff>", "exec"), {"park": park})


def make_things():
    Thing(int)
    Old(park)


def in_except():
    try:
        raise ValueError("x")
    except ValueError:
        park()


WORK = {"recursion": lambda: fib(3), "generators": sum_of_numbers, "unicode": in_exec, "init": make_things,
        "except": in_except}


def stacks():
    names = dict((t.ident, t.name) for t in threading.enumerate())
    result = {}
    for ident, frame in sys._current_frames().items():
        if ident == threading.current_thread().ident:
            continue
        lines = []
        while frame:
            lines.append([frame.f_code.co_name, frame.f_lineno])
            frame = frame.f_back
        result[names.get(ident, "?")] = lines
    return result


def new_thread(work):
    name = work if work != "unicode" else "поток 漢字"
    t = threading.Thread(target=WORK[work], name=name)
    t.daemon = True
    if work == "generators":
        for i in range(20):
            setattr(t, "attribute_%d" % i, i)  # a table larger than the one inside the dict
    return t


def main():
    threads = [new_thread(w) for w in sys.argv[1].split(",")]
    for t in threads:
        t.start()
    while len(started) < len(threads):
        pass
    # The threads have counted themselves, but may still be on their way into the lock.
    previous = None
    while previous != stacks():
        previous = stacks()
        for _ in range(100000):
            pass
    print(json.dumps(previous))
    print("ready")
    sys.stdout.flush()
    sys.stdin.readline()


main()
