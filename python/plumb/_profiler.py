# SPDX-License-Identifier: Apache-2.0
"""Control of one long-lived session: what a service keeps for its whole life and looks into now and then."""
from __future__ import annotations

import contextlib
import json
import os
import re
import weakref
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Tuple, TypedDict

from plumb import _events, _forks, _gil, _threads
from plumb._arguments import checked_count, checked_engine, checked_flag, checked_interval, checked_mode
from plumb._external import ControlledSession
from plumb._plumb import Error
from plumb._report import Report
from plumb._result import Profile
from plumb._session import Controlled, Status
from plumb._step import Step
from plumb._terminal import printable

if TYPE_CHECKING:
    from typing_extensions import Unpack

_TOO_LONG = 10.0  # seconds between two samples

_NO_STATUS: Status = {"samples": 0, "ticks": 0, "missed": 0, "unreadable": 0, "folded": 0, "threads": 0, "elapsed": 0.0}


class ProfilerStatus(TypedDict):
    """As Profiler.status() tells it."""

    state: str
    pid: int
    engine: Optional[str]
    mode: str
    interval: float
    rate_asked: float
    rate_delivered: float
    samples: int
    missed: int
    unreadable: int
    folded: int
    max_nodes: int
    threads: Optional[int]
    elapsed: float
    cpu: Optional[float]


class Record(TypedDict):
    """A function as Profiler.query() tells it."""

    function: str
    file: str
    line: int
    kind: str
    self: float  # its share of the samples, by those that end in it
    self_samples: int
    total: float  # by those that it is in
    total_samples: int


_SORTS: Dict[str, Callable[[Record], int]] = {"self": lambda one: one["self_samples"], "total": lambda one: one["total_samples"]}
_WHY_NOT = {
    "idle": "start() was not called",
    "stopped": "it was stopped",
    "forked": "this process was forked from the one that was sampled, and has not called start() itself",
}


class _Round(Step):
    """From one start() to the next."""

    def __init__(self, state: str, session: Optional[Controlled] = None, profile: Optional[Profile] = None, status: Status = _NO_STATUS,
                 since: Tuple[float, int] = (0.0, 0)) -> None:  # fmt: skip
        super().__init__()
        self.state, self.session = state, session
        self.profile, self.status = profile, status  # when it has ended
        self.since = since  # when this interval began: seconds and ticks


def _stop_all(sessions: "weakref.WeakSet[_gil.GilSession]") -> None:
    """When nobody can ask for them any more."""
    for session in list(sessions):
        session.stop()


