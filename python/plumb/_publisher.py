# SPDX-License-Identifier: Apache-2.0
"""A session that counts in cycles, and the thread that publishes what each of them has counted."""
from __future__ import annotations

import atexit
import collections
import contextlib
import itertools
import operator
import threading
import time
import warnings
from typing import Any, Callable, Deque, Dict, Generic, Iterator, Optional, Set, Tuple, TypeVar

from plumb import _forks, _threads
from plumb._plumb import Error
from plumb._session import Cyclic, Status

# A cycle that is due and has not quite ended is asked for again after this part of one, and no later than that.
_AGAIN_PART, _AGAIN_SECONDS = 0.1, 0.02
# Where Python stands still for long, so many cycles wait; then the oldest goes.
MOST_WAITING = 1000
# How often the cycle that has not ended is asked for, when another one ended meanwhile.
_TRIES = 5
# The thread ends as soon as it has heard of it, unless it is in `stop`.
_JOIN_SECONDS = 1.0

_cycles_of, _end_of, _profile_of = operator.methodcaller("cycles"), operator.itemgetter(0), operator.itemgetter(1)

Counted = TypeVar("Counted")
Made = TypeVar("Made")

_running: Set[Publisher[Any, Any]] = set()


class _Latch:
    """What threading.Event is, once it is set for good; but a signal handler may set it while it interrupts who does: an Event has a
    lock then, and the handler would wait for its own thread."""

    def __init__(self) -> None:
        self._is_set = False
        self._closed = threading.Lock()
        self._closed.acquire()

    def is_set(self) -> bool:
        return self._is_set

    def set(self) -> None:
        self._is_set = True
        self._open()

    def wait(self, seconds: float) -> bool:
        if not self._is_set and self._closed.acquire(timeout=seconds):
            self._open()  # for whoever else waits
        return self._is_set

    def _open(self) -> None:
        with contextlib.suppress(RuntimeError):  # it is open
            self._closed.release()


