# SPDX-License-Identifier: Apache-2.0
"""What a profile says of tests whose samples are tagged with `test=ID`, as lines for a terminal."""
from __future__ import annotations

import re
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

_HOTTEST = 10  # functions of all tests
_SLOWEST = 10  # tests
_LEAST_SHARE = 0.005  # of the time, to be in a table
_OTHER = "[other tags]"  # of all tests that came when there were 4,096 different tags
_TAG = re.compile(r"\[(?:.*, )?test=(.*)\]\Z", re.DOTALL)

Stack = List[Tuple[int, int]]  # (function, line), outermost first


class Test:
    """The samples of one test."""

    def __init__(self) -> None:
        self.samples = 0
        self.seconds = 0.0
        self.lines: Dict[Tuple[int, int], float] = {}  # seconds by the innermost (function, line)
        self.own: Dict[int, float] = {}  # seconds by function
        self.total: Dict[int, float] = {}

    def add(self, stack: Stack, samples: int, seconds: float) -> None:
        self.samples += samples
        self.seconds += seconds
        for function in {function for function, _ in stack}:
            self.total[function] = self.total.get(function, 0.0) + seconds
        if stack:
            self.lines[stack[-1]] = self.lines.get(stack[-1], 0.0) + seconds
            self.own[stack[-1][0]] = self.own.get(stack[-1][0], 0.0) + seconds


class Names(NamedTuple):
    """What functions are called."""

    functions: List[Dict[str, Any]]

    def place(self, function: int, line: Optional[int] = None) -> str:
        said = self.functions[function]
        return "%s (%s:%d)" % (said["qualname"], said["file"].rpartition("/")[2], said["line"] if line is None else line)


def _tag(name: str, ids: Dict[str, str]) -> Optional[str]:
    """The test in the text of a marker such as "[route=/x, test=ID, user=me]"."""
    if name == _OTHER:
        return _OTHER
    found = _TAG.match(name)
    if not found:
        return None
    text = found[1]
    while text not in ids and ", " in text:
        text = text.rpartition(", ")[0]
    return text if text in ids else None


def _stacks(report: Dict[str, Any], ids: Dict[str, str]) -> Iterator[Tuple[Optional[str], Stack, int, float]]:
    """(tag of the test, stack of Python functions, samples, seconds)"""
    functions, locations = report["functions"], report["locations"]
    for stack in report["stacks"]:
        test: Optional[str] = None
        frames: Stack = []
        for location in (locations[index] for index in stack["frames"]):
            function = functions[location["function"]]
            if function["kind"] == "marker":
                test = test or _tag(function["name"], ids)
            elif function["kind"] == "python":
                frames.append((location["function"], location["line"]))
        yield test, frames, stack["samples"], stack["weight_ns"] / 1e9


def tests_of(report: Dict[str, Any], ids: Dict[str, str]) -> Dict[str, Test]:
    """The tests by their tags."""
    found: Dict[str, Test] = {}
    for name, stack, samples, seconds in _stacks(report, ids):
        if name is not None:
            found.setdefault(name, Test()).add(stack, samples, seconds)
    return found


def _percent(part: float, whole: float) -> str:
    return "%5.1f %%" % (100 * part / whole if whole else 0)


def _table(test: Test, names: Names, limit: int) -> Iterator[str]:
    yield "     self    total  function"
    shown = [function for function, seconds in test.own.items() if seconds >= _LEAST_SHARE * test.seconds]
    for function in sorted(shown, key=lambda f: -test.own[f])[:limit]:
        shares = _percent(test.own[function], test.seconds), _percent(test.total[function], test.seconds)
        yield "  %s  %s  %s" % (*shares, names.place(function))


def _slowest(tests: Dict[str, Test], names: Names, ids: Dict[str, str]) -> Iterator[str]:
    yield "slowest tests, and the line that took most of each:"
    for tag in sorted(tests, key=lambda tag: -tests[tag].seconds)[:_SLOWEST]:
        test = tests[tag]
        hot = max(test.lines, key=lambda place: test.lines[place], default=None)
        said = ": %s in %s" % (_percent(test.lines[hot], test.seconds).strip(), names.place(*hot)) if hot else ""
        yield "  %8.3f s  %s%s" % (test.seconds, ids[tag], said)


def _whole(tests: Dict[str, Test]) -> Test:
    whole = Test()
    for test in tests.values():
        whole.samples += test.samples
        whole.seconds += test.seconds
        for mine, its in ((whole.own, test.own), (whole.total, test.total)):
            for function, seconds in its.items():
                mine[function] = mine.get(function, 0.0) + seconds
    return whole


def _said(report: Dict[str, Any], whole: Test) -> str:
    share = _percent(whole.seconds, report["samples"]["weight_ns"] / 1e9).strip()
    return "%d samples; %d of them, %s of the time, in tests" % (report["samples"]["total"], whole.samples, share)


def lines(profile: Any, ids: Dict[str, str], marked: Dict[str, int]) -> Iterator[str]:
    """ids     what the tags of tests stand for
    marked  {id: how many functions are to be shown of that test}"""
    ids = {**ids, _OTHER: "all later tests: there are only so many tags"}
    report = profile.stats()
    tests, names = tests_of(report, ids), Names(report["functions"])
    whole = _whole(tests)
    yield _said(report, whole)
    if not tests:
        yield "no sample was taken in a test"
        return
    yield "hottest functions:"
    yield from _table(whole, names, _HOTTEST)
    yield from _slowest(tests, names, ids)
    for tag, test in tests.items():
        limit = marked.get(ids[tag])
        if limit is not None:
            yield "%s: %.3f s, %d samples" % (ids[tag], test.seconds, test.samples)
            yield from _table(test, names, limit)
