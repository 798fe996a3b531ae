# SPDX-License-Identifier: Apache-2.0
"""The report page of one request, in the place of its response: GET with ?plumb, from whoever may see the control application."""
from __future__ import annotations

import threading
import urllib.parse
from typing import Any, Awaitable, Callable, Optional

import plumb
from plumb.web._access import Refused, Request
from plumb.web._control import Control, Response
from plumb.web._hosts import ASGIControl, WSGIControl, aside

_FIELD = "plumb"
_TAG = "page"
_one_at_a_time = threading.Lock()  # in a loop two would be in each other's samples


class RequestPage:
    def __init__(self, control: Any) -> None:
        if not isinstance(control, (WSGIControl, ASGIControl)):
            raise TypeError("control is what plumb.web.control() or control_asgi() gives, not %r" % (control,))
        self._core: Control = control._core

    def answer(self, request: Request, serve: Callable[[], None]) -> Optional[Response]:
        """Instead of the application's; None: it was not asked for. serve() is all that is done for the request."""
        if not _is_asked(request):
            return None
        return self._core.refused(request) or self._core.page(request, lambda: _recorded(serve))

    async def answer_later(self, request: Request, serve: Callable[[], Awaitable[None]]) -> Optional[Response]:
        """The same in a loop."""
        if not _is_asked(request):
            return None
        refused: Optional[Response] = await aside(self._core.refused, request)
        if refused:
            return refused
        if not _one_at_a_time.acquire(blocking=False):
            return self._core.page(request, _busy)
        try:
            with plumb.profile(threads=threading.get_ident()) as recording, plumb.tag(**{_TAG: _FIELD}):
                await serve()
            answer: Response = await aside(self._core.page, request, lambda: recording.html(focus="%s=%s" % (_TAG, _FIELD)))
            return answer
        finally:
            _one_at_a_time.release()


def _is_asked(request: Request) -> bool:
    return request.method == "GET" and _FIELD in request.query and _FIELD in dict(urllib.parse.parse_qsl(request.query, keep_blank_values=True))


def _recorded(serve: Callable[[], None]) -> str:
    with plumb.profile(threads=threading.get_ident()) as recording:
        serve()
    return recording.html()


def _busy() -> str:
    raise Refused(409, "another request is being recorded: ask again")
