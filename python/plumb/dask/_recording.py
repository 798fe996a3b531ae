# SPDX-License-Identifier: Apache-2.0
"""profile(): one recording of a whole cluster, which is recorded in each of its processes and brought home."""
from __future__ import annotations

import asyncio
import contextlib
import threading
import uuid
import warnings
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

from distributed.comm import CommClosedError
from distributed.diagnostics.plugin import SchedulerPlugin, WorkerPlugin
from distributed.protocol.pickle import dumps

from plumb import _plumb
from plumb._plumb import Error
from plumb._recording import Recording, _with_defaults
from plumb._result import Profile
from plumb.dask import _labels, _sent
from plumb.dask._asking import answers, within_patience
from plumb.dask._client import checked_client
from plumb.dask._labels import checked_labels
from plumb.dask._merge import condensed, opened, sum_of
from plumb.dask._servers import register_on_workers
from plumb.dask._shared import Shared

_AT_ONCE = 16  # workers whose recordings are on their way home at a time
_LOOK = 5.0  # seconds after which a worker asks its scheduler again whether it is still to record


# ---- in the processes of the cluster ----


class Taken(NamedTuple):
    """What a process has recorded."""

    recording: bytes  # without instants
    # Who held the GIL, and locks, while others waited for them, which only instants tell: as in stats().
    gil_blame: Optional[Dict[str, Any]] = None
    lock_blame: Optional[Dict[str, Any]] = None


_BLAMES = ("gil_blame", "lock_blame")


class _OfProcess(Recording):
    """Of this process, which may have several workers, and the scheduler."""

    def __init__(self, options: Dict[str, Any]) -> None:
        outside = options["native"] or options["kernel"] or options["native_threads"]
        super().__init__(output=None, engine=None if outside else "inprocess", **options)
        self._take_once = threading.Lock()

    def take(self) -> Taken:
        """Nothing if another one has it."""
        if not self._take_once.acquire(blocking=False):
            return Taken(b"")
        self.stop()
        told = self.stats()
        return Taken(condensed(self), *map(told.get, _BLAMES))


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


def _taken(name: str) -> Taken:
    """What this process has recorded, if it has and nobody else took it."""
    recording = _recordings.get(name)
    return recording.take() if recording else Taken(b"")


async def _in_a_thread(function: Any, *args: Any) -> Any:
    """The loop goes on meanwhile: tasks and heartbeats."""
    return await asyncio.get_running_loop().run_in_executor(None, function, *args)


class _Recorder(WorkerPlugin):  # type: ignore[misc]
    """Records the process of a worker, from its setup() on, and answers with what it has recorded. One that cannot be recorded says why.

    It asks from time to time whether the recording goes on: that it has ended is not told to a worker that hangs, or just begins.
    """

    def __init__(self, **given: Any) -> None:
        self.have(given)

    def have(self, given: Dict[str, Any]) -> None:
        self._given = given
        self.name, self._labels, self._options = given["name"], given["labels"], given["options"]
        self._wanted, self._begun, self._why_not = True, False, ""
        self._asking: Optional[asyncio.Future[None]] = None

    def __reduce__(self) -> Any:
        return _sent.by_value("_recording", "_Recorder", self._given)

    async def setup(self, worker: Any) -> None:
        worker.handlers[self.name] = self._answer
        try:
            _labels.begin(worker, self._labels)
            try:
                await _in_a_thread(_begin, self.name, self._options)
            except BaseException:
                _labels.end(worker, self._labels)
                raise
        except Exception as error:
            self._why_not = str(error) or type(error).__name__
        else:
            self._begun = True
            if self._wanted:
                self._asking = asyncio.ensure_future(self._end_when_unwanted(worker))
            else:
                await self._end(worker)

    async def _end_when_unwanted(self, worker: Any) -> None:
        going_on = [self.name]
        while self.name in going_on:
            await asyncio.sleep(_LOOK)
            with contextlib.suppress(OSError, CommClosedError):  # a worker without a scheduler ends, or finds another one
                going_on = await getattr(worker.scheduler, _GOING_ON)() or []
        self._asking = None  # it would be cancelled
        if self.name in worker.plugins:
            await worker.plugin_remove(name=self.name)

    async def teardown(self, worker: Any) -> None:
        """It may come while setup() has not ended, which ends it then."""
        self._wanted = False
        worker.handlers.pop(self.name, None)
        if self._asking is not None:
            self._asking.cancel()
        if self._begun:
            await self._end(worker)

    async def _end(self, worker: Any) -> None:
        self._begun = False
        _labels.end(worker, self._labels)
        await _in_a_thread(_end, self.name)

    async def _answer(self) -> Dict[str, Any]:
        if not self._begun:
            return {"why_not": self._why_not or "its recording had not begun"}
        taken = await _in_a_thread(_taken, self.name)
        return dict(taken._asdict())


