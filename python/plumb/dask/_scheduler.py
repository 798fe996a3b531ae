# SPDX-License-Identifier: Apache-2.0
"""What a scheduler does otherwise while its cluster is sampled: its own event loop, and sums of what workers say."""
from __future__ import annotations

import functools
from typing import Any, Dict, Iterable, Optional, Set, Union

from plumb import profile
from plumb._session import Tree
from plumb._trees import merge, packed
from plumb.dask import _loops
from plumb.dask._asking import answers
from plumb.dask._settings import Settings



class SchedulerProfile:
    """Of a scheduler, from begin() to end(), after which all is as it was."""

    def __init__(self, scheduler: Any, settings: Settings) -> None:
        self._scheduler, self._settings, self._before = scheduler, settings, None  # type: Any, Settings, Any
        self._have_trees: Set[str] = set()  # workers without plumb, or with an older one: they send no bytes

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
    ) -> Union[Tree, Dict[str, Tree]]:
        """As Scheduler.get_profile(); what a worker that has gone, or hangs, did not answer is left out, and nothing else."""
        if scheduler:
            return profile.get_profile(self._loop, self._loop.recent(), start, stop)
        known, wanted = self._scheduler.workers, None if workers is None else set(workers)
        asked = [worker for worker in known if wanted is None or worker in wanted]
        self._have_trees &= set(known)
        wants = {"start": start, "stop": stop, "key": key, "server": server}
        told = await answers(self._scheduler, asked, functools.partial(self._ask, wants, {}))
        found = {worker: tree for worker, tree in told.items() if not isinstance(tree, BaseException)}
        return merge(*found.values()) if merge_workers else {worker: merge(tree) for worker, tree in found.items()}

    async def _ask(self, wants: Dict[str, Any], known: Dict[bytes, Any], rpc: Any) -> Any:
        """What merge() takes; `known` is packed()'s, for all answers to one question."""
        if rpc.addr not in self._have_trees:
            try:
                return packed(await rpc.profile(in_bytes=True, **wants), known)
            except Exception as error:  # a scheduler has the text of a worker's TypeError
                if "in_bytes" not in str(error):
                    raise
                self._have_trees.add(rpc.addr)
        return await rpc.profile(**wants)
