# SPDX-License-Identifier: Apache-2.0
"""Functions whose calls are recorded: plain ones, generators, coroutine functions, asynchronous generators; and the making of a
class's objects."""
from __future__ import annotations

import functools
import inspect
import os
import warnings
from typing import Any, Callable

from plumb import _forks
from plumb._unseen import unseen


class _Calls:
    """One recording for all calls that overlap: those of several threads or tasks, and of a function that calls itself."""

    def __init__(self, record: Callable[[], Any], done: Callable[[Any], None]) -> None:
        self._record, self._done = record, done
        self._lock = _forks.Lock()
        self._running, self._recording, self._pid = 0, None, 0

    def __enter__(self) -> None:
        with self._lock:
            if self._pid != os.getpid():  # what ran in the parent of a fork is not ours to stop
                self._running, self._pid = 0, os.getpid()
            self._running += 1  # first: a signal handler may call the same function
            if self._running == 1:
                self._begin()

    def _begin(self) -> None:
        try:
            self._recording = self._record().start()
        except BaseException:
            self._running -= 1
            raise

    def __exit__(self, *error: Any) -> None:
        recording = None
        with self._lock:
            if self._pid != os.getpid():
                return
            self._running -= 1
            if self._running == 0:
                recording = self._recording
        if recording is not None:
            self._finish(recording)

    def _finish(self, recording: Any) -> None:
        """What the function returned or raised is of more interest than what goes wrong here."""
        try:
            recording.stop()
            self._done(recording)
        except Exception as trouble:
            text = "plumb: a decorated function ended, but its profile could not be printed or handed to done=: %s: %s"
            warnings.warn(text % (type(trouble).__name__, trouble), RuntimeWarning, stacklevel=4)


def _plain(function: Any, calls: _Calls) -> Any:
    @unseen
    def call(*args: Any, **kwargs: Any) -> Any:
        with calls:
            return function(*args, **kwargs)

    return call


def _generator(function: Any, calls: _Calls) -> Any:
    @unseen
    def call(*args: Any, **kwargs: Any) -> Any:
        with calls:
            return (yield from function(*args, **kwargs))

    return call


def _coroutine(function: Any, calls: _Calls) -> Any:
    @unseen
    async def call(*args: Any, **kwargs: Any) -> Any:
        with calls:
            return await function(*args, **kwargs)

    return call


def _async_generator(function: Any, calls: _Calls) -> Any:
    @unseen
    async def call(*args: Any, **kwargs: Any) -> Any:
        with calls:
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
