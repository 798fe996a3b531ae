# SPDX-License-Identifier: Apache-2.0
"""What samples the own process: a session of libplumb, which reads its memory, or, where that is refused, a Python thread.

That one asks for all frames. It sees the others only where the interpreter hands over the GIL, so functions in C that
keep it are put down to who comes next, and under a busy thread some hundred samples a second are the most there is.
"""
from __future__ import annotations

import collections
import contextlib
import json
import os
import random
import sys
import threading
import time
import warnings
from typing import Any, Collection, Deque, Dict, Iterator, List, Optional, Set, Tuple, Union

from plumb import _forks, _imports, _threads
from plumb._held import Held
from plumb._plumb import Error, HeldFile, Profile, Session
from plumb._session import Status, Tree
from plumb._trees import create, merge, process
from plumb._unseen import NAME

lock = threading.Lock()
"""Nothing in this package holds a frame while somebody else has the lock."""



def why_not() -> str:
    """Why this Python cannot be sampled so; "" if it can."""
    # There sys._current_frames() can wait for itself: it makes frame objects, which may start the garbage collector, which may
    # let another thread run, with a lock of the interpreter held that the other one then wants. (CPython's issue 106883)
    if sys.version_info[:2] == (3, 11):
        return "Python 3.11 cannot be sampled with the GIL: sys._current_frames() may never return there"
    # A thread whose frames are read may go on meanwhile, and leave them.
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return "a Python without a GIL cannot be sampled with it: frames of threads that run must not be read"
    return ""


# Trees go into profiles as JSON, whose reader has a limit. Of a deeper stack the innermost frames are kept.
_MOST_FRAMES = 8000

# A fork waits until nobody here has `lock`: in the child it would be held for ever.
_no_fork = _imports.of_stacks

_told = False


class _Schedule:
    """A random point in each period, on an absolute scale: however long the work takes, the rate stays."""

    def __init__(self, rate: float, jitter: bool, seed: Optional[int]) -> None:
        self._random = random.Random(seed)
        self._jitter = jitter
        self.begin(rate)

    def begin(self, rate: float) -> None:
        self.rate = rate
        self._start = time.monotonic()
        self._number = -1
        self.missed = 0
        self.advance()

    def advance(self) -> None:
        """To the next period; those that went by without a sample are missed."""
        running = int((time.monotonic() - self._start) * self.rate)
        number = max(self._number + 1, running)
        self.missed += number - self._number - 1
        self._number = number
        point = self._random.random() if self._jitter else 0.5
        self.due = self._start + (number + point) / self.rate


class _Stopwatch:
    """Seconds in which it was not paused."""

    def __init__(self) -> None:
        self._before, self._since = 0.0, time.monotonic()
        self.paused = False

    def read(self) -> float:
        return self._before if self.paused else self._before + time.monotonic() - self._since

    def pause(self) -> None:
        self._before, self.paused = self.read(), True

    def resume(self) -> None:
        self._since, self.paused = time.monotonic(), False


def _children(node: Tree) -> Iterator[Tuple[str, Tree]]:
    """Those of a child that is left out take its place, even beside one with their key: what reads this adds them up."""
    for key, child in node["children"].items():
        if child["description"]["name"] == NAME:
            yield from _children(child)
        else:
            yield key, child


def _pieces(tree: Tree) -> Iterator[str]:
    """A tree as JSON. Trees are deeper than json goes."""
    waiting: List[Any] = [tree]
    while waiting:
        piece = waiting.pop()
        if isinstance(piece, str):
            yield piece
            continue
        head = {name: piece[name] for name in ("identifier", "description", "count")}
        yield json.dumps(head)[:-1] + ', "children": {'
        waiting.append("}}")
        children = list(_children(piece))
        for i, (key, child) in enumerate(reversed(children)):
            waiting += [child, ("" if i + 1 == len(children) else ", ") + json.dumps(key) + ": "]


def as_profile(tree: Tree) -> Profile:
    held = Held(HeldFile(None))
    with open(held.fileno(), "w", encoding="utf-8", closefd=False) as file:
        file.writelines(_pieces(tree))
    return held.profile("dask")


