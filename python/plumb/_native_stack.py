# SPDX-License-Identifier: Apache-2.0
"""The native stack of a thread of this process. A process cannot stop a thread of its own and read it: the program plumb does."""
from __future__ import annotations

import contextlib
import json
import operator
import os
import select
import signal
import threading
from typing import Any, Dict, List, NamedTuple, Optional

from plumb import _binary, _external
from plumb._child import Child
from plumb._held import Unnamed
from plumb._plumb import Error

_SECONDS = 5.0  # that the program takes at most
_GRACE = 5.0  # for it to begin and to end
_TRIES = 3
_MISSING = "<missing>"


class NativeFrame(NamedTuple):
    """A call. `addr` is where it goes on, `offset` how far that is from the beginning of its function; of Python's both are 0."""

    name: str
    addr: int
    offset: int
    is_python: bool
    file: str
    line: int

    def __str__(self) -> str:
        place = "%s:%d" % (self.file, self.line) if self.line else self.file
        return "%s (%s)" % (self.name, place) if place else self.name


def _name(frame: Dict[str, Any]) -> str:
    """One without a name is called by where it begins in its file."""
    if frame["kind"] == "missing":
        return _MISSING
    if frame["name"] is not None:
        return str(frame["name"])
    begins = frame["function"] or frame["offset"]
    return "%s+%#x" % (os.path.basename(frame["module"]), begins) if frame["module"] else "%#x" % (frame["address"] or 0)


def _frame(frame: Dict[str, Any]) -> NativeFrame:
    line = frame["line"] if (frame["line"] or 0) > 0 else 0
    if frame["kind"] == "python":
        return NativeFrame(frame["qualname"] or frame["name"], 0, 0, True, frame["file"] or "", line)
    address, offset = frame["address"] or 0, 0
    if address and frame["function"]:
        offset = frame["offset"] - frame["function"]
    return NativeFrame(_name(frame), address, offset, False, frame["file"] or frame["module"] or "", line)


def _look_forward(process: Child) -> None:
    """Wait without looking again and again, which is what wait() with a limit does. Where the kernel or Python cannot: not at all."""
    with contextlib.suppress(KeyError, OSError):
        fd: int = vars(os)["pidfd_open"](process.pid)
        try:
            ended = select.poll()
            ended.register(fd, select.POLLIN)
            ended.poll(1000 * (_SECONDS + _GRACE))
        finally:
            os.close(fd)


def _wait(process: Child) -> int:
    status = None
    try:
        _look_forward(process)
        status = process.wait(_SECONDS + _GRACE)
    finally:
        if status is None and process.signal(signal.SIGKILL):
            process.wait()
    if status is None:
        raise Error("the program plumb did not end within %g s" % (_SECONDS + _GRACE))
    return status


def _dumped(tid: int) -> Dict[str, Any]:
    """The process, as `plumb dump --json` has it."""
    options = ["--json", "--native", "--no-source", "--timeout", repr(_SECONDS), "--threads", str(tid)]
    told, said = Unnamed(), Unnamed()
    with _external.allowed([_binary.find(), "dump", str(os.getpid()), *options], told.fileno(), said.fileno()) as process:
        status = _wait(process)
    dump = json.loads(told.text() or "{}")
    why = said.text().strip()
    if dump.get("processes"):
        return dict(dump["processes"][0])
    message = _external.sentence(why) or "the program plumb ended with status %d" % status
    if any(failure["code"] == "no-thread" for failure in dump.get("failures", ())):
        raise ValueError(message)
    raise Error("the native stack could not be read: %s" % message)


def _thread(process: Dict[str, Any], tid: int) -> Dict[str, Any]:
    """In the newest of the interpreters that it has been in: that is the one that it runs in."""
    found = [thread for thread in process["threads"] if tid in (thread["tid"], thread["ident"])]
    if not found:
        raise ValueError("thread %d has ended" % tid)
    return dict(max(found, key=lambda thread: int(thread["interpreter"])))


def _why_not(process: Dict[str, Any], thread: Dict[str, Any]) -> Optional[str]:
    if thread["native"] == "apart":
        return "its native frames could not be put between those of Python"
    if thread["native"] in ("whole", "part"):
        return None
    if process["stop_refused"]:
        return "the kernel does not let plumb stop it: %s" % process["stop_refused"]
    return "it has ended" if thread["doing"] == "ended" else "it runs, and could not be stopped in time; try again"


def get(tid: int, leave_out: Any) -> List[NativeFrame]:
    """Innermost first. Of the thread that asks, what it does to ask, from the code `leave_out` on, is no part of its stack."""
    tid = operator.index(tid)
    for _ in range(_TRIES):  # a thread that runs may be at one of the few places where its frames cannot be told
        process = _dumped(tid)
        thread = _thread(process, tid)
        why = _why_not(process, thread)
        if why is None or process["stop_refused"] or thread["doing"] == "ended":
            break
    if why is not None:
        raise Error("the native stack of thread %d could not be read: %s" % (tid, why))
    frames = [_frame(frame) for frame in thread["frames"]]
    asks = tid in (threading.get_ident(), threading.get_native_id())
    for i, frame in enumerate(frames):
        if asks and frame.is_python and (frame.file, frame.name) == (leave_out.co_filename, leave_out.co_name):
            return frames[i + 1 :]
    return frames
