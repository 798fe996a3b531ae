# SPDX-License-Identifier: Apache-2.0
"""Requests to applications without a server, and what they are answered; for scripts that run where there is no pytest."""
import asyncio
import contextvars
import inspect
import io
import json
import sys
from wsgiref.validate import validator

import plumb
from plumb.web import RequestTimes, _requests, _routes, control

TOKEN = "this is the token"
FORM = "application/x-www-form-urlencoded"
seen_by = contextvars.ContextVar("labels", default={})


class Tag:
    """In the place of plumb.tag: what would be said of a sample that is taken now."""

    def __init__(self, **labels):
        self.labels = labels

    def __enter__(self):
        self.token = seen_by.set({**seen_by.get(), **self.labels})

    def __exit__(self, *_):
        seen_by.reset(self.token)


def labels():
    return dict(seen_by.get())


def environ(path="/", method="GET", **more):
    found = {
        "REQUEST_METHOD": method, "SCRIPT_NAME": "", "PATH_INFO": path, "QUERY_STRING": "",
        "SERVER_NAME": "localhost", "SERVER_PORT": "80", "SERVER_PROTOCOL": "HTTP/1.1", "HTTP_HOST": "localhost",
        "REMOTE_ADDR": "127.0.0.1", "wsgi.version": (1, 0), "wsgi.url_scheme": "http", "wsgi.input": io.BytesIO(),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True, "wsgi.multiprocess": False, "wsgi.run_once": False,
    }  # fmt: skip
    return {**found, **more}


def served(app, **request):
    """(status, headers, body) of a WSGI application; what it does is checked by the standard's own validator."""
    told = []
    body = validator(app)(environ(**request), lambda status, headers, exc_info=None: told.append((status, headers)) or io.BytesIO().write)
    try:
        parts = list(body)
    finally:
        body.close()
    ((status, headers),) = told
    return int(status[:3]), dict(headers), b"".join(parts)


def run_asgi(app, scope, *messages):
    """What an ASGI application sends."""
    waiting, sent = list(messages), []

    async def receive():
        return waiting.pop(0)

    async def send(message):
        sent.append(message)
        await asyncio.sleep(0)

    async def run():
        await app(scope, receive, send)

    asyncio.run(run())
    return sent


def http_scope(path="/", method="GET", **more):
    return {"type": "http", "method": method, "path": path, "headers": [(b"host", b"localhost")], "client": ("127.0.0.1", 5), **more}


def in_letters(number):
    """As a part of a path, of which nothing is folded."""
    return "".join(chr(97 + int(digit)) for digit in str(number))


class Client:
    """Asks a control application, without a server."""

    def __init__(self, app, token=None):
        self.app = app
        self.token = app.token if token is None else token

    def __call__(self, method, path, body=None, headers=None, peer="127.0.0.1", query=""):
        content = b"" if body is None else body if isinstance(body, bytes) else "&".join("%s=%s" % item for item in body.items()).encode()
        more = {"HTTP_" + name.upper().replace("-", "_"): value for name, value in (headers or {}).items()}
        more.update({"CONTENT_TYPE": FORM, "CONTENT_LENGTH": str(len(content)), "wsgi.input": io.BytesIO(content)})
        path, _, asked = path.partition("?")
        return served(self.app, path=path, method=method, QUERY_STRING=query or asked, REMOTE_ADDR=peer, **more)

    def change(self, what, **fields):
        return self("POST", "/" + what, {"token": self.token, **fields})


def control_of(profiler=None, **options):
    """Where nothing else is said, one that this machine may ask."""
    options = options or {"allow_loopback": True}
    return Client(control(profiler or plumb.Profiler(), times=RequestTimes(), **options))


FROM_ANOTHER_SITE = [
    {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "Cross-Site", "Origin": "http://localhost"}, {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": ""}, {"Sec-Fetch-Site": "none, none"}, {"Sec-Fetch-Site": "same-origin", "Origin": "https://example.com"},
    {"Origin": "null"}, {"Origin": ""}, {"Origin": "https://example.com"}, {"Origin": "http://localhost:81"},
    {"Origin": "http://localhost.example.com"}, {"Origin": "http://localhost, https://example.com"}, {"Origin": "localhost"},
    {"Referer": "https://example.com/"}, {"Referer": "https://example.com/http://localhost/"}, {"Referer": "http://localhost:81/"},
    {"Referer": "http://localhost.example.com"}, {"Referer": "http://localhost@example.com/"}, {"Referer": ""},
]  # fmt: skip
FROM_OWN_SITE = [
    {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}, {"Origin": "http://localhost"}, {"Origin": "https://LOCALHOST"},
    {"Origin": "http://127.0.0.1:8000", "Host": "127.0.0.1:8000"}, {"Origin": "http://[::1]:8000", "Host": "[::1]:8000"},
    {"Referer": "http://localhost"}, {"Referer": "https://Localhost/orders?x=1"}, {"Referer": "http://[::1]:8000/", "Host": "[::1]:8000"},
    {"Sec-Fetch-Site": "same-origin", "Referer": "https://the-name-outside-of-the-proxy.example.com/"},
]  # fmt: skip


def run_checks(names, last=None):
    """Each check_ of a module, `last` after the others; their names are told."""
    _requests.RequestTag = Tag
    checks = [(name, check) for name, check in sorted(names.items()) if name.startswith("check_") and inspect.isfunction(check)]
    checks.sort(key=lambda item: item[1] is last)
    for _, check in checks:
        _requests._NAMES = _routes.Names(500)
        check()
    print(json.dumps({"checks": [name for name, _ in checks]}))
