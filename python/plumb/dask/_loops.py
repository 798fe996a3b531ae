# SPDX-License-Identifier: Apache-2.0
"""The threads of event loops: Dask keeps a history of each as an attribute of its loop, which its pages read."""
from __future__ import annotations

import functools
import weakref
from typing import Any

import distributed.profile

from plumb import profile
from plumb._watch import Watch, watch
from plumb.dask._settings import Settings
from plumb.dask._shared import Shared

# As Dask has it: a loop that waits is not counted.
_IDLE = ("profile.py", "selectors.py")


class _Sums:
    """The pages of event loops add their histories up on the loop itself: those that are ours are added up by us, which is quick."""

    def __init__(self) -> None:
        self._before = before = distributed.profile.get_profile

        @functools.wraps(before)
        def get_profile(history: Any, *args: Any, **options: Any) -> Any:
            return (profile.get_profile if isinstance(history, Watch) else before)(history, *args, **options)

        distributed.profile.get_profile = get_profile

    def end(self) -> None:
        distributed.profile.get_profile = self._before


class _Watched:
    """A loop, from now on, which is that of the calling thread."""

    def __init__(self, loop: Any, settings: Settings) -> None:
        self.history = watch(
            interval=settings.interval, cycle=settings.cycle, maxlen=settings.cycles, omit=_IDLE, max_nodes=settings.max_nodes,
            engine="inprocess",
        )  # fmt: skip
        _sums.begin(None, _Sums)
        self._loop, self._before = loop, loop.profile
        loop.profile = self.history

    def end(self) -> None:
        self._loop.profile = self._before
        sums = _sums.end(None)
        if sums:
            sums.end()
        self.history.stop()


_sums: Shared[_Sums] = Shared()
_watched: Shared[_Watched] = Shared(weakref.WeakKeyDictionary())


def begin(server: Any, settings: Settings) -> Watch:
    """Of a server, which calls this in its loop. Servers of one process may share a loop; its first one's settings count."""
    return _watched.begin(server.io_loop, lambda: _Watched(server.io_loop, settings)).history


def end(server: Any) -> None:
    watched = _watched.end(server.io_loop)
    if watched:
        watched.end()