class _AtScheduler(SchedulerPlugin):  # type: ignore[misc]
    """A recording, as its scheduler knows it. It ends with its client, who may die within the block."""

    def __init__(self, name: str, client: str) -> None:
        self.name, self._client, self.recorded = name, client, False  # recorded: the scheduler's process is

    def remove_client(self, scheduler: Any, client: str) -> None:
        if client == self._client:
            asyncio.ensure_future(within_patience(_ended(self.name, scheduler)))


_GOING_ON = "plumb_recordings"  # what a worker asks its scheduler


def _answer_workers(scheduler: Any) -> None:
    """From the first recording on. A worker may ask when the last one is over."""

    async def going_on() -> List[str]:
        return [name for name, plugin in scheduler.plugins.items() if isinstance(plugin, _AtScheduler)]

    scheduler.handlers[_GOING_ON] = going_on


async def _begun(name: str, client: str, recorder: bytes, options: Optional[Dict[str, Any]], dask_scheduler: Any) -> List[str]:
    """On all workers, and on the scheduler if there are options for it. Gives the workers."""
    recording = _AtScheduler(name, client)
    dask_scheduler.add_plugin(recording, name=name)
    _answer_workers(dask_scheduler)
    if options is not None:
        await _in_a_thread(_begin, name, options)
        recording.recorded = True
    if name in dask_scheduler.plugins:
        await within_patience(register_on_workers(dask_scheduler, name, recorder))
    if name not in dask_scheduler.plugins:  # it was ended meanwhile, as far as it had begun
        await _ended_of(recording, dask_scheduler)
    return list(dask_scheduler.workers)


async def _ended(name: str, dask_scheduler: Any) -> None:
    recording = dask_scheduler.plugins.get(name)
    if recording is not None:
        dask_scheduler.remove_plugin(name=name)
        await _ended_of(recording, dask_scheduler)


async def _ended_of(recording: _AtScheduler, scheduler: Any) -> None:
    if recording.recorded:
        recording.recorded = False
        await _in_a_thread(_end, recording.name)
    if recording.name in scheduler.worker_plugins:
        await within_patience(scheduler.unregister_worker_plugin(comm=None, name=recording.name))


async def _of_scheduler(name: str, dask_scheduler: Any) -> Tuple[Taken, List[str]]:
    """What it has recorded itself, and which workers there are now."""
    recording = dask_scheduler.plugins.get(name)
    if recording is None:
        raise Error("the recording has ended before: the scheduler had lost its client")
    taken = await _in_a_thread(_taken, name) if recording.recorded else Taken(b"")
    return taken, list(dask_scheduler.workers)


async def _of_workers(name: str, workers: Sequence[str], dask_scheduler: Any) -> Dict[str, Any]:
    """Of each what it has recorded, or, as text, why it has not."""
    found = await answers(dask_scheduler, workers, lambda rpc: getattr(rpc, name)())
    return {worker: _recording_in(answer) for worker, answer in found.items()}


