# SPDX-License-Identifier: Apache-2.0
"""plumb.event: what happens at a moment, in the recordings that are made of it meanwhile."""
from __future__ import annotations

import weakref
from typing import Any, Dict, Protocol, Tuple

from plumb import _forks, _plumb
from plumb._tags import KEY_LENGTH, LABELS, VALUE_LENGTH, cut

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


def leave(listener: Listener) -> None:
    global _listening
    with _lock:
        _listening = tuple(one for one in _listening if one() not in (None, listener))


def tell(listener: Listener, name: str, values: Dict[str, Any]) -> None:
    if not isinstance(name, str):
        raise TypeError("the name of an event is a text, not %r" % (name,))
    session = listener._event_session()
    if isinstance(session, _plumb.Session):
        labels = list(values.items())[:LABELS]
        text = "".join("%s\0%s\0" % (cut(key, KEY_LENGTH), cut(str(value), VALUE_LENGTH)) for key, value in labels)
        session.event(cut(name, VALUE_LENGTH), text)


def event(name: str, /, **values: Any) -> None:
    """Note that this happens now, in this thread: `plumb.event("epoch", number=3, loss=0.25)`.

    All recordings and profilers of this process that sample from within (engine "inprocess") get it; without one nothing happens.
    A name and values, which str() writes, are cut at 100 characters; of the values the first 16 are kept.
    """
    for one in _listening:
        listener = one()
        if listener is not None:
            tell(listener, name, values)
