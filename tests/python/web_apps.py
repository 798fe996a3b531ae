# SPDX-License-Identifier: Apache-2.0
"""Real applications on real sockets, profiled and controlled over HTTP while clients ask them: `flask` or `asgi`; `django` is profiled."""
import asyncio
import collections
import contextlib
import http.client
import json
import logging
import socket
import sys
import threading
import time
import wsgiref.util

import plumb
import plumb.web

SPIN_S = 0.006
REST_S = 0.05  # of whoever asks for the profile: without it most of the samples would be of that
FORM = "application/x-www-form-urlencoded"

profiler = plumb.Profiler()


def spin():
    end = time.perf_counter() + SPIN_S
    while time.perf_counter() < end:
        pass


# Who calls spin() says for which route it works. One function for each, so that a stack tells what its tag must be.
def work_of_fast():
    spin()


def work_of_slow():
    for _ in range(3):
        spin()


def work_of_stream():
    spin()


ROUTES = {"work_of_fast": "fast", "work_of_slow": "slow", "work_of_stream": "stream"}
PATHS = ["/fast/1", "/fast/22", "/slow/some-name", "/stream", "/nowhere/%d"]


# ---- clients ----


class Client:
    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port)

    def __call__(self, method, path, body=None, **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self.connection.request(method, path, body, {"Content-Type": FORM, **headers} if body else headers)
        response = self.connection.getresponse()
        return response.status, response.read()


class Load:
    """Threads that ask without an end, and what they were told."""

    def __init__(self, port):
        self.port, self.end = port, threading.Event()
        self.told, self.of_each, self.failed = collections.Counter(), [], []
        self.threads = []

    def add(self, count, *paths, rest_s=0):
        for _ in range(count):
            thread = threading.Thread(target=self.ask, args=(paths, rest_s))
            self.threads.append(thread)
            thread.start()

    def ask(self, paths, rest_s):
        told = collections.Counter()  # of one for all, numbers would be lost where there is no GIL
        self.of_each.append(told)
        try:
            client = Client(self.port)
            while not self.end.is_set():
                for i, path in enumerate(paths):
                    path = path.replace("%d", str(i))
                    told[path, client("GET", path)[0]] += 1
                self.end.wait(rest_s)
        except Exception as error:
            self.failed.append(error)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end.set()
        for thread in self.threads:
            thread.join()
        for told in self.of_each:
            self.told.update(told)
        assert not self.failed, self.failed[0]


# ---- what is found ----


def stacks(text):
    """(frames, samples) of collapsed stacks."""
    for line in text.decode().splitlines():
        frames, _, count = line.rpartition(" ")
        yield frames.split(";"), int(count)


def check_tags(text, routes):
    """Each sample of a route's work has that route's tag and no other's, or none where it could not be proved; by route, how many
    there are with a tag, and with a status; how many there are without."""
    found, started, untagged = collections.Counter(), collections.Counter(), 0
    for frames, count in stacks(text):
        works = {work for work in ROUTES if any(":%s:" % work in frame for frame in frames)}
        if not works:
            continue
        (work,) = works
        tags = [frame for frame in frames if frame.startswith("[") and "route=" in frame]
        if not tags:
            untagged += count
            continue
        (tag,) = tags
        assert "route=%s" % routes[work] in tag and "method=GET" in tag, (tag, frames)
        found[work] += count
        started[work] += count if "status=200" in tag else 0
    return found, started, untagged


def answered(port, headers, *parts):
    """The status that a POST gets, once these parts of its body have been sent; a body that is not whole is never whole."""
    lines = ["POST /plumb/start HTTP/1.1", "Host: localhost", *headers, "", ""]
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall("\r\n".join(lines).encode())
        for part in parts:
            connection.sendall(b"%x\r\n%s\r\n" % (len(part), part))
        return int(connection.makefile("rb").readline().split()[1])


def check_bodies(port, token):
    """Whoever may not ask is told so before they have sent anything, and nobody has more read than can be used."""
    stranger, chunked = "X-Forwarded-For: 10.1.2.3", "Transfer-Encoding: chunked"
    assert answered(port, [stranger, "Content-Length: 400000000"]) in (401, 403)
    assert answered(port, [stranger, chunked]) in (401, 403)
    assert answered(port, ["Authorization: Bearer " + token, chunked], bytes(40000), bytes(40000)) == 413


def controlled(port, token, routes):
    """All that can be done over HTTP, while clients ask for everything."""
    ask = Client(port)

    def change(what, **fields):
        body = "&".join("%s=%s" % item for item in dict(fields, token=token).items())
        status, told = ask("POST", "/plumb/" + what, body)
        assert status == 200, (what, status, told)
        return json.loads(told)

    def status():
        code, told = ask("GET", "/plumb/status")
        assert code == 200, told
        return json.loads(told)

    assert status()["state"] == "idle"
    assert ask("POST", "/plumb/start")[0] == 401 and ask("POST", "/plumb/start", "token=wrong")[0] == 403
    assert ask("GET", "/plumb/status", X_Forwarded_For="10.1.2.3")[0] in (401, 403)  # servers may take it for where it comes from
    assert ask("POST", "/plumb/interval", "interval=x&token=" + token)[0] == 400
    check_bodies(port, token)
    with Load(port) as load:
        load.add(4, *PATHS)
        assert change("start")["state"] == "running"
        load.add(3, "/plumb/status", "/plumb/text", "/plumb/times", rest_s=REST_S)
        assert change("interval", interval="0.002")["interval"] == 0.002
        change("reset")
        counted = collections.Counter()
        while min(counted[work] for work in ROUTES) < 20 or status()["samples"] < 500:
            time.sleep(REST_S)
            code, text = ask("GET", "/plumb/collapsed")
            assert code == 200, text
            counted, _, _ = check_tags(text, routes)
        assert change("pause")["state"] == "paused"
        before = status()["samples"]
        for _ in range(20):
            assert ask("GET", "/fast/3")[0] == 200
        assert status()["samples"] == before
        assert change("resume")["state"] == "running"
        assert change("stop")["state"] == "stopped"
    for path, kind in [("/plumb/flamegraph", b"<!doctype html>"), ("/plumb/flamegraph.svg", b"<?xml"), ("/plumb/", b"<!doctype html>")]:
        code, page = ask("GET", path)
        assert code == 200 and page.lower().startswith(kind), (path, code, page[:200])
    counted, started, untagged = check_tags(ask("GET", "/plumb/collapsed")[1], routes)
    assert started["work_of_stream"] == counted["work_of_stream"], "it works after the response has started"
    assert started["work_of_fast"] == 0, "it works before that"
    assert {status for path, status in load.told if path.startswith("/plumb/")} == {200}
    asked = collections.Counter({"fast": 20})
    for (path, _), count in load.told.items():
        asked[path.split("/")[1]] += count
    names = {**{routes[work]: name for work, name in ROUTES.items()}, "not found": "nowhere"}
    # What a client has been told may still be on its way into the table.
    rows = {}
    while not rows or any(rows[route]["count"] < asked[name] for route, name in names.items()):
        rows = {row["route"]: row for row in json.loads(ask("GET", "/plumb/times")[1])["routes"]}
    assert {route: rows[route]["count"] for route in names} == {route: asked[name] for route, name in names.items()}
    assert rows[routes["work_of_slow"]]["p50_s"] >= 3 * SPIN_S > SPIN_S
    assert rows[routes["work_of_slow"]]["statuses"] == {"2xx": asked["slow"]}
    assert change("cancel")["state"] == "idle"
    return {"samples": dict(counted), "untagged": untagged, "requests": sum(load.told.values())}


# ---- applications ----


@contextlib.contextmanager
def serving(server):
    """Its port, while a thread of its own serves."""
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextlib.contextmanager
def served_by_werkzeug(app):
    from werkzeug.serving import make_server

    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    server = make_server("127.0.0.1", 0, app, threaded=True)
    with serving(server) as port:
        yield port


def flask_application():
    import flask

    app = flask.Flask("test")
    blueprint = plumb.web.flask_blueprint(profiler, allow_loopback=True)
    app.register_blueprint(blueprint)
    app.wsgi_app = plumb.web.WSGIMiddleware(app.wsgi_app)

    @app.route("/fast/<int:n>")
    def fast(n):
        work_of_fast()
        return "fast"

    @app.route("/slow/<name>")
    def slow(name):
        work_of_slow()
        return "slow"

    @app.route("/stream")
    def stream():
        def parts():
            for _ in range(3):
                work_of_stream()
                yield b"part"

        return flask.Response(parts())

    return app, blueprint.token


def main_flask():
    app, token = flask_application()
    with served_by_werkzeug(app) as port:
        return controlled(port, token, {"work_of_fast": "/fast/<int:n>", "work_of_slow": "/slow/<name>", "work_of_stream": "/stream"})


@contextlib.contextmanager
def served_by_uvicorn(app):
    import uvicorn

    # A client that gets no processor for a while must not find its connection closed.
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="critical", timeout_keep_alive=600))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()


