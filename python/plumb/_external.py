# SPDX-License-Identifier: Apache-2.0
"""A session whose sampling is done by another process: the program plumb, attached to this one.

It stops threads where a stack cannot be proved otherwise, goes on when this process hangs, and costs its memory nothing.
"""
from __future__ import annotations

import _thread
import contextlib
import math
import os
import signal
import subprocess
import tempfile
import threading
import time
import weakref
from typing import Any, Collection, ContextManager, Dict, Iterator, List, Optional, Tuple, Union

from plumb import _binary, _forks, _imports, _tags, _threads
from plumb._child import Child
from plumb._gil import as_profile
from plumb._held import Held, Unnamed
from plumb._plumb import Error, HeldFile, Profile, add_up, allow_tracer
from plumb._session import Status
from plumb._trees import create
from plumb._step import Step

_no_fork = _imports.of_programs

_LOOK_SECONDS = 0.002
_LAST_SECONDS = 20.0  # plumb itself ends five seconds after SIGTERM, whatever holds it up
_YAMA = "/proc/sys/kernel/yama/ptrace_scope"

_ENGINE = "external"
# Of a status, added up.
_FIGURES = ("samples", "ticks", "missed", "unreadable", "threads", "elapsed", "cpu")
_NOTHING_WRITTEN = "plumb, which was attached, ended before it had written anything"
# Options of a recording that a long-lived session has not.
_PLAIN: Dict[str, Any] = {
    "hidden": (),
    "seed": None,
    "sources": True,
    "opcodes": False,
    "tasks": False,
    "native": False,
    "kernel": False,
    "native_threads": False,
    "max_overhead": None,
    "force": False,
}

# So that this process can allow it before it tries.
_AFTER_A_LINE = ["/bin/sh", "-c", 'read -r _ && exec "$0" "$@"']


def _asks_for_permission() -> bool:
    """Whether Yama lets only parents read their children's memory."""
    try:
        with open(_YAMA, encoding="ascii") as file:
            return file.read().strip() == "1"
    except OSError:
        return False


def _arguments(recording: str, tags: bool, options: Dict[str, Any]) -> List[str]:
    found = ["attach", str(os.getpid()), "--quiet", "--announce", "-o", recording, "-r", repr(options["rate"])]
    found += ["--mode", options["mode"]]
    found += ["--no-" + name for name in ("jitter", "sources") if not options[name]]
    found += ["--" + name.replace("_", "-") for name in ("opcodes", "tasks", "kernel", "native_threads", "force") if options[name]]
    if options["native"]:
        found += ["--native" if options["native"] is True else "--native=" + options["native"]]
    table = _tags.table() if tags else 0
    if table:
        found += ["--tags-at", str(table)]
    if options["seed"] is not None:
        found += ["--seed", str(options["seed"])]
    limit = options["max_overhead"]
    if limit is not None:
        found += ["--max-overhead", "none" if limit == math.inf else repr(100 * limit)]
    if options["tids"] is not None:
        found += ["--threads", ",".join(map(str, options["tids"]))]
    return found


def sentence(said: str) -> str:
    """What the program said, as errors of plumb say it in Python: without its name, and with the hint in parentheses."""
    message, _, hint = said.partition("\nhint: ")
    prefix = "plumb: "
    message = message[len(prefix) :] if message.startswith(prefix) else message
    return "%s (%s)" % (message, hint) if hint else message


# Yama lets one other process at a time.
_allowed = 0


def _popen(command: List[str], output: int, messages: int, line: _Line, lock: ContextManager[Any] = _no_fork) -> Child:
    """Start a program that may read this process. A fork waits meanwhile: Popen itself waits until nobody has a pipe of its any more, and a
    child that was forked would have it for as long as it lives."""
    gated = _asks_for_permission()
    with lock:
        # A session of its own: Ctrl-C is for this program.
        process = subprocess.Popen(
            [*_AFTER_A_LINE, *command] if gated else command,
            stdin=line.theirs.fileno(),
            stdout=output,
            stderr=messages,
            start_new_session=True,
        )
    child = Child(process)
    if gated:
        allow_tracer(child.pid)
        os.write(line.ours.fileno(), b"\n")
    return child


