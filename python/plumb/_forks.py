# SPDX-License-Identifier: Apache-2.0
"""What is to be done in the child of a fork, where the threads that held locks are not."""
from __future__ import annotations

import os
import threading
import weakref
from typing import Any

_told: "weakref.WeakSet[Any]" = weakref.WeakSet()


def tell(thing: Any) -> None:
    """Call thing._after_fork() in each child for as long as the thing lives."""
    _told.add(thing)


def _tell_all() -> None:
    for thing in list(_told):
        thing._after_fork()


os.register_at_fork(after_in_child=_tell_all)


class Lock:
    """Who has it may take it again, as a signal handler does that interrupts its own thread: what it guards has to be whole
    whenever something else is called. In the child of a fork it is free, unless the thread that forked has it."""

    def __init__(self) -> None:
        self._lock: Any = threading.RLock()
        tell(self)

    def _after_fork(self) -> None:
        if not self._lock._is_owned():
            self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: Any) -> None:
        self._lock.release()
