# SPDX-License-Identifier: Apache-2.0
"""Labels on what a worker runs: the threads and coroutines of a task have a tag with its worker and the prefix of its key."""
from __future__ import annotations

import functools
import threading
import weakref
from typing import Any, Awaitable, Callable, Dict, List, MutableMapping, Optional

from dask.utils import key_split

from plumb._tags import tag
from plumb._unseen import unseen

_KEPT = 1000  # tags of a worker; one more is made anew

Labelling = Callable[[Any], tag]


def _labelling(worker: str) -> Labelling:
    """The tag of a key, for that worker."""

    @functools.lru_cache(maxsize=_KEPT)
    def of_prefix(prefix: str) -> tag:
        return tag(task=prefix, worker=worker)

    return lambda key: of_prefix(key_split(key))


class LabelledThreads(Dict[int, Any]):
    """Dask's dict of {thread: key of its task}, which threads write themselves: who does so gets its tag, and loses it.

    It stays where it is when labels are not wanted any more, as tasks that run have it. Those that began before it was there have
    the dict that it replaces, `others`, which is read as if it were a part of it.
    """

    def __init__(self, others: Dict[int, Any]) -> None:
        super().__init__()
        self.label: Optional[Labelling] = None
        self._others = others
        self._entered: Dict[int, tag] = {}

    def __setitem__(self, ident: int, key: Any) -> None:
        super().__setitem__(ident, key)
        self._leave(ident)  # where a task has ended so that nothing was told of it
        if self.label and ident == threading.get_ident():
            self._entered[ident] = self.label(key)
            self._entered[ident].__enter__()

    def __delitem__(self, ident: int) -> None:
        super().__delitem__(ident)
        self._leave(ident)

    def _leave(self, ident: int) -> None:
        entered = self._entered.pop(ident, None)
        if entered is not None:
            entered.__exit__(None, None, None)

    def __missing__(self, ident: int) -> Any:
        return self._others[ident]

    def __len__(self) -> int:
        return super().__len__() + len(self._others)

    def copy(self) -> Dict[int, Any]:
        return {**self._others, **dict(super().items())}

    def items(self) -> Any:
        return self.copy().items()


def _labelled_execute(label: Labelling, execute: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Of a worker's execute(): what a coroutine of a task does on the event loop has its tag."""

    @functools.wraps(execute)
    @unseen
    async def labelled(key: Any, **options: Any) -> Any:
        with label(key):
            return await execute(key, **options)

    return labelled


def _labelled_actor(label: Labelling, handler: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Of a worker's handler of calls of actors' methods, as Dask names those that have a thread."""

    @functools.wraps(handler)
    @unseen
    async def labelled(*args: Any, actor: Any = None, function: Any = None, **options: Any) -> Any:
        with label("%s.%s" % (key_split(actor), function)):
            return await handler(*args, actor=actor, function=function, **options)

    return labelled


class _Labels:
    """Of a worker, for whoever wants them."""

    def __init__(self, worker: Any, name: str) -> None:
        self.name, self.users = name, 1
        label = _labelling(name)
        with worker.active_threads_lock:
            if not isinstance(worker.active_threads, LabelledThreads):
                worker.active_threads = LabelledThreads(worker.active_threads)
        self._threads, self._handlers, self._actors = worker.active_threads, worker.handlers, worker.handlers["actor_execute"]
        self._threads.label = label
        worker.execute = _labelled_execute(label, worker.execute)
        self._handlers["actor_execute"] = _labelled_actor(label, self._actors)

    def end(self, worker: Any) -> None:
        self._threads.label = None
        self._handlers["actor_execute"] = self._actors
        del worker.execute


_labels: MutableMapping[Any, _Labels] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def begin(worker: Any) -> str:
    """What the worker is called in its labels, which is its name. In one process two clusters may have workers of one name."""
    with _lock:
        found = _labels.get(worker)
        if found is None:
            found = _labels[worker] = _Labels(worker, _free(str(worker.name), [labels.name for labels in _labels.values()]))
        else:
            found.users += 1
        return found.name


def _free(name: str, taken: List[str]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = "%s (%d)" % (name, number)
    return free


def end(worker: Any) -> None:
    with _lock:
        found = _labels[worker]
        found.users -= 1
        if not found.users:
            del _labels[worker]
            found.end(worker)
