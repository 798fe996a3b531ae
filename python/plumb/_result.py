# SPDX-License-Identifier: Apache-2.0
"""What was recorded, and what can be made of it."""
from __future__ import annotations

import os
import sys
import warnings
from typing import Any, Collection, Dict, List, Optional, Sequence, Union

from plumb import _plumb
from plumb._arguments import checked_count, checked_flag, checked_omit, checked_path
from plumb._report import Report, checked
from plumb._session import Tree
from plumb._written import Path, Written, ends

_RECORDING = "plumb"  # the name of the format
_FORMATS, _INPUTS, _ = _plumb.formats()


class Profile(Written):
    """What was recorded.

    **report are the options of `plumb report`, by their names with underscores:
    lines=True, functions=True          rows are lines; leave lines out
    idle="hide"|"keep"|"skip"           threads that did nothing all along, and samples of waiting
    threads=, process=, module=         a name or several
    tag=                                "name=value", or "name" for any value; or several
    own=                                modules, packages, files or folders that are the program's own code, too
    time=(from, to)                     seconds since the start; None: no limit
    state=, kind=                       what threads were doing; which frames: a word or several
    native="off"|"leaf"|"callable"|"all"  which functions of C, C++ and Rust; None: as recorded
    focus=, ignore=                     regular expressions for "function file"
    min_share=                          percent: what takes less counts where it is called from
    names="short"|"full"
    top=, quality=True                  of text: rows of each table; what the line of quality is made of
    width=, color=, ascii=              of text
    no_escape=True, annotate=True       of collapsed: names as they are; functions of the kernel end with _[k]
    flavour=                            of flamegraph-json

    A file is its owner's alone, and takes its name when it is whole. A file of that name that plumb did not write stays, as
    do what the profile is made of, and a recording with samples where there are none to save, and that is an Error, unless
    force=True.
    """

    _formats = _FORMATS
    _read: Sequence[str] = ()

    def __init__(self, core: _plumb.Profile, recording: Optional[str] = None, read: Sequence[str] = ()) -> None:
        self._core = core
        self._name = recording  # of the file that holds it, if it is to stay
        self._read = [os.path.abspath(file) for file in read]  # that it was made of

    def _files(self, whole: bool = False) -> List[str]:
        return list(self._read)

    def _now(self) -> _plumb.Profile:
        return self._core

    def __repr__(self) -> str:
        info = self.info()
        return "<plumb.Profile: %.3g s, %d samples>" % (info["duration"], info["samples"])

    def info(self) -> Dict[str, Any]:
        """Figures: start, duration, interval, samples, threads, losses, quality, mode, engine, command, ..."""
        return self._now().info()

    def _write(self, format: str, path: Optional[Path], name: str, report: Report) -> Optional[bytes]:
        core, notes = self._now(), []  # type: _plumb.Profile, List[str]
        options = {"made_by": "plumb %s" % core.info()["version"], "recording": self._name, **checked(report)}
        if path is None:
            written: Optional[bytes] = core.write(None, format, notes=notes, **options)
        else:
            written = None
            core.save(path, format, name, notes=notes, **options)
        _tell(notes)
        return written

    def _format_of(self, path: Path) -> str:
        return format_of(path)

    def _page_name(self) -> str:
        """As `plumb report --open`: in the current directory, after the recording, if that has a name."""
        if self._name:
            return os.path.splitext(os.path.basename(self._name))[0] + ".html"
        return super()._page_name()

    def tree(
        self,
        *,
        omit: Union[None, str, Collection[str]] = (),
        stop: Optional[str] = None,
        depth: Optional[int] = None,
        lines: bool = True,
    ) -> Tree:
        """As plumb.profile.process() would have made it; omit, stop and depth as there. lines=False: without source."""
        if not isinstance(stop, (str, type(None))):
            raise TypeError("stop is the end of a file's name, not %r" % (stop,))
        if depth is not None:
            checked_count("depth", depth)
        return self._now().tree(omit=checked_omit(omit), stop=stop, depth=depth, lines=checked_flag("lines", lines))


READABLE = (Profile, str, bytes, os.PathLike)
"""What stands for a recording: a profile, or the name of a file."""


def format_of(path: Path) -> str:
    """What save() writes into a file of that name, or ValueError."""
    format = _plumb.Profile.format_of(path)
    suffix = os.path.splitext(os.fsdecode(path))[1]
    if suffix and not format:
        raise ValueError("no format ends in %s: there are %s; write() takes the name of a format" % (suffix, ends(_FORMATS)))
    return format or _RECORDING


def _tell(notes: List[str]) -> None:
    """That nothing was chosen. What a format has no room for is in its documentation."""
    for note in notes:
        if note.startswith("no sample"):
            warnings.warn("plumb: " + note, RuntimeWarning, stacklevel=callers_level())


def callers_level() -> int:
    """For a warning of who calls this: the first frame that is not the package's."""
    level, frame = 0, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("plumb."):
        level, frame = level + 1, frame.f_back
    return level + 1


def open(path: Path, format: Optional[str] = None) -> Profile:
    """Read a recording, or what another profiler wrote: its format is `format`, or follows from its content. That a part of it is
    missing, damaged or no sample is a RuntimeWarning."""
    if format is not None and not (isinstance(format, str) and format in _INPUTS):
        raise ValueError("format is one of %s, or None (by the content), not %r" % (", ".join(_INPUTS), format))
    name = checked_path("path", path)
    notes: List[str] = []
    core = _plumb.Profile.open(name, format, notes)
    for note in notes:
        warnings.warn("plumb: %s: %s" % (name, note), RuntimeWarning, stacklevel=callers_level())
    return Profile(core, name if _plumb.Profile.format_of(name) == _RECORDING else None, [name])
