# SPDX-License-Identifier: Apache-2.0
"""What is printed to a terminal: how a report looks there, as the command line decides it, and names of the program."""
from __future__ import annotations

import os
from typing import Any, Dict

_DEFAULT_WIDTH, _LEAST_WIDTH, _MOST_WIDTH = 80, 20, 1000


def _fd_of_terminal(file: Any) -> int:
    """-1: it is none."""
    try:
        fd = file.fileno()
        return fd if os.isatty(fd) else -1
    except (AttributeError, OSError, ValueError):
        return -1


def _width(fd: int) -> int:
    try:
        columns = os.get_terminal_size(fd).columns if fd >= 0 else 0
    except OSError:
        columns = 0
    if columns < _LEAST_WIDTH:
        given = os.environ.get("COLUMNS", "")
        columns = int(given) if given.isdecimal() else 0
    return columns if _LEAST_WIDTH <= columns <= _MOST_WIDTH else _DEFAULT_WIDTH


def _color(fd: int) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("CLICOLOR_FORCE", "0") not in ("", "0"):
        return True
    return fd >= 0 and os.environ.get("TERM", "dumb") not in ("", "dumb")


def _ascii(file: Any) -> bool:
    encoding = getattr(file, "encoding", None)
    if not encoding:
        return False
    try:
        "└─·±µλ".encode(encoding)
    except (LookupError, UnicodeError):
        return True
    return False


def printable(text: str) -> str:
    """Names are the program's: what would move a terminal's cursor is written as in Python."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def look(file: Any) -> Dict[str, Any]:
    """Options of a report in text."""
    fd = _fd_of_terminal(file)
    return {"width": _width(fd), "color": _color(fd), "ascii": _ascii(file)}
