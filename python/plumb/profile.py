# SPDX-License-Identifier: Apache-2.0
"""Call stacks as trees of counts: the functions of `distributed.profile`, with the same results.

A tree is a dict, and so is each node in it:

    {"identifier": "function;file;first line",
     "description": {"filename": ..., "name": ..., "line_number": ..., "line": ...},
     "count": samples in which it was running or had called what was running,
     "children": {identifier: node}}

Where distributed loses samples or shares parts of its arguments, these functions do not, unless `strict` asks for it;
docs/user/python.md has the list.

The module can be called: `with plumb.profile() as p: ...` records a block, `@plumb.profile` the calls of a function.
"""
from __future__ import annotations

import bisect
import collections
import contextlib
import inspect
import itertools
import sys
import types
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

from plumb import _imports, _native_stack, _recording
from plumb._frames import call_stack, info_frame, line_number as _f_lineno, repr_frame  # noqa: F401
from plumb._gil import lock
from plumb._history import History
from plumb._native_stack import NativeFrame
from plumb._plot import plot_figure
from plumb._session import Tree
from plumb._trees import create, identifier, merge, plot_data, process
from plumb._watch import watch

__all__ = [
    "History",
    "call_stack",
    "create",
    "get_profile",
    "identifier",
    "info_frame",
    "ll_get_stack",
    "llprocess",
    "lock",
    "merge",
    "plot_data",
    "plot_figure",
    "process",
    "repr_frame",
    "watch",
]


def _window(times: Sequence[Any], start: Optional[float], stop: Optional[float]) -> Tuple[int, int]:
    """Of entries (time, ...): from the first at or after start, to the first at or after stop, which belongs to it: an entry's
    time is its end, so that one contains the instant. One more than there are is what is recent."""
    first = 0 if start is None else bisect.bisect_left(times, (start,))
    last = len(times) + 1 if stop is None else bisect.bisect_right(times, (stop,)) + 1
    return first, last


def _entries(history: Sequence[Tuple[float, Tree]]) -> List[Tuple[float, Tree]]:
    """All there are at a moment."""
    while True:
        try:
            return list(history)
        except RuntimeError:  # without a GIL others append meanwhile
            if not isinstance(history, collections.deque):
                raise


def _selected(history: Sequence[Any], start: Optional[float], stop: Optional[float]) -> Tuple[List[Any], bool]:
    """The trees of the time, and whether what is recent is of it, too."""
    entries = _entries(history)
    first, last = _window(entries, start, stop)
    return [tree for _, tree in entries[first:last]], first <= len(entries) < last


def _summed(history: History, start: Optional[float], stop: Optional[float]) -> Tuple[List[Any], bool]:
    """Fewer trees than are selected, with the same sum."""
    number, entries = history._snapshot()
    first, last = _window(entries, start, stop)
    return history._parts(number, entries, first, min(last, len(entries))), first <= len(entries) < last


@contextlib.contextmanager
def _history_is_said() -> Iterator[None]:
    """The error says what a history is."""
    try:
        yield
    except (TypeError, ValueError) as error:
        wanted = "history has entries (time, tree) in the order of their times, and start and stop are such times: %s"
        raise type(error)(wanted % error) from None


def _of_key(data: Tree, key: Any) -> Optional[Tree]:
    """An entry is a tree, which has all keys together, or a dict with a tree for each."""
    return data if key is None or "identifier" in data else data.get(key)


def get_profile(
    history: Sequence[Tuple[float, Tree]],
    recent: Optional[Tree] = None,
    start: Optional[float] = None,
    stop: Optional[float] = None,
    key: Any = None,
    *,
    strict: bool = False,
) -> Tree:
    """The sum of the trees of a time: of [(time, tree), ...] in order, and of `recent`, which is what came after them.

    key     where an entry is {key: tree}: only that key's trees
    strict  True: `recent` is of each time that has an entry and of no other, and keys are ignored, as in distributed
    """
    with _history_is_said():
        if isinstance(history, History) and key is None and not strict:
            trees, reaches_now = _summed(history, start, stop)
        else:
            trees, reaches_now = _selected(history, start, stop)
            trees = trees if strict else [_of_key(tree, key) for tree in trees]
    if strict:
        return merge(*trees, *([recent] if recent and trees else []), strict=True)
    if recent and reaches_now:
        trees.append(_of_key(recent, key))
    return merge(*[tree for tree in trees if tree is not None])


def llprocess(frames: Optional[Sequence[Any]], child: Any, state: Optional[Tree]) -> Optional[Tree]:
    """Count a stack of native functions, outermost first, below a node of a tree. Without one nothing is counted.

    frames  with `name`, `addr` and `offset`, which is where in the function the address is, as ll_get_stack() has them
    child   None: the last one is counted; else its node is returned, and not counted
    """
    if not frames:
        return None
    node = _node(state)
    for frame in frames:
        node["count"] += 1
        ident = "%s;<low-level>;%s" % (frame.name, hex(frame.addr - frame.offset))
        new: Any = {}
        node = node["children"].setdefault(ident, new)
        if not node:
            described = {"filename": "<low-level>", "name": frame.name, "line_number": 0, "line": str(frame)}
            node.update(count=0, description=described, children={}, identifier=ident)
    if child is not None:
        return node
    node["count"] += 1
    return None


def _node(state: Optional[Tree]) -> Tree:
    if not isinstance(state, dict):
        raise TypeError("state is a tree, as create() makes one, or a node of it, not %r" % (state,))
    return state


def ll_get_stack(tid: int, *, python: bool = False) -> List[NativeFrame]:
    """The native functions that a thread of this process is in, outermost first: those that no Python function is inside of.

    tid     as threading.get_ident() or threading.get_native_id() tells it
    python  True: the whole stack, native frames and those of Python, each where it was called

    The program plumb reads it, which may stop the thread for some microseconds. What the calling thread does to ask is left out.
    ValueError: there is no such thread; plumb.Error: its stack cannot be read, and why.
    """
    frames: Iterable[NativeFrame] = _native_stack.get(tid, ll_get_stack.__code__)
    if not python:
        frames = _remove_py_stack(frames)
    return list(frames)[::-1]


def _remove_py_stack(frames: Iterable[Any]) -> Iterator[Any]:
    """Native frames up to the first of the interpreter."""
    return itertools.takewhile(lambda frame: not frame.is_python, frames)


def __dir__() -> List[str]:
    return __all__


class _Module(types.ModuleType):
    __call__ = staticmethod(_recording.profile)
    __signature__ = inspect.signature(_recording.profile)

    def __reduce__(self) -> Any:
        """As other modules go where a function of the main program goes that uses them."""
        return _imports.imported, (self.__name__,)


sys.modules[__name__].__class__ = _Module
