# SPDX-License-Identifier: Apache-2.0
"""plumb.event: what happens at a moment, in the recordings that are made of it meanwhile."""
from __future__ import annotations

import weakref
from typing import Any, Dict, Protocol, Tuple

from plumb import _forks, _plumb
from plumb._plumb import event as event

_lock = _forks.Lock()


class Listener(Protocol):
    """Who samples this process."""

    def _event_session(self) -> object:
        """The session that runs, None if there is none."""


_listening: Tuple["weakref.ref[Listener]", ...] = ()


def listen(listener: Listener) -> None:
    global _listening
    with _lock:
        others = tuple(one for one in _listening if one() not in (None, listener))
        _listening = (*others, weakref.ref(listener))
        _plumb.hear_events(_heard, True)


def leave(listener: Listener) -> None:
    global _listening
    with _lock:
        _listening = tuple(one for one in _listening if one() not in (None, listener))
        _plumb.hear_events(_heard, bool(_listening))


def _tell(listener: Listener, name: str, labels: str) -> None:
    session = listener._event_session()
    if isinstance(session, _plumb.Session):
        session.event(name, labels)


def tell(listener: Listener, name: str, values: Dict[str, Any]) -> None:
    """To this one alone."""
    _tell(listener, *_plumb.event_texts(name, **values))


def _heard(name: str, labels: str) -> None:
    """What plumb.event() was told: for those that sample this process from within."""
    for one in _listening:
        listener = one()
        if listener is not None:
            _tell(listener, name, labels)
