# SPDX-License-Identifier: Apache-2.0
"""watch(): a history of what threads do, cycle by cycle, which grows while they run."""
from __future__ import annotations

import functools
import operator
import sys
import threading
from typing import TYPE_CHECKING, Callable, Collection, Optional, Union

from plumb import _gil, _threads
from plumb._arguments import checked_count, checked_flag, checked_interval, checked_omit, is_number
from plumb._history import History
from plumb._publisher import MOST_WAITING, Publisher, never
from plumb._session import HasTree, Status, Tree
from plumb._trees import create

if TYPE_CHECKING:
    import datetime

Time = Union[str, float, "datetime.timedelta"]

_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 7 * 86400.0}
_LONG_UNITS = {
    "second": "s", "millisecond": "ms", "microsecond": "us", "nanosecond": "ns", "minute": "m", "hour": "h", "day": "d", "week": "w",
}  # fmt: skip


def seconds(value: Time) -> float:
    """Of "20ms", "2 s", "1.5 minutes", a number of seconds, a timedelta."""
    # Who gives a timedelta has imported it. Interpreters beside the first end the process with it in Python 3.12 and 3.13.
    dates = sys.modules.get("datetime")
    if dates is not None and isinstance(value, dates.timedelta):
        return float(value.total_seconds())
    if not isinstance(value, str):
        if not is_number(value):
            raise TypeError("not a time: %r; that is a number of seconds or a text like \"20ms\"" % (value,))
        return float(value)  # type: ignore[arg-type]  # no timedelta
    text = value.replace(" ", "").lower() or "?"
    number = text.rstrip("abcdefghijklmnopqrstuvwxyz")
    unit = text[len(number) :] or "s"
    try:
        return float(number or "1") * _UNITS[_LONG_UNITS.get(unit[:-1] if unit.endswith("s") else unit, unit)]
    except (KeyError, ValueError):
        raise ValueError("not a time: %r; that is a number and one of %s" % (value, ", ".join(_UNITS))) from None


def positive(name: str, value: Time) -> float:
    try:
        result = seconds(value)
    except (TypeError, ValueError) as error:
        raise type(error)("%s: %s" % (name, error)) from None
    if not 0 < result < float("inf"):
        raise ValueError("%s is longer than 0, not %r" % (name, value))
    return result


class Watch(History):
    """What watch() returns: a deque of (time.time() of its end, tree) for each cycle, whose trees are not to be changed."""

    # A copy has none: nothing is added to it any more.
    _publisher: Optional[Publisher[HasTree, Tree]] = None

    @property
    def engine(self) -> Optional[str]:
        """What samples: "inprocess", or "gil" where that is not allowed; None: nothing ever did."""
        engine: Optional[str] = self.status()["engine"]
        return engine

    def recent(self) -> Tree:
        """The cycle that has not ended. What has ended is in the history when this returns."""
        made = self._publisher.recent() if self._publisher else None
        return create() if made is None else made

    def status(self) -> Status:
        """Of the session, with `engine`; another one begins when it has folded stacks."""
        return self._publisher.status() if self._publisher else {"engine": None, "ended": True, "samples": 0}

    def stop(self) -> None:
        """All that was sampled is in the history when this returns, and there will be no more."""
        if self._publisher:
            self._publisher.stop()


def watch(
    thread_id: _threads.Threads = None,
    interval: Time = "20ms",
    cycle: Time = "2s",
    maxlen: Optional[int] = 1000,
    omit: Union[Collection[str], str, None] = None,
    stop: Callable[[], bool] = never,
    *,
    jitter: bool = True,
    max_nodes: int = 100_000,
    engine: Optional[str] = None,
) -> Watch:
    """Sample threads from now on. Each cycle becomes an entry (time of its end, tree) of the history that is returned.

    thread_id  what threading.get_ident() says in the thread; several of these; "all". None: the calling thread
    interval   seconds between two samples, or a text like "20ms"
    cycle      seconds that a tree is about, or a text
    maxlen     entries to keep; None: all
    omit       suffixes of file names: a stack whose innermost function is in one of them is not counted
    stop       a function that is asked once in each interval; True: that was the last
    jitter     sample at a random point of each interval, and not in its middle
    max_nodes  of the sampler's own tree; when there are more it begins anew with the next cycle
    engine     "inprocess": by reading the process's memory; "gil": with the GIL; None: the latter only where the former is refused

    It ends with its threads, when `stop` says so, with history.stop(), or with the program.
    """
    if not callable(stop):
        raise TypeError("stop is a function without arguments, which says whether to stop, not %r" % (stop,))
    omit = checked_omit(omit)
    if maxlen is not None:
        checked_count("maxlen", maxlen)
    options = {
        "rate": 1 / checked_interval(positive("interval", interval)), "cycle": positive("cycle", cycle),
        "jitter": checked_flag("jitter", jitter),
        "max_nodes": checked_count("max_nodes", max_nodes),
        "tids": _threads.native_ids(threading.get_ident() if thread_id is None else thread_id, ended=True),
        "max_cycles": min(maxlen or MOST_WAITING, MOST_WAITING),
    }  # fmt: skip
    history = Watch((), maxlen)
    if options["tids"] != []:
        made: Callable[[HasTree], Tree] = operator.methodcaller("tree", omit=omit)
        history._publisher = Publisher(history._take, made, stop, functools.partial(_gil.begin, engine), options)
    return history