def _not_held(lock: Any) -> ContextManager[Any]:
    """It, to be taken by a thread that we wait for. A signal handler that has interrupted a fork of its own thread has it, and nobody else
    forks then: that thread does without."""
    return contextlib.nullcontext() if lock._is_owned() else lock


class _Program:
    """Such a program, which has an owner from its first moment on: a thread starts it, for in the main thread a signal handler may
    raise between any two steps of Popen, and leave the process and ends of its pipe to nobody."""

    def __init__(self) -> None:
        self._made: Dict[str, Optional[Child]] = {}  # by whoever comes first: it, or None if nobody wants it any more
        self._error: Optional[BaseException] = None
        self._done = threading.Lock()
        self._done.acquire()

    def start(self, command: List[str], output: int, messages: int, line: _Line) -> Child:
        _thread.start_new_thread(self._start, (_not_held(_no_fork), command, output, messages, line))
        self._done.acquire()
        if self._error is not None:
            raise self._error
        process = self.process
        assert process is not None
        return process

    @property
    def process(self) -> Optional[Child]:
        """None: it was not started yet."""
        return self._made.get("")

    def _start(self, lock: ContextManager[Any], command: List[str], output: int, messages: int, line: _Line) -> None:
        try:  # this thread is not to be sampled
            process = _popen([*command, "--after", str(threading.get_native_id())], output, messages, line, lock)
            if self._made.setdefault("", process) is not process:
                _end_in_time(process, None)
        except BaseException as error:
            self._error = error
        finally:
            self._done.release()

    def end(self, announced: Unnamed) -> None:
        process = self._made.setdefault("", None)
        if process is not None and process.runs():
            _end_in_time(process, announced)


@contextlib.contextmanager
def allowed(command: List[str], output: int, messages: int) -> Iterator[Child]:
    """One for a moment, which ends by itself. Who was let before may go on. No thread starts it: it would be seen, and might be taken for
    one that has ended before and had its number."""
    try:
        yield _popen(command, output, messages, _Line())
    finally:
        if _allowed:
            allow_tracer(_allowed)


class _Named(Held):
    """What plumb writes under a name, which by now may be another file's, or nobody's."""

    def __init__(self, file: HeldFile, name: str) -> None:
        super().__init__(file)
        self._name = name

    def fileno(self) -> int:
        self._file.find(self._name)
        return super().fileno()


class _Line:
    """Between us and a program that is started: its standard input, through which it is let go on, and hands over what it writes."""

    def __init__(self) -> None:
        self.ours, self.theirs = map(Held, HeldFile.sockets())

    def received(self) -> Optional[HeldFile]:
        return self.ours.received()

    def close(self) -> None:
        self.ours.close()
        self.theirs.close()


def _ask_to_end(process: Child, announced: Optional[Unnamed]) -> None:
    """Not by SIGINT, which is ignored by what a program in the background of a shell starts. Who is suspended comes to that as well."""
    if process.signal(signal.SIGTERM):
        process.signal(signal.SIGCONT)
    elif process.runs() and announced is not None:
        announced.empty()  # which it looks at: we have changed our user, or there is no /proc here any more


def _end_in_time(process: Child, announced: Optional[Unnamed]) -> None:
    """Of nobody's concern any more: it may finish its file, and is waited for as long as that takes at most. What cannot be asked
    ends when this process does."""
    with contextlib.suppress(Error):
        _ask_to_end(process, announced)
        if process.wait(_LAST_SECONDS) is None and process.signal(signal.SIGKILL):
            process.wait()


def _terminate(program: _Program, announced: Unnamed, messages: Unnamed, pid: int) -> None:
    """When nobody can stop it any more, or the interpreter ends."""
    messages.close()
    if os.getpid() == pid:
        program.end(announced)
    announced.close()


