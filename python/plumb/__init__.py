# SPDX-License-Identifier: Apache-2.0
"""plumb: a statistical profiler.

    with plumb.profile() as p:
        work()
    p.print()

`plumb.profile` is a module as well: it has the functions of `distributed.profile`.
"""
from __future__ import annotations

import importlib.util
import sys
from typing import TYPE_CHECKING, Any, List

# A free-threaded 3.13 takes an extension for Pythons with a GIL as well, and crashes.
if "t" in sys.abiflags and getattr(importlib.util.find_spec("plumb._plumb"), "origin", ".abi3.so").endswith(".abi3.so"):
    raise ImportError("this plumb was not built for this free-threaded Python; the program samples it: plumb attach PID")

from plumb import _imports

if TYPE_CHECKING:
    from plumb import dask, web
    from plumb._diff import Diff, diff
    from plumb._events import event
    from plumb._merge import merge
    from plumb._module import Module as _Module
    from plumb._plumb import Error, __version__
    from plumb._profiler import Profiler
    from plumb._recording import Profile, Recording, open, start
    from plumb._tags import tag

    profile: _Module

__all__ = ["Diff", "Error", "Profile", "Profiler", "Recording", "diff", "event", "merge", "open", "profile", "start", "tag", "web"]

# Imported when it is asked for: pytest imports this package wherever it is installed, mostly for nothing.
_HOMES = {
    "__version__": "plumb._plumb", "Diff": "plumb._diff", "diff": "plumb._diff", "event": "plumb._events", "merge": "plumb._merge", "Error": "plumb._plumb", "Profile": "plumb._recording", "Profiler": "plumb._profiler", "Recording": "plumb._recording",
    "open": "plumb._recording", "profile": "plumb.profile", "start": "plumb._recording", "tag": "plumb._tags", "dask": "plumb.dask", "web": "plumb.web",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError("module 'plumb' has no attribute %r" % name)
    module = _imports.imported(_HOMES[name])
    itself = _HOMES[name] == "plumb." + name
    if getattr(module.__spec__, "_initializing", False) and (itself or not hasattr(module, name)):
        raise ImportError("plumb.%s is being imported by the code that this signal handler has interrupted: use it once before" % name)
    value = module if itself else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> List[str]:
    return [*__all__, "__version__"]


def load_ipython_extension(shell: Any) -> None:
    _imports.imported("plumb._jupyter").load(shell)