class Publisher(Generic[Counted, Made]):
    """Session, and thread that fetches what it has counted.

    take     is given a queue of entries, (time.time() of its end, what was made) of each cycle, and empties it
    made     of what a cycle has counted, a profile: what is published of it
    stop     asked in each interval whether it is over
    begin    makes the session, of options
    lag      so many seconds after a cycle has ended it is known
    """

    def __init__(
        self,
        take: Callable[[Deque[Tuple[float, Made]]], None],
        made: Callable[[Counted], Made],
        stop: Callable[[], bool],
        begin: Callable[..., Cyclic[Counted]],
        options: Dict[str, Any],
        lag: float = 0.0,
    ) -> None:
        self._take, self._made, self._is_over, self._begun, self._options = take, made, stop, begin, options
        self._lag = lag
        self._cycle: float = options["cycle"]
        self._longest_wait = float("inf") if stop is never else 1 / options["rate"]
        self._lock = threading.RLock()  # a signal handler may want it, too
        self._ending = _Latch()
        self._session: Optional[Cyclic[Counted]] = None
        self._fetched: Deque[Tuple[float, Counted]] = collections.deque()
        self._queue: Deque[Tuple[float, Made]] = collections.deque()
        self._due = 0.0
        self._thread: Optional[threading.Thread] = None
        self._last_status: Status = {}
        _forks.tell(self)
        try:
            with self._lock:
                # The thread comes first: its number has to be known, for it is not to be sampled. It waits for the lock.
                self._thread = _started(self._run, self.stop)
                _running.add(self)
                self._begin()
        except BaseException:
            self.stop()
            raise

    def recent(self) -> Optional[Made]:
        """What is made of the cycle that has not ended; None: it has just begun, or nothing is sampled any more."""
        with self._lock:
            session = self._session
            made = None if session is None else self._recent(session)
        self._take(self._queue)
        return made

    def recent_alone(self) -> Optional[Made]:
        """As recent(), where `take` may be called with our lock: nobody fetches a cycle meanwhile that is in the answer, too."""
        with self._lock:
            return self.recent()

    def _recent(self, session: Cyclic[Counted]) -> Optional[Made]:
        """A cycle that ends between the two is in neither, and one that ends after them may be in both: they are asked again. Not
        for ever: cycles can be shorter than the questions. Then what has ended is all, which it was a moment ago."""
        for _ in range(_TRIES):
            self._fetch(session)
            made = self._made(session.recent())
            if self._fetch_some(session) is None:
                return made
        return None

    def status(self) -> Status:
        with self._lock:
            session = self._session
            return session.status() if session else self._last_status.copy()

    def stop(self) -> None:
        self._over()
        self._end()
        if self._thread:
            _threads.join(self._thread, self._lock, _JOIN_SECONDS)

    def _after_fork(self) -> None:
        """This is the child of a fork: neither thread nor session are here, and who knows who had the locks."""
        self._lock, self._ending = threading.RLock(), _Latch()
        self._fetched, self._queue = collections.deque(), collections.deque()  # without a GIL they may be locked, too
        self._last_status.update({"ended": True, "forked": True})
        self._session = None
        _running.discard(self)

    def _begin(self) -> None:
        hidden = [publisher._thread.native_id for publisher in list(_running) if publisher._thread]
        self._session = session = self._begun(hidden=hidden, **self._options)
        self._last_status = session.status()
        self._due = time.monotonic() + self._cycle

    def _end(self) -> None:
        with self._lock:
            session = self._session  # a signal handler may end it, too
            if session is None:
                return
            try:
                session.stop()
                while self._fetch_some(session) is not None:
                    continue
            finally:
                self._last_status = session.status()
                self._session = None
        self._take(self._queue)

    def _over(self) -> None:
        _running.discard(self)
        self._ending.set()

    def _fetch(self, session: Cyclic[Counted]) -> None:
        """Cycles that have ended go into the queue, and from there into the history when our lock is free: a signal handler
        may interrupt who reads the history, and want ours. Those that end meanwhile are for the next time: with a thread that
        keeps the GIL a cycle may take longer to fetch than it lasted, and this would have no end."""
        began, more = time.monotonic(), True
        while more:
            end = self._fetch_some(session)
            passed = time.monotonic() - began
            more = end is not None and time.time() - end > passed

    def _fetch_some(self, session: Cyclic[Counted]) -> Optional[float]:
        """When the last of them ended; None: there is none. A signal handler may fetch, too, and finds each cycle in one of the queues:
        from the session, and from one queue to the other, it comes by one call of what is written in C."""
        ends: Deque[float] = collections.deque((), 1)
        self._fetched.extend(itertools.chain.from_iterable(map(_cycles_of, (session,))))
        while True:
            try:
                self._queue.extend(self._next_entry(ends))
            except IndexError:  # of popleft(); asked for, as a signal handler may have taken what was there a moment ago
                return ends[0] if ends else None
            self._due = time.monotonic() + min(max(0.0, ends[0] + self._cycle + self._lag - time.time()), self._cycle)

    def _next_entry(self, ends: Deque[float]) -> Iterator[Tuple[float, Made]]:
        """What was fetched first, with what is made of it; when it ended goes into `ends`. Nothing is taken before the entry is."""
        for_end, for_made, for_ends = itertools.tee(itertools.islice(iter(self._fetched.popleft, None), 1), 3)
        made = map(self._made, map(_profile_of, for_made))
        return map(operator.itemgetter(0), zip(zip(map(_end_of, for_end), made), map(ends.append, map(_end_of, for_ends))))

    def _run(self) -> None:
        """What the thread does."""
        try:
            while not self._ending.wait(self._wait_seconds()) and not self._is_over() and self._turn():
                continue
        finally:
            self._over()
            self._end()

    def _wait_seconds(self) -> float:
        with self._lock:
            left = self._due - time.monotonic()
        return min(left if left > 0 else min(self._cycle * _AGAIN_PART, _AGAIN_SECONDS), self._longest_wait)

    def _turn(self) -> bool:
        """False: it is over."""
        with self._lock:
            before = self._due
            if self._session is None:
                return False
            if time.monotonic() < before:  # it was time to ask for the end, and no more
                return True
            self._fetch(self._session)
        self._take(self._queue)
        return self._due == before or (self._has_threads() and self._renew())

    def _has_threads(self) -> bool:
        tids = self._options["tids"]
        return tids is None or any(map(_threads.exists, tids))

    def _renew(self) -> bool:
        """A session that has folded stacks would never tell new functions from the known ones that call them."""
        if not self.status().get("folded"):
            return True
        self._end()
        try:
            with self._lock:
                if self._ending.is_set():
                    return False
                self._begin()
        except Error as error:
            warnings.warn("plumb samples no more, as no new session can be begun: %s" % error, RuntimeWarning)
            return False
        return True


def _started(run: Callable[[], None], stop: Callable[[], None]) -> threading.Thread:
    try:
        thread = threading.Thread(target=run, name="Profile", daemon=True)
        thread.start()
        return thread
    except RuntimeError:
        # Subinterpreters of 3.12 and later may have no daemons, and wait for other threads before their atexit.
        thread = threading.Thread(target=run, name="Profile", daemon=False)
        threading._register_atexit(stop)  # type: ignore[attr-defined]
        thread.start()
        return thread


def never() -> bool:
    return False


def _at_exit() -> None:
    for publisher in list(_running):
        publisher.stop()


atexit.register(_at_exit)
