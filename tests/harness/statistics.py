# SPDX-License-Identifier: Apache-2.0
"""How a test decides that meets chance: by as many trials as it takes, and so that it fails by chance once in a million.

Each rule below weighs the evidence after each trial, as a ratio of likelihoods: what was seen, if something is wrong, against
what was seen, if all is right. While all is right such a ratio ever reaches K with a probability of at most 1 in K, however
often it is looked at (Ville). So trials can be added until they decide. If they do not, the test is `undecided`: that is
counted, shown, and fails nothing. docs/internals/tests.md says which rule is for what."""
import functools
import math
import time

import pytest

FALSE_ALARM = 1e-6
SURE = 1 / FALSE_ALARM  # K: to fail
SURE_ENOUGH = 100  # K: to stop looking for a failure
UNDECIDED = "undecided: "


class NotNow(Exception):
    """A trial that says nothing: the machine did not let it measure."""


def undecided(why):
    """End the test: on this machine it cannot be decided now."""
    pytest.skip(UNDECIDED + str(why))


class Trials:
    """Does something hold that is missed now and then although all is right: in one trial of `1 / by_chance` or fewer? If it is
    wrong, every second trial shows it, or more. One trial without a miss is enough; after a miss it takes more of them."""

    WRONG = 0.5

    def __init__(self, by_chance):
        self._miss = math.log(self.WRONG / by_chance)
        self._hit = math.log((1 - self.WRONG) / (1 - by_chance))
        self.log_evidence, self.hits, self.misses = 0.0, 0, 0

    def add(self, hit):
        self.log_evidence += self._hit if hit else self._miss
        self.hits += bool(hit)
        self.misses += not hit

    @property
    def wrong(self):
        return self.log_evidence >= math.log(SURE)

    @property
    def right(self):
        return self.hits > 0 and self.log_evidence <= 0


def holds(trial, by_chance=0.05, most=24, blind=24):
    """Decide a test by trials. `trial()` returns what is off, "" or None if nothing; it raises NotNow if it could not see. Each
    must be a measurement of its own. A right program may miss one in `1 / by_chance`: say in the test why it is no more. After
    `blind` trials that saw nothing the test gives up. `most` is not for that: it takes six misses and more to fail."""
    trials, said, unseen = Trials(by_chance), [], 0
    for _ in range(most):
        try:
            off = trial()
        except NotNow as not_now:
            said.append("saw nothing: %s" % not_now)
            unseen += 1
            if unseen == blind:
                break
            continue
        trials.add(not off)
        said += ["missed: %s" % off] if off else []
        if trials.wrong:
            pytest.fail("missed by %d trials of %d, which chance does once in a million:\n%s" % (
                trials.misses, trials.hits + trials.misses, "\n".join(said)))
        if trials.right:
            return
    undecided("%d trials missed, %d did not, %d saw nothing; the last one said: %s" % (
        trials.misses, trials.hits, unseen, said[-1]))


@functools.lru_cache(maxsize=None)
def evidence_above(limit, events, chances):
    """That something happens more often than in a share `limit` of all chances, if it did in so many of so many: the likelihood,
    averaged over all shares above the limit, against that at the limit."""
    # The average over the shares above is a tail of the binomial distribution of one chance more (the beta integral).
    log_tail = _log_binomial_tail(chances + 1, events, limit)
    log_all = -math.log(chances + 1) - _log_choose(chances, events)
    log_at_limit = events * math.log(limit) + (chances - events) * math.log1p(-limit)
    return math.exp(min(700.0, log_tail + log_all - log_at_limit - math.log1p(-limit)))


def _log_choose(n, k):
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _log_binomial_tail(n, most, share):
    """Logarithm of the probability of at most so many of n."""
    terms = [_log_choose(n, k) + k * math.log(share) + (n - k) * math.log1p(-share) for k in range(most + 1)]
    largest = max(terms)
    return largest + math.log(math.fsum(math.exp(term - largest) for term in terms))


def assert_at_most(limit, events, chances, what):
    """An event that each of many chances brings with a probability of at most `limit`; the number of chances may depend on what
    was seen so far. Fails if it came more often than chance explains."""
    assert chances > 0, "nothing was tried: %s" % what
    assert evidence_above(limit, events, chances) < SURE, "%d of %d, and at most %g of each is right: %s" % (events, chances, limit, what)


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


class Pairs:
    """Is something slower? Times of the same with (`sampled`) and without (`alone`), in pairs, looked at one after the other.

    How often the ratio of a pair is above the limit decides (a sign test: nothing is assumed of how times are spread, and one
    that was held up counts as one): whether that is more often than not, and whether it is less often.
    """

    def __init__(self, limit, most):
        self.limit, self.most, self.ratios = limit, most, []

    def add(self, sampled, alone):
        self.ratios.append(sampled / alone)

    @property
    def slower(self):
        return evidence_above(0.5, sum(ratio > self.limit for ratio in self.ratios), len(self.ratios)) >= SURE

    @property
    def no_slower(self):
        return evidence_above(0.5, sum(ratio < self.limit for ratio in self.ratios), len(self.ratios)) >= SURE_ENOUGH

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
