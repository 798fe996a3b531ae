# SPDX-License-Identifier: Apache-2.0
"""profile(): one recording of a whole cluster, which is recorded in each of its processes and brought home."""
from __future__ import annotations

import asyncio
import contextlib
import threading
import uuid
import warnings
from typing import Any, Dict, List, Optional, Sequence

from distributed.diagnostics.plugin import WorkerPlugin

from plumb import _plumb
from plumb._plumb import Error
from plumb._recording import Recording, _with_defaults
from plumb._result import Profile
from plumb.dask import _labels, _sent
from plumb.dask._labels import checked_labels
from plumb.dask._merge import condensed, opened, sum_of
from plumb.dask._shared import Shared

_AT_ONCE = 16  # workers whose recordings are on their way home at a time


# ---- in the processes of the cluster ----


class _OfProcess(Recording):
    """Of this process, which may have several workers, and the scheduler."""

    def __init__(self, options: Dict[str, Any]) -> None:
        super().__init__(output=None, engine=None if options["native"] else "inprocess", **options)
        self._take_once = threading.Lock()

    def take(self) -> bytes:
        """What was recorded, without instants; nothing if another one has it."""
        return condensed(self.stop()) if self._take_once.acquire(blocking=False) else b""


_recordings: Shared[_OfProcess] = Shared()  # by the name of the cluster's


def _begin(name: str, options: Dict[str, Any]) -> None:
    _recordings.begin(name, lambda: _started(options))


def _started(options: Dict[str, Any]) -> _OfProcess:
    recording = _OfProcess(options)
    recording.start()
    return recording


def _end(name: str) -> None:
    recording = _recordings.end(name)
    if recording:
        recording.stop()


def _taken(name: str) -> bytes:
    """What this process has recorded, if it has and nobody else took it."""
    recording = _recordings.get(name)
    return recording.take() if recording else b""


class _Recorder(WorkerPlugin):  # type: ignore[misc]
    """Records the process of a worker, from its setup() on. One that cannot be recorded says why."""

    def __init__(self, name: str, labels: Sequence[str], options: Dict[str, Any]) -> None:
        self.name, self._labels, self._options, self.why_not = name, labels, options, ""

    async def setup(self, worker: Any) -> None:
        """The loop goes on while the recording begins."""
        try:
            _labels.begin(worker, self._labels)
            try:
                await asyncio.get_running_loop().run_in_executor(None, _begin, self.name, self._options)
            except BaseException:
                _labels.end(worker, self._labels)
                raise
        except Exception as error:
            self.why_not = str(error) or type(error).__name__

    def teardown(self, worker: Any) -> None:
        if not self.why_not:
            _labels.end(worker, self._labels)
            _end(self.name)


async def _of_worker(name: str, dask_worker: Any) -> bytes:
    """In another thread: tasks and heartbeats go on."""
    why_not = getattr(dask_worker.plugins.get(name), "why_not", "nothing was recorded there")
    if why_not:
        raise Error(why_not)
    return await asyncio.get_running_loop().run_in_executor(None, _taken, name)


async def _of_scheduler(name: str, dask_scheduler: Any) -> bytes:
    try:
        return await asyncio.get_running_loop().run_in_executor(None, _taken, name)
    finally:
        _end(name)


async def _begin_on_scheduler(name: str, options: Dict[str, Any], dask_scheduler: Any) -> None:
    await asyncio.get_running_loop().run_in_executor(None, _begin, name, options)


async def _end_on_scheduler(name: str, dask_scheduler: Any) -> None:
    _end(name)


# ---- in the client ----


