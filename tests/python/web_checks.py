# SPDX-License-Identifier: Apache-2.0
"""plumb.web without a server: what middleware does to a request, and what the control application answers to whatever comes.
Each check_ is run; their names are told."""
import asyncio
import base64
import contextlib
import contextvars
import functools
import gc
import gzip
import inspect
import io
import itertools
import json
import os
import random
import re
import resource
import sys
import threading
import types
import urllib.parse
import uuid
from wsgiref.validate import validator

import plumb
from plumb import _tags
from plumb.web import ASGIMiddleware, RequestTimes, WSGIMiddleware, _request_page, _requests, _routes, control, control_asgi
from controlling import interrupted_within
from raising import raises

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


# ---- middleware ----


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


def check_a_request_is_tagged_in_the_application_and_in_each_part_of_its_response():
    found = []

    def app(environ, start_response):
        found.append(labels())
        start_response("201 Created", [("Content-Type", "text/plain")])
        found.append(labels())
        return parts()

    def parts():
        for _ in range(2):
            found.append(labels())
            yield b"part"
        found.append(labels())

    times = RequestTimes()
    for route_before in ("unknown", "/users/{n}/x"):  # a path has its name from the first that was there
        found.clear()
        assert served(WSGIMiddleware(app, times), path="/users/17/x", method="POST") == (201, {"Content-Type": "text/plain"}, b"partpart")
        started = {"route": "/users/{n}/x", "method": "POST", "status": 201}
        assert found == [{"route": route_before, "method": "POST"}] + [started] * 4
        assert labels() == {}, "nothing is left of it"
    (row,) = times.rows()
    assert (row["method"], row["route"], row["count"], row["statuses"]) == ("POST", "/users/{n}/x", 2, {"2xx": 2})


def check_responses_of_threads_that_take_turns_are_kept_apart():
    """Two responses, each part of which is made by the one thread that asks for it."""

    def app(environ, start_response):
        start_response("200 OK", [("Content-Type", "text/plain")])
        for _ in range(3):
            yield json.dumps(labels()).encode()

    middleware = WSGIMiddleware(app, RequestTimes())
    bodies = [middleware(environ("/" + name), lambda *_: None) for name in "ab"]
    for _ in range(3):
        for name, body in zip("ab", bodies):
            assert json.loads(next(body)) == {"route": "/" + name, "method": "GET", "status": 200}
        assert labels() == {}


def check_what_the_application_raises_is_what_the_server_gets():
    closed = []

    class Failing:
        def __iter__(self):
            yield b"a"
            raise KeyError("in a part")

        def close(self):
            closed.append(labels()["route"])

    def app(environ, start_response):
        if environ["PATH_INFO"] == "/early":
            raise KeyError("early")
        start_response("200 OK", [])
        return Failing()

    times = RequestTimes()
    middleware = WSGIMiddleware(app, times)
    assert raises(KeyError, middleware, environ("/early"), None).args == ("early",)
    body = middleware(environ("/late"), lambda *_: None)
    assert next(body) == b"a"
    assert raises(KeyError, next, body).args == ("in a part",)
    body.close()
    assert closed == ["/late"] and labels() == {}
    assert {row["route"]: (row["count"], row["failed"]) for row in times.rows()} == {"/early": (1, 1), "/late": (1, 0)}


def check_bodies_that_servers_look_at_are_passed_as_they_are():
    class FileWrapper:
        def __init__(self, file):
            self.file = file

    for make in (lambda environ: [b"all"], lambda environ: (b"all",), lambda environ: environ["wsgi.file_wrapper"](io.BytesIO(b"all"))):
        made = []

        def app(environ, start_response):
            start_response("200 OK", [])
            made.append(make(environ))
            return made[0]

        times = RequestTimes()
        assert WSGIMiddleware(app, times)(environ(**{"wsgi.file_wrapper": FileWrapper}), lambda *_: None) is made[0]
        assert times.rows()[0]["count"] == 1


def check_an_application_can_tell_its_route():
    def app(environ, start_response):
        environ["plumb.route"]("/users/<name>")
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [labels()["route"].encode()]

    times = RequestTimes()
    assert served(WSGIMiddleware(app, times), path="/users/jo")[2] == b"/users/<name>"
    assert times.rows()[0]["route"] == "/users/<name>"


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


def check_requests_that_overlap_in_one_thread_are_kept_apart():
    found = {}
    times = RequestTimes()

    async def app(scope, receive, send):
        mine = found.setdefault(scope["path"], [])
        mine.append(labels())
        await barrier()
        await send({"type": "http.response.start", "status": 200 + int(scope["path"][1:]), "headers": []})
        await barrier()
        mine.append(labels())
        await send({"type": "http.response.body", "body": b""})

    async def barrier():
        for _ in range(5):
            await asyncio.sleep(0)

    async def all_at_once():
        async def nothing(_message=None):
            await asyncio.sleep(0)

        middleware = ASGIMiddleware(app, times)
        await asyncio.gather(*(middleware(http_scope("/%d" % i), nothing, nothing) for i in range(50)))

    asyncio.run(all_at_once())
    for path, (before, after) in found.items():
        assert before == {"route": "unknown", "method": "GET"}
        assert after == {"route": "/{n}", "method": "GET", "status": 200 + int(path[1:])}
    (row,) = times.rows()
    assert row["count"] == 50 and row["statuses"] == {"2xx": 50}


