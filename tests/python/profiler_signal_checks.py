# SPDX-License-Identifier: Apache-2.0
"""What signal handlers may do with plumb.Profiler and watches, wherever they come. Each check_ is run; their names are told."""
import collections
import functools
import itertools
import sys
import threading

import plumb
from plumb import _gil, _publisher, _threads, _watch
from controlling import (
    PERIOD, a_signal_handler_may_interrupt_each_call, another_thread_can, begun_and_given_up_at_instructions, descriptors, interrupted_at,
    interrupted_within, nothing_is_left, or_refused, raised_within, run_checks, spin, tasks,
)


def check_a_signal_handler_may_interrupt_each_call_by_any():
    threads, files = tasks(), descriptors()
    profiler = plumb.Profiler(interval=PERIOD)
    calls = [or_refused(getattr(profiler, name)) for name in ("start", "show", "pause", "status", "resume", "query", "reset", "snapshot", "stop")]
    calls.append(lambda: profiler.set_interval(PERIOD))
    interrupted_within("plumb._profiler", calls, calls, most=50)
    profiler.cancel()
    assert profiler.status()["state"] == "idle"

    @plumb.profile(done=lambda _: None)
    def recorded():
        spin(0.0001)

    interrupted_within("plumb._decorated", [recorded], [recorded], most=50)
    del profiler, calls, recorded
    nothing_is_left(threads, files)  # what was begun in the middle of something else has ended


def check_a_signal_handler_may_end_or_begin_it_at_any_instruction_of_a_call():
    """Who traces the instructions may call at each what a signal handler that comes there would: one of what it may call, other ones at
    the next instruction and on the next release. A session with the GIL that is lost never ends; it takes longer, so only what begins and
    ends one is called there."""
    threads, files = tasks(), descriptors()
    modules = {"plumb._profiler", "plumb._step"}
    ended_or_begun_at_any_instruction(plumb.Profiler(interval=PERIOD), modules, "pause resume status reset stop", "resume start")
    if not _gil.why_not():
        ended_or_begun_at_any_instruction(plumb.Profiler(interval=PERIOD, engine="gil"), modules | {"plumb._gil"}, "reset stop", "start")
    nothing_is_left(threads, files)


def check_a_signal_handler_may_raise_at_any_instruction_of_a_start():
    begun_and_given_up_at_instructions(lambda: plumb.profile(), lambda recording: recording.stop(), 1)


def check_a_signal_handler_that_raises_leaves_no_lock():
    """Nor a recording of a call that has ended."""
    if sys.version_info < (3, 10):
        return  # there an exception can come between the end of a block and that of its `with`, whatever is locked
    threads, files = tasks(), descriptors()
    profiler = plumb.Profiler(interval=PERIOD)
    profiler.start()
    calls = [or_refused(getattr(profiler, name)) for name in ("status", "pause", "resume")]
    recorded = plumb.profile(done=lambda _: None)(lambda: None)
    for _ in range(20):
        raised_within("plumb._profiler", calls, most=25)
        another_thread_can(profiler.status)
        raised_within("plumb._decorated", [recorded], most=25)
        another_thread_can(recorded)
    profiler.cancel()
    nothing_is_left(threads, files)


def check_another_thread_begins_and_ends_wherever_a_signal_handler_waits():
    """As one that asks a profiler waits for who has its lock: that one must not want what the interrupted thread has."""
    ours, other = plumb.Profiler(interval=PERIOD), plumb.Profiler(interval=PERIOD)

    def begin_and_end():
        other.start()
        other.cancel()

    number = 0
    while interrupted_at(number, ours.start, lambda: another_thread_can(begin_and_end), {"plumb._events"}):
        ours.cancel()
        number += 1
    assert number
    ours.cancel()


def ended_or_begun_at_any_instruction(profiler, modules, while_running, while_paused):
    started, paused = [profiler.start], [profiler.start, profiler.pause]
    for before, names in ((started, while_running), (paused, while_paused), ([], "start")):
        for name in names.split():
            for number in itertools.count():
                for prepare in (profiler.cancel, *before):
                    prepare()
                handled = (profiler.stop, profiler.cancel, profiler.start)[(number + sys.version_info.minor) % 3]
                if not interrupted_at(number, or_refused(getattr(profiler, name)), or_refused(handled), modules, "opcode"):
                    break
    profiler.cancel()