class Profiler:
    """Samples the own process from start() to stop(), any number of times; all methods may be called by any thread.

    interval   seconds between two samples of a thread
    threads    None or "all": all there are and will be; else those that run now: Thread, ident, name, or several
    jitter     a random point in each interval instead of its middle
    max_nodes  so much is kept of different stacks; of a stack that is new then, only its known outer part, which is told as folded
    mode       "wall", "cpu" or "gil", as for `plumb run`
    engine     "inprocess", "external", "gil" or None: see plumb.profile(). What is recorded from outside is known a second later,
               and goes to a file: max_nodes is no limit there

    What is counted from one start() to the next is one profile. In the child of a fork nothing runs, until it starts its own.
    """

    def __init__(
        self,
        interval: float = 0.001,
        threads: Any = None,
        jitter: bool = True,
        max_nodes: int = 100_000,
        mode: str = "wall",
        engine: Optional[str] = None,
    ) -> None:
        self._interval = checked_interval(interval, _TOO_LONG)
        self._options: Dict[str, Any] = {
            "mode": checked_mode(mode), "jitter": checked_flag("jitter", jitter), "max_nodes": checked_count("max_nodes", max_nodes),
            "tags": True,
        }  # fmt: skip
        self._threads, self._engine = threads, checked_engine(engine)
        self._lock = _forks.Lock()
        self._latest = _Round("idle")
        # Its thread keeps one that samples with the GIL.
        self._with_the_gil: "weakref.WeakSet[_gil.GilSession]" = weakref.WeakSet()
        weakref.finalize(self, _stop_all, self._with_the_gil).atexit = False
        _forks.tell(self)

    def _after_fork(self) -> None:
        """This is the child of a fork: what sampled is in the parent."""
        now = self._now()
        self._latest = _Round(now.state if now.session is None else "forked")

    # ---- what is sampled ----

    def start(self) -> None:
        """Begin anew; what the last round counted is gone. If it runs: nothing; if it is paused: go on."""
        with self._lock:
            session = self._now().session
            if session is not None:
                session.resume()
                return
            session = self._begin()
            if not self._replace(None, _Round("running", session)):
                session.stop()
            _events.listen(self)

    def stop(self) -> None:
        """End this round; what it counted can be asked for until the next one."""
        with self._lock:
            session, profile = self._now().session, None
            if session is None:
                return
            try:
                profile = Profile(session.stop())
            except Error:  # of the last part: what came before is there
                with contextlib.suppress(Error):
                    profile = Profile(session.snapshot())
                raise
            finally:
                status = _NO_STATUS
                try:
                    status = session.status()
                finally:  # it has ended, even if no more can be said of it
                    self._replace(session, _Round("stopped", profile=profile, status=status))

    def cancel(self) -> None:
        """End this round, in whatever state, and forget what it counted."""
        with self._lock:
            session = self._now().session
            self._replace(session, _Round("idle"))
        if session is not None:
            session.stop()

    def pause(self) -> None:
        """No samples, no wake-ups, and time does not run, until resume()."""
        with self._lock:
            self._running().pause()

    def resume(self) -> None:
        with self._lock:
            self._running().resume()

    def event(self, name: str, /, **values: Any) -> None:
        """As plumb.event(), for this profiler alone. When it does not run, nothing happens."""
        _events.tell(self, name, values)

    def _event_session(self) -> object:
        return self._now().session

    def reset(self) -> None:
        """Forget what was counted; what runs goes on."""
        with self._lock:
            session = self._now().session
            if session is None:
                self._replace(None, _Round("idle"))
            elif session.status()["folded"]:
                self._begin_instead_of(session)
            else:
                session.reset()
                self._replace(session, _Round("running", session))

    def set_interval(self, interval: float) -> None:
        """Seconds between two samples of a thread, at once and from now on. ValueError unless 0 < interval < 10."""
        interval = checked_interval(interval, _TOO_LONG)
        with self._lock:
            session = self._now().session
            if session is not None:
                session.set_rate(1 / interval)
                found = session.status()
                self._replace(session, _Round("running", session, since=(found["elapsed"], found["ticks"])))
            self._interval = interval

    def _now(self) -> _Round:
        self._latest = found = self._latest.latest()
        return found

    def _replace(self, session: Optional[Controlled], new: _Round) -> bool:
        """The round of that session, or that there is none. False: it is not so any more, by a signal handler that was faster."""
        before = self._now().change(lambda now: new if now.session is session else now)
        return before.session is session

    def _begin(self) -> Controlled:
        tids = _threads.native_ids(self._threads)
        if self._engine == "external":
            options = {name: value for name, value in self._options.items() if name != "max_nodes"}
            return ControlledSession(self._lock, 1 / self._interval, tids, **options)
        session = _gil.begin(self._engine, rate=1 / self._interval, tids=tids, **self._options)
        if isinstance(session, _gil.GilSession):
            self._with_the_gil.add(session)
        return session

    def _begin_instead_of(self, session: Controlled) -> None:
        """Of one that is full, which has no room after a reset either."""
        paused = session.status()["paused"]
        session.stop()
        fresh = self._begin()
        if paused:
            fresh.pause()
        if not self._replace(session, _Round("running", fresh)):
            fresh.stop()

    def _running(self) -> Controlled:
        now = self._now()
        if now.session is None:
            raise RuntimeError("nothing is sampled: %s" % _WHY_NOT[now.state])
        return now.session

    # ---- what was found ----

    def status(self) -> ProfilerStatus:
        """What it does, and how well; numbers and words only.

        state           "idle", "running", "paused", "stopped" or "forked"
        rate_asked, rate_delivered   samples per second of each thread, since the interval was last set
        missed          ticks at which it came too late; unreadable: stacks that could not be read; folded: see max_nodes
        elapsed, cpu    seconds that were sampled, and that the profiler itself took of a processor (None: not known)
        """
        with self._lock:
            now, interval = self._now(), self._interval
            found = now.status if now.session is None else now.session.status()
        since, ticks = now.since
        elapsed = found["elapsed"] - since
        return {
            "state": "paused" if now.session is not None and found["paused"] else now.state,
            "pid": os.getpid(),
            "engine": found.get("engine", self._engine or "inprocess"),
            "mode": self._options["mode"],
            "interval": interval,
            "rate_asked": 1 / interval,
            "rate_delivered": (found["ticks"] - ticks) / elapsed if elapsed > 0 else 0.0,
            "samples": found["samples"],
            "missed": found["missed"],
            "unreadable": found["unreadable"],
            "folded": found["folded"],
            "max_nodes": self._options["max_nodes"],
            "threads": found.get("threads"),
            "elapsed": found["elapsed"],
            "cpu": found.get("cpu"),
        }

    def snapshot(self) -> Profile:
        """What this round has counted so far, or the last one to its end. RuntimeError if there was none."""
        with self._lock:
            now = self._now()
        if now.session is not None:
            return Profile(now.session.snapshot())
        if now.profile is None:
            raise RuntimeError("nothing was sampled: %s" % _WHY_NOT[now.state])
        return now.profile

    def query(self, regex: Optional[str] = None, max_records: int = 100, *, sort: str = "self", **report: Unpack[Report]) -> List[Record]:
        """Functions by their share of the samples, each counted once a sample however often it is on the stack.

        regex        only those in whose "function file" it is found
        max_records  so many at most
        sort         "self": by time in the function itself; "total": with what it called
        report       as for a Profile's text(): idle="keep", threads=[...], focus=...
        """
        if not isinstance(regex, (str, type(None))):
            raise TypeError("regex is a text, not %r" % (regex,))
        try:
            fits = re.compile(regex or "").search
        except (re.error, RecursionError, OverflowError) as error:
            raise ValueError("%r is no regular expression: %s" % (regex, error)) from None
        return records(self.snapshot(), fits, max_records, sort, **report)

    def show(self, limit: int = 20, query: Optional[str] = None, sort: str = "self", **report: Unpack[Report]) -> str:
        """The same as a table; `query` is query()'s regex."""
        found = self.query(query, checked_count("limit", limit), sort=sort, **report)
        return table(self.status(), found)


