# SPDX-License-Identifier: Apache-2.0
"""Django middleware that tags the samples of a request with the route that Django found, and nothing else."""
from __future__ import annotations

import inspect
from typing import Any, Callable, Optional

from plumb._unseen import unseen
from plumb.web._requests import TIMES, Request
from plumb.web._wsgi import Body

_KEY = "_plumb"  # of Django's request: our own


def django_middleware(get_response: Callable[[Any], Any]) -> Any:
    """For MIDDLEWARE, as the first: "plumb.web.django_middleware". Under WSGI and ASGI; what WSGIMiddleware is for other applications."""
    if not callable(get_response):
        raise TypeError("get_response is a function, which Django gives, not %r" % (get_response,))
    make = _asynchronous if inspect.iscoroutinefunction(get_response) else _synchronous
    return make(get_response)


# What Django asks of middleware that does not say so: to be called in one of the two ways only.
django_middleware.sync_capable = django_middleware.async_capable = True  # type: ignore[attr-defined]


def _begun(django: Any) -> Request:
    request = Request(TIMES, django.method or "", django.path)
    setattr(django, _KEY, request)
    return request


def _tell_route(django: Any) -> None:
    """When the view is known: "/articles/<int:year>/", or the regular expression as it stands."""
    route: Optional[str] = getattr(getattr(django, "resolver_match", None), "route", None)
    request: Optional[Request] = getattr(django, _KEY, None)
    if request and route is not None:
        request.route("/" + route)


def _told(request: Request, response: Any) -> Any:
    request.started(response.status_code)
    file = getattr(response, "file_to_stream", None)  # which the server may have the kernel send
    if response.streaming and file is None and not getattr(response, "is_async", False):
        response.streaming_content = Body(response.streaming_content, request)
    else:
        request.ended()
    return response


def _synchronous(get_response: Callable[[Any], Any]) -> Any:
    @unseen
    def middleware(django: Any) -> Any:
        request = _begun(django)
        try:
            with request.tag():
                return _told(request, get_response(django))
        except BaseException:
            request.ended()
            raise

    def process_view(django: Any, *_: Any) -> None:
        _tell_route(django)

    middleware.process_view = process_view  # type: ignore[attr-defined]
    return middleware


def _asynchronous(get_response: Callable[[Any], Any]) -> Any:
    @unseen
    async def middleware(django: Any) -> Any:
        request = _begun(django)
        try:
            with request.tag():
                return _told(request, await get_response(django))
        except BaseException:
            request.ended()
            raise

    async def process_view(django: Any, *_: Any) -> None:
        _tell_route(django)

    middleware.process_view = process_view  # type: ignore[attr-defined]
    return middleware
