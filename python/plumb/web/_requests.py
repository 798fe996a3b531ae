# SPDX-License-Identifier: Apache-2.0
"""A request on its way: what its samples are tagged with, and how long it took. What WSGI and ASGI have in common."""
from __future__ import annotations

import time
from typing import Any, Callable, Dict, Optional, TypeVar

from plumb._tags import RequestTag
from plumb.web._routes import Names, folded, known_method
from plumb.web._times import RequestTimes

App = TypeVar("App", bound=Callable[..., Any])

TIMES = RequestTimes()
"""Of all middleware of this process that was given none of its own."""

_NAMES = Names(500)
_UNKNOWN, _NOT_FOUND, _REFUSED, _REDIRECTED = "unknown", "not found", "refused", "redirected"


def checked_app(kind: str, app: App) -> App:
    if not callable(app):
        raise TypeError("app is an application of %s, which can be called, not %r" % (kind, app))
    return app


def checked_times(times: Optional[RequestTimes]) -> RequestTimes:
    """None: those of the process."""
    if times is not None and not isinstance(times, RequestTimes):
        raise TypeError("times is a plumb.web.RequestTimes or None, not %r" % (times,))
    return TIMES if times is None else times


def _instead(status: int) -> Optional[str]:
    """What a request is called that the application may not have known: there are as many such paths as anybody makes up."""
    if status == 404:
        return _NOT_FOUND
    if 300 <= status < 400 and status != 304:
        return _REDIRECTED
    return _REFUSED if status >= 400 and status != 500 else None


class Request:
    """One for each request; used by whatever thread or task works on it, one at a time."""

    __slots__ = ("_times", "_path", "_told", "_labels", "_begin", "_ended")

    def __init__(self, times: RequestTimes, method: str, path: str) -> None:
        self._times = times
        self._path = folded(path)
        self._told: Optional[str] = None
        self._labels: Dict[str, Any] = {"route": _NAMES.seen(self._path) or _UNKNOWN, "method": known_method(method)}
        self._begin = time.perf_counter()
        self._ended = False

    def tag(self) -> Any:
        """Around what works on the request."""
        return RequestTag(**self._labels)

    def _tag_rest(self) -> None:
        # Never left by itself: it ends with the tag around it, or with the task that it was set in.
        self.tag().__enter__()

    def route(self, name: Optional[str]) -> None:
        """A framework found the route."""
        if not isinstance(name, str) or name == self._told:
            return
        self._told = name
        self._labels["route"] = _NAMES.known(name)
        self._tag_rest()

    def started(self, status: Any) -> None:
        """The response has started: no path takes a name before it is known that it is there."""
        if isinstance(status, int) and 100 <= status <= 599:
            self._labels["status"] = status
            if self._told is None:
                self._labels["route"] = self._without(status) or _NAMES.known(self._path)
            self._tag_rest()

    def _without(self, status: int) -> Optional[str]:
        """The name where the path takes none."""
        instead = _instead(status)
        return instead and (_NAMES.seen(self._path) or instead)

    def ended(self) -> None:
        """With or without a response; only the first call counts."""
        if self._ended:
            return
        self._ended = True
        status = self._labels.get("status")
        route = self._told or (status and self._without(status)) or self._path
        self._times.add(self._labels["method"], route, time.perf_counter() - self._begin, status)
