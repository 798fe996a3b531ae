# SPDX-License-Identifier: Apache-2.0
"""The page of the control application: plain HTML without a script. All that comes from elsewhere is escaped."""
from __future__ import annotations

import base64
import hashlib
from html import escape
from typing import Any, Dict, List, Tuple

from plumb._profiler import ProfilerStatus, Record

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:62em;padding:0 1em;color:#1b1f24;background:#fff}"
    "table{border-collapse:collapse;width:100%}th,td{padding:.15em .8em .15em 0;text-align:left;border-bottom:1px solid #ddd}"
    ".number{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}form{display:inline-block;margin:0 .6em .6em 0}"
    "td{overflow-wrap:anywhere}"
    "@media(prefers-color-scheme:dark){body{color:#e6e6e6;background:#16181b}a{color:#8ab4f8}th,td{border-color:#444}}"
)
POLICY = "default-src 'none'; style-src 'sha256-%s'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'" % (
    base64.b64encode(hashlib.sha256(_STYLE.encode("ascii")).digest()).decode("ascii")
)

_PAGE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    "<title>plumb: process %(pid)d</title><style>" + _STYLE.replace("%", "%%") + "</style>"
    "<h1>Process %(pid)d: %(state)s</h1><p>Other processes of this server have a page each; which one answers is the server's choice.</p>"
    "%(actions)s<p>%(links)s</p>"
    "<h2>Sampling</h2>%(status)s<h2>Functions</h2>%(functions)s<h2>Requests</h2>%(times)s"
)
_LINKS = (
    ("flamegraph", "report page with flame graph"), ("flamegraph.svg", "flame graph (SVG)"), ("collapsed", "collapsed stacks"),
    ("text", "text"), ("recording", "recording"), ("times", "request times (JSON)"), ("times.csv", "request times (CSV)"),
    ("status", "status (JSON)"),
)  # fmt: skip

# What can be done in each state.
_ACTIONS = {
    "running": ("pause", "stop", "reset", "cancel"),
    "paused": ("resume", "stop", "reset", "cancel"),
    "stopped": ("start", "reset"),
}


def _table(head: Tuple[str, ...], rows: List[Tuple[Any, ...]]) -> str:
    cells = "".join("<th scope=col>%s" % escape(name) for name in head)
    lines = ["<tr>" + "".join(map(_cell, row)) for row in rows]
    return "<table><thead><tr>%s<tbody>%s</table>" % (cells, "".join(lines))


def _cell(value: Any) -> str:
    return "<td>%s" % escape(value) if isinstance(value, str) else "<td class=number>%s" % _number(value)


def _number(value: Any) -> str:
    if value is None:
        return "not known"
    return format(value, ",d" if isinstance(value, int) else ",.1f" if value >= 1 else ".3g")


def _form(action: str, token: str, more: str = "") -> str:
    hidden = '<input type="hidden" name="token" value="%s">' % escape(token)
    return '<form method="post" action="%s">%s%s<button>%s</button></form>' % (action, hidden, more, "set interval" if more else action)


def _interval_form(token: str, interval: float) -> str:
    field = '<label>seconds between samples <input name="interval" size="8" value="%s" required></label> ' % format(interval, "g")
    return _form("interval", token, field)


def _milliseconds(row: Dict[str, Any]) -> Tuple[Any, ...]:
    return tuple(row[name + "_s"] * 1e3 for name in ("mean", "p50", "p90", "p99", "max"))


def index(status: ProfilerStatus, functions: List[Record], times: List[Dict[str, Any]], token: str) -> str:
    figures = [(one["self"] * 100, one["total"] * 100, one["function"], "%s:%d" % (one["file"], one["line"])) for one in functions]
    requests = [(row["method"], row["route"], row["count"], row["failed"], *_milliseconds(row)) for row in times]
    return _PAGE % {
        "pid": status["pid"],
        "state": escape(status["state"]),
        "actions": "".join(_form(action, token) for action in _ACTIONS.get(status["state"], ("start",)))
        + _interval_form(token, status["interval"]),
        "links": " · ".join('<a href="%s">%s</a>' % link for link in _LINKS),
        "status": _table(("", ""), list({**status, "pid": str(status["pid"])}.items())),
        "functions": _table(("self %", "total %", "function", "where"), figures),
        "times": _table(
            ("method", "route", "requests", "failed", "mean ms", "half below", "90 % below", "99 % below", "longest"), requests
        ),
    }
