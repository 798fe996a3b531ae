# SPDX-License-Identifier: Apache-2.0
"""The control application, whatever server it runs in: a request goes in, an answer comes out."""
from __future__ import annotations

import json
import urllib.parse
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Tuple, TypeVar

from plumb._plumb import Error
from plumb._profiler import Profiler, records, table
from plumb._report import Report
from plumb.web import _pages
from plumb.web._access import Access, Refused, Request
from plumb.web._requests import checked_times
from plumb.web._times import RequestTimes

LONGEST_BODY = 65536

_Answer = TypeVar("_Answer")

_TEXT, _JSON, _HTML = "text/plain; charset=utf-8", "application/json", "text/html; charset=utf-8"

# What a profile is written as: format, type. The pages have policies of their own, which forbid all requests; here they
# lose the rights of this origin, too, which has the forms.
_REPORTS = {
    "/flamegraph": ("html", _HTML),
    "/flamegraph.svg": ("svg", "image/svg+xml"),
    "/collapsed": ("collapsed", _TEXT),
    "/recording": ("plumb", "application/octet-stream"),
}
_SANDBOX = "sandbox allow-scripts allow-downloads; frame-ancestors 'none'"

_ALWAYS = {
    "content-type": _TEXT,
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "same-origin",  # without one browsers hide the origin of the page's own forms
    "x-content-type-options": "nosniff",
}


class Response(NamedTuple):
    status: int
    headers: Dict[str, str]
    body: bytes


class Control:
    """refused(), and if it is not, answer(): that is all there is to it. `token` is the one that was given, or made."""

    def __init__(
        self,
        profiler: Profiler,
        allow: Optional[Callable[[Any], Any]] = None,
        token: Optional[str] = None,
        allow_loopback: bool = False,
        times: Optional[RequestTimes] = None,
    ) -> None:
        if not isinstance(profiler, Profiler):
            raise TypeError("profiler is a plumb.Profiler, not %r" % (profiler,))
        self._profiler = profiler
        self._access = Access(allow, token, allow_loopback)
        self._times = checked_times(times)
        self.token = self._access.token
        self._pages: Dict[str, Callable[[Mapping[str, str]], Response]] = {
            "/": self._index,
            "/status": self._status,
            "/text": self._text,
            "/times": self._times_json,
            "/times.csv": self._times_csv,
        }
        self._changes: Dict[str, Callable[..., None]] = {
            name: getattr(profiler, name) for name in ("start", "stop", "pause", "resume", "cancel", "reset")
        }
        self._changes["interval"] = self._set_interval

    def refused(self, request: Request) -> Optional[Response]:
        """The answer to whoever may not see this, before anything that they send is read; None: they may."""
        return self._refused(request, self._access.check_read)

    def refused_page(self, request: Request) -> Optional[Response]:
        """The same to whoever may not have the page of a request."""
        return self._refused(request, self._access.check_read, self._access.check_page)

    def _refused(self, request: Request, *checks: Callable[[Request], None]) -> Optional[Response]:
        try:
            for check in checks:
                check(request)
        except Refused as why:
            return self.refusal(request, why)
        return None

    def refusal(self, request: Request, why: Refused) -> Response:
        return _whole(request, _refusal(why))

    def answer(self, request: Request, body: bytes) -> Response:
        """To one that is not refused. Of a longer body LONGEST_BODY + 1 bytes are enough; only POST needs one."""
        try:
            found = self._answer(request, body)
        except Refused as why:
            found = _refusal(why)
        return _whole(request, found)

    def page(self, request: Request, make: Callable[[], str]) -> Response:
        """A report page of something else, to one that is not refused."""
        try:
            found = as_asked(lambda: _report_page(_HTML, make().encode("utf-8", "replace")))
        except Refused as why:
            found = _refusal(why)
        return _whole(request, found)

    def _answer(self, request: Request, body: bytes) -> Response:
        path = request.path
        if path == "":  # for the relative links of the page it must be a folder
            return Response(308, {"location": "./%s/" % urllib.parse.quote(request.mount.rpartition("/")[2])}, b"")
        if path[1:] in self._changes:
            _check_method(request, "POST")
            return self._change(path[1:], request, body)
        if path not in self._pages and path not in _REPORTS:
            raise Refused(404, "there is no such page")
        _check_method(request, "GET", "HEAD")
        page = self._pages.get(path)
        fields = _fields(request.query)
        return as_asked(lambda: page(fields) if page else self._report(path, fields))

    # ---- changes ----

    def _change(self, name: str, request: Request, body: bytes) -> Response:
        if request.query:
            raise Refused(400, "a change takes its fields from the body")
        fields = _fields_of_body(request, body)
        self._access.check_change(request, fields)
        wanted = {key: value for key, value in fields.items() if key != "token"}
        as_asked(lambda: self._do(name, wanted))
        if "text/html" in request.headers.get("accept", ""):
            return Response(303, {"location": "./"}, b"")
        return self._status({})

    def _do(self, name: str, fields: Dict[str, str]) -> None:
        if name == "interval":
            self._set_interval(**_only(fields, "interval"))
        else:
            _only(fields)
            self._changes[name]()

    def _set_interval(self, interval: Optional[str] = None) -> None:
        if interval is None:
            raise Refused(400, "interval is missing: the seconds between two samples")
        self._profiler.set_interval(_number(interval))

    # ---- pages ----

    def _index(self, fields: Mapping[str, str]) -> Response:
        _only(fields)
        status = self._profiler.status()
        functions = self._profiler.query(max_records=20) if status["samples"] else []
        page = _pages.index(status, functions, self._times.rows(), self._access.form_token)
        return Response(200, {"content-type": _HTML, "content-security-policy": _pages.POLICY}, page.encode("utf-8", "replace"))

    def _status(self, fields: Mapping[str, str]) -> Response:
        _only(fields)
        return _json(self._profiler.status())

    def _text(self, fields: Mapping[str, str]) -> Response:
        """Other than show(), searches for a text as it stands: a regular expression can keep the process busy for years."""
        wanted = _only(fields, "limit", "search", "sort", "idle")
        limit, search = _count(wanted.get("limit", "20")), wanted.get("search", "")
        report: Report = {"idle": wanted["idle"]} if "idle" in wanted else {}
        found = records(self._profiler.snapshot(), lambda name: search in name, limit, wanted.get("sort", "self"), **report)
        text = table(self._profiler.status(), found)
        return Response(200, {}, text.encode("utf-8", "replace"))

    def _report(self, path: str, fields: Mapping[str, str]) -> Response:
        report: Dict[str, Any] = _only(fields, "idle")
        what, kind = _REPORTS[path]
        body = self._profiler.snapshot().write(what, **report) or b""
        found = _report_page(kind, body)
        if what == "plumb":
            found.headers["content-disposition"] = 'attachment; filename="plumb.%d.plumb"' % self._profiler.status()["pid"]
        return found

    def _times_json(self, fields: Mapping[str, str]) -> Response:
        _only(fields)
        return _json({"pid": self._profiler.status()["pid"], "routes": self._times.rows()})

    def _times_csv(self, fields: Mapping[str, str]) -> Response:
        _only(fields)
        return Response(200, {"content-type": "text/csv; charset=utf-8"}, self._times.csv().encode("utf-8", "replace"))


