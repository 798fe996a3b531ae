# SPDX-License-Identifier: Apache-2.0
"""A terminal that is read as people read it: what stands where on its screen."""
import contextlib
import os
import re
import select
import signal

import pyte

from harness.terminal import Terminal

_CLEARED = re.compile(rb"\x1b\[H\x1b\[2?J")


class Emulator(Terminal):
    """with Emulator([program, ...], columns=80, rows=24) as t: t.see("text"), t.type("q"), t.wait(); t.screen is its lines."""

    def __init__(self, command, columns=80, rows=24, environment=None, **options):
        # What pyte emulates.
        super().__init__(command, columns, rows, {"TERM": "linux", "LC_ALL": "C.UTF-8", **(environment or {})}, **options)
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self.raw = b""

    @property
    def screen(self):
        return [line.rstrip() for line in self._screen.display]

    @property
    def shown(self):
        return "\n".join(self.screen)

    def _read(self, seconds):
        if not select.select([self.master], [], [], seconds)[0]:
            return True
        data = b""
        with contextlib.suppress(OSError):  # its end
            data = os.read(self.master, 65536)
        self.raw += data
        self.text += self._decode(data, not data)
        self._stream.feed(data)
        return bool(data)

    @property
    def marked(self):
        """The rows that are shown reversed to their end."""
        return [y for y in range(self.rows) if self._screen.buffer[y][self._screen.columns - 1].reverse]

    def typed(self, keys):
        """Type what has all drawn anew behind it, and wait for that: then the keys have been taken."""
        before = len(self.raw)
        self.type(keys + "\x0c")
        self.until(lambda: _CLEARED.search(self.raw, before), "all drawn anew behind %r" % keys)

    def resized(self, columns, rows):
        """Resize, and wait until all is drawn anew."""
        before = len(self.raw)
        self.resize(columns, rows)
        self.until(lambda: _CLEARED.search(self.raw, before), "all drawn anew for %d by %d" % (columns, rows))

    def see(self, pattern):
        """Wait until the screen shows it; the match."""
        return self.until(lambda: re.search(pattern, self.shown, re.MULTILINE), pattern)

    def resize(self, columns, rows=None):
        self.rows = rows or self.rows
        self._screen.resize(self.rows, columns)
        super().resize(columns)

    def end(self, signo=signal.SIGTERM):
        os.kill(self.pid, signo)
        return self.wait()
