# SPDX-License-Identifier: Apache-2.0
"""Files that are open and have no name of their own, or none that is sure: who opens them does so by that of the descriptor."""
from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from typing import Iterator, Optional

from plumb import _forks
from plumb._plumb import Error, HeldFile, Profile

_PIECE = 1 << 20  # of a file that is copied

# Found out here, and not by a signal handler that interrupts who is about to: that takes a lock of tempfile's. Where there is none
# who wants one is told.
with contextlib.suppress(OSError):
    tempfile.gettempdir()


def _of_the_parent() -> Error:
    """As the engine in the process says it."""
    hint = "begin a session of the child's own"
    error = Error("this process was forked by the one that the session belongs to (%s)" % hint)
    error.code, error.hint = "forked", hint
    return error


class Held:
    """A file that is open for as long as this object is there. A child of a fork has no use for it, and may give its number to another
    file: there it is closed at once."""

    def __init__(self, file: HeldFile) -> None:
        self._file = file
        self._forked = False
        _forks.tell(self)

    def _after_fork(self) -> None:
        self._forked = True
        self.close()

    def close(self) -> None:
        self._file.close()

    def received(self) -> Optional[HeldFile]:
        """Through this end of a socket."""
        return self._file.received()

    def fileno(self) -> int:
        fd = self._file.fileno()
        if fd < 0:
            raise _of_the_parent() if self._forked else Error("what was recorded is lost: the program has closed its descriptor")
        return fd

    def stat(self) -> os.stat_result:
        return os.fstat(self.fileno())

    @property
    def path(self) -> str:
        """For whoever opens it meanwhile."""
        return "/proc/%d/fd/%d" % (os.getpid(), self.fileno())

    def profile(self, format: Optional[str] = None) -> Profile:
        """Of the recording in it, which is of this process."""
        with self.named() as path:
            return Profile.open(path, format, own=True)

    @contextlib.contextmanager
    def named(self) -> Iterator[str]:
        """A name of it, or of a copy, by which it can be read meanwhile."""
        if self._has_name():
            yield self.path
        else:
            with _copy_of(self.fileno()) as path:
                yield path

    def _has_name(self) -> bool:
        """A process that has changed its user has its descriptors, but not their names in /proc. Below another root directory there
        may be no /proc, or somebody else's files in its place."""
        try:
            found = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError:
            return False
        try:
            return os.path.samestat(os.fstat(found), self.stat())
        finally:
            os.close(found)


def _copy(source: int, into: int) -> None:
    at, piece = 0, os.pread(source, _PIECE, 0)
    while piece:
        at += os.write(into, piece)
        piece = os.pread(source, _PIECE, at)


@contextlib.contextmanager
def _copy_of(fd: int) -> Iterator[str]:
    """Its name. The folder for temporary files may have been left with the root directory."""
    with contextlib.ExitStack() as files:
        for folder in (tempfile.gettempdir(), os.curdir):
            with contextlib.suppress(OSError):
                copy = files.enter_context(tempfile.NamedTemporaryFile(dir=folder))
                _copy(fd, copy.fileno())
                break
        else:
            raise Error(
                "what was recorded cannot be read: this program has no names of what it has open in /proc any more (it has changed its "
                "user or its root directory), nor a folder with room for a copy"
            )
        yield copy.name


class Unnamed(Held):
    """A file that is in no directory, and gone with this object."""

    def __init__(self) -> None:
        super().__init__(HeldFile(tempfile.gettempdir()))

    def text(self) -> str:
        fd = self.fileno()
        return os.pread(fd, os.fstat(fd).st_size, 0).decode(errors="replace")

    def not_writable(self) -> str:
        """Why nothing could be said in it, as there is no room in its folder. Empty: there is, or it was closed."""
        try:
            os.pwrite(self.fileno(), b"\n", 0)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                return "cannot write to %s: %s (set TMPDIR to a folder with room)" % (tempfile.gettempdir(), error.strerror)
        except Error:
            pass
        return ""

    def empty(self) -> None:
        os.ftruncate(self.fileno(), 0)

    @contextlib.contextmanager
    def filled(self) -> Iterator[str]:
        """A name under which what is to be in it can be written meanwhile."""
        with self.named() as name:
            if name == self.path:
                yield name
                return
            beside = name + ".new"
            yield beside
            with open(beside, "rb") as file:
                os.unlink(beside)
                _copy(file.fileno(), self.fileno())