def check_a_list_of_threads_that_is_interrupted_keeps_nobody_waiting():
    """Whoever lists or starts threads has a lock, which 3.8 does not give twice to the same thread."""
    if _gil.why_not():
        return
    profiler = plumb.Profiler(interval=PERIOD, engine="gil")
    with threading._active_limbo_lock:
        assert threading.current_thread() in _threads.every()
        or_refused(profiler.start)()
    profiler.cancel()


def check_a_signal_handler_may_stop_a_watch_within_its_calls():
    for engine in (None, *([] if _gil.why_not() else ["gil"])):
        for _ in range(50):
            history = plumb.profile.watch(interval=PERIOD, cycle=0.005, engine=engine)
            calls = [history.status, history.recent]
            interrupted_within("plumb._publisher", calls, [history.stop], most=1)
            assert history.status()["ended"]


def check_a_signal_handler_may_take_what_is_being_taken_into_a_history():
    for number in itertools.count():
        history, queue = plumb.profile.History(), collections.deque((time, plumb.profile.create()) for time in range(3))
        take = functools.partial(history._take, queue)
        more = interrupted_at(number, take, take, {"plumb._history"}, "opcode")
        assert [time for time, _ in history] == [0, 1, 2], (number, list(history))
        if not more:
            break


class _Ended:
    """A session of cycles that have ended, two at a time. A cycle is its own profile and tree."""

    def __init__(self, count):
        self.given, self._count = 0, count

    def cycles(self):
        first, self.given = self.given, min(self.given + 2, self._count)
        return [(float(end), self) for end in range(first, self.given)]

    def recent(self):
        return self

    def tree(self):
        return plumb.profile.create()


def check_a_signal_handler_may_fetch_what_is_being_fetched():
    """What has ended is in the history, in its order, for the handler as for whom it interrupts."""
    for number in itertools.count():
        history, session = _watch.Watch(), _Ended(5)
        publisher = object.__new__(_publisher.Publisher)
        publisher.__dict__.update(
            _take=history._take, _session=session, _lock=threading.RLock(), _made=_Ended.tree, _cycle=1.0, _due=0.0, _lag=0.0,
            _fetched=collections.deque(), _queue=collections.deque(),
        )  # fmt: skip

        def is_whole():
            return [time for time, _ in history] == list(range(session.given))

        def handle():
            publisher.recent()
            found.append(is_whole())

        found = []
        more = interrupted_at(number, publisher.recent, handle, {"plumb._publisher"}, "opcode")
        assert is_whole() and all(found), (number, found, list(history))
        if not more:
            break


def check_what_a_signal_handler_takes_or_appends_in_between_counts_in_all_sums():
    """Sums are of blocks of eight entries, by their numbers: one that was counted twice, or not, would be in others."""
    trees = [plumb.profile.create() for _ in range(20)]
    for i, tree in enumerate(trees):
        tree["count"] = 1 << i
    for handled in ("take", "append"):
        for number in itertools.count():
            history, queue = plumb.profile.History(maxlen=16), collections.deque(enumerate(trees[:18]))
            take, append = functools.partial(history._take, queue), functools.partial(history.append, (18.5, trees[18]))
            more = interrupted_at(number, take, take if handled == "take" else append, {"plumb._history"}, "opcode")
            history.append((19, trees[19]))
            times = [time for time, _ in history]
            assert len(times) == 16 and times[-1] == 19 and (handled == "append" or times == sorted(times)), (handled, number, times)
            counts = [tree["count"] for _, tree in history]
            for first in range(16):
                known, entries = history._snapshot()
                found = plumb.profile.merge(*history._parts(known, entries, first, 16))["count"]
                assert found == sum(counts[first:]), (handled, number, first, times)
            if not more:
                break


def check_a_signal_handler_may_stop_a_watch_while_it_is_stopped():
    """Between any two lines: who traces a line may call what a handler that comes there would."""
    history = plumb.profile.watch(interval=PERIOD, cycle=0.005)
    depth = 0

    def trace(frame, event, arg):
        nonlocal depth
        if depth == 0 and event == "line":
            depth = 1
            history.stop()
            depth = 0
        return trace

    sys.settrace(trace)
    try:
        history.stop()
    finally:
        sys.settrace(None)
    assert history.status()["ended"]


def check_a_signal_handler_may_interrupt_each_call_with_the_gil():
    if not _gil.why_not():
        a_signal_handler_may_interrupt_each_call("gil", "plumb._gil", most=200)


if __name__ == "__main__":
    run_checks(globals())
