# SPDX-License-Identifier: Apache-2.0
"""What plumb.web's middleware does to a request, and how requests are counted, without a server.
Each check_ is run; their names are told."""
import asyncio
import io
import itertools
import json
import random
import sys
import threading
import types
import uuid

import plumb
from plumb import _tags
from plumb.web import ASGIMiddleware, RequestTimes, WSGIMiddleware, _requests, _routes
from controlling import interrupted_within
from raising import raises
from web_requests import environ, http_scope, in_letters, labels, run_asgi, run_checks, served


# ---- middleware ----


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


def check_a_file_that_the_server_wraps_by_a_function_is_passed_as_it_is():
    """uWSGI gives back the very file, and sends that if it is what it gets."""
    file = io.BytesIO(b"a\nb\n")

    def app(environ, start_response):
        start_response("200 OK", [])
        return environ["wsgi.file_wrapper"](file, 4096)

    times = RequestTimes()
    assert WSGIMiddleware(app, times)(environ(**{"wsgi.file_wrapper": lambda file, size: file}), lambda *_: None) is file
    assert times.rows()[0]["count"] == 1


def check_what_is_written_into_a_scope_is_there_for_who_is_around():
    async def app(scope, receive, send):
        scope["router"] = 1
        scope.update({"endpoint": 2, "path_params": {}})
        scope.setdefault("state", {})["a"] = 3
        del scope["method"]
        assert scope.pop("headers", None) == [] and scope.pop("headers", None) is None

    scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
    asyncio.run(ASGIMiddleware(app)(scope, None, None))
    assert scope == {"type": "http", "path": "/", "router": 1, "endpoint": 2, "path_params": {}, "state": {"a": 3}}


def check_an_application_can_tell_its_route():
    def app(environ, start_response):
        environ["plumb.route"]("/users/<name>")
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [labels()["route"].encode()]

    times = RequestTimes()
    assert served(WSGIMiddleware(app, times), path="/users/jo")[2] == b"/users/<name>"
    assert times.rows()[0]["route"] == "/users/<name>"


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


def check_what_is_refused_or_sent_elsewhere_takes_no_names():
    found, times = set(), RequestTimes()
    for status, called in (("401 Unauthorized", "refused"), ("405 Method Not Allowed", "refused"), ("429 Too Many Requests", "refused"),
                           ("503 Service Unavailable", "refused"), ("302 Found", "redirected")):  # fmt: skip
        found.clear()
        middleware = WSGIMiddleware(answering(status, found), times)
        for i in range(1000):
            middleware(environ("/%s/%s" % (in_letters(int(status[:3])), in_letters(i))), lambda *_: None)
        assert found == {("unknown", "GET"), (called, "GET")}, (status, found)
    assert {row["route"] for row in times.rows()} == {"refused", "redirected"}
    for status in ("200 OK", "304 Not Modified", "500 Internal Server Error"):
        path = "/kept/%s" % in_letters(int(status[:3]))
        WSGIMiddleware(answering(status, found), times)(environ(path), lambda *_: None)
        assert (path, "GET") in found and path in {row["route"] for row in times.rows()}
        WSGIMiddleware(answering("401 Unauthorized", found), times)(environ(path), lambda *_: None)
    assert sum(row["count"] for row in times.rows() if row["route"].startswith("/kept/")) == 6, "what was there keeps its name"


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
    for sign in "+-@\uff1d\uff0b\uff0d\uff20":
        times.reset()
        times.add("GET", sign + "1", 0.5, 200)
        assert times.csv().splitlines()[1].startswith("GET,'%s1," % sign), sign


def main(requests=None):
    """Run all checks; or that of memory alone, with so many requests."""
    if requests:
        check_many_requests_take_no_more_memory_than_few(int(requests))
        return
    run_checks(globals(), last=check_requests_leave_tags_to_the_program)


if __name__ == "__main__":
    main(*sys.argv[1:])
