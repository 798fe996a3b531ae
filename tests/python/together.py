# SPDX-License-Identifier: Apache-2.0
"""Threads that do all there is to do with one tree, at once: nothing is lost and every answer is whole. Each check_ is run.

    together.py ROUNDS"""
import collections
import gc
import json
import os
import sys
import threading
import time
import types
import warnings

before_fork = []  # what is to be done then, after all that plumb does
os.register_at_fork(before=lambda: [do() for do in before_fork])

import plumb
import plumb.profile as profile
from plumb._history import History
from sanitizer import MAY_FORK
from trees import nodes

ROUNDS = int(sys.argv[1])
GIL = getattr(sys, "_is_gil_enabled", lambda: True)()
NAMES = ["f%d" % i for i in range(12)]


class Frame:
    f_globals, f_lasti = {}, 0

    def __init__(self, name, back, line_of):
        self.f_code = types.SimpleNamespace(co_name=name, co_filename="/srv/%s.py" % name, co_firstlineno=1)
        self.f_back, self._line_of = back, line_of

    @property
    def f_lineno(self):
        return self._line_of()


def frame_of(names, line_of=lambda: 1):
    """The innermost frame of a stack of functions, outermost first."""
    back = None
    for name in names:
        back = Frame(name, back, line_of)
    return back


def assert_whole(tree):
    """No stack is half counted."""
    for node in nodes(tree):
        below = sum(child["count"] for child in node["children"].values())
        assert node["count"] == below or (not node["children"] and node["identifier"] != "root"), (node["identifier"], node["count"], below)


def at_once(*works):
    """Each of them in a thread of its own, all from the same moment on; what fails in one fails here."""
    barrier, failed = threading.Barrier(len(works)), []

    def run(work):
        barrier.wait()
        try:
            work()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


def check_who_describes_a_function_may_count_it_too():
    """Source lines are looked up while a node is made: other threads go on, and a loader may do anything."""
    tree = profile.create()
    plain, asked = frame_of(["f", "g"]), []

    def line():
        asked.append(profile.process(plain, None, tree))
        return 1

    profile.process(frame_of(["f", "g"], line), None, tree)
    assert [node["count"] for node in nodes(tree)] == [len(asked) + 1] * 3 and asked


def check_eight_threads_on_one_tree():
    tree, tally = profile.create(), {}
    history = collections.deque([(1.0, profile.create())])
    working = 3
    left = [True] * working

    def process(number):
        try:
            for i in range(ROUNDS):
                depth = 1 + (i * 7 + number) % len(NAMES)
                # Leaves are leaves only: what was counted in a node is in its children, which is what assert_whole() is told.
                stack = [NAMES[(i + k * k) % 5] for k in range(depth)] + ["leaf%d" % (i % 50 + 50 * number)]
                profile.process(frame_of(stack), None, tree, tally=tally)
        finally:
            left[number] = False

    def read(look):
        seen = 0
        while any(left):
            count = look()
            assert count >= seen, (count, seen)
            seen = count

    def merged():
        sums = profile.merge(tree, tree)
        assert_whole(sums)
        return sums["count"]

    def plotted():
        columns = profile.plot_data(tree, extra=True)
        assert all(own >= 0 for own in columns["self"])
        assert {len(column) for column in columns.values()} == {len(columns["self"])}
        return columns["count"][0] if columns["count"] else 0

    def got():
        history.append((2.0, profile.create()))
        sums = profile.get_profile(history, recent=tree)
        assert_whole(sums)
        return sums["count"]

    at_once(*[lambda n=n: process(n) for n in range(working)],
            lambda: read(merged), lambda: read(merged), lambda: read(plotted), lambda: read(plotted), lambda: read(got))
    assert tree["count"] == working * ROUNDS and tally == {"whole": working * ROUNDS}, (tree["count"], tally)
    assert_whole(tree)
    assert sum(node["count"] for node in nodes(tree) if not node["children"]) == working * ROUNDS


