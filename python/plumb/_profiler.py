# SPDX-License-Identifier: Apache-2.0
"""Control of one long-lived session: what a service keeps for its whole life and looks into now and then."""
from __future__ import annotations

import contextlib
import json
import os
import re
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional

from plumb import _forks, _gil, _threads
from plumb._arguments import checked_count, checked_engine, checked_interval, checked_mode
from plumb._external import ControlledSession
from plumb._plumb import Error
from plumb._report import Report
from plumb._result import Profile
from plumb._terminal import printable

if TYPE_CHECKING:
    from typing_extensions import Unpack

_TOO_LONG = 10.0  # seconds between two samples

_NO_STATUS = {"samples": 0, "ticks": 0, "missed": 0, "unreadable": 0, "folded": 0, "threads": 0, "elapsed": 0.0}
Record = Dict[str, Any]
_SORTS = {"self": "self_samples", "total": "total_samples"}


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
        self._options = {"mode": checked_mode(mode), "jitter": bool(jitter), "max_nodes": checked_count("max_nodes", max_nodes), "tags": True}
        self._threads, self._engine = threads, checked_engine(engine)
        self._lock = _forks.Lock()
        self._session: Any = None
        self._paused: Any = None  # the session that is paused
        self._profile: Optional[Profile] = None  # of the last round, when it has ended
        self._status: Dict[str, Any] = dict(_NO_STATUS)  # likewise
        self._state = "idle"  # while there is no session
        self._since = (0.0, 0)  # when this interval began: seconds and ticks
        _forks.tell(self)

    def _after_fork(self) -> None:
        """This is the child of a fork: what sampled is in the parent."""
        if self._session is not None:
            self._state = "forked"
        self._session = self._profile = None
        self._status = dict(_NO_STATUS)

    # ---- what is sampled ----

    def start(self) -> None:
        """Begin anew; what the last round counted is gone. If it runs: nothing; if it is paused: go on."""
        with self._lock:
            session = self._session
            if session is not None:
                if self._paused is session:
                    self._go_on(session)
                return
            session = self._begin()
            if self._session is not None:  # a signal handler was faster
                session.stop()
                return
            self._session, self._paused, self._profile, self._since = session, None, None, (0.0, 0)

    def stop(self) -> None:
        """End this round; what it counted can be asked for until the next one."""
        with self._lock:
            session = self._session
            if session is None:
                return
            try:
                self._profile = Profile(session.stop())
            except Error:  # of the last part: what came before is there
                with contextlib.suppress(Error):
                    self._profile = Profile(session.snapshot())
                raise
            finally:
                self._status = _gil.status(session)
                self._session, self._paused, self._state = None, None, "stopped"

    def cancel(self) -> None:
        """End this round, in whatever state, and forget what it counted."""
        with self._lock:
            session, self._session = self._session, None
            self._paused, self._profile, self._state = None, None, "idle"
            self._status = dict(_NO_STATUS)
        if session is not None:
            session.stop()

    def pause(self) -> None:
        """No samples, no wake-ups, and time does not run, until resume()."""
        with self._lock:
            session = self._running()
            session.pause()
            self._paused = session

    def resume(self) -> None:
        with self._lock:
            self._go_on(self._running())

    def reset(self) -> None:
        """Forget what was counted; what runs goes on."""
        with self._lock:
            self._profile, self._since = None, (0.0, 0)
            self._status, self._state = dict(_NO_STATUS), "idle"
            session = self._session
            if session is not None:
                self._empty(session)

    def set_interval(self, interval: float) -> None:
        """Seconds between two samples of a thread, at once and from now on. ValueError unless 0 < interval < 10."""
        interval = checked_interval(interval, _TOO_LONG)
        with self._lock:
            session = self._session
            if session is not None:
                session.set_rate(1 / interval)
                found = session.status()
                self._since = found["elapsed"], found["ticks"]
            self._interval = interval

    def _begin(self) -> Any:
        tids = _threads.native_ids(self._threads)
        if self._engine == "external":
            options = {name: value for name, value in self._options.items() if name != "max_nodes"}
            return ControlledSession(self._lock, 1 / self._interval, tids, **options)
        return _gil.begin(self._engine, rate=1 / self._interval, tids=tids, **self._options)

    def _empty(self, session: Any) -> None:
        """A session that is full has no room after a reset either."""
        if not session.status()["folded"]:
            session.reset()
            return
        session.stop()
        fresh = self._begin()
        if self._session is not session:  # a signal handler ended it
            fresh.stop()
            return
        self._session = fresh
        if self._paused is session:
            fresh.pause()
            self._paused = fresh

    def _go_on(self, session: Any) -> None:
        session.resume()
        self._paused = None

    def _running(self) -> Any:
        session = self._session  # once: a signal handler may end it at any time
        if session is None:
            raise RuntimeError("nothing is sampled: %s" % self._why_not())
        return session

    def _why_not(self) -> str:
        if self._state == "forked":
            return "this process was forked from the one that was sampled, and has not called start() itself"
        return "start() was not called" if self._state == "idle" else "it was stopped"

    # ---- what was found ----

    def status(self) -> Dict[str, Any]:
        """What it does, and how well; numbers and words only.

        state           "idle", "running", "paused", "stopped" or "forked"
        rate_asked, rate_delivered   samples per second of each thread, since the interval was last set
        missed          ticks at which it came too late; unreadable: stacks that could not be read; folded: see max_nodes
        elapsed, cpu    seconds that were sampled, and that the profiler itself took of a processor (None: not known)
        """
        with self._lock:
            session, (since, ticks) = self._session, self._since
            found = self._status if session is None else _gil.status(session)
            state = self._state if session is None else "paused" if self._paused is session else "running"
            interval = self._interval
        elapsed = found["elapsed"] - since
        return {
            "state": state,
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
            session, profile = self._session, self._profile
        if session is not None:
            return Profile(session.snapshot())
        if profile is None:
            raise RuntimeError("nothing was sampled: %s" % self._why_not())
        return profile

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
    found.sort(key=lambda record: -record[_SORTS[sort]])
    return found[:most]


def table(status: Dict[str, Any], found: List[Record]) -> str:
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
    record = {"function": function["qualname"], "file": function["file"], "line": function["line"], "kind": function["kind"]}
    for part in ("self", "total"):
        record.update({part: function[part]["share"], part + "_samples": function[part]["samples"]})
    return record
