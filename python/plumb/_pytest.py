# SPDX-License-Identifier: Apache-2.0
"""The plug-in for pytest: `pytest --plumb`.

One session serves the whole run; samples are told apart by a tag with the id of the test. With pytest-xdist each worker records into a file
of its own, and the process with the terminal adds them up. Only hooks are used that pytest has had for long, and no wrappers, so that a
pytest that is not known yet can still load it; without --plumb nothing but its options is there.
"""
from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import re
import shutil
import sys
import tempfile
import warnings
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

import pytest

import plumb
from plumb import _imports

_PAGE = "plumb-report.html"
_REPLACE = "name another one with '--plumb-output', or replace the file with '--plumb-force'"
_LONGEST_TAG = 100  # longer values of tags are cut
_OLDEST = (6, 0)


def _interval(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 1e-5 <= seconds <= 10:
        raise argparse.ArgumentTypeError("the interval is a number of seconds from 0.00001 to 10, not '%s'" % text)
    return seconds


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("plumb", "profiling by plumb")
    # "=html" is a part of the name: an option with a value of its own choice would take the name of a test that follows it.
    group.addoption("--plumb", "--plumb=text", dest="plumb", action="store_const", const="text",
                    help="sample the tests and show what took the time")
    group.addoption("--plumb=html", dest="plumb", action="store_const", const="html", help="the same, and write a page with all of it")
    group.addoption("--plumb-interval", type=_interval, default=0.001, metavar="SECONDS", help="time between two samples (0.001)")
    group.addoption("--plumb-output", metavar="FILE", help="write the profile to it, in the format that the end of its name says: "
                    ".html, .plumb (a recording), .json, .speedscope.json, ...")
    group.addoption("--plumb-force", action="store_true", help="replace files that plumb did not write, too")


def pytest_configure(config: Any) -> None:
    config.addinivalue_line("markers", "plumb(limit=10): with --plumb, show the functions of this test by themselves")
    worker = getattr(config, "workerinput", None)
    outputs = _outputs(config) if worker is None else []
    if not config.getoption("plumb"):
        return
    if _version(pytest.__version__) < _OLDEST:
        raise pytest.UsageError("--plumb needs pytest %d.%d or later" % _OLDEST)
    if worker is None:
        reporter = Reporter(outputs)
        config.pluginmanager.register(reporter, "plumb-reporter")
        if not _has_workers(config):
            config.pluginmanager.register(Recorder(config, reporter.recording("tests"), reporter.take), "plumb-recorder")
    elif "plumb" in worker:
        config.pluginmanager.register(Recorder(config, worker["plumb"], config.workeroutput.update), "plumb-recorder")


class Output(NamedTuple):
    """A file to be written when the tests have run."""

    path: str
    format: str
    whose: str  # choice the name is, as for _plumb.Profile.save()


def _outputs(config: Any) -> List[Output]:
    """What cannot be written is told before the tests run, as far as it is known then."""
    given: Optional[str] = config.getoption("plumb_output")
    wanted: Optional[str] = config.getoption("plumb")
    force: bool = config.getoption("plumb_force")
    if given is not None and not wanted:
        raise pytest.UsageError("--plumb-output does nothing without --plumb: add that")
    found = []
    if given is not None:
        found.append(_checked("--plumb-output", given, "forced" if force else "named"))
    if wanted == "html" and not (given or "").endswith((".html", ".htm")):
        found.append(_checked("--plumb=html", _PAGE, "forced" if force else "chosen"))
    return found


def _checked(option: str, path: str, whose: str) -> Output:
    core = _imports.imported("plumb._plumb")
    try:
        format = _imports.imported("plumb._result").format_of(path)
        core.check_format(format)
        core.try_output(path, whose)
    except ValueError as error:
        raise pytest.UsageError("%s %s: %s" % (option, path, str(error).partition(";")[0]))
    except plumb.Error as error:
        raise pytest.UsageError("%s: %s" % (option, _sentence(error)))
    return Output(path, format, whose)


def _sentence(error: Exception) -> str:
    """With a hint that is of use where there are the options of pytest alone."""
    hint = getattr(error, "hint", "")
    return str(error).replace(hint, _REPLACE) if "--force" in hint else str(error)


def _version(text: str) -> Tuple[int, ...]:
    """What cannot be read is newer than all that is known."""
    found = re.match(r"(\d+)\.(\d+)", text)
    return tuple(map(int, found.groups())) if found else (sys.maxsize, 0)


def _has_workers(config: Any) -> bool:
    """Whether the tests run in other processes, by pytest-xdist."""
    return config.getoption("dist", "no") != "no" or bool(config.getoption("tx", None))


def tag_of(nodeid: str) -> str:
    """What stands for a test in the tags: its id, or the beginning of a long one with a number that comes from all of it."""
    if len(nodeid) <= _LONGEST_TAG:
        return nodeid
    return "%s~%s" % (nodeid[: _LONGEST_TAG - 13], hashlib.sha256(nodeid.encode("utf-8", "replace")).hexdigest()[:12])


def _limit(nodeid: str, *arguments: Any, **options: Any) -> int:
    """Of a marker: how many functions are shown."""
    limit = options.pop("limit", 10)
    if arguments or options or not isinstance(limit, int) or limit < 1:
        raise pytest.UsageError("%s: the marker plumb has one option: limit=NUMBER" % nodeid)
    return limit


class Recorder:
    """Samples the process in which the tests run."""

    def __init__(self, config: Any, path: str, told: Any) -> None:
        self._config, self._path, self._told = config, path, told
        self._marked: Dict[str, int] = {}
        self._recording: Any = None
        self._tag: Any = None

    def pytest_sessionstart(self) -> None:
        try:
            self._recording = plumb.start(interval=self._config.getoption("plumb_interval"), output=self._path)
        except (plumb.Error, OSError) as error:
            self._told({"plumb_trouble": str(error)})

    def pytest_itemcollected(self, item: Any) -> None:
        marker = item.get_closest_marker("plumb")
        if marker:
            self._marked[item.nodeid] = _limit(item.nodeid, *marker.args, **marker.kwargs)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._tag = plumb.tag(test=tag_of(nodeid))
        self._tag.__enter__()

    def pytest_runtest_logfinish(self) -> None:
        if self._tag:
            self._tag.__exit__(None, None, None)
            self._tag = None

    def pytest_sessionfinish(self) -> None:
        if self._recording:
            self._recording.stop()
        self._told({"plumb_marked": self._marked})


class Reporter:
    """Tells what was recorded, in the process that has the terminal."""

    def __init__(self, outputs: List[Output]) -> None:
        self._outputs = outputs
        self._directory = tempfile.mkdtemp(prefix="plumb-pytest-")
        self._recordings: List[str] = []
        self._marked: Dict[str, int] = {}
        self._names: Dict[str, str] = {}
        self._trouble: List[str] = []
        self._stay = False  # the recordings

    def recording(self, name: str) -> str:
        self._recordings.append(os.path.join(self._directory, name + ".plumb"))
        return self._recordings[-1]

    def take(self, told: Dict[str, Any]) -> None:
        self._marked.update(told.get("plumb_marked", {}))
        if "plumb_trouble" in told:
            self._trouble.append(told["plumb_trouble"])

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput["plumb"] = self.recording(node.gateway.id)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self.take(getattr(node, "workeroutput", {}))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._names[tag_of(nodeid)] = nodeid

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        terminalreporter.section("plumb")
        with warnings.catch_warnings(record=True) as caught:  # under -W error they would end the session
            warnings.simplefilter("always")
            with self._what_fails_told():
                self._tell(terminalreporter.write_line)
        texts = [str(one.message) for one in caught]
        self._trouble += [text[len("plumb: ") :] for text in texts if text.startswith("plumb: ")]
        for line in dict.fromkeys(self._trouble):
            terminalreporter.write_line("plumb: " + line)
        if self._stay:
            terminalreporter.write_line("plumb: what was recorded stays: " + self._how_to_read())

    def pytest_unconfigure(self) -> None:
        if not self._stay:
            shutil.rmtree(self._directory, ignore_errors=True)

    @contextlib.contextmanager
    def _what_fails_told(self) -> Iterator[None]:
        """And nothing that was recorded is lost by it."""
        try:
            yield
        except (plumb.Error, ValueError, OSError) as error:
            self._trouble.append(_sentence(error))
            self._stay = True

    def _how_to_read(self) -> str:
        if len(self._recordings) == 1:
            return "plumb report %s" % self._recordings[0]
        return "plumb merge %s -o OUT.plumb" % os.path.join(self._directory, "*.plumb")

    def _tell(self, write: Any) -> None:
        profile = self._profile()
        if not profile:
            return
        summary, terminal = _imports.imported("plumb._pytest_summary"), _imports.imported("plumb._terminal")
        for line in summary.lines(profile, self._names, self._marked):
            write(terminal.printable(line))
        self._write_files(profile, write)

    def _write_files(self, profile: Any, write: Any) -> None:
        for output in self._outputs:
            with self._what_fails_told():
                profile._write(output.format, output.path, output.whose, {})
                write("plumb: the profile is in %s" % output.path)

    def _can_be_read(self, path: str) -> bool:
        """What one worker has left must not cost the recordings of the others."""
        if not os.path.exists(path):
            return False
        try:
            plumb.open(path)
        except plumb.Error as error:
            self._trouble.append(str(error))
            return False
        return True

    def _profile(self) -> Any:
        """All that was recorded; None: nothing."""
        there = [path for path in self._recordings if self._can_be_read(path)]
        if len(there) < 2:
            return plumb.open(there[0]) if there else None
        return plumb.merge(*there)

