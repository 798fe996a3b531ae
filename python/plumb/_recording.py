# SPDX-License-Identifier: Apache-2.0
"""Recording a stretch of the program's life: a block, a function's calls, or from here to there."""
from __future__ import annotations

import functools
import inspect
import os
import sys
import warnings
import weakref
from typing import IO, Any, Callable, Dict, List, Optional, TypeVar, Union

from plumb import _events, _forks, _gil, _plumb, _threads
from plumb._arguments import (
    checked_engine,
    checked_flag,
    checked_interval,
    checked_mode,
    checked_overhead,
    checked_path,
    checked_seed,
    engine_of_native,
)
from plumb._decorated import decorated
from plumb._external import ExternalSession
from plumb._held import Unnamed
from plumb._result import Profile, callers_level, open
from plumb._session import Recorded
from plumb._written import Path

__all__ = ["Block", "Profile", "Recording", "open", "profile", "start"]

Function = TypeVar("Function", bound=Callable[..., Any])
Done = Optional[Callable[["Recording"], Any]]
Printed = Union[None, bool, IO[str]]

_BEGUN = "this recording was begun already; plumb.profile() makes another one"
_FLAGS = ("tags", "force", "jitter", "sources", "opcodes", "tasks", "kernel", "native_threads")


def _checked_output(output: Optional[Path]) -> Optional[str]:
    if output is None:
        return None
    name = checked_path("output", output)
    format = _plumb.Profile.format_of(name)
    if format not in (None, "plumb"):
        raise ValueError("output is the name of the recording; save(%r) writes it as %s afterwards" % (output, format))
    return os.path.abspath(name)


def _session(engine: Optional[str], recording: Union[str, Unnamed], options: Dict[str, Any]) -> Recorded:
    if engine == "external":
        return ExternalSession(recording, **options)
    del options["native"], options["kernel"], options["native_threads"]
    if isinstance(recording, str):
        return _gil.begin(engine, recording=recording, **options)
    return _gil.begin(engine, named=False, recording=recording.path, **options)


def _close(place: Union[str, Unnamed]) -> None:
    if isinstance(place, Unnamed):
        place.close()


def _end(session: Recorded, place: Union[str, Unnamed], pid: int) -> None:
    """When nobody can stop it any more, or the interpreter ends."""
    if os.getpid() == pid:
        end = session.leave if isinstance(session, ExternalSession) else session.stop
        end()
    _close(place)
    if os.getpid() == pid and session.left_older():
        warnings.warn("plumb: nothing was sampled, so %s stays as it was" % place, RuntimeWarning, stacklevel=callers_level())


class Recording(Profile):
    """A profile that grows until stop(). It can be looked at before: as it is then.

    What it records is the process, all of it, whichever thread began it; several recordings at once are independent.
    In the child of a fork it is not there: leaving the block does nothing, and asking for it is an Error.
    """

    def __init__(self, interval: float, output: Optional[Path], engine: Optional[str], **options: Any) -> None:
        self.output = self._name = _checked_output(output)
        self._engine, self._options = checked_engine(engine), dict(options, rate=1 / checked_interval(interval))
        checked_mode(options["mode"])
        checked_seed(options["seed"])
        checked_overhead(options["max_overhead"])
        for name in _FLAGS:
            checked_flag(name, options[name])
        self._engine = engine_of_native(options["native"], options["kernel"] or options["native_threads"], self._engine)
        self._session: Optional[Recorded] = None
        self._outcome: Optional[_plumb.Profile] = None
        self._lock = _forks.Lock()
        self._beginning = self._ending = False
        self._pid = os.getpid()

    def _files(self, whole: bool = False) -> List[str]:
        return [os.path.abspath(self._name)] if self._name and not whole else []

    def start(self) -> Recording:
        with self._lock:
            if self._beginning:  # a signal handler in the middle of it
                raise RuntimeError(_BEGUN)
            self._beginning = True
            try:
                if self._session is not None:  # asked after that, so that no signal handler comes between
                    raise RuntimeError(_BEGUN)
                self._begin()
            finally:
                self._beginning = False
        return self

    def _begin(self) -> None:
        options = dict(self._options)
        options["tids"] = _threads.native_ids(options.pop("threads"))
        options["hidden"] = _threads.native_ids(options["hidden"]) or ()
        place = self._name or Unnamed()
        try:
            session = _session(self._engine, place, options)
        except BaseException:
            _close(place)
            raise
        self._place, self._pid = place, os.getpid()
        self._finalizer = weakref.finalize(self, _end, session, place, self._pid)
        self._session = session  # at last: from now on a signal handler may stop it
        _events.listen(self)

    def _event_session(self) -> object:
        return self._session

    def stop(self) -> Recording:
        """Any thread; the second time nothing happens."""
        with self._lock:
            if self._outcome is None and not self._ending:  # by a signal handler in the middle of it
                self._ending = True
                try:
                    _events.leave(self)
                    session = self._running()
                    self._outcome = session.stop()
                    if session.left_older():
                        self._name = None
                    if self._finalizer.detach():
                        _end(session, self._place, self._pid)
                finally:
                    self._ending = False
        return self

    def _running(self) -> Recorded:
        if self._session is None:
            raise RuntimeError("nothing has been recorded yet: start() begins it, and so does a with statement")
        return self._session

    def _now(self) -> _plumb.Profile:
        if self._outcome is not None:
            return self._outcome
        return self._running().snapshot()

    def __repr__(self) -> str:
        return "<plumb.Recording: not begun>" if self._session is None else super().__repr__()

    def __enter__(self) -> Recording:
        return self.start()

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if os.getpid() != self._pid:
            return
        try:
            self.stop()
        except _plumb.Error as trouble:
            if error is None:
                raise
            # What the block raised is of more interest.
            warnings.warn("plumb: %s" % trouble, RuntimeWarning, stacklevel=2)


