# SPDX-License-Identifier: Apache-2.0
"""What a scheduler does otherwise while its cluster is sampled: its own event loop, and sums of what workers say."""
from __future__ import annotations

from typing import Any, Dict, Iterable, Optional

from plumb import profile
from plumb._trees import merge
from plumb.dask import _loops
from plumb.dask._asking import answers
from plumb.dask._settings import Settings

Tree = Dict[str, Any]


class SchedulerProfile:
    """Of a scheduler, from begin() to end(), after which all is as it was."""

    def __init__(self, scheduler: Any, settings: Settings) -> None:
        self._scheduler, self._settings, self._before = scheduler, settings, None  # type: Any, Settings, Any

    def begin(self) -> None:
        """plumb.Error where this process cannot be sampled: then nothing has changed."""
        self._loop = _loops.begin(self._scheduler, self._settings)
        self._before = self._scheduler.handlers["profile"]
        self._scheduler.handlers["profile"] = self._scheduler.get_profile = self.get_profile

    def end(self) -> None:
        if self._before is not None:
            self._scheduler.handlers["profile"], self._before = self._before, None
            del self._scheduler.get_profile
            _loops.end(self._scheduler)

    async def get_profile(
        self,
        workers: Optional[Iterable[str]] = None,
        scheduler: bool = False,
        server: bool = False,
        merge_workers: bool = True,
        start: Optional[float] = None,
        stop: Optional[float] = None,
        key: Any = None,
    ) -> Tree:
        """As Scheduler.get_profile(); what a worker that has gone, or hangs, did not answer is left out, and nothing else."""
        if scheduler:
            return profile.get_profile(self._loop, self._loop.recent(), start, stop)
        known, wanted = self._scheduler.workers, None if workers is None else set(workers)
        asked = [worker for worker in known if wanted is None or worker in wanted]
        told = await answers(self._scheduler, asked, lambda rpc: rpc.profile(start=start, stop=stop, key=key, server=server))
        trees = {worker: tree for worker, tree in told.items() if not isinstance(tree, BaseException)}
        return merge(*trees.values()) if merge_workers else trees
