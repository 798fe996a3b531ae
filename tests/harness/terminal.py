# SPDX-License-Identifier: Apache-2.0
"""A program on a terminal of its own."""
import codecs
import contextlib
import errno
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

from harness.target import PATIENCE

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class Terminal:
    """with Terminal([program, ...], columns=60) as t: t.expect("text"), t.type("q"), t.wait(); t.text is all it wrote."""

    def __init__(self, command, columns=80, rows=24, environment=None, directory=None, keep=("stdin", "stdout", "stderr")):
        self.command = [os.fspath(part) for part in command]
        self.columns, self.rows = columns, rows
        self.environment = {**os.environ, "TERM": "xterm-256color", **(environment or {})}
        self.directory = directory
        for name in ("NO_COLOR", "COLUMNS", "LINES"):
            if name not in (environment or {}):
                self.environment.pop(name, None)
        self.keep = keep  # which of the standard streams are the terminal; the others are /dev/null
        self.text = ""
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode  # a read may end within a character
        self.status = None

    def __enter__(self):
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            self._become()
        return self

    def _become(self):
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", self.rows, self.columns, 0, 0))
        null = os.open("/dev/null", os.O_RDWR)
        for number, name in enumerate(("stdin", "stdout", "stderr")):
            if name not in self.keep:
                os.dup2(null, number)
        try:
            os.chdir(self.directory or ".")
            os.execvpe(self.command[0], self.command, self.environment)
        finally:
            os._exit(127)

    @property
    def plain(self):
        """The text without colours and with plain line ends."""
        return _COLOUR.sub("", self.text).replace("\r\n", "\n")

    @property
    def coloured(self):
        return bool(_COLOUR.search(self.text))

    def _read(self, seconds):
        """Take over what it wrote; False at its end."""
        if not select.select([self.master], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.master, 65536)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            data = b""
        self.text += self._decode(data, not data)
        return bool(data)

    @property
    def shown(self):
        return self.text

    def until(self, condition, wanted, seconds=PATIENCE):
        """Wait until what it wrote makes it so; what the condition gave. A read may end anywhere: in what is drawn, in a word."""
        deadline = time.monotonic() + seconds
        while not (found := condition()):
            assert time.monotonic() < deadline, "it does not show %r but:\n%s" % (wanted, self.shown)
            assert self._read(0.2) or condition(), "it ended without %r:\n%s" % (wanted, self.shown)
        return found

    def expect(self, text, seconds=PATIENCE):
        self.until(lambda: text in self.text, text, seconds)

    def type(self, text):
        os.write(self.master, text.encode())

    def resize(self, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", self.rows, columns, 0, 0))

    def wait(self, seconds=PATIENCE):
        """The exit status as a shell gives it."""
        deadline = time.monotonic() + seconds
        while self._read(0.2):
            assert time.monotonic() < deadline, "it does not end: %s" % self.text
        self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        self.pid = 0
        return self.status if self.status >= 0 else 128 - self.status

    def __exit__(self, *_):
        if self.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.master)
