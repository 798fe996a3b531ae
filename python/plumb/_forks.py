# SPDX-License-Identifier: Apache-2.0
"""What is to be done in the child of a fork, where the threads that held locks are not."""
from __future__ import annotations

import _thread
import os
import sys
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


if sys.version_info >= (3, 9):

    class Lock(_thread.RLock):  # type: ignore[misc]  # typeshed has it as final
        """Who has it may take it again, as a signal handler does that interrupts its own thread: what it guards has to be whole
        whenever something else is called. In the child of a fork it is free, unless the thread that forked has it.

        To take it and to give it back is C: a handler that raises does so before or behind, and it is not left taken. But in 3.9
        one may come between a block and its end."""

        def __init__(self) -> None:
            tell(self)

        def _after_fork(self) -> None:
            lock: Any = self
            if not lock._is_owned():
                lock._at_fork_reinit()

else:

    class Lock:
        """The same, where an RLock cannot be made anew: a handler that raises within its methods leaves it taken."""

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