class ExternalSession:
    """What `_plumb.Session` is for a recording, which this one leaves to the program."""

    def __init__(self, recording: Union[str, Unnamed], tags: bool, hidden: Collection[int], **options: Any) -> None:
        if hidden:
            raise ValueError("no thread can be hidden from the engine that is external: name those to be sampled")
        path = recording if isinstance(recording, str) else recording.path
        if os.path.exists(path) and not os.path.isfile(path):
            raise ValueError("%s is no file, from which could be read what the engine that is external has recorded" % path)
        self._place = path, recording if isinstance(recording, str) else "a temporary file in " + tempfile.gettempdir()  # as we say it
        # Whether and when that is replaced is the program's to decide.
        self._older = isinstance(recording, str) and os.path.lexists(path)
        self._outcome: Optional[Profile] = None
        self._has_replaced = False  # what had the name before
        self._failure: Optional[Error] = None
        self._told = False  # that it shall end
        self._pid = os.getpid()
        # Files: a pipe could be held open by whoever is forked meanwhile.
        self._messages = Unnamed()
        self._announced, self._program, self._line = Unnamed(), _Program(), _Line()
        self._finalizer = weakref.finalize(self, _terminate, self._program, self._announced, self._messages, self._pid)
        _forks.tell(self)
        self._process = self._start([_binary.find(), *_arguments(path, tags, options)])
        self._wait_until_it_samples()
        self._recording = recording if isinstance(recording, Unnamed) else self._handed_over(recording)
        self._line.close()

    def _after_fork(self) -> None:
        """This is the child of a fork: the process is not its child."""
        process = self._program.process
        if process is not None:
            process.forget()
        self._announced.close()
        self._messages.close()

    def _start(self, command: List[str]) -> Child:
        global _allowed
        process = self._program.start(command, self._announced.fileno(), self._messages.fileno(), self._line)
        _allowed = process.pid
        return process

    def _wait_until_it_samples(self) -> None:
        while self._announced.stat().st_size == 0:
            if not self.goes_on():
                self._finalizer.detach()
                said = self._why()
                self._announced.close()
                self._messages.close()
                raise Error("plumb could not attach: %s" % said)

    def _handed_over(self, name: str) -> Held:
        file = self._line.received()
        if file is None:
            self._finalizer()
            raise Error("plumb could not attach: it does not hand over what it writes to %s, as a plumb of this version does" % name)
        return _Named(file, name)

    def goes_on(self) -> bool:
        """Whether it will write more, asked in a loop."""
        time.sleep(_LOOK_SECONDS)
        return self._process.runs()

    def _said(self) -> str:
        """Once it has ended. Nothing where it was asked and closed already."""
        with contextlib.suppress(Error, OSError):
            return self._messages.text().strip().replace(*self._place)
        return ""

    def status(self) -> Status:
        return {"engine": _ENGINE, "ended": not self._process.runs(), "forked": os.getpid() != self._pid}

    def written(self) -> Optional[Profile]:
        """So far, which lags behind by a second at most. None: nothing yet."""
        if self._outcome:
            return self._outcome
        if not self._recording.stat().st_size:
            return None
        try:
            found = self._recording.profile()
            return found if found.info()["duration"] else None
        except Error as error:
            if error.code == "empty":
                return None
            raise

    def snapshot(self) -> Profile:
        """What has been written so far; waits until there is something."""
        found = self.written()
        while found is None:
            goes_on, found = self.goes_on(), self.written()
            if found is None and not goes_on:
                raise Error(_NOTHING_WRITTEN)
        return found

    def stop(self) -> Profile:
        """A signal handler may do so, too, while we wait here: then all is done when we come to it, each step once more."""
        if self._outcome is None and self._failure is None:
            self._end()
        if self._failure is not None:
            raise self._failure
        if self._outcome is None:
            self._outcome = self._recording.profile()
            self._has_replaced = self._recording.stat().st_nlink > 0
        return self._outcome

    def left_older(self) -> bool:
        """After stop(): whether nothing was sampled, and what had the file's name before stays."""
        outcome = self._outcome
        return self._older and outcome is not None and not outcome.info()["samples"] and not self._has_replaced

    def leave(self) -> None:
        """As stop(), when the interpreter ends: nobody would end what does not. Only what is open is closed if somebody has called that,
        and knows."""
        if self._finalizer.alive:
            _end_in_time(self._process, self._announced)
            self.stop()
        self._recording.close()

    def _end(self) -> None:
        self._finalizer.detach()
        if not self._told:
            try:
                _ask_to_end(self._process, self._announced)
            except Error as error:
                self._failure = Error("plumb, which was attached, goes on until this program ends: %s" % error)
                return
            self._told = True
        status = self._process.wait()
        said = self._why()
        if status and self._failure is None:
            self._failure = Error("plumb, which was attached, failed: %s" % said)
        self._announced.close()
        self._messages.close()

    def _why(self) -> str:
        """It has ended."""
        code = self._process.wait() or 0
        if code < 0:
            return sentence(self._said()) or "signal %d ended it" % -code
        return sentence(self._said()) or self._messages.not_writable() or "it ended with status %d" % code