def _report_page(kind: str, body: bytes) -> Response:
    return Response(200, {"content-type": kind, "content-security-policy": _SANDBOX}, body)


def as_asked(do: Callable[[], _Answer]) -> _Answer:
    """What a profiler refuses, or cannot do, as an answer."""
    try:
        return do()
    except (ValueError, TypeError) as why:
        raise Refused(422, str(why)) from None
    except (Error, OSError) as why:
        raise Refused(503, str(why)) from None
    except RuntimeError as why:
        raise Refused(409, str(why)) from None


def _refusal(why: Refused) -> Response:
    return Response(why.status, why.headers, (str(why) + "\n").encode("utf-8", "replace"))


def _whole(request: Request, found: Response) -> Response:
    headers = {**_ALWAYS, **found.headers, "content-length": str(len(found.body))}
    return Response(found.status, headers, b"" if request.method == "HEAD" else found.body)


def _json(what: Any) -> Response:
    return Response(200, {"content-type": _JSON}, (json.dumps(what) + "\n").encode("utf-8"))


def _check_method(request: Request, *methods: str) -> None:
    if request.method not in methods:
        raise Refused(405, "this is for %s" % " and ".join(methods), {"allow": ", ".join(methods)})


def _fields_of_body(request: Request, body: bytes) -> Dict[str, str]:
    if len(body) > LONGEST_BODY:
        raise Refused(413, "that is more than %d bytes" % LONGEST_BODY)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if body and kind not in ("", "application/x-www-form-urlencoded"):
        raise Refused(415, "fields come as application/x-www-form-urlencoded")
    try:
        return _fields(body.decode("ascii"))
    except UnicodeDecodeError:
        raise Refused(400, "fields are written in ASCII, with %XX for what is not") from None


def _fields(text: str) -> Dict[str, str]:
    try:
        pairs: List[Tuple[str, str]] = urllib.parse.parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=20)
    except ValueError:  # not UTF-8, or too many
        raise Refused(400, "these fields cannot be read") from None
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise Refused(400, "a field is there twice")
    return fields


def _only(fields: Mapping[str, str], *names: str) -> Dict[str, str]:
    for name in fields:
        if name not in names:
            raise Refused(400, "%r is no field of this: it has %s" % (name[:50], ", ".join(names) or "none"))
    return dict(fields)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise Refused(400, "%r is no number" % text[:50]) from None


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise Refused(400, "%r is no whole number" % text[:50])
    return int(text)
