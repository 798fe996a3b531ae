# SPDX-License-Identifier: Apache-2.0
"""How a cluster is sampled: arguments, and Dask's configuration where there are none."""
from __future__ import annotations

import math
from typing import Any, Dict, NamedTuple, Optional

import dask.config

from plumb._arguments import checked_count, checked_flag
from plumb._watch import Time, positive

_DASKS = {"interval": "distributed.worker.profile.interval", "cycle": "distributed.worker.profile.cycle"}
_MAX_NODES = 100_000


class Settings(NamedTuple):
    interval: float  # seconds between two samples of a thread
    cycle: float  # seconds that an entry of the history is about
    cycles: int  # entries that are kept
    max_nodes: int  # see plumb.Profiler
    native: bool  # tasks are sampled from outside, with their native frames
    kernel: bool  # so, with those of the kernel, too

    def for_session(self) -> Dict[str, Any]:
        return {
            "rate": 1 / self.interval, "cycle": self.cycle, "max_cycles": self.cycles, "max_nodes": self.max_nodes, "jitter": True,
            "tids": None,
        }  # fmt: skip


def _configured(name: str, given: Any, default: Any) -> Any:
    return dask.config.get("distributed.plumb." + name, default) if given is None else given


def settings(
    interval: Optional[Time] = None,
    cycle: Optional[Time] = None,
    cycles: Optional[int] = None,
    max_nodes: Optional[int] = None,
    native: Optional[bool] = None,
    kernel: Optional[bool] = None,
) -> Settings:
    """What is None is as `distributed.plumb.interval` and so on say, then as Dask's own profile has it."""
    times = {
        name: positive(name, _with_unit(_configured(name, given, dask.config.get(_DASKS[name]))))
        for name, given in (("interval", interval), ("cycle", cycle))
    }
    kept = _configured("cycles", cycles, dask.config.get("distributed.admin.low-level-log-length", 1000))
    return Settings(
        times["interval"], times["cycle"], checked_count("cycles", kept),
        checked_count("max_nodes", _configured("max-nodes", max_nodes, _MAX_NODES)),
        checked_flag("native", _configured("native", native, False)), checked_flag("kernel", _configured("kernel", kernel, False)),
    )  # fmt: skip


def _with_unit(value: Time) -> Time:
    """Dask takes a text without a unit for milliseconds."""
    if isinstance(value, str) and value.strip() and math.isfinite(_number(value)):
        return _number(value) / 1000
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
