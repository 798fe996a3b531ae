# SPDX-License-Identifier: Apache-2.0
"""What a signal handler may change between any two steps of somebody who changes it, too."""
from __future__ import annotations

from typing import Callable, Dict, TypeVar

S = TypeVar("S", bound="Step")


class Step:
    """One state of such a thing, which stays as it is. A change is one step, to the next state, of whoever comes first."""

    def __init__(self) -> None:
        self._next: Dict[str, Step] = {}

    def become(self, new: Step) -> bool:
        """False: somebody else was faster."""
        return self._next.setdefault("", new) is new

    def latest(self: S) -> S:
        found = self
        while found._next:
            found = found._next[""]  # type: ignore[assignment]  # the states of one thing are of one kind
        return found

    def change(self: S, next_of: Callable[[S], S]) -> S:
        """From the latest state to the one that `next_of` makes of it, or to itself; once more if somebody else was faster. Gives the
        one that was before."""
        while True:
            now = self.latest()
            new = next_of(now)
            if new is now or now.become(new):
                return now
