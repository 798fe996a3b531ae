# SPDX-License-Identifier: Apache-2.0
"""A history of trees that adds up any part of it quickly."""
from __future__ import annotations

import collections
import itertools
import operator
from typing import Any, Deque, Dict, Iterable, Iterator, List, Optional, Tuple

from plumb import _imports
from plumb._session import Tree
from plumb._trees import pack

# Sums are kept of 8, 64, 512, ... entries: one for seven entries. A sum is what pack() gives.
_BITS = 3

_first_of = operator.itemgetter(0)

# One for all histories: it is never held for long, and a fork can wait for it, so that no child begins with it held.
_lock = _imports.of_histories


class History(Deque[Tuple[float, Tree]]):
    """A deque of (time, tree), in order of time, whose trees are not changed any more.

    Entries are numbered as they are appended; a block is 8**level of them from a multiple of that. Merging is associative, also
    in the order of children, so the sum of a part is that of the few blocks it is made of. A sum is made when the last entry of
    its block is appended, which costs as much as reading each entry once, and forgotten when the first one is gone.
    """

    def __init__(self, entries: Iterable[Tuple[float, Tree]] = (), maxlen: Optional[int] = None) -> None:
        self._number_from(0)
        self._sums: Dict[Tuple[int, int], Any] = {}  # by level and number of the first entry
        super().__init__((), maxlen)
        for entry in entries:
            self.append(entry)

    def _number_from(self, number: int) -> None:
        """The entry that comes next: numbers to come, and the last one."""
        self._numbers: Tuple[Iterator[int], Deque[int]] = itertools.count(number), collections.deque((number - 1,), 1)

    def _number_anew(self) -> None:
        """So that none has the number of a sum that was made, nor of one on its way."""
        self._sums = {}
        self._number_from(self._next + len(self))

    @property
    def _next(self) -> int:
        return self._numbers[1][0] + 1

    def append(self, entry: Tuple[float, Tree]) -> None:
        with _lock:
            self._append_all((entry,))
            self._sum_what_ended()

    def _append_all(self, entries: Iterable[Tuple[float, Tree]]) -> None:
        """Each with its number. All of it is one call of what is written in C, so that no signal handler, which may append, too, comes
        between where an entry is taken from, its number and its place."""
        numbers, last = self._numbers
        collections.deque.extend(self, map(_first_of, zip(entries, map(last.append, numbers))))

    def __iter__(self) -> Iterator[Tuple[float, Tree]]:
        """As they are now: without a GIL who appends meanwhile would end it. A signal handler may append in spite of the lock."""
        with _lock:
            while True:
                try:
                    return iter(list(super().__iter__()))
                except RuntimeError:
                    continue

    def _sum_what_ended(self) -> None:
        """Of the blocks that the last entry completes. What is no tree is for who asks for a sum to be told of."""
        level, end = 1, self._next
        while end % _size(level) == 0 and len(self) >= _size(level):
            self._forget_old()
            try:
                self._sum_block(level, end)
            except Exception:
                return
            level += 1

    def _forget_old(self) -> None:
        oldest = self._next - len(self)
        self._sums = {block: tree for block, tree in self._sums.items() if block[1] >= oldest}

    def _sum_block(self, level: int, end: int) -> None:
        """Of the last block before number `end`; not, if a signal handler has appended more meanwhile: who asks for it makes it."""
        first, below = end - _size(level), _size(level - 1)
        if level == 1:
            parts = [self[i][1] for i in range(-_size(1), 0)]
            if self._next != end:
                return
        else:
            parts = [self._sums[level - 1, start] for start in range(first, end, below)]
        self._sums[level, first] = pack(*parts)

    def _take(self, queue: Deque[Tuple[float, Tree]]) -> None:
        """Append what is in a queue, in its order, whoever else does so with the same queue."""
        with _lock:
            while True:
                try:
                    self._append_all(itertools.islice(iter(queue.popleft, None), 1))
                except IndexError:  # of popleft(); asked for, as a signal handler may have taken what was there a moment ago
                    return
                self._sum_what_ended()

    def __reduce__(self) -> Any:
        return type(self), (list(self), self.maxlen)

    def _snapshot(self) -> Tuple[int, List[Tuple[float, Tree]]]:
        """The number of the first entry, and all entries."""
        with _lock:
            while True:
                end, entries = self._next, list(self)
                if self._next == end:  # else a signal handler has appended more meanwhile
                    return end - len(entries), entries

    def _parts(self, number: int, entries: List[Tuple[float, Tree]], first: int, last: int) -> List[Any]:
        """What add up to entries[first:last], as merge() takes it; `number` and `entries` are of a snapshot."""
        with _lock:
            self._forget_old()
            sums = dict(self._sums)
        trees, at = [], first
        while at < last:
            level = _largest_level(number + at, last - at)
            trees.append(_sum_of(sums, entries, number, level, number + at))
            at += _size(level)
        with _lock:
            self._sums = {**sums, **self._sums}
        return trees


def _size(level: int) -> int:
    return 1 << (_BITS * level)


def _largest_level(number: int, count: int) -> int:
    """Of the blocks that begin with entry `number` and have no more than so many entries."""
    level = 0
    while number % _size(level + 1) == 0 and count >= _size(level + 1):
        level += 1
    return level


def _sum_of(sums: Dict[Tuple[int, int], Any], entries: List[Tuple[float, Tree]], number: int, level: int, first: int) -> Any:
    if level == 0:
        return entries[first - number][1]
    known = sums.get((level, first))
    if known is None:
        starts = range(first, first + _size(level), _size(level - 1))
        known = sums[level, first] = pack(*(_sum_of(sums, entries, number, level - 1, start) for start in starts))
    return known


def _forgetting(name: str) -> Any:
    """A method of deque after which the numbers of entries mean nothing: all sums are forgotten."""
    method = getattr(collections.deque, name)

    def change(self: History, *arguments: Any) -> Any:
        with _lock:
            self._sums = {}
            result = method(self, *arguments)
            self._number_anew()
            return result

    change.__name__ = name
    return change


def _giving(name: str) -> Any:
    """A method of deque that gives a copy with more entries, which have no numbers."""
    method = getattr(collections.deque, name)

    def give(self: History, other: Any) -> Any:
        result = method(self, other)
        result._number_anew()
        return result

    give.__name__ = name
    return give


for _name in (
    "appendleft", "clear", "extend", "extendleft", "insert", "pop", "remove", "reverse", "rotate",
    "__delitem__", "__iadd__", "__imul__", "__setitem__",
):  # fmt: skip
    setattr(History, _name, _forgetting(_name))
for _name in ("__add__", "__mul__", "__rmul__"):
    setattr(History, _name, _giving(_name))
