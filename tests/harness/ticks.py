# SPDX-License-Identifier: Apache-2.0
"""What a program did in the periods in which it was sampled.

A sampler that gets no processor misses periods, and many at a stretch. What ran in them is in no sample, so the samples are
compared with what the program did in the others. While nothing is missed, those are all."""
import collections
import datetime
import re

_SAMPLE = re.compile(r"^\S+ +\d+/\d+ +\[\d+\] (\d+)\.(\d{9}):", re.MULTILINE)


def start_ns(profile):
    """When a recording began, in nanoseconds of the time of day."""
    start = datetime.datetime.strptime(profile.json["start"], "%Y-%m-%dT%H:%M:%S.%fZ")
    return (start - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1) * 1000


def sampled(plumb, recording, period_ns):
    """{number of a period since the recording began: samples of it}, of a program with one thread."""
    result = plumb("report", "--idle", "-f", "perf-script", recording)
    assert result.status == 0, result
    return collections.Counter((int(s) * 10**9 + int(ns)) // period_ns for s, ns in _SAMPLE.findall(result.stdout))


class Timeline:
    """When each part of a program ran, as it told itself: in nanoseconds since the recording began."""

    def __init__(self, told, start):
        times = [time - start for time in told["times"]]
        self.parts = list(zip(told["names"], times[::2], times[1::2]))
        self.begin, self.end = times[0], times[-1]

    def _with_pauses(self):
        """The parts, and None between them."""
        last = self.begin
        for name, begin, end in self.parts:
            yield None, last, begin
            yield name, begin, end
            last = end

    def time_in(self, periods, period_ns):
        """{part: nanoseconds of it within these periods, each as often as it was sampled}"""
        found = collections.Counter({name: 0 for name, _, _ in self.parts})
        for name, begin, end in self._with_pauses():
            while begin < end:
                number = begin // period_ns
                until = min(end, (number + 1) * period_ns)
                found[name] += periods.get(number, 0) * (until - begin)
                begin = until
        return found
