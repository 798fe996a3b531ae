# SPDX-License-Identifier: Apache-2.0
"""When is a measured share right? Limits follow from the number of samples, never from a fixed percentage."""
import math


def standard_error(share, samples, half_width=0.0):
    """Of a share among so many samples: the binomial one, or what the profile itself says (a 95 % half width) if larger.

    Neighbouring samples see the same part of a program, so the binomial error can be too small; one sample per period of
    a part longer than the period makes it too large. The larger one is used. A share near 0 gets that of one sample.
    """
    if samples <= 0:
        return 1.0
    spread = max(share * (1 - share), 1.0 / samples)
    return max(math.sqrt(spread / samples), half_width / 1.96)


class Comparison:
    """One share: what the program measured and what the profile says."""

    def __init__(self, name, truth, seen, samples, half_width=0.0):
        self.name, self.truth, self.seen, self.samples = name, truth, seen, samples
        self.error = standard_error(truth, samples, half_width)

    @property
    def score(self):
        return (self.seen - self.truth) / self.error

    def __str__(self):
        return "%-18s true %6.2f %%  seen %6.2f %%  %+5.2f standard errors (%.2f %%), %d samples" % (
            self.name, 100 * self.truth, 100 * self.seen, self.score, 100 * self.error, self.samples)


class AtMost:
    """A share that may be anything up to a limit."""

    def __init__(self, name, limit, seen, samples):
        self.name, self.limit, self.seen, self.samples = name, limit, seen, samples
        self.error = standard_error(limit, samples)

    @property
    def score(self):
        return max(0.0, (self.seen - self.limit) / self.error)

    def __str__(self):
        return "%-18s at most %3.0f %%  seen %6.2f %%  %+5.2f standard errors (%.2f %%), %d samples" % (
            self.name, 100 * self.limit, 100 * self.seen, self.score, 100 * self.error, self.samples)


def compare(truth, seen, samples, half_widths=None):
    """Comparisons of every part: truth is {name: time}, seen {name: weight}, samples the number of all samples in it."""
    total, weight = sum(truth.values()), sum(seen.values())
    half_widths = half_widths or {}
    return [
        Comparison(name, time / total, seen.get(name, 0) / weight if weight else 0.0, samples, half_widths.get(name, 0.0))
        for name, time in sorted(truth.items())
    ]


def outside(comparisons, limit=3.0):
    """{name: sign} of the shares further off than the limit."""
    return {c.name: math.copysign(1, c.score) for c in comparisons if abs(c.score) > limit}
