# SPDX-License-Identifier: Apache-2.0
"""plumb.diff(): what changed, and how sure that is."""
from __future__ import annotations

import os
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from plumb import _plumb
from plumb._arguments import checked_flag, is_number
from plumb._report import Report, checked
from plumb._result import READABLE, Profile, open
from plumb._written import Path, Written, ends

One = Union[Profile, Path]
Side = Union[One, Sequence[One]]

Per = Mapping[str, Sequence[float]]

_FORMATS = _plumb.formats()[2]
_NOT_OF_COMPARISONS = ("functions", "top", "quality", "flavour")
_OPTIONS = [option for option in Report.__annotations__ if option not in _NOT_OF_COMPARISONS]
_LEAST, _MOST = 1e-9, 1e18  # beyond these, times for a unit are no numbers


class _Side(NamedTuple):
    profiles: List[Profile]
    name: str


class _Units(NamedTuple):
    """Of work: what one is called, and how many were done."""

    unit: str
    counts: Tuple[float, ...]


class _Measure(NamedTuple):
    """What is compared, and by what."""

    paths: bool
    normalize: Optional[str]
    units: Optional[_Units]


class Diff(Written):
    """What changed from some profiles to others, as `plumb diff` shows it.

    **report are options of `plumb diff`, by their names with underscores, which mean what they mean for a Profile: lines, idle,
    threads, process, module, tag, own, time, state, kind, native, focus, ignore, min_share, names, width, color, ascii, no_escape.
    """

    _formats = _FORMATS

    def __init__(self, before: _Side, after: _Side, measure: _Measure) -> None:
        self._before, self._after, self._measure = before, after, measure

    def __repr__(self) -> str:
        return "<plumb.Diff: %s -- %s>" % (self._before.name, self._after.name)

    def fails(self, above: float, **report: Any) -> bool:
        """Whether anything, or the total, takes more than so many percent longer than before, as for --fail-above."""
        if not is_number(above) or not 0 <= above < float("inf"):
            raise ValueError("above is a percentage, 0 or more, not %r" % (above,))
        return self._compare("json", None, "named", above / 100, _checked(report))[1]

    def _write(self, format: str, path: Optional[Path], name: str, report: Report) -> Optional[bytes]:
        return self._compare(format, path, name, -1, _checked(report))[0]

    def _compare(self, format: str, path: Optional[Path], name: str, limit: float, report: Any) -> Tuple[Optional[bytes], bool]:
        measure, units = self._measure, self._measure.units or _Units("", ())
        options = measure.paths, measure.normalize, self._before.name, self._after.name, limit, units.unit, units.counts
        before, after = ([profile._now() for profile in side.profiles] for side in (self._before, self._after))
        return _plumb.compare(before, after, format, path, name, options, **report)

    def _files(self, whole: bool = False) -> List[str]:
        return [file for side in (self._before, self._after) for profile in side.profiles for file in profile._files()]

    def _format_of(self, path: Path) -> str:
        name = os.fsdecode(path)
        for format, end in _FORMATS.items():
            if end and name.endswith(end):
                return format
        raise ValueError("no format has the end of %r: there are %s; write() takes the name of a format" % (name, ends(_FORMATS)))


def _checked(report: Mapping[str, Any]) -> Dict[str, Any]:
    for option in report:
        if option not in _OPTIONS:
            raise TypeError("comparisons have no option %s: they have %s" % (option, ", ".join(_OPTIONS)))
    return checked(report)


def _side(name: str, given: Side) -> _Side:
    several = [given] if isinstance(given, READABLE) else given
    if not isinstance(several, (list, tuple)) or not several or not all(isinstance(one, READABLE) for one in several):
        raise TypeError("%s is a profile, a file, or several of these, not %r" % (name, given))
    profiles = [one if isinstance(one, Profile) else open(one) for one in several]
    return _Side(profiles, " ".join(one._name or name if isinstance(one, Profile) else os.fsdecode(one) for one in several))


def _units(per: Optional[Per], before: int, after: int) -> Optional[_Units]:
    if per is None:
        return None
    if not isinstance(per, Mapping) or not all(isinstance(unit, str) and isinstance(counts, (list, tuple)) for unit, counts in per.items()):
        raise TypeError('per is what was done, and how often before and after, as {"request": (1200, 1250)}, not %r' % (per,))
    if len(per) != 1 or not all(per):
        raise ValueError('per has one unit of work, as {"request": (1200, 1250)}, not %r' % (dict(per),))
    ((unit, counts),) = per.items()
    if not all(is_number(count) and _LEAST <= count <= _MOST for count in counts):
        raise ValueError("how often %s was done is a number from %g to %g each, not %r" % (unit, _LEAST, _MOST, counts))
    if len(counts) not in (2, before + after):
        raise ValueError("per has %d numbers for %d profiles: give two, one of each side, or one of each profile" % (len(counts), before + after))
    return _Units(unit, tuple(map(float, counts)))


def diff(before: Side, after: Side, *, paths: bool = False, normalize: Optional[str] = None, per: Optional[Per] = None) -> Diff:
    """Compare profiles, or files that plumb.open() reads; with several a side it is known how much runs differ by themselves.

    paths      rows are paths of calls, else functions, or lines with lines=True
    normalize  "none": times as they are; "total", "samples": shares alone; or a function whose time is the measure. None: as the
               recordings allow
    per        how much work was done, {"request": (1200, 1250)}: times are per unit. Before and after; of several profiles
               a side these are sums, or there is a number for each profile, those before first
    """
    if not isinstance(normalize, (str, type(None))):
        raise TypeError('normalize is the name of a function, "none", "total", "samples" or None, not %r' % (normalize,))
    one, other = _side("before", before), _side("after", after)
    return Diff(one, other, _Measure(checked_flag("paths", paths), normalize, _units(per, len(one.profiles), len(other.profiles))))
