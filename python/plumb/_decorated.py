# SPDX-License-Identifier: Apache-2.0
"""Functions whose calls are recorded: plain ones, generators, coroutine functions, asynchronous generators; and the making of a
class's objects."""
from __future__ import annotations

import functools
import inspect
import os
import warnings
import weakref
from typing import Any, Callable, Dict

from plumb import _forks
from plumb._unseen import unseen


class _Call:
    """One call that runs."""

    def __init__(self, calls: _Calls) -> None:
        self._calls = calls

    def __enter__(self) -> None:
        self._calls.begin(self)

    def __exit__(self, *error: Any) -> None:
        self._calls.end(id(self))


class _Calls:
    """One recording for all calls that overlap: those of several threads or tasks, and of a function that calls itself. A signal handler
    can raise in the middle of a call's beginning and of its end; that call ends when its frame has gone."""

    def __init__(self, record: Callable[[], Any], done: Callable[[Any], None]) -> None:
        self._record, self._done = record, done
        self._lock = _forks.Lock()
        self._recording, self._pid = None, 0
        self._running: Dict[int, "weakref.ref[_Call]"] = {}  # by their ids

    def begin(self, call: _Call) -> None:
        number = id(call)
        with self._lock:
            if self._pid != os.getpid():  # what ran in the parent of a fork is not ours to stop
                self._running, self._recording, self._pid = {}, None, os.getpid()
            # First: a signal handler may call the same function.
            self._running[number] = weakref.ref(call, lambda _: self.end(number))
            if len(self._running) == 1:
                self._start(number)

    def _start(self, number: int) -> None:
        try:
            self._recording = self._record().start()
        except BaseException:  # which has the call, as long as somebody has it
            self._running.pop(number, None)
            raise

    def end(self, number: int) -> None:
        recording = None
        with self._lock:
            if self._pid != os.getpid():
                return
            if len(self._running) == 1 and number in self._running:  # taken first: it ends when nobody has it
                recording, self._recording = self._recording, None
            self._running.pop(number, None)
        if recording is not None:
            self._finish(recording)

    def _finish(self, recording: Any) -> None:
        """What the function returned or raised is of more interest than what goes wrong here."""
        try:
            recording.stop()
            self._done(recording)
        except Exception as trouble:
            text = "plumb: a decorated function ended, but its profile could not be printed or handed to done=: %s: %s"
            warnings.warn(text % (type(trouble).__name__, trouble), RuntimeWarning, stacklevel=5)


def _plain(function: Any, calls: _Calls) -> Any:
    @unseen
    def call(*args: Any, **kwargs: Any) -> Any:
        with _Call(calls):
            return function(*args, **kwargs)

    return call


def _generator(function: Any, calls: _Calls) -> Any:
    @unseen
    def call(*args: Any, **kwargs: Any) -> Any:
        with _Call(calls):
            return (yield from function(*args, **kwargs))

    return call


def _coroutine(function: Any, calls: _Calls) -> Any:
    @unseen
    async def call(*args: Any, **kwargs: Any) -> Any:
        with _Call(calls):
            return await function(*args, **kwargs)

    return call


def _async_generator(function: Any, calls: _Calls) -> Any:
    @unseen
    async def call(*args: Any, **kwargs: Any) -> Any:
        with _Call(calls):
            generator = function(*args, **kwargs)
            try:
                step = generator.__anext__()
                while True:
                    try:
                        value = await step
                    except StopAsyncIteration:
                        return
                    try:
                        step = generator.asend((yield value))
                    except GeneratorExit:
                        raise
                    except BaseException as error:
                        step = generator.athrow(error)
            finally:
                await generator.aclose()

    return call


def _wrapper_of(function: Any) -> Any:
    if inspect.isasyncgenfunction(function):
        return _async_generator
    if inspect.iscoroutinefunction(function):
        return _coroutine
    return _generator if inspect.isgeneratorfunction(function) else _plain


def decorate_any(what: Any, decorate: Callable[[Any], Any]) -> Any:
    """What a decorator of functions makes of whatever it stands above. A class stays what it is: its __init__() is decorated."""
    if isinstance(what, type):
        if what.__init__ is object.__init__:  # type: ignore[misc]
            raise TypeError("the class %s has no __init__(): decorate its methods, each by itself" % what.__qualname__)
        what.__init__ = decorate(what.__init__)  # type: ignore[misc]
        return what
    if isinstance(what, (staticmethod, classmethod)):
        return type(what)(decorate(what.__func__))
    if not callable(what):
        raise TypeError("a function or a class is decorated, not %r" % (what,))
    return decorate(what)


def decorated(what: Any, record: Callable[[], Any], done: Callable[[Any], Any]) -> Any:
    """done(recording) is called after each; the last one is the function's attribute `profile`."""

    def decorate(function: Any) -> Any:
        def finish(recording: Any) -> None:
            call.profile = recording
            done(recording)

        call: Any = functools.wraps(function)(_wrapper_of(function)(function, _Calls(record, finish)))
        return call

    return decorate_any(what, decorate)
