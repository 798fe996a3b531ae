# SPDX-License-Identifier: Apache-2.0
"""What was recorded, and what can be made of it."""
from __future__ import annotations

import json
import os
import secrets
import sys
import tempfile
import warnings
from typing import IO, TYPE_CHECKING, Any, Collection, Dict, List, Optional, Union, overload

from plumb import _browser, _plumb, _terminal
from plumb._arguments import checked_count
from plumb._report import Report, checked

if TYPE_CHECKING:
    from typing_extensions import Unpack

Path = Union[str, "os.PathLike[str]"]

_RECORDING = "plumb"  # the name of the format
_FORMATS, _INPUTS = _plumb.formats()


class Profile:
    """What was recorded.

    **report are the options of `plumb report`, by their names with underscores:
    lines=True, functions=True          rows are lines; leave lines out
    idle="hide"|"keep"|"skip"           threads that did nothing all along, and samples of waiting
    threads=, process=, module=         a name or several
    time=(from, to)                     seconds since the start; None: no limit
    state=, kind=                       what threads were doing; which frames: a word or several
    focus=, ignore=                     regular expressions for "function file"
    min_share=                          percent: what takes less counts where it is called from
    names="short"|"full"
    top=, quality=True                  of text: rows of each table; what the line of quality is made of
    width=, color=, ascii=              of text
    no_escape=True, flavour=            of collapsed and flamegraph-json

    A file is its owner's alone, and takes its name when it is whole. A file of that name that plumb did not write stays, and
    that is an Error, unless force=True.
    """

    def __init__(self, core: _plumb.Profile, recording: Optional[str] = None) -> None:
        self._core = core
        self._name = recording  # of the file that holds it, if it is to stay

    def _now(self) -> _plumb.Profile:
        return self._core

    def __repr__(self) -> str:
        info = self.info()
        return "<plumb.Profile: %.3g s, %d samples>" % (info["duration"], info["samples"])

    def info(self) -> Dict[str, Any]:
        """Figures: start, duration, interval, samples, threads, losses, quality, mode, engine, command, ..."""
        return self._now().info()

    @overload
    def write(self, format: str, path: None = None, **report: Unpack[Report]) -> bytes: ...

    @overload
    def write(self, format: str, path: Path, *, force: bool = ..., **report: Unpack[Report]) -> None: ...

    def write(self, format: str, path: Optional[Path] = None, *, force: bool = False, **report: Unpack[Report]) -> Optional[bytes]:
        """In one of the formats of `plumb help formats`: into a file, or as bytes."""
        if path is None:
            return self._bytes(format, report)
        self._write_file(format, path, "forced" if force else "named", report)
        return None

    def _bytes(self, format: str, report: Report, **more: Any) -> bytes:
        core, notes = self._now(), []  # type: _plumb.Profile, List[str]
        written = core.write(None, _known(format), notes=notes, **_made_by(core, report), **more)
        _tell(notes)
        return written

    def _write_file(self, format: str, path: Path, name: str, report: Report) -> None:
        """name: whose choice it is, as for _plumb.Profile.save()"""
        core, notes = self._now(), []  # type: _plumb.Profile, List[str]
        core.save(path, _known(format), name, notes=notes, **_made_by(core, report))
        _tell(notes)

    def text(self, **report: Unpack[Report]) -> str:
        """As `plumb report` prints it, without colours."""
        return self._bytes("text", report, recording=self._name).decode(errors="replace")

    def print(self, file: Optional[IO[str]] = None, **report: Unpack[Report]) -> None:
        """To standard output or another text file, in colours where it is a terminal that has them."""
        file = sys.stdout if file is None else file
        if not hasattr(file, "write"):
            raise TypeError("file is a text file, not %r" % (file,))
        file.write(self.text(**{**_terminal.look(file), **report}))

    @overload
    def html(self, path: None = None, **report: Unpack[Report]) -> str: ...

    @overload
    def html(self, path: Path, *, force: bool = ..., **report: Unpack[Report]) -> None: ...

    def html(self, path: Optional[Path] = None, *, force: bool = False, **report: Unpack[Report]) -> Optional[str]:
        """The report page: into a file, or as str."""
        if path is None:
            return self._bytes("html", report).decode()
        self.write("html", path, force=force, **report)
        return None

    def open_in_browser(self, path: Optional[Path] = None, *, force: bool = False, **report: Unpack[Report]) -> str:
        """Write the report page and show it in the browser of $BROWSER or that of xdg-open; the name of its file, which
        stays."""
        name = os.fspath(path) if path is not None else self._page_name()
        self._write_file("html", name, "forced" if force else "named" if path is not None else "chosen", report)
        _browser.show(name)
        return name

    def _page_name(self) -> str:
        """As `plumb report --open`: in the current directory, after the recording, if that has a name."""
        if self._name:
            return os.path.splitext(os.path.basename(self._name))[0] + ".html"
        return os.path.join(tempfile.gettempdir(), "plumb-%s.html" % secrets.token_hex(8))

    def save(self, path: Path, *, force: bool = False, **report: Unpack[Report]) -> None:
        """In the format that the end of the name tells; without one as a recording, for plumb.open() and `plumb report`."""
        format = _plumb.Profile.format_of(path)
        suffix = os.path.splitext(os.fsdecode(path))[1]
        if suffix and not format:
            ends = ", ".join(filter(None, _FORMATS.values()))
            raise ValueError("the end %s tells no format: there are %s; write() takes the name of a format" % (suffix, ends))
        self.write(format or _RECORDING, path, force=force, **report)

    def stats(self, **report: Unpack[Report]) -> Dict[str, Any]:
        """All figures, as `plumb report --json` tells them: functions, threads, truth, ..."""
        found: Dict[str, Any] = json.loads(self._bytes("json", report))
        return found

    def tree(
        self,
        *,
        omit: Union[None, str, Collection[str]] = (),
        stop: Optional[str] = None,
        depth: Optional[int] = None,
        lines: bool = True,
    ) -> Dict[str, Any]:
        """As plumb.profile.process() would have made it; omit, stop and depth as there. lines=False: without source."""
        if not isinstance(stop, (str, type(None))):
            raise TypeError("stop is the end of a file's name, not %r" % (stop,))
        if not isinstance(omit, (str, Collection, type(None))):
            raise TypeError("omit is the end of a file's name, or several, not %r" % (omit,))
        if depth is not None:
            checked_count("depth", depth)
        return self._now().tree(omit=omit, stop=stop, depth=depth, lines=lines)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name == "open":  # what open_in_browser() was called at first
                return self.open_in_browser
            raise AttributeError("%r object has no attribute %r" % (type(self).__name__, name))


