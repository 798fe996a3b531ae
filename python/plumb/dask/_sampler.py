# SPDX-License-Identifier: Apache-2.0
"""What samples the tasks of all workers in a process, which are one or, in a cluster within one process, several."""
from __future__ import annotations

import functools
import threading
from typing import Callable, Deque, Dict, Tuple, TypeVar

from plumb._plumb import Profile, Session
from plumb._publisher import Publisher, never
from plumb._session import Cyclic, Status, Tree
from plumb.dask._history import TaskHistory
from plumb.dask._outside import OutsideSession
from plumb.dask._settings import Settings
from plumb.dask._shared import Shared
from plumb.dask._trees import Kind, by_kind

Read = TypeVar("Read")


class _Sampler:
    def __init__(self, settings: Settings) -> None:
        self.histories: Dict[str, TaskHistory] = {}
        # Whoever has it has all cycles that have ended in the histories, none on its way there, and none that ends meanwhile. It is
        # taken before the publisher's lock.
        self._whole = threading.RLock()
        outside = settings.native or settings.kernel
        begin: Callable[..., Cyclic[Profile]] = functools.partial(OutsideSession, settings.native, settings.kernel) if outside else Session
        lag = OutsideSession.lag if outside else 0.0
        self._publisher = Publisher(self._take, by_kind, never, begin, {**settings.for_session(), "tags": True}, lag)

    def _take(self, queue: Deque[Tuple[float, Dict[Kind, Tree]]]) -> None:
        """Cycles that have ended."""
        with self._whole:
            while True:
                try:
                    end, found = queue.popleft()
                except IndexError:
                    return
                for worker, history in list(self.histories.items()):
                    history.append(end, _of_worker(found, worker))

    def with_recent(self, worker: str, read: Callable[[Dict[str, Tree]], Read]) -> Read:
        """What is read of the histories, given what its tasks did in the cycle that has not ended. Each sample is in one of the two."""
        with self._whole:
            return read(_of_worker(self._publisher.recent_alone() or {}, worker))

    def status(self) -> Status:
        return self._publisher.status()

    def stop(self) -> None:
        self._publisher.stop()


def _of_worker(found: Dict[Kind, Tree], worker: str) -> Dict[str, Tree]:
    return {task: tree for (whose, task), tree in found.items() if whose == worker}


_samplers: Shared[_Sampler] = Shared()  # by settings: mostly there is one at most


class Sampled:
    """A worker of this process, by its name in labels, from now on. Several that are sampled alike share a sampler."""

    def __init__(self, worker: str, settings: Settings) -> None:
        self._worker, self._settings = worker, settings
        self._sampler = _samplers.begin(settings, lambda: _Sampler(settings))
        self.history = self._sampler.histories[worker] = TaskHistory(settings.cycles)

    def with_recent(self, read: Callable[[Dict[str, Tree]], Read]) -> Read:
        return self._sampler.with_recent(self._worker, read)

    def status(self) -> Status:
        return self._sampler.status()

    def stop(self) -> None:
        self._sampler.histories.pop(self._worker, None)
        sampler = _samplers.end(self._settings)
        if sampler:
            sampler.stop()
