# SPDX-License-Identifier: Apache-2.0
"""What a session is, whatever samples: _plumb.Session, GilSession, ExternalSession, ControlledSession, and OutsideSession of Dask.
Each can be asked and ended. What else one has is in the parts below, and who uses a session names the part that it needs.
"""
from __future__ import annotations

from typing import Collection, Dict, Iterable, Optional, Protocol, Tuple, TypedDict, TypeVar

from plumb._plumb import Profile


class Place(TypedDict):
    filename: str
    name: str
    line_number: int
    line: str


class Tree(TypedDict):
    """A function and what it called, as Dask has it."""

    identifier: str
    description: Place
    count: int
    children: Dict[str, Tree]


class Status(TypedDict, total=False):
    """What is known of a session: of each engine some of it. What is counted is counted since its start."""

    engine: Optional[str]  # what samples
    ended: bool
    paused: bool
    forked: bool  # this is a child of the process that is sampled
    rate: float
    elapsed: float  # seconds, without pauses
    cpu: float  # seconds that plumb itself took
    samples: int
    ticks: int
    missed: int
    unreadable: int
    queue: int
    folded: int
    exact: int
    stopped: int
    doubtful: int
    partial: int
    threads: int
    hottest: str
    hottest_share: float


Counted = TypeVar("Counted", covariant=True)


class Session(Protocol):
    def stop(self) -> object:
        """The second time nothing happens."""

    def status(self) -> Status:
        """Also when it is over."""


class Seen(Session, Protocol):
    """It has one profile, which can be looked at before the end."""

    def stop(self) -> Profile: ...

    def snapshot(self) -> Profile: ...


class Recorded(Seen, Protocol):
    """It may have a file."""

    def left_older(self) -> bool:
        """After stop(): whether nothing was sampled, and what had the file's name before stays."""


class Controlled(Seen, Protocol):
    """It can be changed while it runs."""

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def reset(self) -> None: ...

    def set_rate(self, hz: float, /) -> None: ...


class Cyclic(Session, Protocol[Counted]):
    """It counts in cycles."""

    def cycles(self) -> Iterable[Tuple[float, Counted]]:
        """Those that have ended and were not asked for: time.time() of its end, and what was counted."""

    def recent(self) -> Counted:
        """The cycle that has not ended."""


class HasTree(Protocol):
    """What a cycle has counted, as far as any session knows it."""

    def tree(self, *, omit: Collection[str] = ...) -> Tree:
        """Not to be changed."""