class _Sum:
    """Recordings that have ended, as one, and what is counted in it. It stays as it is."""

    def __init__(self, file: Optional[Unnamed] = None, figures: Optional[Dict[str, float]] = None) -> None:
        self._file = file
        self.figures = figures or dict.fromkeys(_FIGURES, 0.0)

    def plus(self, file: Unnamed, profile: Profile) -> "_Sum":
        """With `profile`, which is in the file."""
        return _Sum(file if self._file is None else _both(self._file, file), _added(self.figures, profile))

    def with_more(self, profile: Profile) -> Profile:
        if self._file is None:
            return profile
        file = Unnamed()
        profile.write(file.fileno(), "plumb")
        both = _both(self._file, file)
        return both.profile()

    def profile(self) -> Profile:
        return self._file.profile() if self._file else as_profile(create())


def _both(one: Unnamed, other: Unnamed) -> Unnamed:
    file = Unnamed()
    with one.named() as first, other.named() as second, file.filled() as path:
        add_up(path, [first.encode(), second.encode()])
    return file


def _added(figures: Dict[str, float], profile: Profile) -> Dict[str, float]:
    info = profile.info()
    more = {**info, **info["losses"], "elapsed": info["duration"], "cpu": info["profiler_cpu"]}
    return {name: max(figures[name], more[name]) if name == "threads" else figures[name] + more[name] for name in figures}


class _Growing:
    """A session and its recording, which is read as often as it has grown."""

    def __init__(self, **options: Any) -> None:
        self.file = Unnamed()
        self.session = ExternalSession(self.file, **options)
        self.ending = False
        self._seen: Tuple[int, Optional[Profile]] = -1, None  # bytes of the recording, and what is in them

    def now(self) -> Optional[Profile]:
        """None: nothing yet."""
        seen, size = self._seen, os.fstat(self.file.fileno()).st_size
        if size != seen[0]:
            self._seen = seen = size, self.session.written()
        return seen[1]


class _Rounds(Step):
    """What has ended, and what runs, or is about to end."""

    def __init__(self, ended: _Sum, running: Tuple[_Growing, ...]) -> None:
        super().__init__()
        self.ended, self.running = ended, running

    @property
    def paused(self) -> bool:
        return all(growing.ending for growing in self.running)


