# SPDX-License-Identifier: Apache-2.0
"""What the tasks of a worker did, cycle by cycle."""
from __future__ import annotations

import bisect
import collections
import threading
from typing import Any, Deque, Dict, List, Optional, Tuple

from plumb import profile
from plumb._history import History
from plumb._session import Tree
from plumb._trees import create, merge, pack

Samples = Tuple[float, Dict[str, int]]  # end of a cycle, and how many there were in it, by task


class TaskHistory:
    """Of one worker. Trees are kept packed, and in histories that have sums of many cycles: nobody may ever ask for them, and who does
    asks for all of the time. A sum of all cycles in one step would keep the GIL, and with it the event loop, for as long as it takes."""

    def __init__(self, cycles: int) -> None:
        self._lock = threading.Lock()
        self._all = History((), cycles)
        self._by_task: Dict[str, History] = {}  # of a task those cycles that have samples of it
        self._samples: Deque[Samples] = collections.deque((), cycles)

    def append(self, end: float, trees: Dict[str, Tree]) -> None:
        """What a cycle has counted, by task."""
        packed = {task: pack(tree) for task, tree in trees.items()}
        with self._lock:
            self._samples.append((end, {task: tree["count"] for task, tree in trees.items()}))
            self._all.append((end, pack(*packed.values())))
            for task, one in packed.items():
                self._by_task.setdefault(task, History()).append((end, one))
            self._forget_old()

    def _forget_old(self) -> None:
        oldest = self._samples[0][0] if self._samples else float("inf")
        for task, history in list(self._by_task.items()):
            while history and history[0][0] < oldest:
                history.popleft()
            if not history:
                del self._by_task[task]

    def profile(self, recent: Dict[str, Tree], start: Optional[float], stop: Optional[float], task: Optional[str]) -> Tree:
        """The sum of what began in a time; `recent` is the cycle that has not ended."""
        with self._lock:
            if task is None:
                return profile.get_profile(self._all, merge(*recent.values()), start, stop)
            ends = [end for end, _ in self._samples]
            first = 0 if start is None else bisect.bisect_left(ends, start)
            last = len(ends) + 1 if stop is None else bisect.bisect_left(ends, stop) + 1  # one more than there are: what is recent
            parts = self._parts(task, ends[first:last])
        if task in recent and first <= len(ends) < last:
            parts.append(recent[task])
        return merge(*parts) if parts else create()

    def _parts(self, task: str, ends: List[float]) -> List[Any]:
        """What add up to that task's part of these cycles, which follow each other."""
        history = self._by_task.get(task)
        if not history or not ends:
            return []
        number, entries = history._snapshot()
        its_ends = [end for end, _ in entries]
        return history._parts(number, entries, bisect.bisect_left(its_ends, ends[0]), bisect.bisect_right(its_ends, ends[-1]))

    def samples(self, start: float, stop: float) -> List[Samples]:
        """Of each cycle that ended within a time."""
        with self._lock:
            return [(end, counted) for end, counted in self._samples if start < end < stop]
