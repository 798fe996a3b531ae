# SPDX-License-Identifier: Apache-2.0
"""Threads by the number that the kernel has for them, which is how a session knows them."""
from __future__ import annotations

import os
import threading
from typing import Any, Dict, Iterable, List, Optional, Set, Tuple, Union

from plumb._plumb import Error

_ONE = (str, int, threading.Thread)
_NAMED = 20  # names in a message
_MOMENT = 1.0  # for which others have the lock of a list of threads, at the very most

Threads = Union[None, str, int, threading.Thread, Iterable[Union[str, int, threading.Thread]]]


def exists(tid: int) -> bool:
    """Whether a thread of this process has that number."""
    return os.path.exists("/proc/self/task/%d" % tid)


def every() -> List[threading.Thread]:
    """As threading.enumerate(), but for those that have just begun, and without its lock: a signal handler may have interrupted who
    has that, and before 3.9 it would wait for itself."""
    active: Dict[int, threading.Thread] = vars(threading)["_active"]
    return list(active.copy().values())


def begin(thread: threading.Thread) -> None:
    """Start it. Whoever starts threads, or lists them, has a lock for that moment, which before 3.9 is had once: a signal handler that
    has interrupted such a one would wait for ever, and is told instead."""
    lock = vars(threading)["_active_limbo_lock"]
    if not lock.acquire(timeout=_MOMENT):
        raise Error("no thread can be started in a signal handler that has interrupted who starts or lists threads")
    lock.release()
    thread.start()


def native_id(thread: threading.Thread) -> Optional[int]:
    """None: it does not run."""
    if thread.ident == threading.get_ident():
        return threading.get_native_id()
    tid = thread.native_id
    if tid is not None and exists(tid):
        return tid
    # In the child of a fork Python may not have noticed that its main thread has another number.
    return os.getpid() if thread is threading.main_thread() and thread.is_alive() else None


def _native_ids_of(which: Any, ended: bool) -> List[int]:
    """Of the threads that are that one, have that ident or that name."""
    if not isinstance(which, _ONE):
        raise TypeError("a thread is given as a Thread, its ident or its name, not as %r" % (which,))
    if which == threading.get_ident():
        return [threading.get_native_id()]
    found = [native_id(thread) for thread in every() if which in (thread, thread.ident, thread.name)]
    tids = [tid for tid in found if tid is not None]
    if not tids and (isinstance(which, str) or not ended):
        raise ValueError("no thread that runs is %r; there are %s" % (which, _names()))
    return tids


def _names() -> str:
    names = [thread.name for thread in every()]
    return ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")


def native_ids(threads: Threads, *, ended: bool = False) -> Optional[List[int]]:
    """Of one thread or several, each given as a Thread, its ident (threading.get_ident()) or its name. None: of all, also
    of those to come, which is what None and "all" mean. `ended`: a Thread or ident may be of one that has ended, and is left out."""
    if threads is None or threads == "all":
        return None
    several = list(threads) if isinstance(threads, Iterable) and not isinstance(threads, (str, bytes)) else [threads]
    return sorted({tid for which in several for tid in _native_ids_of(which, ended)})


_joining: Set[Tuple[int, threading.Thread]] = set()


def join(thread: threading.Thread, wanted: Any, timeout: Optional[float] = None) -> None:
    """Wait for the end of a thread that may want a lock. Not in a signal handler that has interrupted who has the lock, or who
    waits here already: before 3.13 that one may have the lock of the thread's end."""
    me = threading.get_ident(), thread
    if thread is threading.current_thread() or wanted._is_owned() or me in _joining:
        return
    _joining.add(me)
    try:
        thread.join(timeout)
    finally:
        _joining.discard(me)