def records(profile: Profile, fits: Callable[[str], Any], most: int, sort: str, **report: Unpack[Report]) -> List[Record]:
    """What query() finds; `fits` is asked about each function."""
    if sort not in _SORTS:
        raise ValueError('sort is "self" or "total", not %r' % (sort,))
    checked_count("max_records", most)
    found = [_record(function) for function in _functions(profile, report)]
    found = [record for record in found if fits("%(function)s %(file)s" % record)]
    found.sort(key=_SORTS[sort], reverse=True)
    return found[:most]


def table(status: ProfilerStatus, found: List[Record]) -> str:
    """Records as text."""
    head = "process %d, %s: %s samples in %.1f s, %.0f a second of %.0f asked" % (
        status["pid"], status["state"], format(status["samples"], ","), status["elapsed"],
        status["rate_delivered"], status["rate_asked"])  # fmt: skip
    lines = [head, "", "  self %  total %   samples  function"]
    for record in found:
        figures = 100 * record["self"], 100 * record["total"], record["total_samples"]
        lines.append("%8.1f %8.1f %9d  " % figures + printable("%(function)s  %(file)s:%(line)d" % record))
    return "\n".join(lines) + "\n"


def _functions(profile: Profile, report: Report) -> List[Dict[str, Any]]:
    """The member `functions` of the JSON report. All its stacks beside it are not taken apart: that would keep other threads
    waiting. A quote within a string is written \\", so this is found nowhere else."""
    text = profile.write("json", **report).decode("utf-8")
    mark = '"functions":'
    functions: List[Dict[str, Any]]
    functions, _ = json.JSONDecoder().raw_decode(text, text.index(mark) + len(mark))
    return functions


def _record(function: Dict[str, Any]) -> Record:
    own, total = function["self"], function["total"]
    return {
        "function": function["qualname"], "file": function["file"], "line": function["line"], "kind": function["kind"],
        "self": own["share"], "self_samples": own["samples"], "total": total["share"], "total_samples": total["samples"],
    }  # fmt: skip