class ControlledSession:
    """An external session that can be paused, changed and emptied: for each of these the program is attached anew, and what was
    counted is the sum of the recordings."""

    def __init__(self, lock: _forks.Lock, rate: float, tids: Optional[Collection[int]], **options: Any) -> None:
        """lock: that of the caller, for a signal handler that interrupts us may want it. Then it has the lock, too: it finds each round
        among those that run or in the sum, and can end what is about to end."""
        self._rate, self._tids, self._options = rate, tids, options
        self._lock = lock
        self._rounds = _Rounds(_Sum(), ())
        self._begin()

    def _now(self) -> _Rounds:
        self._rounds = found = self._rounds.latest()
        return found

    def _begin(self) -> None:
        tids = self._tids and [tid for tid in self._tids if _threads.exists(tid)]
        growing = _Growing(rate=self._rate, tids=tids, **self._options, **_PLAIN)
        before = self._now().change(lambda now: _Rounds(now.ended, (*now.running, growing)))
        for other in before.running:  # a signal handler has begun one meanwhile
            self._finish(other)

    def _end(self) -> bool:
        """Whether it ran."""
        running = self._now().running
        ran = any(not growing.ending for growing in running)
        for growing in running:
            self._finish(growing)
        return ran

    def _finish(self, growing: _Growing) -> None:
        growing.ending = True
        try:
            profile = growing.session.stop()
        except Error:
            self._add(growing, _written(growing))
            raise
        self._add(growing, (growing.file, profile))

    def _add(self, growing: _Growing, found: Optional[Tuple[Unnamed, Profile]]) -> None:
        """Once, whoever does it first; None: nothing is known of it."""

        def added(now: _Rounds) -> _Rounds:
            if growing not in now.running:
                return now
            others = tuple(other for other in now.running if other is not growing)
            return _Rounds(now.ended.plus(*found) if found else now.ended, others)

        self._now().change(added)

    def pause(self) -> None:
        with self._lock:
            self._end()

    def resume(self) -> None:
        with self._lock:
            if self._now().paused:
                self._begin()

    def set_rate(self, hz: float) -> None:
        with self._lock:
            self._rate = hz
            if self._end():
                self._begin()

    def reset(self) -> None:
        with self._lock:
            ran = self._end()
            self._now().change(lambda now: _Rounds(_Sum(), now.running))
            if ran:
                self._begin()

    def status(self) -> Status:
        with self._lock:
            while True:
                now = self._now()
                found = [growing.now() for growing in now.running]
                if now is self._now():
                    break
        figures = now.ended.figures
        for profile in found:
            figures = figures if profile is None else _added(figures, profile)
        return {
            "engine": _ENGINE, "paused": now.paused, "elapsed": figures["elapsed"], "cpu": figures["cpu"], "folded": 0,
            "samples": int(figures["samples"]), "ticks": int(figures["ticks"]), "missed": int(figures["missed"]),
            "unreadable": int(figures["unreadable"]), "threads": int(figures["threads"]),
        }  # fmt: skip

    def snapshot(self) -> Profile:
        """Waits until there is something."""
        lost = None
        while True:
            with self._lock:
                now = self._now()
                found = _all_of(now)
                if now is not self._now():
                    continue
            if found is not None:
                return found
            growing = now.running[-1]
            if growing is lost:
                raise Error(_NOTHING_WRITTEN)
            lost = None if growing.session.goes_on() else growing

    def stop(self) -> Profile:
        with self._lock:
            self._end()
            return self._now().ended.profile()


def _written(growing: _Growing) -> Optional[Tuple[Unnamed, Profile]]:
    """What is left of a round whose end went wrong, as one that has ended well."""
    with contextlib.suppress(Error):
        profile = growing.session.written()
        if profile is not None:
            file = Unnamed()
            profile.write(file.fileno(), "plumb")
            return file, profile
    return None


def _all_of(now: _Rounds) -> Optional[Profile]:
    """None: nothing is known yet of what runs."""
    if not now.running:
        return now.ended.profile()
    *ending, last = now.running
    ended = now.ended
    for growing in ending:
        found = growing.now()
        ended = ended if found is None else ended.plus(growing.file, found)
    profile = last.now()
    return None if profile is None else ended.with_more(profile)