def asgi_application():
    from starlette.applications import Starlette
    from starlette.responses import PlainTextResponse, StreamingResponse
    from starlette.routing import Mount, Route

    async def fast(request):
        for _ in range(3):
            work_of_fast()
            await asyncio.sleep(0)  # another request's turn
        return PlainTextResponse("fast")

    async def slow(request):
        work_of_slow()
        await asyncio.sleep(0.001)
        work_of_slow()
        return PlainTextResponse("slow")

    async def stream(request):
        async def parts():
            for _ in range(3):
                work_of_stream()
                await asyncio.sleep(0)
                yield b"part"

        return StreamingResponse(parts())

    control = plumb.web.control_asgi(profiler, allow_loopback=True)
    routes = [Route("/fast/{n:int}", fast), Route("/slow/{name}", slow), Route("/stream", stream), Mount("/plumb", control)]
    return plumb.web.ASGIMiddleware(Starlette(routes=routes)), control.token


def main_asgi():
    app, token = asgi_application()
    with served_by_uvicorn(app) as port:
        return controlled(port, token, {"work_of_fast": "/fast/{n}", "work_of_slow": "/slow/{name}", "work_of_stream": "/stream"})


@contextlib.contextmanager
def served_by_wsgiref(app):
    from socketserver import ThreadingMixIn
    from wsgiref import simple_server

    class Server(ThreadingMixIn, simple_server.WSGIServer):
        request_queue_size = 100

    class Handler(simple_server.WSGIRequestHandler):
        def log_message(self, *_):
            pass

    server = simple_server.make_server("127.0.0.1", 0, app, Server, Handler)
    with serving(server) as port:
        yield port


