# SPDX-License-Identifier: Apache-2.0
"""The report page of one request, which plumb.web's middleware makes, without a server. Each check_ is run; their names are told."""
import asyncio
import base64
import contextlib
import functools
import gc
import gzip
import os
import re
import resource

import plumb
from plumb import _plumb
from plumb.web import ASGIMiddleware, RequestTimes, WSGIMiddleware, _request_page, control, control_asgi
from controlling import in_child
from raising import raises
from sanitizer import MAY_FORK
from web_requests import Client, FROM_ANOTHER_SITE, FROM_OWN_SITE, TOKEN, http_scope, run_asgi, run_checks


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


@contextlib.contextmanager
def no_report_page():
    """As where plumb was built without."""

    def check_format(format):
        error = plumb.Error("this plumb has no report page")
        error.code = "not-built"
        raise error

    built, _plumb.check_format = _plumb.check_format, check_format
    try:
        yield
    finally:
        _plumb.check_format = built


def check_what_cannot_be_recorded_has_one_status_in_all_servers():
    served_paths = []

    def app(environ, start_response):
        served_paths.append(environ["PATH_INFO"])

    async def app_of_loop(scope, receive, send):
        served_paths.append(scope["path"])

    in_threads = Client(WSGIMiddleware(app, RequestTimes(), control=control(plumb.Profiler(), token=TOKEN)), TOKEN)
    in_loop = ASGIMiddleware(app_of_loop, RequestTimes(), control=control_asgi(plumb.Profiler(), token=TOKEN))
    headers = [(b"host", b"localhost"), (b"authorization", b"Bearer " + TOKEN.encode())]

    async def hindered(by, scope, receive, send):
        with by():
            await in_loop(scope, receive, send)

    few = [(functools.partial(descriptors_left, left), b"Too many open files") for left in range(3)]
    for by, expected in few + [(no_report_page, b"no report page")]:
        with by():
            status, _, sentence = in_threads("GET", "/?plumb", headers={"Authorization": "Bearer " + TOKEN})
        start, body = run_asgi(functools.partial(hindered, by), http_scope(query_string=b"plumb", headers=headers))
        assert (status, start["status"]) == (503, 503) and expected in sentence and sentence == body["body"], (by, sentence[:100], body)
    assert not served_paths


def check_the_child_of_a_fork_records_requests_of_its_own():
    """Also where one was being recorded when it was forked, which is the parent's."""
    if not MAY_FORK:
        return

    async def app(scope, receive, send):
        globals()[WORK]()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"response"})

    def status():
        headers = [(b"host", b"localhost"), (b"authorization", b"Bearer " + TOKEN.encode())]
        asked = ASGIMiddleware(app, RequestTimes(), control=control_asgi(plumb.Profiler(), token=TOKEN))
        return run_asgi(asked, http_scope(query_string=b"plumb", headers=headers))[0]["status"]

    alone = status()
    with _request_page._one_at_a_time.lock:
        assert status() == 409 and in_child(status) == alone


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


if __name__ == "__main__":
    run_checks(globals())
