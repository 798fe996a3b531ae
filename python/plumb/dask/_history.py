# SPDX-License-Identifier: Apache-2.0
"""What the tasks of a worker did, cycle by cycle."""
from __future__ import annotations

import collections
import threading
from typing import Any, Deque, Dict, List, NamedTuple, Optional, Tuple

from plumb import profile
from plumb._history import History
from plumb._plumb import create, merge, pack

Tree = Dict[str, Any]


class Counted(NamedTuple):
    """A tree, as pack() keeps it, and its samples."""

    samples: int
    packed: Any


class TaskHistory:
    """Of one worker. Trees are kept packed: nobody may ever ask for them."""

    def __init__(self, cycles: int) -> None:
        self._lock = threading.Lock()
        self._all = History((), cycles)
        self._by_task: Deque[Tuple[float, Dict[str, Counted]]] = collections.deque((), cycles)

    def append(self, end: float, trees: Dict[str, Tree]) -> None:
        """What a cycle has counted, by task."""
        counted = {task: Counted(tree["count"], pack(tree)) for task, tree in trees.items()}
        with self._lock:
            self._by_task.append((end, counted))
            self._all.append((end, pack(*(one.packed for one in counted.values()))))

    def profile(self, recent: Dict[str, Tree], start: Optional[float], stop: Optional[float], task: Optional[str]) -> Tree:
        """The sum of what began in a time; `recent` is the cycle that has not ended."""
        with self._lock:
            if task is None:
                return profile.get_profile(self._all, merge(*recent.values()), start, stop)
            cycles = list(self._by_task)
        nothing = pack(create())
        of_task = [(end, counted[task].packed if task in counted else nothing) for end, counted in cycles]
        return profile.get_profile(of_task, recent.get(task, create()), start, stop)

    def samples(self, start: float, stop: float) -> List[Tuple[float, Dict[str, int]]]:
        """By task, for each cycle that ended within a time."""
        with self._lock:
            cycles = list(self._by_task)
        return [(end, {task: one.samples for task, one in counted.items()}) for end, counted in cycles if start < end < stop]
