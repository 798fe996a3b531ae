# SPDX-License-Identifier: Apache-2.0
"""Plug-ins for schedulers and workers, and what puts them on a cluster and takes them away."""
from __future__ import annotations

import functools
import logging
from typing import Any, Dict, Optional

import distributed
from distributed.diagnostics.plugin import SchedulerPlugin
from distributed.diagnostics.plugin import WorkerPlugin as DaskWorkerPlugin
from distributed.protocol.pickle import dumps

from plumb._plumb import Error
from plumb.dask import _sent
from plumb.dask._client import checked_client
from plumb.dask._scheduler import SchedulerProfile
from plumb.dask._servers import register_on_workers
from plumb.dask._settings import settings
from plumb.dask._worker import WorkerProfile

NAME = "plumb"
_PRELOAD = "plumb.dask"

_logger = logging.getLogger("distributed.plumb")


class WorkerPlugin(DaskWorkerPlugin):  # type: ignore[misc]
    """Samples the workers that it is registered on. The arguments are Plugin's."""

    name = NAME

    def __init__(self, **given: Any) -> None:
        settings(**given)  # what is wrong is told where it is made
        self.have(given)

    def have(self, given: Dict[str, Any]) -> None:
        self._given, self.why_not = given, ""
        self._profile: Optional[WorkerProfile] = None

    def __reduce__(self) -> Any:
        return _sent.by_value("_plugins", "WorkerPlugin", self._given)

    def setup(self, worker: Any) -> None:
        """A worker that cannot be sampled begins as without the plug-in."""
        try:
            found = WorkerProfile(worker, settings(**self._given))
            found.begin()
            self._profile = found
        except Exception as error:
            self.why_not = _told(error)

    def teardown(self, worker: Any) -> None:
        if self._profile:
            self._profile.end()
            self._profile = None

    def engine(self) -> str:
        return str(self._profile.status()["engine"]) if self._profile else ""


class Plugin(SchedulerPlugin):  # type: ignore[misc]
    """Samples a cluster: `client.register_plugin(plumb.dask.Plugin())`. Workers that come later, too.

    interval   seconds between two samples of a thread, or a text like "10ms". None: as Dask samples
    cycle      seconds that an entry of the history is about, or a text. None: as Dask has it
    cycles     entries that are kept. None: as Dask keeps
    max_nodes  what is kept of different stacks in a cycle
    native     functions of C, C++ and Rust are shown between those of Python: workers are sampled from outside then
    kernel     so is where in the kernel threads are that wait: its functions for root, else the system call

    What is not given is as `distributed.plumb.interval` and so on say in the configuration of the scheduler or worker.
    """

    name, idempotent = NAME, False

    def __init__(self, **given: Any) -> None:
        settings(**given)
        self.have(given)

    def have(self, given: Dict[str, Any]) -> None:
        self._given, self.why_not = given, ""
        self._profile: Optional[SchedulerProfile] = None

    def __reduce__(self) -> Any:
        return _sent.by_value("_plugins", "Plugin", self._given)

    async def start(self, scheduler: Any) -> None:
        before = scheduler.plugins.get(NAME)
        if isinstance(before, Plugin):
            before.end()
        try:
            found = SchedulerProfile(scheduler, settings(**self._given))
            found.begin()
            self._profile = found
        except Exception as error:
            self.why_not = _told(error)
        await register_on_workers(scheduler, NAME, dumps(_made(WorkerPlugin, self._given)))

    async def close(self) -> None:
        self.end()

    def end(self) -> None:
        if self._profile:
            self._profile.end()
            self._profile = None


def _made(kind: Any, given: Optional[Dict[str, Any]] = None) -> Any:
    """In a server, which goes on where its configuration is wrong: it is told when the plug-in begins."""
    plugin = kind.__new__(kind)
    plugin.have(given or {})
    return plugin


def _told(error: Exception) -> str:
    why = "%s" % error or type(error).__name__
    _logger.warning("plumb does not sample here, and Dask's own profile stays: %s", why)
    return why


def install(client: Any, **given: Any) -> Dict[str, str]:
    """Sample the cluster of a client; the arguments are Plugin's. Gives, of each worker, "" or why it is not sampled."""
    plugin = Plugin(**given)
    checked_client(client, "that one can `await client.register_plugin(plumb.dask.Plugin())`")
    why_not: str = client.run_on_scheduler(_sent.function(_sent.why_not))
    if why_not:
        raise Error("the scheduler %s" % why_not)
    register = getattr(client, "register_plugin", None) or client.register_scheduler_plugin
    register(plugin)
    found: Dict[str, str] = client.run(_sent.function(_sent.state_of_worker))
    return found


def uninstall(client: Any) -> None:
    """All as it was before install()."""
    checked_client(client, "it is waited for").run_on_scheduler(_uninstalled)


async def _uninstalled(dask_scheduler: Any) -> None:
    plugin = dask_scheduler.plugins.get(NAME)
    if isinstance(plugin, Plugin):
        plugin.end()
        dask_scheduler.remove_plugin(name=NAME)
    if NAME in dask_scheduler.worker_plugins:
        await dask_scheduler.unregister_worker_plugin(comm=None, name=NAME)


async def dask_setup(server: Any) -> None:
    """Of a preload: `dask worker --preload plumb.dask`, and the same for a scheduler, whose workers have it then, too. A nanny
    (`--preload-nanny`) has it preloaded by its worker."""
    if isinstance(server, distributed.Scheduler):
        await server.register_scheduler_plugin(_made(Plugin), idempotent=True)
    elif isinstance(server, distributed.Worker) and NAME not in server.plugins:
        await server.plugin_add(_made(WorkerPlugin), name=NAME)
    elif isinstance(server, distributed.Nanny):
        _preload_in_worker(server)


def _preload_in_worker(nanny: Any) -> None:
    """Each preload of the worker has its arguments, or all have the same ones."""
    preloads = [nanny.preload] if isinstance(nanny.preload, str) else list(nanny.preload)
    if _PRELOAD in preloads:
        return
    arguments = nanny.preload_argv
    if arguments and not isinstance(arguments[0], str):
        nanny.preload_argv = [*arguments, []]
    nanny.preload = [*preloads, _PRELOAD]

