# SPDX-License-Identifier: Apache-2.0
"""Questions of a scheduler to its workers, of which one may hang or go."""
from __future__ import annotations

import asyncio
import time
from typing import Any, Awaitable, Callable, Dict, Sequence

import dask.config
from dask.utils import parse_timedelta

_LOOK = 1.0  # seconds between two looks at whether a worker lives


class Unanswered(Exception):
    """Why a worker did not answer."""


def patience() -> float:
    """Seconds without a sign of life after which a worker is not waited for: as long as Dask waits for a connection."""
    return float(parse_timedelta(dask.config.get("distributed.comm.timeouts.connect"), default="seconds"))


async def answers(scheduler: Any, workers: Sequence[str], ask: Callable[[Any], Awaitable[Any]]) -> Dict[str, Any]:
    """What each worker says, or the exception of one that does not: `ask` is called with its rpc()."""
    found = await asyncio.gather(*(_answer(scheduler, worker, ask) for worker in workers), return_exceptions=True)
    return dict(zip(workers, found))


async def _answer(scheduler: Any, worker: str, ask: Callable[[Any], Awaitable[Any]]) -> Any:
    """For as long as it takes, if the worker's heartbeats come."""
    state = scheduler.workers.get(worker)
    if state is None:
        raise Unanswered("it has gone")
    asked = asyncio.ensure_future(ask(scheduler.rpc(worker)))
    try:
        while not (await asyncio.wait({asked}, timeout=_LOOK))[0]:
            if time.time() - state.last_seen > patience():
                raise Unanswered("it does not answer")
        return asked.result()
    finally:
        asked.cancel()


async def within_patience(done: Awaitable[Any]) -> None:
    """What is done on all workers, which goes on without us where one hangs. That one has gone in the middle of it is no error."""
    task = asyncio.ensure_future(done)
    _going_on.add(task)
    task.add_done_callback(_over)
    await asyncio.wait({task}, timeout=patience())


_going_on: set[asyncio.Future[Any]] = set()  # a loop does not keep its tasks itself


def _over(task: asyncio.Future[Any]) -> None:
    _going_on.discard(task)
    if not task.cancelled():
        task.exception()  # it has been seen
