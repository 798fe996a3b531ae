# SPDX-License-Identifier: Apache-2.0
"""What arguments are to be: each function gives the value, or says in a sentence which argument is wrong and what there is."""
from __future__ import annotations

import math
import os
from typing import Any, Collection, Optional, Union

# A session takes a million samples a second at most.
_SHORTEST = 1e-6
_TOO_LONG = 100.0  # seconds between two samples


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def checked_interval(interval: float, too_long: float = _TOO_LONG) -> float:
    if not is_number(interval):
        raise TypeError("interval is a number of seconds, not %r" % (interval,))
    if not _SHORTEST <= interval < too_long:
        raise ValueError("interval is at least 0.000001 s and less than %g s, not %r" % (too_long, interval))
    return float(interval)


def checked_count(name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError("%s is a whole number, not %r" % (name, value))
    if value < 0:
        raise ValueError("%s is not negative, as %d is" % (name, value))
    return value


def checked_flag(name: str, value: Any) -> bool:
    if value not in (True, False, None):
        raise TypeError("%s is True or False, not %r" % (name, value))
    return bool(value)


def checked_path(name: str, value: Any) -> str:
    if not isinstance(value, (str, bytes, os.PathLike)):
        raise TypeError("%s is the name of a file, not %r" % (name, value))
    path = os.fsdecode(value)
    if not path or "\0" in path:
        raise ValueError("%s is the name of a file, which %r cannot be" % (name, value))
    return path


def checked_omit(omit: Any) -> Union[str, Collection[str]]:
    """None: no suffixes."""
    several = () if omit is None else (omit,) if isinstance(omit, str) else omit
    if isinstance(omit, bytes) or not isinstance(several, Collection) or not all(isinstance(one, str) for one in several):
        raise TypeError("omit is the end of a file's name, or several, not %r" % (omit,))
    return several


def checked_mode(mode: str) -> str:
    if mode not in ("wall", "cpu", "gil"):
        raise ValueError('mode is "wall", "cpu" or "gil", not %r' % (mode,))
    return mode


def checked_engine(engine: Optional[str]) -> Optional[str]:
    """Of a recording or a Profiler."""
    if engine not in (None, "inprocess", "external", "gil"):
        raise ValueError('engine is "inprocess", "external", "gil" or None, not %r' % (engine,))
    return engine


def engine_of_native(native: Any, more: bool, engine: Optional[str]) -> Optional[str]:
    """Which engine records native frames, and `more` that comes with them (kernel, native_threads): it has to be another process."""
    if native not in (True, False, None, "leaf", "callable", "all"):
        raise ValueError('native is True, False, "leaf", "callable" or "all", not %r' % (native,))
    if not native and not more:
        return engine
    if engine not in (None, "external"):
        why = "a thread cannot read the registers of another one in its own process"
        raise ValueError('%s: native frames take engine="external", not %r' % (why, engine))
    return "external"


def checked_seed(seed: Optional[int]) -> Optional[int]:
    if seed is None:
        return seed
    wanted = "seed is a whole number from 0 to 2**64 - 1, or None, not %r" % (seed,)
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise TypeError(wanted)
    if not 0 <= seed < 2**64:
        raise ValueError(wanted)
    return seed


def checked_overhead(share: Optional[float]) -> Optional[float]:
    if share is None or share == math.inf:
        return share
    wanted = "max_overhead is a share from 0.0001 to 1, math.inf for no limit, or None, not %r" % (share,)
    if not is_number(share):
        raise TypeError(wanted)
    if not 0.0001 <= share <= 1:
        raise ValueError(wanted)
    return share
