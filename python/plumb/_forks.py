# SPDX-License-Identifier: Apache-2.0
"""What is to be done in the child of a fork, where the threads that held locks are not."""
from __future__ import annotations

import os
import threading
import weakref
from typing import Any

_told: "weakref.WeakSet[Any]" = weakref.WeakSet()


def tell(thing: Any) -> None:
    """Call thing.forked() in each child for as long as the thing lives."""
    _told.add(thing)


def _tell_all() -> None:
    for thing in list(_told):
        thing.forked()


os.register_at_fork(after_in_child=_tell_all)


class Lock:
    """A lock that is free in the child of a fork, whoever held it in the parent."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        tell(self)

    def forked(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: Any) -> None:
        self._lock.release()