def _recording_in(answer: Any) -> Union[Taken, str]:
    if isinstance(answer, BaseException):
        return str(answer) or type(answer).__name__
    told = answer or {"why_not": "nothing was recorded there"}
    return Taken(told["recording"], *map(told.get, _BLAMES)) if "recording" in told else str(told["why_not"])


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
        # By worker, or "scheduler": as stats() of its own recording has them.
        self.gil_blame: Dict[str, Dict[str, Any]] = {}
        self.lock_blame: Dict[str, Dict[str, Any]] = {}

    def __enter__(self) -> ClusterRecording:
        client = self._client
        why_not: str = client.run_on_scheduler(_sent.function(_sent.why_not))
        if why_not:
            raise Error("the scheduler %s" % why_not)
        recorder = dumps(_Recorder(name=self._id, labels=self._labels, options=self._options))
        try:
            options = self._options if self._has_scheduler else None
            self._workers = client.run_on_scheduler(_begun, self._id, client.id, recorder, options)
        except BaseException:
            with contextlib.suppress(Exception):  # nobody would end what has begun: its block does not run
                client.run_on_scheduler(_ended, self._id)
            raise
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        try:
            self._outcome = self._brought_home()
        except Error as trouble:
            if error is None:
                raise
            warnings.warn("plumb: %s" % trouble, RuntimeWarning, stacklevel=2)
        finally:
            with contextlib.suppress(Error):
                self._ask(_ended, self._id)
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

    def _ask(self, function: Any, *args: Any) -> Any:
        """Of the scheduler. While that has gone Dask waits until the client has found it again, or given up."""
        if self._client.status == "closed":
            raise Error("the recording is lost: its client was closed before the block ended")
        try:
            return self._client.run_on_scheduler(function, *args)
        except OSError as error:
            raise Error("the recording is lost: the scheduler did not give it: %s" % error) from error

    def _brought_home(self) -> _plumb.Profile:
        """Some workers at a time, each time added to the sum of those before."""
        own, there = self._ask(_of_scheduler, self._id)
        self._keep_blames({"scheduler": own})
        whole = own.recording
        self.lost = {worker: "it has gone" for worker in self._workers if worker not in there}
        for at in range(0, len(there), _AT_ONCE):
            found = self._ask(_of_workers, self._id, there[at : at + _AT_ONCE])
            self.lost.update((worker, one) for worker, one in found.items() if isinstance(one, str))
            taken = {worker: one for worker, one in found.items() if isinstance(one, Taken)}
            self._keep_blames(taken)
            whole = sum_of([whole, *(one.recording for one in taken.values())])
        if not whole:
            raise Error("nothing was recorded: the cluster has no worker that could be: %s" % "; ".join(self.lost.values()))
        return opened(whole)

    def _keep_blames(self, taken: Dict[str, Taken]) -> None:
        self.gil_blame.update((who, one.gil_blame) for who, one in taken.items() if one.gil_blame)
        self.lock_blame.update((who, one.lock_blame) for who, one in taken.items() if one.lock_blame)


def profile(
    client: Any, interval: float = 0.001, *, scheduler: bool = True, labels: Sequence[str] = (), **options: Any
) -> ClusterRecording:
    """Record a cluster: `with plumb.dask.profile(client) as p: ...`, then p.print(), p.html(path), p.save(path), ...

    scheduler  record the scheduler's process, too
    labels     what tasks are labelled with besides the prefixes of their keys and their workers' names: "group", of their keys, "host",
               and "annotations", each as a label of its own
    options    those of plumb.start(), but engine, output, force, threads and hidden. With `native`, `kernel` and `native_threads` each
               process is recorded from outside, which it has to permit

    Workers that come later are recorded from then on.
    """
    for name in ("engine", "output", "force", "threads", "hidden"):
        if name in options:
            raise TypeError("a cluster's profile has no option %s: all threads of each process are recorded there" % name)
    checked_client(client, "its block ends when the recordings are here")
    complete = {**_with_defaults(options), "interval": interval}
    del complete["engine"], complete["output"]
    Recording(output=None, engine=None, **complete)  # what is wrong is told here
    return ClusterRecording(client, scheduler, checked_labels(labels), complete)
