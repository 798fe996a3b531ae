# SPDX-License-Identifier: Apache-2.0
"""What is sent to the processes of a cluster, so that one without plumb, or with another one, can take it and say so.

Functions of this file are sent as their code: they use nothing but what they import themselves.
"""
from __future__ import annotations

import types
from typing import Any, Callable, Dict, Tuple


def function(found: Any) -> Any:
    """The function, as one that is pickled by value, as those of `__main__` are."""
    made = types.FunctionType(found.__code__, {"__name__": "__main__", "__builtins__": __builtins__}, found.__name__, found.__defaults__)
    made.__module__ = "__main__"
    return made


def by_value(module: str, name: str, given: Dict[str, Any]) -> Tuple[Callable[..., Any], Tuple[Any, ...]]:
    """What __reduce__() says of a plug-in: its class, of a module of this package, and what it is to have()."""
    return function(plugin), (module, name, given)


def plugin(module, name, given):  # type: ignore[no-untyped-def]
    try:
        import plumb

        kind = getattr(getattr(plumb.dask, module), name)
        made = kind.__new__(kind)
        made.have(given)
        return made
    except Exception as error:
        import logging

        from distributed.diagnostics.plugin import SchedulerPlugin, WorkerPlugin

        why = "has no plumb of this kind: install plumb-profiler there, as it is where the client runs (%s)" % error
        logging.getLogger("distributed.plumb").warning("plumb does not sample here, and Dask's own profile stays: this process %s", why)

        async def answer():  # type: ignore[no-untyped-def]
            return {"why_not": "it " + why}

        class Silent(SchedulerPlugin if name == "Plugin" else WorkerPlugin):  # type: ignore[misc]
            why_not = why

            def setup(self, worker):  # type: ignore[no-untyped-def]
                worker.handlers[given.get("name", "plumb")] = answer

            def teardown(self, worker):  # type: ignore[no-untyped-def]
                worker.handlers.pop(given.get("name", "plumb"), None)

        return Silent()


def why_not():  # type: ignore[no-untyped-def]
    try:
        import plumb

        plumb.dask  # noqa: B018  # that imports it
        return ""
    except Exception as error:
        return "has no plumb: install plumb-profiler there, as it is where the client runs (%s)" % error


def state_of_worker(dask_worker):  # type: ignore[no-untyped-def]
    return getattr(dask_worker.plugins.get("plumb"), "why_not", "the plug-in is not there")