class _Counted:
    """What a cycle has counted. Making a Profile of it lets go of the GIL again and again, which takes longer than a short
    cycle where another thread takes it each time."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    def tree(self, *, omit: Collection[str] = ()) -> Tree:
        """As Profile.tree(); not to be changed."""
        return as_profile(self._tree).tree(omit=omit) if omit else self._tree


@contextlib.contextmanager
def _if_free(wanted: Any) -> Iterator[bool]:
    """Whether we have it. Who has it may wait for us to end, or for what we hold."""
    got = wanted.acquire(blocking=False)
    try:
        yield got
    finally:
        if got:
            wanted.release()


class GilSession:
    """What `_plumb.Session` is for the own process, with fewer means: the wall clock, functions and lines.

    A signal handler may call it while its own thread has `_state`: then nobody waits for the thread that samples. And it may want
    a lock of our caller: who has one has it whenever he calls what takes `_state`, which snapshot() does not.
    """

    def __init__(
        self,
        rate: float = 1000.0,
        *,
        mode: str = "wall",
        jitter: bool = True,
        seed: Optional[int] = None,
        tids: Optional[Collection[int]] = None,
        hidden: Collection[int] = (),
        cycle: float = 0.0,
        max_cycles: int = 0,
        recording: Optional[str] = None,
        force: bool = False,
    ) -> None:
        """recording: the file that has it when it is stopped."""
        if mode != "wall":
            raise ValueError("with the GIL only the wall clock can be sampled, not mode=%r" % mode)
        if why_not():
            raise Error(why_not())
        self._hidden = _idents(hidden)
        self._watched = None if tids is None else [thread for thread in _threads.every() if _threads.native_id(thread) in tids]
        self._cycle, self._ended_cycles = cycle, collections.deque((), max_cycles or None)  # type: Tuple[float, Deque[Tuple[float, _Counted]]]
        self._trees = create(), create()  # of all cycles that have ended; of the one that has not
        self._ticks = self._samples = 0
        self._recording, self._force, self._left_older = recording, force, False
        self._stopped = self._forked = False
        self._state = threading.Condition()
        self._watch, self._cycle_end = _Stopwatch(), cycle
        self._schedule = _Schedule(rate, jitter, seed)
        self._thread = threading.Thread(target=self._run, name="Profile", daemon=True)
        _forks.tell(self)
        _threads.begin(self._thread)

    def pause(self) -> None:
        with self._state:
            if not self._watch.paused:
                self._watch.pause()

    def resume(self) -> None:
        with self._state:
            if self._watch.paused:
                self._watch.resume()
                self._begin(self._schedule.rate)

    def set_rate(self, hz: float) -> None:
        with self._state:
            self._begin(hz)

    def reset(self) -> None:
        with self._state:
            self._trees = create(), create()
            self._ticks = self._samples = self._schedule.missed = 0
            self._watch, self._cycle_end = _Stopwatch(), self._cycle

    def status(self) -> Status:
        with self._state:
            return {
                "engine": "gil", "ended": self._stopped, "paused": self._watch.paused, "forked": self._forked,
                "elapsed": self._watch.read(), "rate": self._schedule.rate,
                "samples": self._samples, "ticks": self._ticks, "missed": self._schedule.missed,
                "folded": 0, "unreadable": 0,
            }  # fmt: skip

    def snapshot(self) -> Profile:
        return as_profile(merge(*self._trees))

    def cycles(self) -> List[Tuple[float, _Counted]]:
        """Those that have ended and were not asked for: when, and what was counted."""
        with self._state:
            self._end_cycles()
            ended = list(self._ended_cycles)
            self._ended_cycles.clear()
        return ended

    def recent(self) -> Profile:
        """The cycle that has not ended."""
        with self._state:
            self._end_cycles()
            tree = merge(self._trees[1])
        return as_profile(tree)

    def stop(self) -> Profile:
        with self._state:
            if not self._stopped:
                self._end_cycles()
                if self._cycle:
                    self._end_cycle(time.time())
                self._stopped = True
                self._state.notify_all()
        # From now on it counts no more, and ends when it has heard of that.
        if not self._forked:
            _threads.join(self._thread, self._state)
        profile = self.snapshot()
        path, self._recording = self._recording, None  # the second time nothing happens
        if path is not None and not self._forked:
            self._write(profile, path)
        return profile

    def _write(self, profile: Profile, path: str) -> None:
        self._left_older = not self._samples and os.path.exists(path)
        if not self._left_older:
            profile.save(path, "plumb", "forced" if self._force else "named")

    def left_older(self) -> bool:
        """After stop(): whether nothing was sampled, and what had the file's name before stays."""
        return self._left_older

    def _after_fork(self) -> None:
        """This is the child of a fork: the thread is not here, and who knows what it was doing."""
        self._state = threading.Condition()
        self._stopped = self._forked = True

    def _begin(self, rate: float) -> None:
        self._schedule.begin(rate)
        self._state.notify_all()

    def _end_cycle(self, end: float) -> None:
        before, tree = self._trees
        self._ended_cycles.append((end, _Counted(tree)))
        self._trees = merge(before, tree) if tree["count"] else before, create()

    def _end_cycles(self) -> None:
        late = self._watch.read() - self._cycle_end
        while self._cycle and not self._stopped and late >= 0:
            self._end_cycle(time.time() - late)
            self._cycle_end += self._cycle
            late -= self._cycle

    def _run(self) -> None:
        self._hidden.add(threading.get_ident())
        while self._wait():
            with self._state:
                self._sample()

    def _wait(self) -> bool:
        """Until a sample is due. False: there will be none."""
        with self._state:
            while not self._stopped:
                left = self._schedule.due - time.monotonic()
                if self._watch.paused:
                    self._state.wait()
                elif left > 0:
                    self._state.wait(left)
                else:
                    self._schedule.advance()
                    return True
        return False

    def _sample(self) -> None:
        self._end_cycles()
        if self._watch.paused or self._stopped:
            return
        with _if_free(_no_fork) as no_fork, _if_free(lock) as unlocked:
            if no_fork and unlocked:
                self._count(sys._current_frames())
            else:
                self._schedule.missed += 1

    def _count(self, frames: Dict[int, Any]) -> None:
        """Of each thread that is watched; empties the dict, which has this very frame."""
        watched = None if self._watched is None else {thread.ident for thread in self._watched if thread.is_alive()}
        self._ticks += 1
        while frames:
            ident, frame = frames.popitem()
            if ident not in self._hidden and (watched is None or ident in watched):
                process(frame, None, self._trees[1], depth=_MOST_FRAMES)
                self._samples += 1


