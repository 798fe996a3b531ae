# SPDX-License-Identifier: Apache-2.0
"""Modules that are imported when they are asked for, in a process that may fork meanwhile.

The child of a fork has the lock of a module that another thread was importing, and has not that thread: to import the module there
would never end. So a fork waits for the imports that begin here. But not for ever, since an import may wait for one of the thread
that forks. A child that has lost one after all, also one that began in the instant before the fork, is told so when it imports.
"""
from __future__ import annotations

import _thread
import functools
import importlib
import os
import sys
import time
from typing import Any, Dict

_MOST_S = 3.0

# By thread: held while it imports.
_locks: Dict[int, Any] = {}

_lost = False


def imported(name: str) -> Any:
    module = sys.modules.get(name)
    if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
        return module
    if _lost:
        raise ImportError("%s cannot be imported in the child of a fork that happened while another thread imported what belongs to plumb: use it once before" % name)
    with _locks.setdefault(_thread.get_ident(), _thread.RLock()):
        return importlib.import_module(name)


def _gets_free(lock: Any, seconds: float) -> bool:
    """To take it and to give it back is one call of what is written in C: a signal handler that raises does not leave it taken."""
    take = functools.partial(_thread.RLock.acquire, timeout=max(seconds, 0.0))
    return bool(list(map(_thread.RLock.release, filter(take, (lock,)))))


def _all_are_free(end: float) -> bool:
    """Now, or by then. Those of the thread that asks are free to it."""
    return all([_gets_free(lock, end - time.monotonic()) for lock in _locks.copy().values()])


def _before_fork() -> None:
    end = time.monotonic() + _MOST_S
    while _all_are_free(end) and not _all_are_free(0.0):  # others have begun meanwhile
        pass


def _in_child() -> None:
    global _lost
    _lost = _lost or not _all_are_free(0.0)
    for thread in list(_locks):
        if thread != _thread.get_ident():
            del _locks[thread]


def _held_by_forks() -> Any:
    """A lock that each fork takes and gives back, in both processes. It is for a module that is imported later: if it were made there,
    while a fork waits, that one would give back what it has not taken."""
    lock = _thread.RLock()
    os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock


# What is registered last is taken first. Who imports is not kept waiting for the locks, and who has that of histories may want the
# one of trees, which is registered by its module where there is no GIL.
if "t" in sys.abiflags:
    from plumb import _trees  # noqa: F401
of_programs = _held_by_forks()  # that are being started: see _external._popen()
of_stacks = _held_by_forks()
of_histories = _held_by_forks()
os.register_at_fork(before=_before_fork, after_in_child=_in_child)
