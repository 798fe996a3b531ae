# SPDX-License-Identifier: Apache-2.0
"""plumb.tag: what a thread or task works for, in the samples that are taken of it meanwhile."""
from __future__ import annotations

import functools
import inspect
import threading
import warnings
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Callable, Dict, List, NoReturn, Optional, Tuple, Type, TypeVar

from plumb import _contexts, _forks
from plumb._decorated import decorate_any
from plumb._plumb import Tag, new_tag, tag_table
from plumb._texts import KEY_LENGTH, VALUE_LENGTH, cut
from plumb._unseen import unseen

_Labels = Tuple[Tuple[str, str], ...]  # in order of the keys
_Function = TypeVar("_Function", bound=Callable[..., Any])

_TEXT_LENGTH = 240
LABELS = 16
_OTHER = 1  # the number of all tags that are too many


class _Entry(Tag):
    """What is set in the context: a tag that was entered, on those that were entered before."""

    __slots__ = ("labels", "owner", "outer", "of_request")
    labels: _Labels  # with those of the outer ones
    owner: tag
    outer: Optional[_Entry]
    of_request: bool  # itself, or one that it is in


# None: no tag. A set value stays behind where the first tag of a context was left.
_current: ContextVar[Optional[_Entry]] = ContextVar("plumb.tag", default=None)
_numbers: Dict[_Labels, int] = {}
_by_text: Dict[str, _Labels] = {}
_lock = _forks.Lock()
_usable: Optional[bool] = None  # not known yet
_finding = 0  # ident of the thread that is about to know


def _are_usable() -> bool:
    global _usable, _finding
    if _finding == threading.get_ident():  # a finalizer or a signal handler in the middle of it
        return False
    with _lock:
        if _usable is None:
            _finding = threading.get_ident()
            try:
                why_not = _contexts.find(_current, _of_nobody)
                _usable = not why_not
            finally:
                _finding = 0
            if why_not:
                warnings.warn("plumb.tag does nothing: " + why_not, RuntimeWarning, stacklevel=3)
    return bool(_usable)


def table() -> int:
    """Where a session of another process finds the tags of this one; 0: nowhere."""
    return tag_table() or (tag_table() if _are_usable() else 0)


def _number(labels: _Labels, of_request: bool) -> int:
    number = _numbers.get(labels)
    if number is None:
        text = "[%s]" % cut(", ".join("%s=%s" % label for label in labels), _TEXT_LENGTH)
        number = new_tag(text, "".join("%s\0%s\0" % label for label in labels), of_request)
        if number != _OTHER:
            _numbers[labels], _by_text[text] = number, labels
    return number


def labels_of(text: str) -> Dict[str, str]:
    """Those of the tag that this process's profiles show as `text`."""
    return dict(_by_text.get(text, ()))


def _enter(owner: tag) -> None:
    outer = _current.get()
    labels = owner._labels if outer is None else tuple(sorted(dict(outer.labels + owner._labels).items()))[:LABELS]
    of_request = isinstance(owner, RequestTag) or (outer is not None and outer.of_request)
    entry = _Entry(_number(labels, of_request))
    entry.labels, entry.owner, entry.outer, entry.of_request = labels, owner, outer, of_request
    _current.set(entry)


def _of_nobody(number: int) -> _Entry:
    """Nobody entered it, and it has no labels: to find out where Python keeps one. A signal handler may find it set."""
    entry = _Entry(number)
    entry.labels, entry.owner, entry.outer, entry.of_request = (), _NOBODY, None, False
    return entry


def _leave(owner: tag) -> None:
    """Take away what it entered last in this context, with all that was entered since: what is left then belongs to nobody. A
    context that it did not enter, such as that of a collector which closes a generator, is left as it is."""
    entry = _current.get()
    while entry is not None and entry.owner is not owner:
        entry = entry.outer
    if entry is not None:
        _current.set(entry.outer)


