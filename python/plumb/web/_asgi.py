# SPDX-License-Identifier: Apache-2.0
"""ASGI middleware that tags the samples of a request, and nothing else."""
from __future__ import annotations

import asyncio
from typing import Any, Awaitable, Callable, Dict, Mapping, MutableMapping, Optional

from plumb._unseen import unseen
from plumb.web import _routes
from plumb.web._hosts import of_scope, send_answer
from plumb.web._request_page import RequestPage
from plumb.web._requests import Request, checked_app, checked_times
from plumb.web._times import RequestTimes

Message = Dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class ASGIMiddleware:
    """As WSGIMiddleware, for ASGI 3. What overlaps in one thread is kept apart by the context of its task. Whatever is no HTTP
    request (lifespan, websockets) passes as it is. `control` is what plumb.web.control_asgi() gives."""

    def __init__(self, app: Callable[..., Awaitable[None]], times: Optional[RequestTimes] = None, *, control: Any = None) -> None:
        self.app = checked_app("ASGI", app)
        self.times = checked_times(times)
        self._page = None if control is None else RequestPage(control)

    @unseen
    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope.get("type") != "http":
            await self.app(scope, receive, send)
            return
        if self._page:
            found = await self._page.answer_later(of_scope(scope), lambda: self._serve(scope, receive, _ignored))
            if found:
                await send_answer(found, send)
                return
        await self._serve(scope, receive, send)

    @unseen
    async def _serve(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        path = str(scope.get("path", ""))
        request = Request(self.times, str(scope.get("method", "")), path)

        def matched(found: Mapping[str, Any], mounted: str) -> None:
            request.route(_routes.of_matched(path, found, mounted))

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                request.started(message.get("status"))
            await send(message)
            if message["type"] == "http.response.body" and not message.get("more_body"):
                request.ended()

        try:
            with request.tag():
                await self.app(_routes.Scope(scope, matched), receive, sending)
        finally:
            request.ended()


async def _ignored(message: Message) -> None:
    """send() of an application whose response nobody gets. Others get their turn, as when something is sent."""
    await asyncio.sleep(0)
