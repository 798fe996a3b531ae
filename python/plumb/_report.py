# SPDX-License-Identifier: Apache-2.0
"""The options of reports: those of `plumb report`, by their names with underscores."""
from __future__ import annotations

from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple, TypedDict, Union

from plumb._arguments import checked_count, checked_flag, is_number

Words = Union[None, str, int, Iterable[Union[str, int]]]


class Report(TypedDict, total=False):
    """Profile says what they are."""

    lines: bool
    functions: bool
    idle: Union[None, bool, str]
    threads: Words
    process: Words
    module: Words
    tag: Words
    own: Words
    time: Optional[Tuple[Optional[float], Optional[float]]]
    state: Words
    kind: Words
    focus: Optional[str]
    ignore: Optional[str]
    min_share: float
    names: Optional[str]
    top: int
    quality: bool
    width: int
    color: bool
    ascii: bool
    no_escape: bool
    annotate: bool
    native: Optional[str]
    flavour: Optional[str]


_TEXTS = ("focus", "ignore", "names", "flavour", "native")
_WORDS = ("threads", "process", "module", "tag", "state", "kind")
_FLAGS = ("lines", "functions", "quality", "color", "ascii", "no_escape", "annotate")
_WIDTHS = range(20, 1001)


def _checked_own(own: Words) -> List[str]:
    names = [] if own is None else [own] if isinstance(own, (str, int)) else list(own)
    for name in names:
        if not isinstance(name, str):
            raise TypeError("own is a module, package, file or folder, or several, not %r" % (name,))
        if not name or "\0" in name:
            raise ValueError("own is a module, package, file or folder, which %r names none of" % (name,))
    return [str(name) for name in names]


def _checked_words(name: str, value: Any) -> Union[None, str, int, List[Union[str, int]]]:
    if value is None or isinstance(value, (str, int)):
        return value
    words = list(value) if isinstance(value, Iterable) and not isinstance(value, bytes) else [value]
    for word in words:
        if not isinstance(word, (str, int)):
            raise TypeError("%s is a word or several, not %r" % (name, word))
    return words


def checked(given: Mapping[str, Any]) -> Dict[str, Any]:
    """Or an error that names the option. What a word can be, and that a time does not end before it begins, C says."""
    report = dict(given)
    for name, value in given.items():
        if name not in Report.__annotations__:
            raise TypeError("reports have no option %s: they have %s" % (name, ", ".join(Report.__annotations__)))
        if name in _FLAGS:
            checked_flag(name, value)
        if name in _TEXTS and not isinstance(value, (str, type(None))):
            raise TypeError("%s is a text, not %r" % (name, value))
        if name in _WORDS:
            report[name] = _checked_words(name, value)
        if name == "min_share" and not is_number(value):
            raise TypeError("min_share is a percentage, not %r" % (value,))
        if name == "top":
            checked_count(name, value)
        if name == "width" and value not in _WIDTHS:
            raise ValueError("width is a number of columns from 20 to 1000, not %r" % (value,))
    return {**report, "own": _checked_own(report.get("own"))}