class Block(Recording):
    """What profile() gives: for a with statement, or for a function."""

    def __init__(self, done: Done, print: Printed, **options: Any) -> None:
        super().__init__(**options)
        if done is not None and not callable(done):
            raise TypeError("done is a function that takes the recording, not %r" % (done,))
        if print is not None and not isinstance(print, bool) and not hasattr(print, "write"):
            raise TypeError("print is True (to standard error), False or a text file, not %r" % (print,))
        self._done, self._printed, self._record = done, print, functools.partial(Recording, **options)

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        super().__exit__(kind, error, traceback)
        if not self._printed or os.getpid() != self._pid:
            return
        try:
            _print(self, self._printed)
        except Exception:
            if error is None:  # else what the block raised is of more interest
                raise

    def __call__(self, function: Function) -> Function:
        made: Function = decorated(function, self._record, self._finish)
        return made

    def _finish(self, recording: Recording) -> None:
        """After a function's calls."""
        if self._done:
            self._done(recording)
        if self._printed or (self._printed is None and not self._done and self.output is None):
            _print(recording, self._printed or True)


def _print(recording: Recording, to: Union[bool, IO[str]]) -> None:
    file = sys.stderr if isinstance(to, bool) else to
    if file is not None:
        recording.print(file)


def start(
    interval: float = 0.001,
    *,
    threads: _threads.Threads = None,
    hidden: _threads.Threads = (),
    mode: str = "wall",
    engine: Optional[str] = None,
    tags: bool = True,
    output: Optional[Path] = None,
    force: bool = False,
    jitter: bool = True,
    seed: Optional[int] = None,
    sources: bool = True,
    opcodes: bool = False,
    tasks: bool = False,
    native: Union[bool, str] = False,
    kernel: bool = False,
    native_threads: bool = False,
    max_overhead: Optional[float] = None,
) -> Recording:
    """Record from now on, until stop() of what it gives.

    interval      seconds between two samples of a thread
    threads       None or "all": all there are and will be; else those that run now: Thread, ident, name, or several
    hidden        threads that are not sampled, given in the same way
    mode          "wall": all time; "cpu": time on a CPU; "gil": time with the GIL
    engine        "inprocess": a thread that is none of Python's reads this process's memory, without the GIL
                  "external": the program plumb does it from outside
                  None: the first, and where memory is not to be read a Python thread, with a warning
    tags          what plumb.tag() says is shown in the stacks
    output        the recording's file; it grows while it is recorded, and stays if the process is killed. None: a temporary one
    force         output may replace a file that plumb did not write
    jitter, seed  a random point in each interval, and what the random numbers follow from
    sources       the texts of the sampled files are recorded, too
    opcodes       so are the instructions
    tasks         what an asyncio task does is shown below the coroutines that await it, not below the event loop
    native        functions of C, C++ and Rust are recorded, and shown between those of Python: True or "callable" without those that only
                  pass calls on; "leaf": those that no Python function is inside of; "all". Reports may choose another one of these.
                  With engine "external", which it is then
    kernel        so is where in the kernel threads are that wait: its functions for root, else the system call
    native_threads  so are threads that run no Python (OpenBLAS, OpenMP, Rust's runtimes), with their native functions
    max_overhead  a share: the rate is lowered until it takes no more of the time. None: a fifth of a core for the samples alone, or a
                  twentieth of a container's quota, if that is less; math.inf: no limit
    """
    return Recording(**locals()).start()


def profile(interval: Any = 0.001, *, done: Done = None, print: Printed = None, **options: Any) -> Any:
    """Record a block: `with plumb.profile() as p: ...`, then p.print(), p.open_in_browser(), p.save(path), ...
    Or the calls of a function: `@plumb.profile`, also of a generator, a coroutine function, an asynchronous generator; of a class
    its __init__().

    The options are those of plumb.start(), and

    print  True: the report goes to standard error when the block or the function has ended; or to a text file. None: that of a
           function does, unless there is `done` or `output`
    done   of a decorated function: called with each recording. Calls that overlap share one. The last one is the attribute
           `profile` of the function. What it raises is a warning
    """
    given: Any = 0.001 if callable(interval) else interval
    block = Block(done, print, interval=given, **_with_defaults(options))
    return block(interval) if callable(interval) else block


_OPTIONS = [parameter for parameter in inspect.signature(start).parameters.values() if parameter.kind is inspect.Parameter.KEYWORD_ONLY]


def _with_defaults(options: Dict[str, Any]) -> Dict[str, Any]:
    defaults = {parameter.name: parameter.default for parameter in _OPTIONS}
    for name in options:
        if name not in defaults:
            raise TypeError("profile() has no option %s: it has interval, done, print, %s" % (name, ", ".join(defaults)))
    return {**defaults, **options}


def _signature() -> inspect.Signature:
    """Of profile(), in full."""
    own = inspect.signature(profile)
    interval, done, shown, _ = own.parameters.values()
    number = inspect.signature(start).parameters["interval"]
    return own.replace(parameters=[interval.replace(annotation=number.annotation), *_OPTIONS, done, shown], return_annotation="Block")


profile.__signature__ = _signature()  # type: ignore[attr-defined]
