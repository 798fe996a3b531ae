# SPDX-License-Identifier: Apache-2.0
"""The control application as WSGI, as ASGI, and as a blueprint of Flask (2 and 3)."""
from __future__ import annotations

import asyncio
import contextvars
import http
import urllib.parse
from typing import Any, Awaitable, Callable, Dict, Iterable, List, Mapping, Optional, Tuple

from plumb import _imports
from plumb._profiler import Profiler
from plumb.web._access import Request
from plumb.web._control import LONGEST_BODY, Control, Response
from plumb.web._times import RequestTimes

# ---- WSGI ----


def control(
    profiler: Profiler,
    allow: Optional[Callable[[Any], Any]] = None,
    token: Optional[str] = None,
    allow_loopback: bool = False,
    times: Optional[RequestTimes] = None,
) -> "WSGIControl":
    """A WSGI application that shows and controls the profiler. It answers to whoever presents its token.

    token           without one given it is made: the attribute `token`
    allow           a callable: to whom allow(environ) says so it answers, too
    allow_loopback  to programs of this machine, too. Not behind a proxy: all requests come from this machine there
    times           a RequestTimes; default: that of all middleware that was given none
    """
    return WSGIControl(Control(profiler, allow, token, allow_loopback, times))


class WSGIControl:
    def __init__(self, core: Control) -> None:
        self._core = core
        self.token = core.token

    def __call__(self, environ: Mapping[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        request = of_environ(environ)
        answer = self._core.refused(request) or self._core.answer(request, _wsgi_body(environ))
        return wsgi_answer(answer, start_response)


def wsgi_answer(answer: Response, start_response: Callable[..., Any]) -> Iterable[bytes]:
    start_response("%d %s" % (answer.status, http.HTTPStatus(answer.status).phrase), header_list(answer))
    return [answer.body]


def _wsgi_body(environ: Mapping[str, Any]) -> bytes:
    length = environ.get("CONTENT_LENGTH") or ""
    if environ["REQUEST_METHOD"] != "POST" or not (length.isascii() and length.isdigit()):
        return b""
    body: bytes = environ["wsgi.input"].read(min(int(length[:10]), LONGEST_BODY + 1))
    return body


def of_environ(environ: Mapping[str, Any]) -> Request:
    headers = {key[5:].replace("_", "-").lower(): value for key, value in environ.items() if key.startswith("HTTP_")}
    headers["content-type"] = environ.get("CONTENT_TYPE") or ""
    return Request(
        method=environ["REQUEST_METHOD"],
        mount=environ.get("SCRIPT_NAME", ""),
        path=environ.get("PATH_INFO", ""),
        query=environ.get("QUERY_STRING", ""),
        headers=headers,
        peer=environ.get("REMOTE_ADDR"),
        context=environ,
    )


def header_list(answer: Response) -> List[Tuple[str, str]]:
    return list(answer.headers.items())


# ---- ASGI ----


def control_asgi(
    profiler: Profiler,
    allow: Optional[Callable[[Any], Any]] = None,
    token: Optional[str] = None,
    allow_loopback: bool = False,
    times: Optional[RequestTimes] = None,
) -> "ASGIControl":
    """As control(), for ASGI 3; `allow` is asked about the scope, in another thread."""
    return ASGIControl(Control(profiler, allow, token, allow_loopback, times))


class ASGIControl:
    def __init__(self, core: Control) -> None:
        self._core = core
        self.token = core.token

    async def __call__(self, scope: Mapping[str, Any], receive: Callable[[], Awaitable[Any]], send: Callable[..., Awaitable[None]]) -> None:
        if scope["type"] == "http":
            await self._answer(scope, receive, send)
        elif scope["type"] == "lifespan":
            await _live(receive, send)
        else:
            await receive()
            await send({"type": "websocket.close"})

    async def _answer(self, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        request = of_scope(scope)
        answer = await aside(self._core.refused, request)
        if answer is None:
            body = await _asgi_body(receive) if request.method == "POST" else b""
            if body is None:
                return
            answer = await aside(self._core.answer, request, body)
        await send_answer(answer, send)


async def send_answer(answer: Response, send: Callable[[Dict[str, Any]], Awaitable[None]]) -> None:
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in answer.headers.items()]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})


async def aside(function: Callable[..., Any], *arguments: Any) -> Any:
    """To write a report takes a moment, in which the loop has other things to do."""
    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(None, context.run, function, *arguments)


async def _live(receive: Any, send: Any) -> None:
    for event in ("startup", "shutdown"):
        await receive()
        await send({"type": "lifespan.%s.complete" % event})


async def _asgi_body(receive: Any) -> Optional[bytes]:
    """None: nobody waits for an answer."""
    body, more = b"", True
    while more and len(body) <= LONGEST_BODY:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


def of_scope(scope: Mapping[str, Any]) -> Request:
    headers: Dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = "%s, %s" % (headers[name], value) if name in headers else value
    mount, path = scope.get("root_path", ""), scope["path"]
    if mount and (path + "/").startswith(mount + "/"):  # servers of before ASGI's specification said that it belongs there
        path = path[len(mount) :]
    return Request(
        method=scope["method"],
        mount=mount,
        path=path,
        query=scope.get("query_string", b"").decode("latin-1"),
        headers=headers,
        peer=(scope.get("client") or [None])[0],
        context=scope,
    )


# ---- Flask ----


def flask_blueprint(
    profiler: Profiler,
    name: str = "plumb",
    url_prefix: str = "/plumb",
    *,
    allow: Optional[Callable[[Any], Any]] = None,
    token: Optional[str] = None,
    allow_loopback: bool = False,
    times: Optional[RequestTimes] = None,
) -> Any:
    """As control(), to be given to app.register_blueprint(); `allow` may use what Flask knows of the request. Its attribute
    `token` is that of control(). An extension that checks forms for tokens of its own is to leave this blueprint out."""
    core = Control(profiler, allow, token, allow_loopback, times)
    flask = _imports.imported("flask")
    blueprint = flask.Blueprint(name, __name__, url_prefix=url_prefix)
    blueprint.token = core.token

    def answer(path: str = "") -> Any:
        request = of_environ(flask.request.environ)._replace(path="/" + path)
        found = core.refused(request) or core.answer(request, _flask_body(flask.request))
        return flask.Response(found.body, found.status, header_list(found))

    for rule in ("/", "/<path:path>"):
        blueprint.add_url_rule(rule, "control", answer, methods=["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
    return blueprint


def _flask_body(request: Any) -> bytes:
    """No more of it than can be used, also where its length is not told. An extension may have read the body, or the form, already."""
    if request.method != "POST":
        return b""
    body: bytes = request.stream.read(LONGEST_BODY + 1)
    return body or request.get_data() or urllib.parse.urlencode(list(request.form.items(multi=True))).encode("ascii")
