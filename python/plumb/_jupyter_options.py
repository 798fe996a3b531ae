# SPDX-License-Identifier: Apache-2.0
"""The options of %plumb. What follows them in the line is left exactly as it stands, which none of IPython's own parsers does."""
from __future__ import annotations

import re
import shlex
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

_LARGEST_MB = 4.0


class _Option(NamedTuple):
    short: str
    long: str
    value: str
    help: str
    read: Callable[[str], Any]
    default: Any


def _number(what: str, least: str, most: str) -> Callable[[str], float]:
    def read(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = float("nan")
        if not float(least) <= number <= float(most):
            raise ValueError("%s is a number from %s to %s, not '%s'" % (what, least, most, text))
        return number

    return read


def _one_of(what: str, *words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in words:
            raise ValueError("%s is %s or %s, not '%s'" % (what, ", ".join(words[:-1]), words[-1], text))
        return text

    return read


def _variable(text: str) -> str:
    if not text.isidentifier():
        raise ValueError("'%s' is no name of a variable" % text)
    return text


OWN_THREADS: List[str] = []  # the threads of the user's


def _list(text: str) -> Optional[List[str]]:
    return None if text == "all" else text.split(",")


_OPTIONS = (
    _Option("-i", "--interval", "SECONDS", "time between two samples", _number("the interval", "0.00001", "10"), 0.001),
    _Option("-t", "--threads", "LIST", "show these threads by name, separated by commas, or all (all but the kernel's own)",
            _list, OWN_THREADS),
    _Option("-m", "--mode", "MODE", "wall: all of the time; cpu: time on a processor; gil: time with the GIL",
            _one_of("the mode", "wall", "cpu", "gil"), "wall"),
    _Option("-f", "--format", "FORMAT", "text, html (the report page), both or none",
            _one_of("the format", "text", "html", "both", "none"), "both"),
    _Option("-o", "--variable", "NAME", "assign the profile to a variable", _variable, None),
    _Option("-s", "--save", "FILE", "also write it, in the format that the end of the name says", str, None),
    _Option("-p", "--min-share", "PERCENT", "what is called in less than so much of the time counts where it is called from (the page: as "
            "much as makes it fit)", _number("the share", "0", "100"), None),
    _Option("-l", "--largest", "MB", "how large the page may be", _number("the size", "0.1", "1000"), _LARGEST_MB),
)  # fmt: skip


def help_text() -> str:
    lines = [
        "Profile an expression or a cell.",
        "",
        "    %plumb [options] EXPRESSION       its value is the value of the line",
        "    %%plumb [options]                 profiles the cell",
        "    %plumb                            the last profile",
        "",
        "All threads are sampled meanwhile, without stopping them. What came of it is shown also after an exception or an interrupt.",
        "The page in the notebook is a sandboxed frame; p.open_in_browser() shows it in a window of its own, p.html(FILE) writes it.",
        "",
        "Options, before the expression (-- ends them):",
    ]
    for option in _OPTIONS:
        default = " (%s)" % option.default if option.default else ""
        lines.append("    %s, %s %s" % (option.short, option.long, option.value))
        lines.append("          %s%s" % (option.help, default))
    return "\n".join(lines)


_FIRST = re.compile(r"\s*(--?[a-z][a-z-]*|--)(?=[\s=]|\Z)[\s=]*")
_VALUE = re.compile(r"""("[^"]*"|'[^']*'|\S+)\s*""")


def parse(line: str) -> Tuple[Dict[str, Any], str]:
    """({option: value}, the rest of the line exactly as it stands there)"""
    chosen = {option.long[2:].replace("-", "_"): option.default for option in _OPTIONS}
    names = {name: option for option in _OPTIONS for name in (option.short, option.long)}
    while True:
        found = _FIRST.match(line)
        if not found:
            return chosen, line.strip()
        if found[1] == "--":
            return chosen, line[found.end() :].strip()
        option = names.get(found[1])
        if option is None:
            raise ValueError("there is no option %s; `%%plumb?` lists them, and -- stands before an expression with a minus" % found[1])
        value = _VALUE.match(line, found.end())
        if not value:
            raise ValueError("%s needs a value: %s" % (found[1], option.value))
        chosen[option.long[2:].replace("-", "_")] = option.read("".join(shlex.split(value[1])))
        line = line[value.end() :]
