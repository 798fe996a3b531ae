# SPDX-License-Identifier: Apache-2.0
"""When is a measured share right? Limits follow from the number of samples, never from a fixed percentage."""
import math
import time


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


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


class Pairs:
    """Is something slower? Times of the same with (`sampled`) and without (`alone`), in pairs, looked at one after the other.

    How often the ratio of a pair is above the limit decides (a sign test: nothing is assumed of how times are spread, and one
    that was held up counts as one). After each pair the evidence is compared with chance: the likelihood of the signs if the
    median lies on one side, averaged over all chances from one half to one, against that of a fair coin. While the median lies
    on the other side that ratio ever reaches K with a probability of at most 1 in K, however often it is looked at (Ville), so
    pairs can be taken until they decide.
    """

    SLOWER, NO_SLOWER = 1000, 100  # K: how sure to be to fail, and to stop taking pairs

    def __init__(self, limit, most):
        self.limit, self.most, self.ratios = limit, most, []

    def add(self, sampled, alone):
        self.ratios.append(sampled / alone)

    def _evidence(self, count):
        """Against a coin that is fair, or shows that side less often, when it showed it `count` times of all."""
        n = len(self.ratios)
        tail = sum(math.comb(n + 1, i) for i in range(count + 1))  # of 2^(n + 1): the part of the average above one half
        return tail / ((n + 1) * math.comb(n, count))

    @property
    def slower(self):
        return self._evidence(sum(ratio > self.limit for ratio in self.ratios)) >= self.SLOWER

    @property
    def no_slower(self):
        return self._evidence(sum(ratio < self.limit for ratio in self.ratios)) >= self.NO_SLOWER

    @property
    def decided(self):
        return self.slower or self.no_slower

    @property
    def open(self):
        """Whether nothing can be said: too few pairs could be taken, or the median is above the limit and may be so by chance."""
        return not self.decided and (len(self.ratios) < self.most or median(self.ratios) > self.limit)

    @property
    def interval(self):
        """In which the median lies with 95 % or more, by the order of the ratios; without bounds if there are too few."""
        ordered, tail, outer = sorted(self.ratios), 0, -1
        for i in range(len(ordered)):
            tail += math.comb(len(ordered), i)
            if tail > 0.025 * 2 ** len(ordered):
                break
            outer = i
        return (ordered[outer], ordered[-1 - outer]) if outer >= 0 else (0.0, math.inf)

    def __str__(self):
        if not self.ratios:
            return "no pairs"
        return "%.2f (%.2f .. %.2f, %d pairs)" % (median(self.ratios), *self.interval, len(self.ratios))


def in_turn(measure, watched):
    """(time within `watched()`, time alone), again and again; which comes first changes, so that no drift is taken for a slowdown."""
    alone = measure()
    while True:
        with watched():
            first, second = measure(), measure()
        yield first, alone
        alone = measure()
        yield second, alone


def judged(limit, pairs, most, seconds=math.inf):
    """Take (sampled, alone) from `pairs` until they decide, so many are taken, or the time is over. A None was no measurement."""
    judgement, end = Pairs(limit, most), time.monotonic() + seconds
    for sampled, alone in pairs:
        if sampled is not None and alone is not None:
            judgement.add(sampled, alone)
        if judgement.decided or len(judgement.ratios) == most or time.monotonic() > end:
            break
    return judgement
