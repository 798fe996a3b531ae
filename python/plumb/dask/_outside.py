# SPDX-License-Identifier: Apache-2.0
"""Cycles of samples with frames of machine code and of the kernel: the program plumb records this process, and its recording is read as it grows."""
from __future__ import annotations

import warnings
from typing import Any, Collection, Dict, List, Optional, Tuple

from plumb._external import _PLAIN, _Growing, _written
from plumb._gil import as_profile
from plumb._plumb import Error, Profile
from plumb._session import Status
from plumb._trees import create
from plumb.dask._merge import opened

_ROUND = 60.0  # seconds of a recording, which is read as a whole: then another one is begun
_FIGURES = {"samples": "samples", "ticks": "ticks", "cpu": "profiler_cpu"}  # of a status: as a recording calls them


class OutsideSession:
    """What `_plumb.Session` is for a Publisher. Its caller has a lock."""

    lag = 1.0  # seconds, after which what was sampled is in the recording

    def __init__(
        self, native: bool, kernel: bool, cycle: float, hidden: Collection[int] = (), max_cycles: int = 0, max_nodes: int = 0, **options: Any
    ) -> None:
        """Nothing is hidden and nothing folded, and all cycles are kept: a recording is as large as what was sampled in its time."""
        self._cycle = cycle
        self._options = {**_PLAIN, "mode": "wall", "native": native, "kernel": kernel, "sources": False, **options}
        self._ready: List[Tuple[float, Profile]] = []  # cycles that were not asked for
        self._figures: Dict[str, float] = dict.fromkeys(_FIGURES, 0)  # of recordings that have ended
        self._begin()

    def cycles(self) -> List[Tuple[float, Profile]]:
        if self._growing:
            self._read(self._growing.now())
            killed = self._growing.session.status()["ended"]
            if killed or self._until >= _ROUND:
                self._begin_another("" if self._end() else "the program that recorded was killed at once")
        found, self._ready = self._ready, []
        return found

    def recent(self) -> Profile:
        known = self._growing.now() if self._growing else None
        return self._between(known, self._until, None) if known else as_profile(create())

    def status(self) -> Status:
        known = self._growing.now() if self._growing else None
        figures = self._with(known) if known else self._figures
        return {
            "engine": "external", "ended": self._growing is None, "forked": False, "folded": 0,
            "samples": int(figures["samples"]), "ticks": int(figures["ticks"]), "cpu": figures["cpu"],
        }  # fmt: skip

    def stop(self) -> None:
        """What is left is the last cycle."""
        self._end()

    def _begin(self) -> None:
        self._growing: Optional[_Growing] = _Growing(**self._options)
        self._until = 0.0  # as far as cycles were read, in seconds

    def _begin_another(self, why_not: str) -> None:
        try:
            if why_not:
                raise Error(why_not)
            self._begin()
        except Error as error:
            warnings.warn("plumb samples no more, as no recording can be begun: %s" % error, RuntimeWarning)

    def _end(self) -> bool:
        """Whether something was recorded."""
        growing, self._growing = self._growing, None
        if growing is None:
            return False
        try:
            known: Optional[Profile] = growing.session.stop()
        except Error:  # it was killed
            written = _written(growing)
            known = written[1] if written else None
        if known is not None:
            self._read(known)
            self._ready.append((known.info()["start"] + known.info()["duration"], self._between(known, self._until, None)))
            self._figures = self._with(known)
        return known is not None

    def _read(self, known: Optional[Profile]) -> None:
        """Cycles that are in the recording as a whole."""
        info = known.info() if known else {}
        while known and self._until + self._cycle <= info["duration"]:
            begin, self._until = self._until, self._until + self._cycle
            self._ready.append((info["start"] + self._until, self._between(known, begin, self._until)))

    def _with(self, known: Profile) -> Dict[str, float]:
        info = known.info()
        return {name: before + info[_FIGURES[name]] for name, before in self._figures.items()}

    @staticmethod
    def _between(known: Profile, begin: float, end: Optional[float]) -> Profile:
        return opened(known.write(None, "plumb", time=(begin, end)))
