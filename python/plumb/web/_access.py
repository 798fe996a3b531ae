# SPDX-License-Identifier: Apache-2.0
"""Who may see a profile over HTTP, and who may change what is sampled."""
from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import inspect
import ipaddress
import re
import secrets
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional, Tuple

from plumb._arguments import checked_flag


class Request(NamedTuple):
    """A request as WSGI, ASGI and Flask all have it; its body is read when it is known that whoever sent it may."""

    method: str
    mount: str  # the path where the application is
    path: str  # below that; "" is the mount point itself
    query: str
    headers: Mapping[str, str]  # names in lower case, values as latin-1; what came twice is joined by a comma
    peer: Optional[str]  # address of who is connected; None: not known, as with a Unix socket
    context: Any  # environ or scope: what `allow` is asked about


class Refused(Exception):
    """An answer that is no success, with a sentence that says why."""

    def __init__(self, status: int, sentence: str, headers: Optional[Dict[str, str]] = None) -> None:
        super().__init__(sentence)
        self.status, self.headers = status, headers or {}


_NEEDED = "this needs a token: as Authorization: Bearer, or as the password of any user"
_MADE = ". The application has made one: the attribute token of its control application; it can give one (token=), or let in this machine without (allow_loopback=True)"
_AT_ONCE = "allow answers at once, by True or False: what it gives is to be awaited, which would be true for everybody"
_ANOTHER_SITE = "a page of another site asked for this: enter the address yourself"
_ASK = {"www-authenticate": 'Basic realm="plumb", charset="UTF-8"'}
# What proxies add. They can be forged, so they never allow anything.
_FORWARDED = ("forwarded", "via", "x-real-ip", "x-client-ip", "true-client-ip", "cf-connecting-ip")
_FORWARDED_BEGINS = "x-forwarded-"
_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^:\[\]]*)(:\d+)?")


def _is_loopback(address: Optional[str]) -> bool:
    try:
        ip = ipaddress.ip_address(address or "")
    except ValueError:
        return False
    return (getattr(ip, "ipv4_mapped", None) or ip).is_loopback


def _names_loopback(host: str) -> bool:
    """A page of another site whose name leads to this machine gives that name here (DNS rebinding)."""
    found = _HOST.fullmatch(host)
    name = found.group(1).strip("[]").lower() if found else ""
    return name == "localhost" or name.endswith(".localhost") or _is_loopback(name)


def _is_of_another_site(headers: Mapping[str, str]) -> bool:
    """What a browser says of the page that asks; what is no browser says nothing. Old ones, and all without TLS, have no more than
    the address of that page, and not even that if it hides it."""
    host = headers.get("host", "localhost").lower()
    own = ("http://" + host, "https://" + host)
    if "origin" in headers and headers["origin"].lower() not in own:
        return True
    if "sec-fetch-site" in headers:
        return headers["sec-fetch-site"].lower() not in ("same-origin", "none")
    return "referer" in headers and not (headers["referer"].lower() + "/").startswith(tuple(site + "/" for site in own))


def _answers_later(allow: Callable[[Any], Any]) -> bool:
    return inspect.iscoroutinefunction(allow) or inspect.iscoroutinefunction(getattr(allow, "__call__", None))


