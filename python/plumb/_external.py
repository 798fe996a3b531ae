# SPDX-License-Identifier: Apache-2.0
"""A session whose sampling is done by another process: the program plumb, attached to this one.

It stops threads where a stack cannot be proved otherwise, goes on when this process hangs, and costs its memory nothing.
"""
from __future__ import annotations

import os
import signal
import subprocess
from typing import Any, Collection, Dict, List, Optional

from plumb import _binary
from plumb._plumb import Error, Profile, allow_tracer

_LOOK_SECONDS = 0.002
_YAMA = "/proc/sys/kernel/yama/ptrace_scope"

# So that this process can allow it before it tries.
_AFTER_A_LINE = ["/bin/sh", "-c", 'read -r _ && exec "$0" "$@" </dev/null']


def _asks_for_permission() -> bool:
    """Whether Yama lets only parents read their children's memory."""
    try:
        with open(_YAMA, encoding="ascii") as file:
            return file.read().strip() == "1"
    except OSError:
        return False


def _arguments(recording: str, options: Dict[str, Any]) -> List[str]:
    found = ["attach", str(os.getpid()), "--quiet", "-o", recording, "-r", repr(options["rate"]), "--mode", options["mode"]]
    flags = [("--no-jitter", not options["jitter"]), ("--opcodes", options["opcodes"]), ("--no-sources", not options["sources"])]
    found += [flag for flag, wanted in flags if wanted]
    if options["seed"] is not None:
        found += ["--seed", str(options["seed"])]
    if options["max_overhead"]:
        found += ["--max-overhead", repr(100 * options["max_overhead"])]
    if options["tids"] is not None:
        found += ["--threads", ",".join(map(str, options["tids"]))]
    return found


class ExternalSession:
    """With `stop`, `snapshot` and `status` of `_plumb.Session`. It sees no tags."""

    def __init__(self, recording: str, tags: bool, hidden: Collection[int], **options: Any) -> None:
        if hidden:
            raise ValueError("no thread can be hidden from the engine that is external: name those to be sampled")
        self._path = recording
        open(recording, "wb").close()
        self._outcome: Optional[Profile] = None
        self._pid = os.getpid()
        self._process = self._start([_binary.find(), *_arguments(recording, options)])
        self._wait_until_it_records()

    def _start(self, command: List[str]) -> "subprocess.Popen[bytes]":
        gated = _asks_for_permission()
        # A session of its own: Ctrl-C is for this program.
        process = subprocess.Popen(
            [*_AFTER_A_LINE, *command] if gated else command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        assert process.stdin
        with process.stdin:
            if gated:
                allow_tracer(process.pid)
                process.stdin.write(b"\n")
        return process

    def _wait_until_it_records(self) -> None:
        while os.stat(self._path).st_size == 0:
            try:
                self._process.wait(_LOOK_SECONDS)
            except subprocess.TimeoutExpired:
                continue
            raise Error("plumb could not attach: %s" % self._said())

    def _said(self) -> str:
        assert self._process.stderr
        with self._process.stderr as said:
            return said.read().decode(errors="replace").strip()

    def status(self) -> Dict[str, Any]:
        return {"ended": self._process.poll() is not None, "forked": os.getpid() != self._pid}

    def snapshot(self) -> Profile:
        """What has been written so far, which lags behind by a second at most."""
        return self._outcome or Profile.open(self._path)

    def stop(self) -> Profile:
        if self._outcome is None:
            self._end()
            self._outcome = Profile.open(self._path)
        return self._outcome

    def _end(self) -> None:
        # Not SIGINT, which is ignored by what a program in the background of a shell starts.
        self._process.send_signal(signal.SIGTERM)
        said = self._said()
        if self._process.wait() != 0:
            raise Error("plumb, which was attached, failed: %s" % said)
