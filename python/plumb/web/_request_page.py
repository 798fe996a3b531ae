# SPDX-License-Identifier: Apache-2.0
"""The report page of one request, in the place of its response: GET with ?plumb, from whoever may see the control application."""
from __future__ import annotations

import asyncio
import threading
import time
import urllib.parse
from typing import Any, Awaitable, Callable, Iterable, Optional

import plumb
from plumb import _forks, _plumb
from plumb.web._access import Refused, Request
from plumb.web._control import Control, Response, as_asked
from plumb.web._hosts import ASGIControl, WSGIControl, aside

_FIELD = "plumb"
_TAG = "page"
_LONGEST_S = 60.0  # some responses never end


class _OneAtATime:
    """In a loop two would be in each other's samples. In the child of a fork nobody is recorded."""

    def __init__(self) -> None:
        self._after_fork()
        _forks.tell(self)

    def _after_fork(self) -> None:
        self.lock = threading.Lock()


_one_at_a_time = _OneAtATime()


class RequestPage:
    def __init__(self, control: Any) -> None:
        if not isinstance(control, (WSGIControl, ASGIControl)):
            raise TypeError("control is what plumb.web.control() or control_asgi() gives, not %r" % (control,))
        self._core: Control = control._core

    def answer(self, request: Request, serve: Callable[[], Iterable[bytes]]) -> Optional[Response]:
        """Instead of the application's; None: it was not asked for. serve() begins the response, all of which is used up."""
        if not _is_asked(request):
            return None
        return self._core.refused_page(request) or self._record(request, serve)

    def _record(self, request: Request, serve: Callable[[], Iterable[bytes]]) -> Response:
        try:
            with _Recorded() as recording:
                _use_up(serve, time.monotonic() + _LONGEST_S)
        except Refused as why:
            return self._core.refusal(request, why)
        return self._core.page(request, recording.html)

    async def answer_later(self, request: Request, serve: Callable[[], Awaitable[None]]) -> Optional[Response]:
        """The same in a loop."""
        if not _is_asked(request):
            return None
        refused: Optional[Response] = await aside(self._core.refused_page, request)
        return refused or await self._record_later(request, serve)

    async def _record_later(self, request: Request, serve: Callable[[], Awaitable[None]]) -> Response:
        lock = _one_at_a_time.lock
        if not lock.acquire(blocking=False):
            return self._core.refusal(request, Refused(409, "another request is being recorded: ask again"))
        try:
            with _Recorded() as recording, plumb.tag(**{_TAG: _FIELD}):
                await _for_a_time(serve)
            answer: Response = await aside(self._core.page, request, lambda: recording.html(focus="%s=%s" % (_TAG, _FIELD)))
            return answer
        except Refused as why:
            return self._core.refusal(request, why)
        finally:
            lock.release()


class _Recorded:
    """A recording of this thread. Where it cannot begin or end, that is Refused; what the block raises passes as it is."""

    def __init__(self) -> None:
        self._recording = plumb.profile(threads=threading.get_ident())

    def __enter__(self) -> plumb.Recording:
        return as_asked(self._begin)

    def __exit__(self, *raised: Any) -> None:
        as_asked(lambda: self._recording.__exit__(*raised))

    def _begin(self) -> plumb.Recording:
        _plumb.check_format("html")  # which is to be made of it
        return self._recording.__enter__()


def _is_asked(request: Request) -> bool:
    return request.method == "GET" and _FIELD in request.query and _FIELD in dict(urllib.parse.parse_qsl(request.query, keep_blank_values=True))


def _use_up(serve: Callable[[], Iterable[bytes]], end: float) -> None:
    """Or as much of the response as there is until the end."""
    body = serve()
    try:
        for _ in body:
            if time.monotonic() >= end:
                break
    finally:
        if hasattr(body, "close"):
            body.close()


async def _for_a_time(serve: Callable[[], Awaitable[None]]) -> None:
    """At the end the application is cancelled."""
    over = False

    def end() -> None:
        nonlocal over
        over = True
        working.cancel()

    working = asyncio.ensure_future(serve())
    timer = asyncio.get_running_loop().call_later(_LONGEST_S, end)
    try:
        await working
    except asyncio.CancelledError:
        if not over:
            raise
    finally:
        timer.cancel()
