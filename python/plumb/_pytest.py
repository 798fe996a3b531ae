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
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

import pytest

import plumb
from plumb import _imports, _texts

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
    if not isinstance(error, (plumb.Error, ValueError, OSError)):
        return "%s: %s" % (type(error).__name__, error)
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
    """What stands for a test in the tags: its id, or, of one that a tag cannot have as it is, the beginning with a number that comes from
    all of it."""
    if len(nodeid) <= _LONGEST_TAG and nodeid.isprintable():
        return nodeid
    number = hashlib.sha256(nodeid.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return "%s~%s" % (_texts.cut(nodeid[: _LONGEST_TAG - 13], _LONGEST_TAG), number)


def _limit(nodeid: str, *arguments: Any, **options: Any) -> int:
    """Of a marker: how many functions are shown."""
    limit = options.pop("limit", 10)
    if arguments or options or not isinstance(limit, int) or limit < 1:
        raise pytest.UsageError("%s: the marker plumb has one option: limit=NUMBER" % nodeid)
    return limit


class Part:
    """What plumb does in a test session. The tests have a result of their own: what fails here is told, and ends nothing. The child of a
    fork, in which pytest may go on, has no part in it."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self.trouble: List[str] = []
        self.failed = False

    def is_here(self) -> bool:
        return os.getpid() == self._pid

    def do(self, step: Callable[..., None], *arguments: Any) -> None:
        if not self.is_here():
            return
        try:
            step(*arguments)
        except Exception as error:
            self.trouble.append(_sentence(error))
            self.failed = True

    @contextlib.contextmanager
    def warnings_told(self) -> Iterator[None]:
        """Under -W error they would be errors."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                yield
            finally:
                said = [re.match("plumb:? (.*)", str(one.message), re.DOTALL) for one in caught]
                self.trouble += [found[1] for found in said if found]


class Recorder:
    """Samples the process in which the tests run."""

    def __init__(self, config: Any, path: str, told: Any) -> None:
        self._config, self._path, self._told = config, path, told
        self._part = Part()
        self._marked: Dict[str, int] = {}
        self._recording: Any = None
        self._tag: Any = None

    def pytest_sessionstart(self) -> None:
        self._part.do(self._start)

    def pytest_itemcollected(self, item: Any) -> None:
        marker = item.get_closest_marker("plumb")
        if marker and self._part.is_here():
            self._marked[item.nodeid] = _limit(item.nodeid, *marker.args, **marker.kwargs)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._part.do(self._enter, nodeid)

    def pytest_runtest_logfinish(self) -> None:
        self._part.do(self._leave)

    def pytest_sessionfinish(self) -> None:
        self._part.do(self._stop)
        self._part.do(self._hand_over)

    def _start(self) -> None:
        with self._part.warnings_told():
            self._recording = plumb.start(interval=self._config.getoption("plumb_interval"), output=self._path)

    def _enter(self, nodeid: str) -> None:
        tag = plumb.tag(test=tag_of(nodeid))
        tag.__enter__()
        self._tag = tag

    def _leave(self) -> None:
        tag, self._tag = self._tag, None
        if tag:
            tag.__exit__(None, None, None)

    def _stop(self) -> None:
        if self._recording:
            with self._part.warnings_told():
                self._recording.stop()

    def _hand_over(self) -> None:
        self._told({"plumb_marked": self._marked, "plumb_trouble": self._part.trouble, "plumb_failed": self._part.failed})


def _new_directory() -> str:
    try:
        return tempfile.mkdtemp(prefix="plumb-pytest-")
    except OSError as error:
        raise pytest.UsageError("--plumb records into a folder for temporary files, and there is none: %s" % error)


def _is_missing(path: str) -> bool:
    """What this process may not ask for, since a test gave up its rights, may be there."""
    try:
        os.stat(path)
    except OSError as error:
        return isinstance(error, FileNotFoundError)
    return False


class Reporter:
    """Tells what was recorded, in the process that has the terminal."""

    def __init__(self, outputs: List[Output]) -> None:
        self._outputs = outputs
        self._directory = _new_directory()
        self._recordings: List[str] = []
        self._marked: Dict[str, int] = {}
        self._names: Dict[str, str] = {}
        self._part = Part()

    def recording(self, name: str) -> str:
        self._recordings.append(os.path.join(self._directory, name + ".plumb"))
        return self._recordings[-1]

    def take(self, told: Dict[str, Any]) -> None:
        self._marked.update(told.get("plumb_marked", {}))
        self._part.trouble += told.get("plumb_trouble", [])
        self._part.failed |= told.get("plumb_failed", False)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput["plumb"] = self.recording(node.gateway.id)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self._part.do(self.take, getattr(node, "workeroutput", {}))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._names[tag_of(nodeid)] = nodeid

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        self._part.do(self._summarize, terminalreporter)

    def pytest_unconfigure(self) -> None:
        self._part.do(self._clean_up)

    def _summarize(self, terminalreporter: Any) -> None:
        terminalreporter.section("plumb")
        with self._part.warnings_told():
            self._part.do(self._tell, terminalreporter.write_line)
        for line in dict.fromkeys(self._part.trouble):
            terminalreporter.write_line("plumb: " + line)
        if self._stay():
            terminalreporter.write_line("plumb: what was recorded stays: " + self._how_to_read())

    def _clean_up(self) -> None:
        if not self._stay():
            shutil.rmtree(self._directory, ignore_errors=True)

    def _stay(self) -> bool:
        """The recordings, as far as there are any: what failed has cost none of them."""
        return self._part.failed and not all(map(_is_missing, self._recordings))

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
            self._part.do(self._write_file, profile, output, write)

    def _write_file(self, profile: Any, output: Output, write: Any) -> None:
        profile._write(output.format, output.path, output.whose, {})
        write("plumb: the profile is in %s" % output.path)

    def _can_be_read(self, path: str) -> bool:
        """What one worker has left must not cost the recordings of the others."""
        if _is_missing(path):
            return False
        try:
            plumb.open(path)
        except plumb.Error as error:
            self._part.trouble.append(str(error))
            self._part.failed |= not os.access(path, os.R_OK, effective_ids=True)
            return False
        return True

    def _profile(self) -> Any:
        """All that was recorded; None: nothing."""
        there = [path for path in self._recordings if self._can_be_read(path)]
        if not there and not self._part.trouble:
            self._part.trouble.append("there is no recording any more in %s, or none that can be reached" % self._directory)
        if len(there) < 2:
            return plumb.open(there[0]) if there else None
        return plumb.merge(*there)

