# SPDX-License-Identifier: Apache-2.0
"""plumb.event: what happens at a moment, in the recordings that are made of it meanwhile."""
from __future__ import annotations

import weakref
from typing import Any, Callable, Dict, Protocol, Tuple

from plumb import _plumb
from plumb._plumb import event as event
from plumb._step import Step


class Listener(Protocol):
    """Who samples this process."""

    def _event_session(self) -> object:
        """The session that runs, None if there is none."""


_Those = Tuple["weakref.ref[Listener]", ...]


class _Listening(Step):
    """Those that listen. No lock: whoever begins to listen has one of its own, which a signal handler may want meanwhile."""

    def __init__(self, those: _Those = ()) -> None:
        super().__init__()
        self.those = those


_latest = _Listening()


def _now() -> _Listening:
    global _latest
    _latest = found = _latest.latest()
    return found


def _change(next_of: Callable[[_Those], _Those]) -> None:
    """What is heard follows from what was changed last, by whomever."""
    _now().change(lambda now: _Listening(next_of(now.those)))
    hears = None
    while hears != bool(_now().those):
        hears = bool(_now().those)
        _plumb.hear_events(_heard, hears)


def _without(those: _Those, listener: Listener) -> _Those:
    return tuple(one for one in those if one() not in (None, listener))


def listen(listener: Listener) -> None:
    _change(lambda those: (*_without(those, listener), weakref.ref(listener)))


def leave(listener: Listener) -> None:
    _change(lambda those: _without(those, listener))


def _tell(listener: Listener, name: str, labels: str) -> None:
    session = listener._event_session()
    if isinstance(session, _plumb.Session):
        session.event(name, labels)


def tell(listener: Listener, name: str, values: Dict[str, Any]) -> None:
    """To this one alone."""
    _tell(listener, *_plumb.event_texts(name, **values))


def _heard(name: str, labels: str) -> None:
    """What plumb.event() was told: for those that sample this process from within."""
    for one in _now().those:
        listener = one()
        if listener is not None:
            _tell(listener, name, labels)
