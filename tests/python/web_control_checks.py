# SPDX-License-Identifier: Apache-2.0
"""What the control application of plumb.web answers to whatever comes, without a server. Each check_ is run; their names are told."""
import base64
import functools
import io
import json
import random
import re
import urllib.parse

import plumb
from plumb.web import RequestTimes, control, control_asgi
from raising import raises
from web_requests import (
    Client, FORM, FROM_ANOTHER_SITE, FROM_OWN_SITE, TOKEN, control_of, environ, http_scope, run_asgi, run_checks,
)


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
        assert "web_control_checks" in body.decode() or "check_all_of" in body.decode(), page
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
    for header in ("X-Forwarded-For", "X-Forwarded-Port", "Forwarded", "Via", "X-Real-IP", "CF-Connecting-IP"):
        assert ask("GET", "/status", headers={header: "127.0.0.1"})[0] == 403, header
        assert ask("GET", "/status", headers={header: "127.0.0.1"}, peer="10.1.2.3")[0] == 401, header
    assert ask("GET", "/status", headers={"Authorization": "Bearer " + ask.token}, peer="10.1.2.3")[0] == 200
    assert ask("GET", "/nothing", peer="10.1.2.3")[0] == 401, "not even what there is, is told"


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


if __name__ == "__main__":
    run_checks(globals())
