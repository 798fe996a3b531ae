# SPDX-License-Identifier: Apache-2.0
"""What a profile and a comparison have in common: they are written, shown and saved."""
from __future__ import annotations

import json
import os
import sys
import tempfile
from typing import IO, TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Union, overload

from plumb import _browser, _plumb, _terminal
from plumb._arguments import checked_flag, checked_path
from plumb._plumb import Error
from plumb._report import Report

if TYPE_CHECKING:
    from typing_extensions import Unpack

Path = Union[str, "os.PathLike[str]"]

_TEXTS = ("text", "tree", "markdown")  # made for people


class Written:
    _formats: Mapping[str, str]  # the end of a name that tells each, or ""

    def _write(self, format: str, path: Optional[Path], name: str, report: Report) -> Optional[bytes]:
        """Into the file, or for None as bytes. name: whose choice it is, as for _plumb.Profile.save()"""
        raise NotImplementedError

    def _format_of(self, path: Path) -> str:
        """What the end of a name tells, or ValueError."""
        raise NotImplementedError

    def _files(self, whole: bool = False) -> List[str]:
        """What it is made of. whole: of which nothing is lost by a recording of it all."""
        return []

    def _whose(self, path: Path, force: bool, whole: bool = False) -> str:
        """The name is the user's choice; that of a recording which it is made of is a mistake, as on the command line."""
        if checked_flag("force", force):
            return "forced"
        for file in self._files(whole):
            if _is_same(file, path):
                error = Error("%s is the recording itself; give another name, or force=True" % os.fspath(path))
                error.code = "exists"
                raise error
        return "named"

    def _page_name(self) -> str:
        """Of a page that was given none."""
        return os.path.join(tempfile.gettempdir(), "plumb-%s.html" % os.urandom(8).hex())

    def _bytes(self, format: str, report: Report) -> bytes:
        return self._write(self._known(format), None, "named", report) or b""

    def _known(self, format: str) -> str:
        if not isinstance(format, str) or format not in self._formats:
            raise ValueError("format is one of %s, not %r" % (", ".join(self._formats), format))
        return format

    @overload
    def write(self, format: str, path: None = None, **report: Unpack[Report]) -> bytes: ...

    @overload
    def write(self, format: str, path: Path, *, force: bool = ..., **report: Unpack[Report]) -> None: ...

    def write(self, format: str, path: Optional[Path] = None, *, force: bool = False, **report: Unpack[Report]) -> Optional[bytes]:
        """In one of the formats of `plumb help formats`: into a file, or as bytes."""
        if path is None:
            return self._bytes(format, report)
        name = checked_path("path", path)
        return self._write(self._known(format), name, self._whose(name, force, format == "plumb" and not report), report)

    def text(self, *, format: str = "text", **report: Unpack[Report]) -> str:
        """As `plumb report` prints it, without colours. format="tree": the whole call tree; "markdown"."""
        if format not in _TEXTS:
            raise ValueError("format is one of %s, not %r" % (", ".join(_TEXTS), format))
        return self._bytes(format, report).decode(errors="replace")

    def print(self, file: Optional[IO[str]] = None, *, format: str = "text", **report: Unpack[Report]) -> None:
        """The same to standard output or another text file, in colours where it is a terminal that has them."""
        file = sys.stdout if file is None else file
        if not hasattr(file, "write"):
            raise TypeError("file is a text file, not %r" % (file,))
        file.write(self.text(format=format, **{**_terminal.look(file), **report}))

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
        name = checked_path("path", path) if path is not None else self._page_name()
        whose = self._whose(name, force)
        if path is None and whose == "named":
            whose = "chosen"
        self._write("html", name, whose, report)
        _browser.show(name)
        return name

    def save(self, path: Path, *, force: bool = False, **report: Unpack[Report]) -> None:
        """In the format that the end of the name says. A profile without one is saved as a recording, for plumb.open()."""
        if "format" in report:
            raise TypeError("save() takes the format from the end of the name; write(format, path) takes it as an argument")
        self.write(self._format_of(checked_path("path", path)), path, force=force, **report)

    def stats(self, **report: Unpack[Report]) -> Dict[str, Any]:
        """All figures, as `plumb report --json` has them: functions, threads, truth, ..."""
        found: Dict[str, Any] = json.loads(self._bytes("json", report))
        return found


def _is_same(file: str, path: Path) -> bool:
    try:
        return os.path.samefile(file, path)
    except OSError:  # one of them is not there
        return False


def ends(formats: Mapping[str, str]) -> str:
    """The ends of names, to be listed."""
    return ", ".join(filter(None, formats.values()))