def fast(request, n):
    work_of_fast()
    return sys.modules["django.http"].HttpResponse("fast")


async def slow(request, name):
    work_of_slow()
    return sys.modules["django.http"].HttpResponse("slow")


def stream(request):
    def parts():
        for _ in range(3):
            work_of_stream()
            yield b"part"

    return sys.modules["django.http"].StreamingHttpResponse(parts())


def file(request):
    return sys.modules["django.http"].FileResponse(open(__file__, "rb"))


class FileWrapper:
    """By which a server knows what the kernel can send."""

    def __init__(self, file, size):
        self.close = file.close


def check_a_file_is_for_the_kernel_to_send(application):
    environ = {"PATH_INFO": "/file", "wsgi.file_wrapper": FileWrapper}
    wsgiref.util.setup_testing_defaults(environ)
    body = application(environ, lambda *_: None)
    assert isinstance(body, FileWrapper), body
    body.close()


def django_routes():
    from django.conf import settings
    from django.urls import include, path, re_path

    middleware = ["plumb.web.django_middleware", "django.middleware.common.CommonMiddleware"]
    settings.configure(ROOT_URLCONF="web_apps", MIDDLEWARE=middleware, ALLOWED_HOSTS=["*"], SECRET_KEY="of the test")
    sys.modules["web_apps"] = sys.modules["__main__"]
    more = [path("<int:n>", fast)]
    return [path("fast/", include(more)), path("slow/<slug:name>", slow), path("file", file), re_path(r"^(?:stream)$", stream)]


async def asked_over_asgi(app, *paths):
    """Statuses and bodies, of requests that overlap."""

    async def ask(path):
        messages = []
        scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": [(b"host", b"localhost")], "http_version": "1.1"}
        over = asyncio.Event()

        async def receive():
            if messages:
                await over.wait()
                return {"type": "http.disconnect"}
            messages.append(None)
            return {"type": "http.request", "body": b""}

        async def send(message):
            messages.append(message)

        await app(scope, receive, send)
        over.set()
        return messages[1]["status"], b"".join(message.get("body", b"") for message in messages[2:])

    return await asyncio.gather(*map(ask, paths))


def main_django():
    global urlpatterns
    urlpatterns = django_routes()
    import django

    django.setup()
    from django.core.asgi import get_asgi_application
    from django.core.wsgi import get_wsgi_application

    routes = {"work_of_fast": "/fast/<int:n>", "work_of_slow": "/slow/<slug:name>", "work_of_stream": "/^(?:stream)$"}
    counted = collections.Counter()
    with served_by_wsgiref(get_wsgi_application()) as port, Load(port) as load:
        load.add(4, *PATHS)
        profiler.start()
        while not counted or min(counted[work] for work in ROUTES) < 20:
            time.sleep(REST_S)
            counted, started, untagged = check_tags(profiler.snapshot().write("collapsed"), routes)
        profiler.stop()
    assert started["work_of_stream"] == counted["work_of_stream"] and started["work_of_fast"] == 0
    asked = collections.Counter()
    for (path, status), count in load.told.items():
        assert (status == 404) == path.startswith("/nowhere"), (path, status)
        asked[path.split("/")[1]] += count
    rows = {row["route"]: row["count"] for row in plumb.web._requests.TIMES.rows()}
    assert rows == {**{routes[work]: asked[name] for work, name in ROUTES.items()}, "not found": asked["nowhere"]}, (rows, asked)
    told = asyncio.run(asked_over_asgi(get_asgi_application(), "/fast/1", "/slow/name", "/nowhere"))
    assert told[:2] == [(200, b"fast"), (200, b"slow")] and told[2][0] == 404, told
    more = {row["route"]: row["count"] - rows[row["route"]] for row in plumb.web._requests.TIMES.rows()}
    assert more == {routes["work_of_fast"]: 1, routes["work_of_slow"]: 1, routes["work_of_stream"]: 0, "not found": 1}, more
    check_a_file_is_for_the_kernel_to_send(get_wsgi_application())
    return {"samples": dict(counted), "untagged": untagged, "requests": sum(load.told.values())}


if __name__ == "__main__":
    print(json.dumps({"flask": main_flask, "asgi": main_asgi, "django": main_django}[sys.argv[1]]()))
