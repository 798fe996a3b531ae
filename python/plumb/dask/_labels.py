# SPDX-License-Identifier: Apache-2.0
"""Labels on what a worker runs: the threads and coroutines of a task have a tag with its worker and the prefix of its key."""
from __future__ import annotations

import functools
import socket
import weakref
from threading import get_ident
from typing import Any, Awaitable, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

from dask.utils import key_split
from distributed.utils import key_split_group

from plumb._tags import tag
from plumb._unseen import unseen
from plumb.dask._shared import Shared

_KEPT = 1000  # tags of a worker; one more is made anew

FURTHER = ("group", "host", "annotations")
"""What tasks can be labelled with besides the prefix of their keys and their worker."""

# Annotations that tell Dask how to run a task.
_DASKS = {"allow_other_workers", "executor", "priority", "resources", "retries", "shuffle", "span", "workers"}

_SPILL = "_maybe_spill"  # of a worker's memory manager: Dask's own; another one may have none

Further = Tuple[Tuple[str, str], ...]


def checked_labels(labels: Sequence[str]) -> Tuple[str, ...]:
    if isinstance(labels, str) or not set(labels) <= set(FURTHER):
        raise ValueError("labels are some of %s, not %r" % (", ".join(FURTHER), labels))
    return tuple(labels)


class _Labelling:
    """The tags of keys, for a worker."""

    def __init__(self, worker: Any, name: str) -> None:
        self._name, self._tasks, self._host = name, worker.state.tasks, socket.gethostname()
        self.further: Sequence[str] = ()
        self._tag = functools.lru_cache(maxsize=_KEPT)(self._made)

    def __call__(self, key: Any) -> tag:
        return self._tag(key_split(key), tuple(self._further(key)) if self.further else ())

    def _made(self, prefix: str, further: Further) -> tag:
        return tag(**{**dict(further), "task": prefix, "worker": self._name})

    def _further(self, key: Any) -> Iterator[Tuple[str, str]]:
        if "host" in self.further:
            yield "host", self._host
        if "group" in self.further:
            yield "group", str(key_split_group(key))
        if "annotations" in self.further:
            given = getattr(self._tasks.get(key), "annotations", None) or {}
            yield from sorted((str(name), str(value)) for name, value in given.items() if name not in _DASKS)


class LabelledThreads(Dict[int, Any]):
    """Dask's dict of {thread: key of its task}, which threads write themselves: who does so gets its tag, and loses it.

    It stays where it is when labels are not wanted any more, as tasks that run have it. Those that began before it was there have
    the dict that it replaces, `others`, which is read as if it were a part of it.
    """

    def __init__(self, others: Dict[int, Any]) -> None:
        super().__init__()
        self.label: Optional[_Labelling] = None
        self._others = others
        self._entered: Dict[int, tag] = {}

    def __setitem__(self, ident: int, key: Any) -> None:
        super().__setitem__(ident, key)
        self._leave(ident)  # where a task has ended so that nothing was told of it
        if self.label and ident == get_ident():
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


def _labelled_execute(label: _Labelling, execute: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Of a worker's execute(): what a coroutine of a task does on the event loop has its tag."""

    @functools.wraps(execute)
    @unseen
    async def labelled(key: Any, **options: Any) -> Any:
        with label(key):
            return await execute(key, **options)

    return labelled


def _labelled_actor(label: _Labelling, handler: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Of a worker's handler of calls of actors' methods, as Dask names those that have a thread."""

    @functools.wraps(handler)
    @unseen
    async def labelled(*args: Any, actor: Any = None, function: Any = None, **options: Any) -> Any:
        with label("%s.%s" % (key_split(actor), function)):
            return await handler(*args, actor=actor, function=function, **options)

    return labelled


def _labelled(label: tag, coroutine: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Of what a worker does for none of its tasks, which it is called with itself."""

    @functools.wraps(coroutine)
    @unseen
    async def labelled(*args: Any, **options: Any) -> Any:
        with label:
            return await coroutine(*args, **options)

    return labelled


class _Labels:
    """Of a worker, for whoever wants them."""

    def __init__(self, worker: Any, name: str) -> None:
        self.name, self._label, self._wanted = name, _Labelling(worker, name), []  # type: str, _Labelling, List[Sequence[str]]
        with worker.active_threads_lock:
            if not isinstance(worker.active_threads, LabelledThreads):
                worker.active_threads = LabelledThreads(worker.active_threads)
        self._threads, self._handlers = worker.active_threads, worker.handlers
        self._before = {name: worker.handlers[name] for name in ("actor_execute", "get_data")}
        self._threads.label = self._label
        transfer = tag(doing="transfer", worker=name)
        worker.execute = _labelled_execute(self._label, worker.execute)
        worker.gather_dep = _labelled(transfer, worker.gather_dep)
        self._spills = worker.memory_manager if hasattr(worker.memory_manager, _SPILL) else None
        if self._spills:
            setattr(self._spills, _SPILL, _labelled(tag(doing="spill", worker=name), getattr(self._spills, _SPILL)))
        self._handlers["actor_execute"] = _labelled_actor(self._label, self._before["actor_execute"])
        self._handlers["get_data"] = _labelled(transfer, self._before["get_data"])

    def want(self, further: Sequence[str]) -> None:
        self._wanted.append(further)
        self._use_wanted()

    def want_no_more(self, further: Sequence[str]) -> None:
        self._wanted.remove(further)
        self._use_wanted()

    def _use_wanted(self) -> None:
        self._label.further = sorted({name for further in self._wanted for name in further})

    def end(self, worker: Any) -> None:
        self._threads.label = None
        self._handlers.update(self._before)
        del worker.execute, worker.gather_dep
        if self._spills:
            delattr(self._spills, _SPILL)


_labels: Shared[_Labels] = Shared(weakref.WeakKeyDictionary())


def begin(worker: Any, further: Sequence[str] = ()) -> str:
    """What the worker is called in its labels, which is its name. In one process two clusters may have workers of one name.
    What somebody wants further is in the labels for all."""
    labels = _labels.begin(worker, lambda: _Labels(worker, _free(str(worker.name), [labels.name for labels in _labels.all()])))
    labels.want(further)
    return labels.name


def _free(name: str, taken: List[str]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = "%s (%d)" % (name, number)
    return free


def end(worker: Any, further: Sequence[str] = ()) -> None:
    labels = _labels.get(worker)
    if labels:
        labels.want_no_more(further)
        if _labels.end(worker):
            labels.end(worker)
