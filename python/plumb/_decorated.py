# SPDX-License-Identifier: Apache-2.0
"""Functions whose calls are recorded: plain ones, generators, coroutine functions, asynchronous generators."""
from __future__ import annotations

import functools
import inspect
import os
import sys
from typing import Any, Callable, Optional

from plumb import _forks
from plumb._unseen import unseen

Done = Optional[Callable[[Any], Any]]


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
            recording.__exit__(*error)
            self._done(recording)


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


def decorated(function: Any, record: Callable[[], Any], done: Done) -> Any:
    """Its last recording becomes its attribute `profile`; done(recording) is called, or by default it is printed."""

    def finish(recording: Any) -> None:
        call.profile = recording
        (done or _print)(recording)

    call: Any = functools.wraps(function)(_wrapper_of(function)(function, _Calls(record, finish)))
    return call


def _print(recording: Any) -> None:
    if recording.output is None and sys.stderr is not None:
        recording.print(sys.stderr)
