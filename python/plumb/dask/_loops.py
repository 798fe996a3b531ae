# SPDX-License-Identifier: Apache-2.0
"""The threads of event loops: Dask keeps a history of each as an attribute of its loop, which its pages read."""
from __future__ import annotations

import threading
import weakref
from typing import Any, MutableMapping

from plumb._watch import Watch, watch
from plumb.dask._settings import Settings

# As Dask has it: a loop that waits is not counted.
_IDLE = ("profile.py", "selectors.py")


class _Watched:
    def __init__(self, history: Watch, before: Any) -> None:
        self.history, self.before, self.users = history, before, 0


_watched: MutableMapping[Any, _Watched] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def begin(server: Any, settings: Settings) -> Watch:
    """Of a server, which calls this in its loop. Servers of one process may share a loop; its first one's settings count."""
    loop = server.io_loop
    with _lock:
        found = _watched.get(loop)
        if found is None:
            history = watch(
                interval=settings.interval, cycle=settings.cycle, maxlen=settings.cycles, omit=_IDLE, max_nodes=settings.max_nodes,
                engine="inprocess",
            )  # fmt: skip
            found = _watched[loop] = _Watched(history, loop.profile)
            loop.profile = history
        found.users += 1
        return found.history


def end(server: Any) -> None:
    loop = server.io_loop
    with _lock:
        found = _watched.get(loop)
        if found is None:
            return
        found.users -= 1
        if found.users:
            return
        del _watched[loop]
        loop.profile = found.before
    found.history.stop()