def _made_by(core: _plumb.Profile, report: Report) -> Dict[str, Any]:
    return {"made_by": "plumb %s" % core.info()["version"], **checked(report)}


def _known(format: str) -> str:
    """The name of an output format, or ValueError."""
    if format not in _FORMATS:
        raise ValueError("format is one of %s, not %r" % (", ".join(_FORMATS), format))
    return format


def _tell(notes: List[str]) -> None:
    """That nothing was chosen. What a format has no room for is in its documentation."""
    for note in notes:
        if note.startswith("no sample"):
            warnings.warn("plumb: " + note, RuntimeWarning, stacklevel=_callers_level())


def _callers_level() -> int:
    """For a warning of who calls this: the first frame that is not the package's."""
    level, frame = 0, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("plumb."):
        level, frame = level + 1, frame.f_back
    return level + 1


def open(path: Path, format: Optional[str] = None) -> Profile:
    """Read a recording, or what another profiler wrote: its content tells what it is, or `format` does."""
    if format is not None and format not in _INPUTS:
        raise ValueError("format is one of %s, or None: the content tells, not %r" % (", ".join(_INPUTS), format))
    core = _plumb.Profile.open(path, format)
    return Profile(core, os.fspath(path) if _plumb.Profile.format_of(path) == _RECORDING else None)