def check_a_history_is_read_while_it_grows():
    entry = (1.0, profile.merge(profile.create()))
    plain, ours = collections.deque(maxlen=300), History(maxlen=300)
    for history in plain, ours:
        done = []

        def append():
            for _ in range(50 * ROUNDS):
                history.append(entry)
            done.append(True)

        def read():
            while not done:
                assert profile.get_profile(history)["count"] == 0

        at_once(append, read, read, lambda: [list(ours) for _ in range(ROUNDS)])


def check_others_change_a_tree_that_is_read():
    """Dicts are deleted, filled and cleared by somebody who knows nothing of plumb."""
    tree, done = profile.create(), []

    def change():
        for i in range(ROUNDS):
            profile.process(frame_of(["a", "b%d" % (i % 40), "c"]), None, tree)
            if i % 100 == 0:
                gc.collect()
            if i % 3 == 0:
                tree["children"].clear()
            elif tree["children"]:
                (node,) = tree["children"].values()
                node["children"].pop(next(iter(node["children"]), None), None)
        done.append(True)

    def read(function):
        while not done:
            try:
                function()
            except (KeyError, RuntimeError):
                pass

    at_once(change, lambda: read(lambda: profile.merge(tree, tree)), lambda: read(lambda: profile.plot_data(tree)))


def check_a_code_object_is_known_to_all_at_once():
    """Different functions have one place in the table of what is known."""
    codes = [compile("\n" * i + "f(g)", "/srv/c%d.py" % (i % 97), "eval") for i in range(600)]

    def ask():
        for i in range(ROUNDS):
            code = codes[i * 31 % len(codes)]
            frame = types.SimpleNamespace(f_code=code)
            assert profile.identifier(frame) == "<module>;%s;%d" % (code.co_filename, code.co_firstlineno)

    at_once(*[ask] * 4)


class Key:
    """Says when it is compared; all of them are in one place of a dict."""

    def __init__(self, compared):
        self.compared = compared

    def __hash__(self):
        return 7

    def __eq__(self, other):
        self.compared()
        return self is other


def check_a_fork_waits_for_who_reads_trees():
    """Without a GIL whoever reads a dict may have its lock, which in the child nobody would give back. Here who reads stands still at
    the last key of its answer until the fork has begun."""
    if GIL or not MAY_FORK:
        return
    compared, read, seen, began, forks = [], [], [], threading.Event(), threading.Event()

    def compare():
        compared.append(True)
        if len(compared) == most:
            began.set()
            forks.wait()
            time.sleep(0.05)  # in which nothing may happen
            read.append(True)

    most = 0
    node = {**profile.create(), "count": 1, "identifier": "x"}
    tree = {**profile.create(), "children": {Key(compare): node, Key(compare): node}}
    compared.clear()
    profile.merge(tree)
    most = 2 * len(compared)
    thread = threading.Thread(target=profile.merge, args=(tree,))
    thread.start()
    began.wait()
    os.register_at_fork(before=forks.set)  # what is registered last is done first
    before_fork.append(lambda: seen.extend(read))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # that there are threads
        child = os.fork()
    if child == 0:
        os._exit(0 if profile.merge(tree)["count"] == 0 else 1)
    thread.join()
    assert os.waitpid(child, 0)[1] == 0 and seen == [True]
    before_fork.clear()


def check_a_recording_is_asked_and_stopped_by_all():
    for _ in range(5):
        recording = plumb.start(interval=0.0005)
        stopped = []
        at_once(*[lambda: stopped.append(recording.stop())] * 4)
        assert all(p.tree()["count"] == stopped[0].tree()["count"] for p in stopped)


def check_the_gil_stays_as_it_was():
    assert GIL is ("t" not in getattr(sys, "abiflags", ""))


def main():
    names = [name for name in sorted(globals()) if name.startswith("check_")]
    for name in names:
        globals()[name]()
    print(json.dumps({"checks": [name[6:] for name in names]}))


main()
