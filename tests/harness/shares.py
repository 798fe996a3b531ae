# SPDX-License-Identifier: Apache-2.0
"""When is a measured share right? Limits follow from the number of samples, never from a fixed percentage."""
import math

LIMIT = 2.5  # standard errors
BY_CHANCE = 0.05  # of the comparisons have a share further off: of three that add up to 1, three in a hundred


def standard_error(share, samples):
    """Of a share among so many samples, each taken for itself; a share near 0 gets that of one sample. A sample at a random point of
    each period is never worse, and much better where parts are longer than periods."""
    return math.sqrt(max(share * (1 - share), 1.0 / samples) / samples) if samples > 0 else 1.0


class Comparison:
    """One share: what the program measured, which may be anything between two, and what the profile says."""

    def __init__(self, name, truth, seen, samples, other_truth=None, error=0.0):
        self.name, self.seen, self.samples = name, seen, samples
        self.least, self.most = sorted((truth, truth if other_truth is None else other_truth))
        self.error = standard_error(truth, samples) + error

    @property
    def score(self):
        """By how many standard errors it is off."""
        return (max(0.0, self.seen - self.most) - max(0.0, self.least - self.seen)) / self.error

    def __str__(self):
        return "%-18s true %6.2f .. %6.2f %%  seen %6.2f %%  %+5.2f standard errors (%.2f %%), %d samples" % (
            self.name, 100 * self.least, 100 * self.most, 100 * self.seen, self.score, 100 * self.error, self.samples)


def at_most(name, limit, seen, samples):
    """A share that may be anything up to a limit."""
    return Comparison(name, limit, seen, samples, other_truth=0.0)


def shares(times):
    """{name: share of all}"""
    total = sum(times.values())
    return {name: time / total if total else 0.0 for name, time in times.items()}


def bounds(least, most):
    """{name: (share, share)} between which that of each part is, where each took at least and at most so long, whatever the others did."""
    def share(own, others, name):
        total = own[name] + sum(others[other] for other in others if other != name)
        return own[name] / total if total else 0.0

    return {name: (share(least, most, name), share(most, least, name)) for name in least}


def compare(truth, seen, samples, longest=None, error=0.0):
    """Comparisons of every part: truth is {name: time}, seen {name: weight}, samples the number of all samples in it. Each part may have
    taken anything up to its time in `longest`; `error` is known besides that of the samples."""
    seen = shares(seen)
    return [Comparison(name, least, seen.get(name, 0.0), samples, most, error)
            for name, (least, most) in sorted(bounds(truth, longest or truth).items())]


def off(comparisons):
    """Those further off than the limit, as text."""
    return "\n".join(str(c) for c in comparisons if abs(c.score) > LIMIT)
