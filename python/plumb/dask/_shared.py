# SPDX-License-Identifier: Apache-2.0
"""What has several users: the first one's begin() makes it, and with the last one's end() it is over."""
from __future__ import annotations

import threading
from typing import Any, Callable, Generic, List, MutableMapping, Optional, TypeVar

Thing = TypeVar("Thing")


class _Used(Generic[Thing]):
    def __init__(self, thing: Thing) -> None:
        self.thing, self.users = thing, 0


class Shared(Generic[Thing]):
    """Things that are shared, each by what it is of; `by` keeps them, and may forget those of what is gone."""

    def __init__(self, by: Optional[MutableMapping[Any, Any]] = None) -> None:
        self._by: MutableMapping[Any, _Used[Thing]] = {} if by is None else by
        self._lock = threading.RLock()  # who makes one may look at the others

    def begin(self, of: Any, make: Callable[[], Thing]) -> Thing:
        """One more uses it. What cannot be made has no user."""
        with self._lock:
            used = self._by.get(of)
            if used is None:
                used = self._by[of] = _Used(make())
            used.users += 1
            return used.thing

    def end(self, of: Any) -> Optional[Thing]:
        """One less uses it. It is told to the last one, who ends it."""
        with self._lock:
            used = self._by.get(of)
            if used is None:
                return None
            used.users -= 1
            if used.users:
                return None
            del self._by[of]
            return used.thing

    def get(self, of: Any) -> Optional[Thing]:
        with self._lock:
            used = self._by.get(of)
            return used.thing if used else None

    def all(self) -> List[Thing]:
        with self._lock:
            return [used.thing for used in self._by.values()]