def check_a_router_that_finds_the_route_is_heard():
    cases = [
        ({"endpoint": 1, "path_params": {"name": "jo"}}, "/users/{name}/x"),
        ({"endpoint": 1, "path_params": {}, "route": types.SimpleNamespace(path="/users/{who}/x")}, "/users/{who}/x"),
        ({"endpoint": 1, "path_params": {"rest": "jo/x"}}, "/users/{rest}"),
        ({"endpoint": 1, "root_path": "/before/users"}, "/users/*"),
        ({"root_path": "/before/users", "route": types.SimpleNamespace(path="/{who}/x")}, "/users/{who}/x"),
        ({"route": types.SimpleNamespace(path="/users/{who}/x")}, "/users/{who}/x"),
        ({"other": 1}, None),
    ]
    for matched, route in cases:
        found = []

        async def app(scope, receive, send):
            if matched.keys() == {"route"}:
                scope["route"] = matched["route"]
            else:
                scope.update(matched)
            assert isinstance(scope, dict) and scope["path"] == "/users/jo/x"
            found.append(labels()["route"])

        times = RequestTimes()
        run_asgi(ASGIMiddleware(app, times), http_scope("/users/jo/x", root_path="/before"))
        assert found == [route or "unknown"] and times.rows()[0]["route"] == (route or "/users/jo/x"), (matched, found)


def check_a_route_has_one_name_however_it_is_asked_for():
    """What Starlette's converters make of these paths."""
    number = uuid.UUID("abcdefab-abcd-abcd-abcd-abcdefabcdef")
    cases = [
        ("/n/7", {"n": 7}, "/n/{n}"),
        ("/n/007", {"n": 7}, "/n/{n}"),
        ("/x/1.50", {"x": 1.5}, "/x/{x}"),
        ("/u/%s" % number, {"u": number}, "/u/{u}"),
        ("/u/ABCDEFABabcdABCDabcdABCDEFABCDEF", {"u": number}, "/u/{u}"),
        ("/both/5/05", {"a": 5, "b": 5}, "/both/{a}/{b}"),
        ("/files/", {"rest": ""}, "/files/"),
        ("/files/a/b", {"rest": "a/b"}, "/files/{rest}"),
        ("/day/Monday", {"day": 1}, "/%s()" % _routes.known_method.__qualname__),
        ("/on/true", {"on": True}, "/%s()" % _routes.known_method.__qualname__),
    ]
    for path, parameters, route in cases:
        times = RequestTimes()

        async def app(scope, receive, send):
            scope.update({"endpoint": _routes.known_method, "path_params": parameters})

        run_asgi(ASGIMiddleware(app, times), http_scope(path))
        assert [row["route"] for row in times.rows()] == [route], path


def check_what_is_mounted_has_one_name_for_all_parameters():
    found, times = set(), RequestTimes()

    async def app(scope, receive, send):
        tenant = scope["path"].split("/")[2]
        scope.update({"endpoint": app, "path_params": {"tenant": tenant}, "root_path": "/t/" + tenant})
        found.add(labels()["route"])
        scope.update({"endpoint": app, "path_params": {"tenant": tenant}, "route": types.SimpleNamespace(path="/orders")})
        found.add(labels()["route"])

    for i in range(20):
        run_asgi(ASGIMiddleware(app, times), http_scope("/t/%s/orders" % in_letters(i)))
    assert found == {"/t/{tenant}/*", "/t/{tenant}/orders"}
    assert [row["route"] for row in times.rows()] == ["/t/{tenant}/orders"]


def check_what_is_no_http_request_and_what_fails_passes_as_it_is():
    async def app(scope, receive, send):
        if scope["type"] == "http":
            raise KeyError("late")
        assert labels() == {}
        await send((scope, await receive()))

    times = RequestTimes()
    middleware = ASGIMiddleware(app, times)
    for kind in ("lifespan", "websocket"):
        scope = {"type": kind}
        ((passed, message),) = run_asgi(middleware, scope, {"type": "first"})
        assert passed is scope and message == {"type": "first"}
    assert raises(KeyError, run_asgi, middleware, http_scope()).args == ("late",)
    assert times.rows()[0]["failed"] == 1


# ---- request times ----


def check_paths_lose_what_differs_each_time():
    for path, name in [
        ("", "/"), ("/", "/"), ("/v1/users/17", "/v1/users/{n}"), ("/a/b2c33", "/a/b{n}c{n}"), ("/x/0123456789abcdef0", "/x/{id}"),
        ("/x/9f1b6a0e-4e1c-4a6e-8d0f-6c1f0f2b7a11/", "/x/{id}/"), ("/caf\u00e9", "/caf\u00e9"), ("/a\nb\x1b[0m", "/a b [{n}m"),
    ]:  # fmt: skip
        assert _routes.folded(path) == name, (path, _routes.folded(path))
    assert len(_routes.folded("/x" * 1000)) <= 200