def _idents(tids: Collection[int]) -> Set[Optional[int]]:
    return {thread.ident for thread in _threads.every() if _threads.native_id(thread) in tids}


def begin(engine: Optional[str] = None, *, named: bool = True, **options: Any) -> Union[Session, GilSession]:
    """A running session with options of `Session`.

    engine  "inprocess": by reading memory; "gil": by a Python thread with the GIL; None: the first, where it is allowed
    named   the recording is for others, too; one that is not is not written with the GIL
    """
    if engine not in (None, "inprocess", "gil"):
        raise ValueError('engine is "inprocess", "gil" or None, not %r' % (engine,))
    if engine == "gil":
        return _with_the_gil(options, named)
    try:
        return Session(**options)
    except Error as error:
        if engine or error.code != "not-permitted":
            raise
        if why_not():
            raise Error("%s; %s" % (error, why_not())) from None
        session = _with_the_gil(options, named)
        _tell(error)
        return session


def _with_the_gil(options: Dict[str, Any], named: bool) -> GilSession:
    """Options that only say more of a sample, or bound what there is not, have no meaning there."""
    known = {"rate", "mode", "jitter", "seed", "tids", "hidden", "cycle", "max_cycles"} | ({"recording", "force"} if named else set())
    return GilSession(**{name: value for name, value in options.items() if name in known})


def _tell(why: Error) -> None:
    global _told
    if not _told:
        _told = True
        warnings.warn("plumb samples with the GIL, which is less accurate: %s" % why, RuntimeWarning, stacklevel=4)