class tag:
    """`with plumb.tag(route="/x", user=3):` samples of the block are shown below `[route=/x, user=3]`. Also a decorator of
    functions, coroutine functions and generators.

    The tag belongs to the context (contextvars): of a thread, or of an asyncio task and those that it starts. Tags in a tag add
    up; of a key the inner one counts. Values are written by str() when the tag is made. One object can be entered any number of
    times, by many threads and tasks at once.
    """

    __slots__ = ("_labels",)

    def __init__(self, /, *given: NoReturn, **labels: Any) -> None:
        if given:
            raise TypeError("a tag takes labels by their names, as in plumb.tag(job=\"nightly\"), not %s alone" % ", ".join(map(repr, given)))
        self._labels: _Labels = tuple(
            sorted((cut(key, KEY_LENGTH), cut(str(value), VALUE_LENGTH)) for key, value in labels.items())
        )[:LABELS]

    def __repr__(self) -> str:
        return "plumb.tag(%s)" % ", ".join("%s=%r" % label for label in self._labels)

    def __enter__(self) -> tag:
        if self._labels and (_usable or _are_usable()):
            _enter(self)
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], traceback: Optional[TracebackType]
    ) -> None:
        if self._labels and _usable:
            _leave(self)

    def __call__(self, function: _Function) -> _Function:
        made: _Function = decorate_any(function, functools.partial(_tagged, self))
        return made


_NOBODY = tag()


class RequestTag(tag):
    """Of a web request: such tags, with what is entered in them, get at most half of all numbers. The rest is the program's."""

    __slots__ = ()


def _tagged(owner: tag, function: Any) -> Any:
    if inspect.iscoroutinefunction(function):
        decorate = _of_coroutine
    elif inspect.isasyncgenfunction(function):
        decorate = _of_async_generator
    elif inspect.isgeneratorfunction(function):
        decorate = _of_generator
    else:
        decorate = _of_function
    return functools.wraps(function)(decorate(owner, function))


def _of_function(owner: tag, function: Callable[..., Any]) -> Callable[..., Any]:
    @unseen
    def tagged(*args: Any, **kwargs: Any) -> Any:
        with owner:
            return function(*args, **kwargs)

    return tagged


def _of_coroutine(owner: tag, function: Callable[..., Any]) -> Callable[..., Any]:
    @unseen
    async def tagged(*args: Any, **kwargs: Any) -> Any:
        with owner:
            return await function(*args, **kwargs)

    return tagged


class _Steps:
    """Around each step of a generator: its tag, and what it had entered inside when it stopped the last time and had not left."""

    __slots__ = ("_owner", "_inside", "_first")

    def __init__(self, owner: tag) -> None:
        self._owner, self._inside = owner, []  # type: Tuple[tag, List[tag]]
        self._first: Optional[_Entry] = None

    def __enter__(self) -> None:
        self._first = None
        if self._owner._labels and (_usable or _are_usable()):
            _enter(self._owner)
            self._first = _current.get()
            for inner in self._inside:
                _enter(inner)

    def __exit__(self, *_: Any) -> None:
        """In a context that was not entered nothing is found, and so nothing changed."""
        inside, entry = [], _current.get()
        while entry is not None and entry is not self._first:
            inside.append(entry.owner)
            entry = entry.outer
        if entry is not None:
            self._inside = inside[::-1]
            _current.set(entry.outer)


def _of_generator(owner: tag, function: Callable[..., Any]) -> Callable[..., Any]:
    """Who takes its values is not tagged: the tag, and those that are entered inside, are set while the generator runs."""

    @unseen
    def tagged(*args: Any, **kwargs: Any) -> Any:
        generator, steps = function(*args, **kwargs), _Steps(owner)
        resume, value = generator.send, None
        try:
            while True:
                with steps:
                    try:
                        item = resume(value)
                    except StopIteration as end:
                        return end.value
                try:
                    resume, value = generator.send, (yield item)
                except GeneratorExit:
                    raise
                except BaseException as error:
                    resume, value = generator.throw, error
        finally:
            with steps:
                generator.close()

    return tagged


def _of_async_generator(owner: tag, function: Callable[..., Any]) -> Callable[..., Any]:
    """As _of_generator()."""

    @unseen
    async def tagged(*args: Any, **kwargs: Any) -> Any:
        generator, steps = function(*args, **kwargs), _Steps(owner)
        resume, value = generator.asend, None
        try:
            while True:
                with steps:
                    try:
                        item = await resume(value)
                    except StopAsyncIteration:
                        return
                try:
                    resume, value = generator.asend, (yield item)
                except GeneratorExit:
                    raise
                except BaseException as error:
                    resume, value = generator.athrow, error
        finally:
            with steps:
                await generator.aclose()

    return tagged
