# SPDX-License-Identifier: Apache-2.0
"""WSGI middleware that tags the samples of a request, and nothing else."""
from __future__ import annotations

from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional

from plumb._unseen import unseen
from plumb.web import _routes
from plumb.web._hosts import of_environ, wsgi_answer
from plumb.web._request_page import RequestPage
from plumb.web._requests import Request, checked_app, checked_times
from plumb.web._times import RequestTimes

# A callable that applications may tell their route to: environ["plumb.route"]("/users/{id}").
ROUTE = "plumb.route"


class WSGIMiddleware:
    """While the application works on a request or makes a part of its response, samples are tagged with route and method, and
    with the status from when the response starts. `times` takes how long requests took. Responses and exceptions pass as they are.

    control  what plumb.web.control() gives: whoever may see that gets, for a GET with ?plumb, the report page of the request
    """

    def __init__(self, app: Callable[..., Iterable[bytes]], times: Optional[RequestTimes] = None, *, control: Any = None) -> None:
        self.app = checked_app("WSGI", app)
        self.times = checked_times(times)
        self._page = None if control is None else RequestPage(control)
        _routes.ask_flask(app, _tell_rule)

    @unseen
    def __call__(self, environ: Dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        found = self._page and self._page.answer(of_environ(environ), lambda: self._serve(environ, _ignored))
        return wsgi_answer(found, start_response) if found else self._serve(environ, start_response)

    @unseen
    def _serve(self, environ: Dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        request = Request(self.times, environ.get("REQUEST_METHOD", ""), _routes.wsgi_path(environ))
        environ[ROUTE] = request.route
        wrapped = _note_wrapped(environ)

        def start(status: str, headers: Any, *exc_info: Any) -> Any:
            request.route(_routes.of_werkzeug(environ))
            request.started(_number(status))
            return start_response(status, headers, *exc_info)

        try:
            with request.tag():
                body = self.app(environ, start)
        except BaseException:
            request.ended()
            raise
        if _is_there(body, environ) or any(body is file for file in wrapped):
            request.ended()
            return body
        return Body(body, request)


def _ignored(*_: Any) -> Callable[[bytes], None]:
    """start_response() of an application whose response nobody gets."""
    return lambda data: None


def _tell_rule(environ: Mapping[str, Any]) -> None:
    rule, tell = _routes.of_werkzeug(environ), environ.get(ROUTE)
    if rule and tell:
        tell(rule)


def _number(status: Any) -> Optional[int]:
    try:
        return int(status[:3])
    except (TypeError, ValueError):
        return None  # the server will say what is wrong with it


def _note_wrapped(environ: Dict[str, Any]) -> List[Any]:
    """What the server makes of files, so that the kernel can send them, and knows again. Its wrapper may be a function that gives back
    the very file, as that of uWSGI."""
    made: List[Any] = []
    wrapper = environ.get("wsgi.file_wrapper")
    if wrapper is None or isinstance(wrapper, type):
        return made

    def noting(*args: Any) -> Any:
        made.append(wrapper(*args))
        return made[-1]

    environ["wsgi.file_wrapper"] = noting
    return made


def _is_there(body: Any, environ: Mapping[str, Any]) -> bool:
    """Nothing of the application's runs while it is sent. Servers look at the type of such bodies: at the length of a list, and
    whether it is a file that the kernel can send."""
    wrapper = environ.get("wsgi.file_wrapper")
    return isinstance(body, (list, tuple, bytes)) or (isinstance(wrapper, type) and isinstance(body, wrapper))


class Body:
    """A response that is made while it is sent."""

    def __init__(self, body: Iterable[bytes], request: Request) -> None:
        self._body = body
        self._parts: Optional[Iterator[bytes]] = None
        self._request = request

    def __iter__(self) -> "Body":
        return self

    @unseen
    def __next__(self) -> bytes:
        try:
            with self._request.tag():
                if self._parts is None:
                    self._parts = iter(self._body)
                return next(self._parts)
        except BaseException:  # StopIteration, too
            self._request.ended()
            raise

    def close(self) -> None:
        try:
            if hasattr(self._body, "close"):
                with self._request.tag():
                    self._body.close()
        finally:
            self._request.ended()