class Access:
    """Reading: with the token; or if `allow(environ or scope)` says so; or, where that was allowed, from this machine, not
    through a proxy and not for a page of another site. The page of a request: whoever may read, but not for a page of another site.
    Changes: whoever may read, by POST with the token or the one that is in the page's forms."""

    def __init__(self, allow: Optional[Callable[[Any], Any]], token: Optional[str], allow_loopback: bool) -> None:
        if token is not None and (not isinstance(token, str) or len(token) < 8):
            raise ValueError("token is a text of at least 8 characters")
        if allow is not None and not callable(allow):
            raise TypeError("allow is a function that is asked about each request, not %r" % (allow,))
        if allow is not None and _answers_later(allow):
            raise TypeError(_AT_ONCE)
        if allow is not None and allow_loopback:
            raise ValueError("allow decides alone: it is not to be given with allow_loopback")
        self._allow, self._allow_loopback = allow, checked_flag("allow_loopback", allow_loopback)
        self._given = token is not None
        self.token: str = secrets.token_urlsafe(24) if token is None else token
        # The same in all processes that were given or have inherited one token, and tells nothing of it.
        self.form_token = hmac.new(self.token.encode("utf-8"), b"plumb: forms", hashlib.sha256).hexdigest()

    def check_read(self, request: Request) -> None:
        """Or Refused."""
        kind, presented = _credentials(request.headers)
        if presented is not None and _same(presented, self.token):
            return
        if self._is_allowed(request.context):
            return
        if self._allow_loopback and _is_loopback(request.peer):
            return self._check_local(request)
        if presented is not None and kind != "basic":
            raise Refused(403, "that is not the token")
        if self._allow is not None and not self._given:
            raise Refused(403, "you are not allowed to see this")
        raise Refused(401, _NEEDED if self._given else _NEEDED + _MADE, _ASK)

    def _is_allowed(self, context: Any) -> bool:
        found = self._allow is not None and self._allow(context)
        if not inspect.isawaitable(found):
            return bool(found)
        if inspect.iscoroutine(found):
            found.close()
        raise TypeError(_AT_ONCE)

    def _check_local(self, request: Request) -> None:
        if any(name in _FORWARDED or name.startswith(_FORWARDED_BEGINS) for name in request.headers):
            raise Refused(403, "this came through a proxy: give the control application a token")
        if not _names_loopback(request.headers.get("host", "localhost")):
            raise Refused(403, "the name in Host is not one of this machine's loopback: give the control application a token")
        if _is_of_another_site(request.headers):
            raise Refused(403, _ANOTHER_SITE + ", or give the control application a token")

    def check_page(self, request: Request) -> None:
        """Or Refused; after check_read(). The application serves for it, and browsers send passwords and cookies wherever a link to
        this was."""
        kind, presented = _credentials(request.headers)
        by_itself = kind != "bearer" or presented is None or not _same(presented, self.token)
        if by_itself and _is_of_another_site(request.headers):
            raise Refused(403, _ANOTHER_SITE)

    def check_change(self, request: Request, fields: Mapping[str, str]) -> None:
        """Or Refused; after check_read(). Browsers send passwords by themselves, so one is not enough here."""
        kind, presented = _credentials(request.headers)
        if presented is None or kind == "basic":
            presented = fields["token"].encode("utf-8", "replace") if "token" in fields else None
        if presented is None:
            raise Refused(401, "changes need a token: as Authorization: Bearer, or in the form's field token", _ASK)
        if not (_same(presented, self.token) or _same(presented, self.form_token)):
            raise Refused(403, "that is not the token")


def _same(presented: bytes, token: str) -> bool:
    """Clients write headers in UTF-8 or in latin-1."""
    in_latin_1 = token.encode("latin-1", "replace")  # with other characters no token at all
    return hmac.compare_digest(presented, token.encode("utf-8")) or (
        in_latin_1.decode("latin-1") == token and hmac.compare_digest(presented, in_latin_1)
    )


def _credentials(headers: Mapping[str, str]) -> Tuple[Optional[str], Optional[bytes]]:
    """("bearer" or "basic", what was presented), or (None, None)."""
    kind, _, value = headers.get("authorization", "").strip().partition(" ")
    kind, value = kind.lower(), value.strip()
    if kind == "bearer":
        return kind, value.encode("latin-1", "replace")
    if kind == "basic":
        return kind, _password(value)
    return ("bearer", headers["x-plumb-token"].encode("latin-1", "replace")) if "x-plumb-token" in headers else (None, None)


def _password(value: str) -> bytes:
    try:
        return base64.b64decode(value, validate=True).partition(b":")[2]
    except (binascii.Error, ValueError):
        return b""