def check_quantiles_are_those_of_the_times():
    random_times = random.Random(1)
    times, taken = RequestTimes(), []
    for _ in range(20000):
        seconds = 10 ** random_times.uniform(-5.5, 1)
        taken.append(seconds)
        times.add("GET", "/", seconds, 200)
    (row,) = times.rows()
    taken.sort()
    assert row["count"] == len(taken) and abs(row["mean_s"] - sum(taken) / len(taken)) < 1e-5 and abs(row["max_s"] - taken[-1]) < 2e-6
    for percent in (50, 90, 99):
        true = taken[len(taken) * percent // 100]
        assert abs(row["p%d_s" % percent] - true) < 0.07 * true, (percent, row, true)
    times.add("GET", "/", 1e9, 200)
    times.add("GET", "/", -1, 200)
    assert times.rows()[0]["max_s"] == 1e9


def check_many_requests_take_no_more_memory_than_few(most=50000):
    times = RequestTimes(max_routes=50)
    random_routes = random.Random(2)

    def ask(count):
        for _ in range(count):
            number = random_routes.randrange(10**9)
            times.add("GET", "/%d" % number, number % 1000 / 1000, 100 + number % 500)

    ask(1000)
    before = sys.getallocatedblocks()
    ask(most)
    assert sys.getallocatedblocks() - before < 1000
    rows = times.rows()
    assert sum(row["count"] for row in rows) == most + 1000 and len(rows) == 51
    assert rows[0]["route"] == "other" and len(rows[0]["statuses"]) == 5


def check_a_signal_handler_may_interrupt_the_counting():
    times = RequestTimes()
    numbers = itertools.count()
    calls = [lambda: times.add("GET", "/%d" % (next(numbers) % 300), 0.001, 200), times.rows, times.csv]
    interrupted_within("plumb.web._times", calls, [*calls, times.reset])


def check_many_threads_count_each_request_once():
    times = RequestTimes()
    threads = [threading.Thread(target=lambda: [times.add("GET", "/", 0.001, 200) for _ in range(2000)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        times.rows()
    for thread in threads:
        thread.join()
    assert times.rows()[0]["count"] == 16000


def in_letters(number):
    """As a part of a path, of which nothing is folded."""
    return "".join(chr(97 + int(digit)) for digit in str(number))


def answering(status, found, tell=None):
    """An application that answers so, and tells its route; {(route, method)} of its tags goes into `found`."""

    def app(environ, start_response):
        found.add((labels()["route"], labels()["method"]))
        if tell:
            environ["plumb.route"](tell)
        start_response(status, [])
        found.add((labels()["route"], labels()["method"]))
        return []

    return app


def check_tags_have_a_bounded_number_of_names():
    found, times = set(), RequestTimes()
    middleware = WSGIMiddleware(answering("200 OK", found), times)
    for i in range(3000):
        middleware(environ("/" + in_letters(i), method="X" + in_letters(i)), lambda *_: None)
    assert len(found) == 502 and {("unknown", "other"), ("other", "other")} < found


def check_what_is_not_there_takes_no_names():
    found, times = set(), RequestTimes()
    nowhere = WSGIMiddleware(answering("404 Not Found", found), times)
    for i in range(3000):
        nowhere(environ("/" + in_letters(i), method="X" + in_letters(i)), lambda *_: None)
    assert found == {("unknown", "other"), ("not found", "other")}
    assert [(row["route"], row["method"]) for row in times.rows()] == [("not found", "other")]
    found.clear()
    WSGIMiddleware(answering("200 OK", found, "/orders/{id}"), times)(environ("/orders/x"), lambda *_: None)
    WSGIMiddleware(answering("200 OK", found), times)(environ("/there"), lambda *_: None)
    nowhere(environ("/there"), lambda *_: None)
    assert found == {(route, "GET") for route in ("unknown", "/orders/{id}", "/there")}, "what was there keeps its name"


def check_requests_leave_tags_to_the_program():
    """The last check: it uses up all numbers that requests may have."""
    _requests.RequestTag = _tags.RequestTag
    middleware = WSGIMiddleware(lambda environ, start_response: start_response("200 OK", []) or [], RequestTimes())
    for method in sorted(_routes.METHODS):
        for i in range(450):
            middleware(environ("/" + in_letters(i), method=method), lambda *_: None)
    with _tags.RequestTag(one="more"):
        assert _tags._current.get().id == _tags._OTHER
        with plumb.tag(user="of a request"):
            assert _tags._current.get().id == _tags._OTHER
    for i in range(1000):
        with plumb.tag(job=i):
            assert _tags._current.get().id != _tags._OTHER, i


def check_a_table_of_times_is_no_program_for_a_spreadsheet():
    times = RequestTimes()
    times.add("GET", '=1+"2"', 0.5, 200)
    assert times.csv().splitlines()[1].startswith('GET,"\'=1+""2""",1,0,0.5,')


# ---- control ----


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


def check_all_of_a_profiler_can_be_done_over_http():
    ask = control_of()
    assert ask("GET", "/status")[0] == 200
    for page in ("/flamegraph", "/collapsed", "/text", "/recording", "/flamegraph.svg"):
        assert ask("GET", page)[0] == 409, page
    assert ask.change("pause")[0] == 409
    for what, state in [("start", "running"), ("pause", "paused"), ("resume", "running"), ("reset", "running")]:
        status, _, body = ask.change(what)
        assert status == 200 and json.loads(body)["state"] == state, (what, body)
    status, _, body = ask.change("interval", interval="0.002")
    assert status == 200 and json.loads(body)["interval"] == 0.002
    while json.loads(ask("GET", "/status")[2])["samples"] < 20:
        sum(range(10000))
    for page, kind in [("/collapsed", "text/plain"), ("/text", "text/plain"), ("/flamegraph.svg", "image/svg"), ("/", "text/html")]:
        status, headers, body = ask("GET", page)
        assert status == 200 and headers["content-type"].startswith(kind), (page, status, body)
        assert "web_checks" in body.decode() or "check_all_of" in body.decode(), page
        assert ask("HEAD", page)[2] == b""
    status, headers, body = ask("GET", "/recording")
    assert status == 200 and "attachment" in headers["content-disposition"] and len(body) > 100
    assert json.loads(ask.change("stop")[2])["state"] == "stopped"
    assert ask("GET", "/collapsed")[0] == 200
    assert json.loads(ask.change("cancel")[2])["state"] == "idle"
    assert ask("GET", "/collapsed")[0] == 409


def check_a_browser_is_sent_back_to_the_page():
    ask = control_of()
    (form_token,) = set(re.findall(rb'name="token" value="(\w+)"', ask("GET", "/")[2]))
    status, headers, _ = ask("POST", "/start", {"token": form_token.decode()}, {"Accept": "text/html,*/*"})
    assert (status, headers["location"]) == (303, "./")
    assert b"running" in ask("GET", "/")[2]
    assert ask.change("cancel")[0] == 200
    status, headers, _ = ask("GET", "")
    assert status == 308 and headers["location"].endswith("/")


def check_nothing_is_changed_without_post_and_token():
    ask = control_of()
    for what in ("start", "stop", "pause", "resume", "cancel", "reset", "interval"):
        assert ask("GET", "/" + what)[0] == 405
        assert ask("POST", "/" + what)[0] == 401
        assert ask("POST", "/" + what, {"token": "x" * 43})[0] == 403
        assert ask("POST", "/" + what, {"token": ""})[0] == 403
        assert ask("POST", "/%s?token=%s" % (what, ask.token))[0] == 400, "what is in addresses ends up in logs"
        basic = "Basic " + base64.b64encode(b"any:" + ask.token.encode()).decode()
        assert ask("POST", "/" + what, headers={"Authorization": basic})[0] == 401, "browsers send that by themselves"
    assert json.loads(ask("GET", "/status")[2])["state"] == "idle"
    assert ask("POST", "/start", headers={"Authorization": "Bearer " + ask.token})[0] == 200
    assert ask("POST", "/cancel", headers={"X-Plumb-Token": ask.token})[0] == 200
    assert ask("POST", "/status", {"token": ask.token})[0] == 405


def check_a_token_is_needed_unless_something_else_was_said():
    """A proxy that adds no header looks like this machine."""
    ask = Client(control(plumb.Profiler(), times=RequestTimes()))
    status, headers, body = ask("GET", "/")
    assert status == 401 and "www-authenticate" in headers and b"allow_loopback=True" in body, body
    assert ask("GET", "/status", headers={"Authorization": "Bearer " + ask.token})[0] == 200
    assert raises(ValueError, control, plumb.Profiler(), allow=bool, allow_loopback=True)


class Unread:
    def read(self, *_):
        raise AssertionError("it was read")


def check_what_is_not_needed_of_a_body_is_not_read():
    """Nothing of whoever may not ask."""
    app, told = control(plumb.Profiler(), times=RequestTimes()), []
    bearer = {"HTTP_AUTHORIZATION": "Bearer " + app.token}
    for method, credentials, status in [("POST", {}, 401), ("GET", {}, 401), ("GET", bearer, 405), ("HEAD", bearer, 405)]:
        asked = environ("/start", method, CONTENT_LENGTH="400000000", **{"wsgi.input": Unread()}, **credentials)
        app(asked, lambda status, headers: told.append(int(status[:3])))
        assert told.pop() == status, (method, credentials)
    asked = environ("/start", "POST", CONTENT_LENGTH="400000000", **{"wsgi.input": io.BytesIO(bytes(1000000))}, **bearer)
    app(asked, lambda status, headers: told.append(int(status[:3])))
    assert told.pop() == 413 and asked["wsgi.input"].tell() < 100000
    in_asgi = control_asgi(plumb.Profiler(), times=RequestTimes())
    assert run_asgi(in_asgi, http_scope("/start", "POST"))[0]["status"] == 401  # there is no message to be received


def check_a_token_may_have_any_characters():
    for token, encodings in [("p\u00e4ssw\u00f6rter", ("utf-8", "latin-1")), ("\u65e5\u672c\u8a9e\u306e\u6697\u53f7\u3067\u3059", ("utf-8",))]:
        ask = control_of(token=token)
        for presented in (token.encode(encoding) for encoding in encodings):
            basic = base64.b64encode(b"any:" + presented).decode()
            for header in ({"Authorization": b"Bearer " + presented}, {"X-Plumb-Token": presented}, {"Authorization": b"Basic " + basic.encode()}):
                header = {name: value.decode("latin-1") for name, value in header.items()}
                assert ask("GET", "/status", headers=header)[0] == 200, (token, header)
        in_form = {"token": urllib.parse.quote(token)}
        assert ask("POST", "/start", in_form, {"Authorization": "Basic " + base64.b64encode(b"any:" + token.encode()).decode()})[0] == 200
        assert ask("GET", "/status", headers={"Authorization": "Bearer " + "?" * len(token)})[0] == 403
        assert ask("POST", "/cancel", in_form, {"Authorization": "Bearer " + token.encode().decode("latin-1")})[0] == 200


def check_only_this_machine_may_look_unless_others_are_allowed():
    ask = control_of()
    for peer, status in [("127.0.0.1", 200), ("127.8.9.1", 200), ("::1", 200), ("::ffff:127.0.0.1", 200), ("10.1.2.3", 401), ("", 401),
                         ("::ffff:10.1.2.3", 401), ("localhost", 401), ("2001:db8::1", 401)]:  # fmt: skip
        assert ask("GET", "/status", peer=peer)[0] == status, peer
    for host, status in [("localhost", 200), ("localhost:8000", 200), ("127.0.0.1:80", 200), ("[::1]:80", 200), ("a.localhost", 200),
                         ("example.com", 403), ("localhost.example.com", 403), ("127.0.0.1.example.com:80", 403), ("", 403), ("[::1", 403),
                         ("localhost, example.com", 403)]:  # fmt: skip
        assert ask("GET", "/status", headers={"Host": host})[0] == status, host
    for header in ("X-Forwarded-For", "Forwarded", "Via", "X-Real-IP"):
        assert ask("GET", "/status", headers={header: "127.0.0.1"})[0] == 403, header
        assert ask("GET", "/status", headers={header: "127.0.0.1"}, peer="10.1.2.3")[0] == 401, header
    assert ask("GET", "/status", headers={"Authorization": "Bearer " + ask.token}, peer="10.1.2.3")[0] == 200
    assert ask("GET", "/nothing", peer="10.1.2.3")[0] == 401, "not even what there is, is told"


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


def check_a_page_of_another_site_is_not_this_machine():
    """A browser of this machine asks for it, with the address and the name of this machine."""
    ask = control_of()
    for method, path in (("GET", "/status"), ("POST", "/pause")):
        for headers in FROM_ANOTHER_SITE:
            status, _, sentence = ask(method, path, {"token": ask.token}, headers)
            assert status == 403 and b"another site" in sentence, (method, headers, status, sentence)
            assert ask(method, path, headers={"Authorization": "Bearer " + ask.token, **headers})[0] in (200, 409), (method, headers)
        for headers in FROM_OWN_SITE:
            assert ask(method, path, {"token": ask.token}, headers)[0] in (200, 409), (method, headers)


def check_a_link_of_another_site_does_not_record_a_request():
    """A browser sends with it the password that it has kept, and the cookies that `allow` looks at."""
    served_paths = []

    def app(environ, start_response):
        served_paths.append(environ["PATH_INFO"])
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [b"response"]

    kept = {"Authorization": "Basic " + base64.b64encode(b"any:" + TOKEN.encode()).decode()}
    sure = [{"Authorization": "Bearer " + TOKEN}, {"X-Plumb-Token": TOKEN}]
    for options, by_itself in [({"token": TOKEN}, kept), ({"token": TOKEN, "allow": lambda environ: True}, {}), ({"allow_loopback": True}, {}),
                               ({"token": TOKEN, "allow": lambda environ: True}, {"X-Plumb-Token": "wrong"})]:  # fmt: skip
        ask = Client(WSGIMiddleware(app, RequestTimes(), control=control(plumb.Profiler(), **options)), TOKEN)
        for headers in FROM_ANOTHER_SITE:
            status, _, sentence = ask("GET", "/work?plumb", headers={**by_itself, **headers})
            assert status == 403 and b"another site" in sentence and not served_paths, (options, headers, status, sentence[:100])
            assert ask("GET", "/", headers={**by_itself, **headers})[2] == b"response" and served_paths.pop() == "/", (options, headers)
        for headers in FROM_OWN_SITE:
            assert ask("GET", "/work?plumb", headers={**by_itself, **headers})[0] == 200 and served_paths.pop() == "/work", (options, headers)
        for token in sure if "token" in options else ():
            assert ask("GET", "/work?plumb", headers={**token, **FROM_ANOTHER_SITE[0]})[0] == 200 and served_paths.pop() == "/work", options


def check_a_token_that_is_given_is_needed_by_all():
    ask = control_of(token=TOKEN)
    status, headers, _ = ask("GET", "/status")
    assert status == 401 and headers["www-authenticate"].startswith("Basic")
    assert ask("GET", "/status", headers={"Authorization": "Bearer " + TOKEN[:-1]})[0] == 403
    assert ask("GET", "/status", headers={"Authorization": "Bearer " + TOKEN}, peer="10.1.2.3")[0] == 200
    for password, status in [(TOKEN, 200), ("other", 401), ("", 401)]:
        basic = "Basic " + base64.b64encode(b"any:" + password.encode()).decode()
        assert ask("GET", "/status", headers={"Authorization": basic})[0] == status
    for damaged in ("Basic", "Basic !!!", "Basic \u00ff", "Digest x", "Bearer", "\u00e9"):
        assert ask("GET", "/status", headers={"Authorization": damaged})[0] in (401, 403), damaged
    basic = {"Authorization": "Basic " + base64.b64encode(b"any:" + TOKEN.encode()).decode()}
    page = ask("GET", "/", headers=basic)[2].decode()
    assert TOKEN not in page
    (form_token,) = set(re.findall(r'name="token" value="(\w+)"', page))
    assert ask("POST", "/start", {"token": form_token}, basic)[0] == 200
    assert ask("POST", "/cancel", {"token": form_token})[0] == 401, "that of the form is no right to look"
    assert ask("POST", "/cancel", {"token": form_token}, basic)[0] == 200
    assert raises(ValueError, control, plumb.Profiler(), token="short")


def check_a_predicate_decides_instead():
    asked = []
    ask = control_of(allow=lambda environ: asked.append(environ["REMOTE_ADDR"]) or environ["REMOTE_ADDR"].startswith("10."))
    assert ask("GET", "/status", peer="10.1.2.3", headers={"Host": "example.com"})[0] == 200
    assert ask("GET", "/status")[0] == 403 and asked == ["10.1.2.3", "127.0.0.1"]
    assert ask("POST", "/start", peer="10.1.2.3")[0] == 401
    assert ask("POST", "/start", {"token": ask.token}, peer="10.1.2.3")[0] == 200
    assert ask("POST", "/cancel", {"token": ask.token}, peer="10.1.2.3")[0] == 200

    ask = control_of(allow=lambda environ: False, token=TOKEN)
    assert ask("GET", "/status")[0] == 401


def check_a_predicate_that_has_not_answered_lets_nobody_in():
    """A coroutine is true whatever it would say."""

    async def nobody(context):
        return False

    class Nobody:
        async def __call__(self, context):
            return False

    for make in (control, control_asgi):
        for allow in (nobody, Nobody(), functools.partial(nobody)):
            assert raises(TypeError, make, plumb.Profiler(), allow=allow), allow
    ask = control_of(allow=lambda environ: nobody(environ))
    assert raises(TypeError, ask, "GET", "/status")
    assert ask("GET", "/status", headers={"Authorization": "Bearer " + ask.token})[0] == 200


def check_wrong_input_is_told_in_a_sentence():
    ask = control_of()
    assert ask.change("start")[0] == 200
    for interval, status in [("abc", 400), ("", 400), ("-1", 422), ("0", 422), ("10", 422), ("11", 422), ("nan", 422), ("inf", 422),
                             ("1e-9", 422), ("1e999", 422), ("0.01x", 400)]:  # fmt: skip
        found = ask.change("interval", interval=interval)
        assert found[0] == status and len(found[2].split()) > 3, (interval, found)
    assert ask.change("interval")[0] == 400
    assert ask.change("start", more="1")[0] == 400
    for page, status in [
        ("/text?limit=-1", 400), ("/text?limit=x", 400), ("/text?limit=\u00b2", 400), ("/text?limit=1&limit=2", 400),
        ("/text?limit=0", 200), ("/text?sort=up", 422), ("/text?idle=x", 422), ("/text?search=(", 200), ("/text?search=%ff", 400),
        ("/text?search=%00", 200),
        ("/text?a=1", 400), ("/text?" + "&".join("a%d=" % i for i in range(1000)), 400), ("/status?x=1", 400), ("/?x=1", 400),
        ("/collapsed?idle=keep", 200), ("/nothing", 404), ("/status/", 404), ("//", 404),
    ]:  # fmt: skip
        found = ask("GET", page)
        assert found[0] == status, (page, found)
    assert ask("POST", "/start", b"token=" + b"x" * 70000)[0] == 413
    assert ask("POST", "/start", b"\xff\xfe")[0] == 400
    assert ask("PUT", "/start", {"token": ask.token})[0] == 405
    assert ask.change("cancel")[0] == 200


def check_names_are_text_on_the_page():
    profiler = plumb.Profiler()
    times = RequestTimes()
    times.add("GET", "<script>alert(1)</script>", 0.1, 200)
    ask = Client(control(profiler, times=times, allow_loopback=True))
    space = {}
    exec(compile("def spin():\n    return sum(range(1000000))", '<img src=x onerror="alert(2)">', "exec"), space)
    profiler.start()
    while profiler.status()["samples"] < 50:
        space["spin"]()
    status, headers, page = ask("GET", "/")
    profiler.cancel()
    assert status == 200 and b"&lt;script&gt;" in page and b"&lt;img src" in page
    assert b"<script" not in page and b"<img" not in page
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy and "script-src" not in policy and "frame-ancestors 'none'" in policy


def check_nothing_that_comes_makes_it_fail():
    """Random requests, most of them nearly right."""
    random_input = random.Random(3)
    ask = control_of()
    changes = ["start", "stop", "pause", "resume", "reset", "interval"]
    pages = ["", "status", "text", "times", "times.csv", "collapsed"]
    words = [*changes, *pages, "x", "..", "token", "limit", "search", "sort", "idle", "self", "keep", "0.001", "-1", "9" * 30, "1e5", "(",
             "%", "%ff", "&", "=", "\x00", "\u00e9", ask.token]  # fmt: skip

    def word():
        if random_input.random() < 0.2:
            return "".join(chr(random_input.randrange(256)) for _ in range(random_input.randrange(20)))
        return random_input.choice(words)

    def or_word(right, share=0.1):
        return word() if random_input.random() < share else right

    def fields(most):
        return ["%s=%s" % (word(), word()) for _ in range(random_input.randrange(most))]

    def request():
        change = random_input.random() < 0.5
        path = "/" + or_word(random_input.choice(changes if change else pages))
        body = [or_word("token=" + ask.token), *fields(2)] if change else []
        if path == "/interval":
            body.append("interval=" + or_word("0.002", 0.5))
        raw = "&".join(body).encode("latin-1")
        if random_input.random() < 0.05:
            raw += random_input.getrandbits(200).to_bytes(25, "big") * random_input.choice([1, 4000])
        names = [name for name in ("HOST", "AUTHORIZATION", "ACCEPT", "X_PLUMB_TOKEN") if random_input.random() < 0.05]
        more = {"HTTP_" + name: word() for name in names}
        more["CONTENT_TYPE"] = or_word(FORM, 0.05)
        more["CONTENT_LENGTH"] = or_word(str(len(raw)), 0.05)
        more["QUERY_STRING"] = "&".join(fields(3)) if random_input.random() < 0.2 else ""
        return environ(path, or_word("POST" if change else "GET", 0.05), **{**more, "wsgi.input": io.BytesIO(raw)})

    counts = {}
    for _ in range(2000):
        asked, told = request(), []
        body = ask.app(asked, lambda status, headers: told.append(int(status[:3])))
        assert told[0] in (200, 308, 400, 401, 403, 404, 405, 409, 413, 415, 422), (told, asked, body)
        counts[told[0]] = counts.get(told[0], 0) + 1
    ask.change("cancel")
    assert len(counts) >= 10 and counts[200] > 500, counts


def check_the_same_comes_over_asgi():
    profiler = plumb.Profiler()
    app = control_asgi(profiler, times=RequestTimes(), allow_loopback=True)

    def ask(scope, body=b""):
        half = len(body) // 2
        first = {"type": "http.request", "body": body[:half], "more_body": True}
        sent = run_asgi(app, scope, first, {"type": "http.request", "body": body[half:]})
        return sent[0]["status"], sent[1]["body"]

    assert ask(http_scope("/status"))[0] == 200
    assert ask(http_scope("/status", client=None))[0] == 401
    assert ask(http_scope("/status", headers=[(b"host", b"localhost"), (b"Host", b"example.com")]))[0] == 403
    assert ask(http_scope("/mounted/status", root_path="/mounted"))[0] == 200
    assert ask(http_scope("/mounted", root_path="/mounted"))[0] == 308
    posted = http_scope("/start", "POST", headers=[(b"content-type", FORM.encode())])
    assert ask(posted, b"token=" + app.token.encode())[0] == 200 and profiler.status()["state"] == "running"
    assert ask(posted, b"token=" + bytes(100000))[0] == 413
    profiler.cancel()
    assert run_asgi(app, http_scope("/start", "POST"), {"type": "http.disconnect"}) == []
    events = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]
    answers = run_asgi(app, {"type": "lifespan"}, *events)
    assert [answer["type"] for answer in answers] == [event["type"] + ".complete" for event in events]
    assert run_asgi(app, {"type": "websocket"}, {"type": "websocket.connect"}) == [{"type": "websocket.close"}]


# ---- the page of a request ----


def names_in(page):
    """The blocks of a report page, as they are before they are packed."""
    blocks = re.findall(rb'class="plumb-block" data-kind="[^"]*">([A-Za-z0-9+/=]*)<', page)
    assert page.lower().startswith(b"<!doctype html>") and blocks, page[:200]
    return b"".join(gzip.decompress(base64.b64decode(block)) for block in blocks)


def recorded(samples):
    """Work until the recording that is running has so many more."""
    (running,) = [one for one in gc.get_objects() if type(one) is type(plumb.profile()) and one._session is not None and one._outcome is None]
    end = running.info()["samples"] + samples
    while running.info()["samples"] < end:
        sum(range(3000))


# A page has the text of this file in it, which must not have these names.
WORK, NEIGHBOUR = ("_".join(["function", "of", whose]) for whose in ("request", "neighbour"))
for name in (WORK, NEIGHBOUR):
    exec("def %s():\n    recorded(20)\n" % name)


def check_whoever_may_gets_the_page_of_a_request_instead_of_the_response():
    served_paths, times = [], RequestTimes()
    raised = {each.__name__: each for each in (KeyError, ValueError, RuntimeError, OSError, plumb.Error)}

    def app(environ, start_response):
        served_paths.append(environ["PATH_INFO"])
        start_response("200 OK", [("Content-Type", "text/plain")])
        if environ["PATH_INFO"] == "/work":
            globals()[WORK]()
        if environ["PATH_INFO"][1:] in raised:
            raise raised[environ["PATH_INFO"][1:]]("of the application")
        return iter([b"response"])

    allowed = control(plumb.Profiler(), token=TOKEN)
    ask = Client(WSGIMiddleware(app, times, control=allowed), TOKEN)
    bearer = {"Authorization": "Bearer " + TOKEN}
    status, headers, page = ask("GET", "/work?x=1&plumb", headers=bearer)
    assert status == 200 and headers["content-type"].startswith("text/html") and "sandbox" in headers["content-security-policy"]
    assert headers["cache-control"] == "no-store" and WORK.encode() in names_in(page)
    assert served_paths == ["/work"] and [row["count"] for row in times.rows()] == [1]
    assert ask("GET", "/work?plumb")[0] == 401 and ask("GET", "/work?plumb", headers={"Authorization": "Bearer wrong"})[0] == 403
    assert served_paths == ["/work"], "who may not is not served"
    for path, method in (("/", "GET"), ("/?q=plumb", "GET"), ("/?plumber=1", "GET"), ("/?plumb", "POST")):
        assert ask(method, path, headers=bearer)[2] == b"response", path
    for name, kind in raised.items():
        assert "of the application" in str(raises(kind, ask, "GET", "/%s?plumb" % name, headers=bearer))
    without = Client(WSGIMiddleware(app, times), TOKEN)
    assert without("GET", "/?plumb", headers=bearer)[2] == b"response"
    assert "control is what plumb.web.control()" in str(raises(TypeError, WSGIMiddleware, app, control=plumb.Profiler()))


def check_the_same_page_in_a_loop_has_the_request_and_not_its_neighbours():
    begun, over = [], []  # an event each, of the loop

    async def app(scope, receive, send):
        if scope["path"] == "/work":
            begun[0].set()
            globals()[WORK]()
            await over[0].wait()
        if scope["path"] == "/neighbour":
            globals()[NEIGHBOUR]()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"response"})

    app = ASGIMiddleware(app, RequestTimes(), control=control_asgi(plumb.Profiler(), token=TOKEN))
    bearer = [(b"host", b"localhost"), (b"authorization", b"Bearer " + TOKEN.encode())]

    async def ask(path, query, headers=bearer):
        sent = []

        async def send(message):
            sent.append(message)

        await app(http_scope(path, query_string=query, headers=headers), None, send)
        return sent[0]["status"], sent[1]["body"]

    async def both():
        begun.append(asyncio.Event())
        over.append(asyncio.Event())
        first = asyncio.ensure_future(ask("/work", b"plumb"))
        await begun[0].wait()
        busy, neighbours = await ask("/work", b"plumb"), await ask("/neighbour", b"")
        over[0].set()
        return await first, neighbours, busy

    (status, page), neighbours, busy = asyncio.run(both())
    assert status == 200 and neighbours == (200, b"response")
    assert WORK.encode() in names_in(page) and NEIGHBOUR.encode() not in names_in(page)
    assert busy[0] == 409 and b"ask again" in busy[1]
    assert asyncio.run(ask("/work", b"plumb", []))[0] == 401 and asyncio.run(ask("/none", b""))[1] == b"response"


@contextlib.contextmanager
def descriptors_left(count):
    """No more files than so many can be opened."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = {int(name) for name in os.listdir("/proc/self/fd")}
    free = [number for number in range(len(used) + count + 1) if number not in used]
    resource.setrlimit(resource.RLIMIT_NOFILE, (free[count], hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def check_what_cannot_be_recorded_has_one_status_in_all_servers():
    served_paths = []

    def app(environ, start_response):
        served_paths.append(environ["PATH_INFO"])

    async def app_of_loop(scope, receive, send):
        served_paths.append(scope["path"])

    in_threads = Client(WSGIMiddleware(app, RequestTimes(), control=control(plumb.Profiler(), token=TOKEN)), TOKEN)
    in_loop = ASGIMiddleware(app_of_loop, RequestTimes(), control=control_asgi(plumb.Profiler(), token=TOKEN))
    headers = [(b"host", b"localhost"), (b"authorization", b"Bearer " + TOKEN.encode())]

    async def with_few(left, scope, receive, send):
        with descriptors_left(left):
            await in_loop(scope, receive, send)

    for left in range(3):
        with descriptors_left(left):
            status, _, sentence = in_threads("GET", "/?plumb", headers={"Authorization": "Bearer " + TOKEN})
        start, body = run_asgi(functools.partial(with_few, left), http_scope(query_string=b"plumb", headers=headers))
        assert (status, start["status"]) == (503, 503) and b"Too many open files" in sentence and sentence == body["body"], (left, sentence[:100], body)
    assert not served_paths


class Endless:
    """Parts of a response without an end."""

    def __init__(self):
        self.parts, self.closed = 0, False

    def __iter__(self):
        return self

    def __next__(self):
        self.parts += 1
        if self.parts == 1:
            globals()[WORK]()
        assert self.parts < 10**5, "nothing ends it"
        return b"part"

    def close(self):
        self.closed = True


def check_the_page_of_a_response_without_an_end_is_of_what_was_until_then():
    limit, _request_page._LONGEST_S = _request_page._LONGEST_S, 0.0
    body = Endless()

    def app(environ, start_response):
        start_response("200 OK", [("Content-Type", "text/plain")])
        return body

    ask = Client(WSGIMiddleware(app, RequestTimes(), control=control(plumb.Profiler(), token=TOKEN)), TOKEN)
    status, _, page = ask("GET", "/?plumb", headers={"Authorization": "Bearer " + TOKEN})
    assert status == 200 and WORK.encode() in names_in(page) and (body.parts, body.closed) == (1, True)

    async def streaming(scope, receive, send):
        globals()[WORK]()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for part in Endless():
            await send({"type": "http.response.body", "body": part, "more_body": True})

    async def waiting(scope, receive, send):
        globals()[WORK]()
        await asyncio.sleep(100)
        raise AssertionError("nothing ends it")

    headers = [(b"host", b"localhost"), (b"authorization", b"Bearer " + TOKEN.encode())]
    for endless in (streaming, waiting):
        app = ASGIMiddleware(endless, RequestTimes(), control=control_asgi(plumb.Profiler(), token=TOKEN))
        sent = run_asgi(app, http_scope(query_string=b"plumb", headers=headers))
        assert sent[0]["status"] == 200 and WORK.encode() in names_in(sent[1]["body"])
    _request_page._LONGEST_S = limit


def main(requests=None):
    """Run all checks; or that of memory alone, with so many requests."""
    _requests.RequestTag = Tag
    if requests:
        check_many_requests_take_no_more_memory_than_few(int(requests))
        return
    checks = [(name, check) for name, check in sorted(globals().items()) if name.startswith("check_") and inspect.isfunction(check)]
    checks.sort(key=lambda item: item[1] is check_requests_leave_tags_to_the_program)
    for _, check in checks:
        _requests._NAMES = _routes.Names(500)
        check()
    print(json.dumps({"checks": [name for name, _ in checks]}))


if __name__ == "__main__":
    main(*sys.argv[1:])
