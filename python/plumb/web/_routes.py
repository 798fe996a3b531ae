# SPDX-License-Identifier: Apache-2.0
"""What a request is called: by its route where a framework tells it, else by its path without what is different each time."""
from __future__ import annotations

import re
import sys
import uuid
from typing import Any, Callable, Dict, Mapping, MutableMapping, Optional, Set, Tuple

METHODS = frozenset("CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT TRACE".split())

# A version is a part of the name: /v1/users/17 is /v1/users/{n}.
_VERSION = re.compile(r"v\d{1,2}")
_IDENTIFIER = re.compile(r"(?=.*\d)[0-9a-fA-F-]{16,}")
_DIGITS = re.compile(r"\d+")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
_LONGEST = 200


def known_method(method: str) -> str:
    return method if method in METHODS else "other"


def _folded_part(part: str) -> str:
    if _VERSION.fullmatch(part):
        return part
    return "{id}" if _IDENTIFIER.fullmatch(part) else _DIGITS.sub("{n}", part)


def folded(path: str) -> str:
    """A path whose numbers and identifiers are written {n} and {id}."""
    return "/".join(map(_folded_part, _UNPRINTABLE.sub(" ", path[:_LONGEST]).split("/"))) or "/"


class Names:
    """So many different names, and "other" for all that come later: each is kept for good by what counts samples."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: Dict[str, str] = {}

    def seen(self, name: str) -> Optional[str]:
        """The name, if it is one of them already."""
        return self._known.get(name)

    def known(self, name: str) -> str:
        if name not in self._known and len(self._known) < self._most:
            self._known[name] = name
        return self._known.get(name, "other")


# ---- WSGI ----


def wsgi_path(environ: Mapping[str, Any]) -> str:
    raw: str = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
    return raw.encode("latin-1", "replace").decode("utf-8", "replace")


def of_werkzeug(environ: Mapping[str, Any]) -> Optional[str]:
    """The rule that Flask found; known as soon as it has looked for one."""
    rule = getattr(environ.get("werkzeug.request"), "url_rule", None)
    return getattr(rule, "rule", None)


def ask_flask(app: Any, told: Callable[[Mapping[str, Any]], None]) -> None:
    """Where `app` is a Flask application or its wsgi_app: call told(environ) when it knows the route of a request."""
    flask = sys.modules.get("flask")
    owner = getattr(app, "__self__", app)
    if flask is None or not isinstance(owner, flask.Flask):
        return

    def tell() -> None:
        told(flask.request.environ)

    owner.before_request_funcs.setdefault(None, []).insert(0, tell)


# ---- ASGI ----


def _means(part: str, value: Any) -> bool:
    """Whether a router has made the value of it: many spellings are one number."""
    if part == str(value):
        return True
    try:
        return type(value) in (int, float, uuid.UUID) and bool(type(value)(part) == value)
    except ValueError:
        return False


def _with_parameters(path: str, parameters: Mapping[str, Any]) -> Tuple[str, bool]:
    """(the path with the names of parameters where their values are, whether all values are there)"""
    found: Set[str] = {name for name, value in parameters.items() if str(value) == ""}
    wanted = [name for name in parameters if name not in found]

    def named(part: str) -> str:
        for name in sorted(wanted, key=found.__contains__):  # of equal values each has a place
            if _means(part, parameters[name]):
                found.add(name)
                return "{%s}" % name
        return part

    for name in wanted:
        value = str(parameters[name])
        if "/" in value and value in path:
            found.add(name)
            path = path.replace(value, "{%s}" % name)
    return "/".join(map(named, path.split("/"))), len(found) == len(parameters)


def _called(endpoint: Any) -> str:
    return str(getattr(endpoint, "__qualname__", type(endpoint).__qualname__))


def of_matched(path: str, matched: Mapping[str, Any], mounted: str) -> Optional[str]:
    """The route, from what a router of Starlette's kind puts into the scope when it has found one, in an application that is
    mounted there. It has as many names as the program has routes, however they are asked for: one in whose path a value is not
    found is called by its function."""
    parameters = matched.get("path_params") or {}
    mounted, _ = _with_parameters(mounted, parameters)
    route = getattr(matched.get("route"), "path", None)
    if isinstance(route, str):
        return mounted + route
    if "endpoint" not in matched:
        return None
    if "root_path" in matched:  # an application that may have routes of its own
        return mounted + "/*"
    whole, complete = _with_parameters(path, parameters)
    return whole if complete else "%s/%s()" % (mounted, _called(matched["endpoint"]))


class Scope(Dict[str, Any]):
    """A scope that tells when a router has found the route: routers write it there, and nothing else tells. What is written goes
    into the scope that it was given, too: others around read it there."""

    def __init__(self, scope: MutableMapping[str, Any], told: Callable[[Mapping[str, Any], str], None]) -> None:
        super().__init__(scope)
        self._scope, self._told, self._root = scope, told, str(scope.get("root_path", ""))

    def _tell(self, found: Mapping[str, Any]) -> None:
        """With the path of what is mounted below the application that got this scope."""
        self._told(found, str(self.get("root_path", ""))[len(self._root) :])

    def update(self, *others: Any, **more: Any) -> None:
        found = dict(*others, **more)
        super().update(found)
        self._scope.update(found)
        self._tell(found)

    def __ior__(self, other: Any) -> "Scope":  # type: ignore[override,misc]
        self.update(other)
        return self

    def setdefault(self, key: str, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self[key]

    def __delitem__(self, key: str) -> None:
        super().__delitem__(key)
        self._scope.pop(key, None)

    def pop(self, key: str, *default: Any) -> Any:
        self._scope.pop(key, None)
        return super().pop(key, *default)

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, value)
        self._scope[key] = value
        if key in ("route", "endpoint"):
            self._tell({"path_params": self.get("path_params"), key: value})