class ClusterRecording(Profile):
    """What profile() gives: while its block runs, nothing; then the sum of what all processes have recorded."""

    def __init__(self, client: Any, scheduler: bool, labels: Sequence[str], options: Dict[str, Any]) -> None:
        self._client, self._has_scheduler, self._labels, self._options = client, scheduler, labels, options
        self._id = "plumb-recording-%s" % uuid.uuid4().hex
        self._workers: List[str] = []
        self._outcome: Optional[_plumb.Profile] = None
        self._name = None
        self.lost: Dict[str, str] = {}  # workers of which there is nothing, and why

    def __enter__(self) -> ClusterRecording:
        client = self._client
        why_not: str = client.run_on_scheduler(_sent.function(_sent.why_not))
        if why_not:
            raise Error("the scheduler %s" % why_not)
        try:
            if self._has_scheduler:
                client.run_on_scheduler(_begin_on_scheduler, self._id, self._options)
            register = getattr(client, "register_plugin", None) or client.register_worker_plugin
            register(_Recorder(self._id, self._labels, self._options), name=self._id)
            self._workers = list(client.scheduler_info(**_all_workers(client))["workers"])
        except BaseException:
            self._come_to_nothing()
            raise
        return self

    def _come_to_nothing(self) -> None:
        """Nobody would end what has begun: its block does not run."""
        with contextlib.suppress(Exception):
            self._client.unregister_worker_plugin(self._id)
        with contextlib.suppress(Exception):
            self._client.run_on_scheduler(_end_on_scheduler, self._id)

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        try:
            self._outcome = self._brought_home()
        except Error as trouble:
            if error is None:
                raise
            warnings.warn("plumb: %s" % trouble, RuntimeWarning, stacklevel=2)
        finally:
            self._client.unregister_worker_plugin(self._id)
        if self.lost:
            text = "plumb: of %d of the cluster's workers nothing is in the profile: %s"
            told = "; ".join("%s (%s)" % one for one in sorted(self.lost.items()))
            warnings.warn(text % (len(self.lost), told), RuntimeWarning, stacklevel=2)

    def _now(self) -> _plumb.Profile:
        if self._outcome is None:
            raise RuntimeError("a cluster's profile is there when its block has ended")
        return self._outcome

    def __repr__(self) -> str:
        return "<plumb.dask.profile: not there yet>" if self._outcome is None else super().__repr__()

    def _brought_home(self) -> _plumb.Profile:
        """Some workers at a time, each time added to the sum of those before."""
        client, whole = self._client, b""
        if self._has_scheduler:
            whole = client.run_on_scheduler(_of_scheduler, self._id)
        there = list(client.scheduler_info(**_all_workers(client))["workers"])
        self.lost = {worker: "it has gone" for worker in self._workers if worker not in there}
        for at in range(0, len(there), _AT_ONCE):
            found = client.run(_of_worker, self._id, workers=there[at : at + _AT_ONCE], on_error="return")
            self.lost.update((worker, str(one)) for worker, one in found.items() if isinstance(one, BaseException))
            whole = sum_of([whole, *(one for one in found.values() if isinstance(one, bytes))])
        if not whole:
            raise Error("nothing was recorded: the cluster has no worker that could be: %s" % "; ".join(self.lost.values()))
        return opened(whole)


def _all_workers(client: Any) -> Dict[str, int]:
    """Newer releases name the first five, unless told otherwise."""
    import inspect

    return {"n_workers": -1} if "n_workers" in inspect.signature(client.scheduler_info).parameters else {}


def profile(
    client: Any, interval: float = 0.001, *, scheduler: bool = True, labels: Sequence[str] = (), **options: Any
) -> ClusterRecording:
    """Record a cluster: `with plumb.dask.profile(client) as p: ...`, then p.print(), p.html(path), p.save(path), ...

    scheduler  record the scheduler's process, too
    labels     what tasks are labelled with besides the prefixes of their keys and their workers' names: "group", of their keys, "host",
               and "annotations", each as a label of its own
    options    those of plumb.start(), but engine, output, force, threads and hidden. With `native` each process is recorded from
               outside, where labels are not seen

    Workers that come later are recorded from then on.
    """
    for name in ("engine", "output", "force", "threads", "hidden"):
        if name in options:
            raise TypeError("a cluster's profile has no option %s: all threads of each process are recorded there" % name)
    if getattr(client, "asynchronous", False):
        raise TypeError("client is one that is not asynchronous: its block ends when the recordings are here")
    complete = {**_with_defaults(options), "interval": interval}
    del complete["engine"], complete["output"]
    Recording(output=None, engine=None, **complete)  # what is wrong is told here
    return ClusterRecording(client, scheduler, checked_labels(labels), complete)
