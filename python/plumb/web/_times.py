# SPDX-License-Identifier: Apache-2.0
"""How long requests took, by route: histograms of a fixed size, of a bounded number of routes."""
from __future__ import annotations

import array
import csv
import io
from typing import Any, Dict, List, Optional, Tuple

from plumb._arguments import checked_count, is_number
from plumb._forks import Lock

OTHER = "other"

# Eight buckets for each power of two of microseconds: a bucket is at most an eighth wide. 71 minutes and more are one bucket.
_PARTS = 8
_LONGEST = (1 << 32) - 1
_BUCKETS = 240

# What a spreadsheet takes for the beginning of a formula; the full-width signs, too, in a Japanese environment.
_FORMULA = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20\u2212\u30fc"

_COLUMNS = ("method", "route", "count", "failed", "mean_s", "p50_s", "p90_s", "p99_s", "max_s")


def _bucket(microseconds: int) -> int:
    if microseconds < _PARTS:
        return microseconds
    octave = microseconds.bit_length() - 4
    return (octave + 1) * _PARTS + ((microseconds >> octave) & (_PARTS - 1))


def _lowest(bucket: int) -> int:
    """The least number of microseconds in a bucket."""
    if bucket < _PARTS:
        return bucket
    return (_PARTS + bucket % _PARTS) << (bucket // _PARTS - 1)


class _Times:
    """Of one route and method."""

    __slots__ = ("counts", "count", "failed", "sum", "longest", "statuses")

    def __init__(self) -> None:
        self.counts = array.array("Q", bytes(8 * _BUCKETS))
        self.count, self.failed, self.sum, self.longest = 0, 0, 0, 0
        self.statuses: Dict[str, int] = {}

    def add(self, microseconds: int, status: Optional[int]) -> None:
        self.counts[_bucket(min(microseconds, _LONGEST))] += 1
        self.count += 1
        self.sum += microseconds
        self.longest = max(self.longest, microseconds)
        self.failed += status is None or status >= 500
        kind = "none" if status is None else "%dxx" % (status // 100)
        self.statuses[kind] = self.statuses.get(kind, 0) + 1

    def quantile(self, share: float) -> float:
        """In microseconds: the middle of the bucket that so many of all requests do not exceed."""
        wanted, seen = share * self.count, 0
        for bucket, count in enumerate(self.counts):
            seen += count
            if count and seen >= wanted:
                return min((_lowest(bucket) + _lowest(bucket + 1)) / 2, self.longest)
        return 0.0


class RequestTimes:
    """Histograms of request times. Any thread; what it takes is bounded by `max_routes`: those that come later are "other"."""

    def __init__(self, max_routes: int = 200) -> None:
        if checked_count("max_routes", max_routes) < 1:
            raise ValueError("max_routes is at least 1, not %r" % (max_routes,))
        self._max_routes = max_routes
        self._lock = Lock()
        self._times: Dict[Tuple[str, str], _Times] = {}

    def add(self, method: str, route: str, seconds: float, status: Optional[int]) -> None:
        """Count a request; status None: it ended without one."""
        if not is_number(seconds):
            raise TypeError("seconds is a number, not %r" % (seconds,))
        if not isinstance(status, (int, type(None))):
            raise TypeError("status is a number, as 200, or None, not %r" % (status,))
        with self._lock:
            self._of(method, route).add(max(0, int(seconds * 1e6)), status)

    def _of(self, method: str, route: str) -> _Times:
        key = method, route
        if key not in self._times and len(self._times) >= self._max_routes:
            key = "", OTHER
        return self._times.setdefault(key, _Times())

    def reset(self) -> None:
        with self._lock:
            self._times = {}

    def rows(self) -> List[Dict[str, Any]]:
        """One dict for each route and method, those that took most time together first."""
        with self._lock:
            times = sorted(self._times.items(), key=lambda item: (-item[1].sum, item[0]))
            # A signal handler that asks may have interrupted the first one being counted.
            return [_row(method, route, found) for (method, route), found in times if found.count]

    def csv(self) -> str:
        """The same as a table. Texts that a spreadsheet would compute get an apostrophe in front."""
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow(_COLUMNS)
        for row in self.rows():
            writer.writerow([_harmless(row[column]) for column in _COLUMNS])
        return text.getvalue()


def _row(method: str, route: str, times: _Times) -> Dict[str, Any]:
    row = {"method": method, "route": route, "count": times.count, "failed": times.failed, "mean_s": times.sum / times.count / 1e6}
    row.update({"p%d_s" % percent: times.quantile(percent / 100) / 1e6 for percent in (50, 90, 99)})
    row.update(max_s=times.longest / 1e6, statuses=dict(times.statuses))
    return row


def _harmless(value: Any) -> Any:
    return "'" + value if isinstance(value, str) and value and value[0] in _FORMULA else value
