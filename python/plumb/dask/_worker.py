# SPDX-License-Identifier: Apache-2.0
"""What a worker does otherwise while it is sampled: labels on its tasks, and answers to who asks for its profile."""
from __future__ import annotations

import functools
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

from plumb import profile
from plumb._session import Status, Tree
from plumb._trees import as_bytes
from plumb.dask import _labels, _loops
from plumb.dask._sampler import Sampled
from plumb.dask._settings import Settings


_CALLBACKS = ("profile", "profile-cycle")  # with which Dask samples


class WorkerProfile:
    """Of a worker, from begin() to end(), after which all is as it was."""

    def __init__(self, worker: Any, settings: Settings) -> None:
        self._worker, self._settings = worker, settings
        self._undo: List[Callable[[], Any]] = []

    def begin(self) -> None:
        """plumb.Error where this process cannot be sampled: then nothing has changed."""
        try:
            name = _labels.begin(self._worker)
            self._undo.append(lambda: _labels.end(self._worker))
            self._sampled = Sampled(name, self._settings)
            self._undo.append(self._sampled.stop)
            self._loop = _loops.begin(self._worker, self._settings)
            self._undo.append(lambda: _loops.end(self._worker))
            self._stop_dasks_own()
            self._answer()
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        while self._undo:
            self._undo.pop()()

    def status(self) -> Status:
        return self._sampled.status()

    def _stop_dasks_own(self) -> None:
        callbacks = self._worker.periodic_callbacks
        for name in _CALLBACKS:
            if name in callbacks:
                self._undo.append(functools.partial(_go_on, callbacks, name, callbacks[name], callbacks[name].is_running()))
                callbacks.pop(name).stop()

    def _answer(self) -> None:
        for op, answer, of_page in (
            ("profile", self._profile_for_scheduler, self.get_profile),
            ("profile_metadata", self.get_profile_metadata, self._metadata_for_page),
        ):
            handlers = self._worker.handlers
            self._undo.append(functools.partial(handlers.__setitem__, op, handlers[op]))
            handlers[op] = answer
            self._undo.append(functools.partial(delattr, self._worker, "get_" + op))
            setattr(self._worker, "get_" + op, of_page)

    # ---- answers, whose times are the scheduler's ----

    async def get_profile(
        self, start: Optional[float] = None, stop: Optional[float] = None, key: Optional[str] = None, server: bool = False
    ) -> Tree:
        """As Worker.get_profile(). In another thread: the loop goes on."""
        delay = self._worker.scheduler_delay
        window = [None if t is None else t - (0 if server else delay) for t in (start, stop)]
        answer = self._of_loop if server else functools.partial(self._of_tasks, task=key)
        found: Tree = await self._worker.loop.run_in_executor(None, answer, *window)
        return found

    async def _profile_for_scheduler(self, in_bytes: bool = False, **asked: Any) -> Any:
        """A tree, or, for a scheduler with plumb, what as_bytes() makes of it: much less to send and to add up."""
        found = await self.get_profile(**asked)
        return await self._worker.loop.run_in_executor(None, as_bytes, found) if in_bytes else found

    def _of_loop(self, start: Optional[float], stop: Optional[float]) -> Tree:
        recent = self._loop.recent() if _has_begun(start) else None
        return profile.get_profile(self._loop, recent, start, stop)

    def _of_tasks(self, start: Optional[float], stop: Optional[float], task: Optional[str]) -> Tree:
        def read(recent: Dict[str, Tree]) -> Tree:
            return self._sampled.history.profile(recent, start, stop, task)

        return self._sampled.with_recent(read) if _has_begun(start) else read({})

    async def get_profile_metadata(self, start: float = 0, stop: Optional[float] = None) -> Dict[str, Any]:
        """As Worker.get_profile_metadata(): samples of each cycle, of all and by task."""
        found: List[Any] = await self._worker.loop.run_in_executor(None, self._samples, start or 0, stop)
        return {"counts": [(end, sum(counted.values())) for end, counted in found], "keys": found}

    def _samples(self, start: float, stop: Optional[float]) -> List[Tuple[float, Dict[str, int]]]:
        def read(recent: Dict[str, Tree]) -> List[Tuple[float, Dict[str, int]]]:
            delay = self._worker.scheduler_delay
            now = time.time() + delay
            found = self._sampled.history.samples(start - delay, (stop or now) - delay)
            cycles = [(end + delay, counted) for end, counted in found]
            if stop is None:
                cycles.append((now, {task: tree["count"] for task, tree in recent.items()}))
            return cycles

        return self._sampled.with_recent(read)

    async def _metadata_for_page(self) -> Dict[str, Any]:
        """The worker's own page wants them as the scheduler has them: by task, each with all cycles."""
        found = await self.get_profile_metadata()
        tasks = {task for _, counted in found["keys"] for task in counted}
        keys = {task: [[end, counted.get(task, 0)] for end, counted in found["keys"]] for task in sorted(tasks)}
        return {"counts": found["counts"], "keys": keys}


def _has_begun(start: Optional[float]) -> bool:
    return start is None or start < time.time()


def _go_on(callbacks: Dict[str, Any], name: str, callback: Any, ran: bool) -> None:
    callbacks[name] = callback
    if ran:
        callback.start()
