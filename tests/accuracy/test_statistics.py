# SPDX-License-Identifier: Apache-2.0
"""The rules by which tests decide, held against chance that is known: exactly where it can be computed, else by a fixed seed."""
import collections
import itertools
import math
import random

import pytest

from harness import shares
from harness.statistics import FALSE_ALARM, SURE, UNDECIDED, NotNow, Pairs, Trials, assert_at_most, evidence_above, holds, judged
from harness.ticks import Timeline

MOST = 40
QUIET, NOISY, WILD = 0.02, 0.10, 0.693  # times are up to e^x longer than they should be: the last one by a factor of two


def times(seed, slowdown, noise):
    """Endless (sampled, alone), each held up for itself."""
    chance = random.Random(seed)
    while True:
        yield slowdown * math.exp(chance.uniform(0, noise)), math.exp(chance.uniform(0, noise))


def verdicts(count, slowdown, noise, limit):
    return [judged(limit, times(seed, slowdown, noise), MOST) for seed in range(count)]


@pytest.mark.parametrize("noise", [QUIET, NOISY])
def test_what_is_a_fifth_slower_is_found(noise):
    assert sum(verdict.slower for verdict in verdicts(1000, 1.2, noise, 1.05)) >= 999


@pytest.mark.parametrize("noise", [QUIET, NOISY, WILD])
@pytest.mark.parametrize("limit", [1.05, 1.5])
def test_noise_alone_is_not_taken_for_a_slowdown(noise, limit):
    assert sum(verdict.slower for verdict in verdicts(1000, 1.0, noise, limit)) <= 1


def test_not_even_at_the_limit_itself():
    """One in a million is what is promised."""
    found = [judged(1.05, times(seed, 1.05, WILD), 60) for seed in range(1000)]
    assert not any(verdict.slower for verdict in found)


def test_a_quiet_machine_needs_few_pairs():
    found = verdicts(1000, 1.0, QUIET, 1.05)
    assert all(verdict.no_slower for verdict in found) and max(len(verdict.ratios) for verdict in found) == 9


def test_the_interval_has_the_median_in_it():
    """95 of 100, when the number of pairs is fixed beforehand."""
    hit = 0
    for seed in range(1000):
        fixed = Pairs(1.05, MOST)
        for sampled, alone in itertools.islice(times(seed, 1.3, WILD), 20):
            fixed.add(sampled, alone)
        hit += fixed.interval[0] <= 1.3 <= fixed.interval[1]
    assert 930 <= hit <= 985


def test_what_cannot_be_said_is_left_open():
    assert judged(1.05, [(None, 1.0)] * 50, MOST).open
    assert judged(1.05, [(1.0, 1.0)] * 5, MOST).open
    assert judged(1.05, [(1.1, 1.0), (1.0, 1.0)] * 20 + [(1.1, 1.0)], 41).open
    assert not judged(1.05, [(1.1, 1.0), (1.0, 1.0)] * 20 + [(1.0, 1.0)], 41).open
    assert judged(1.05, [(1.1, 1.0)], MOST).interval == (0.0, math.inf)


def chance_of(alarm, share, most):
    """The probability that `alarm(events, chances)` is ever true, when each chance brings an event with probability `share`."""
    open_, alarmed = {0: 1.0}, 0.0  # events so far: probability, of what has not alarmed
    for chances in range(1, most + 1):
        after = collections.defaultdict(float)
        for events, probability in open_.items():
            after[events] += probability * (1 - share)
            after[events + 1] += probability * share
        open_ = {events: p for events, p in after.items() if not alarm(events, chances)}
        alarmed += sum(p for events, p in after.items() if alarm(events, chances))
    return alarmed


@pytest.mark.parametrize("limit", [0.5, 0.02, 0.0001])
def test_a_rate_at_its_limit_is_an_alarm_once_in_a_million(limit):
    assert chance_of(lambda events, chances: evidence_above(limit, events, chances) >= SURE, limit, 100) <= FALSE_ALARM


@pytest.mark.parametrize("limit, events, chances", [(0.5, 30, 30), (0.02, 20, 100), (0.0001, 5, 200)])
def test_a_rate_far_above_its_limit_is_found(limit, events, chances):
    with pytest.raises(AssertionError, match="at most"):
        assert_at_most(limit, events, chances, "a test")
    assert_at_most(limit, 0, chances, "a test")


def outcomes(hits):
    """trial() of which the first hits and misses are these; then all hit."""
    rest = iter(hits)
    return lambda: "" if next(rest, True) else "off"


@pytest.mark.parametrize("by_chance", [0.05, 0.01, 0.2])
def test_trials_that_miss_by_chance_fail_once_in_a_million(by_chance):
    """All orders of hits and misses count: the first miss may come when it likes."""

    def wrong(misses, chances):
        trials = Trials(by_chance)
        for hit in [False] * misses + [True] * (chances - misses):  # the order does not matter to the evidence
            trials.add(hit)
        return trials.wrong

    assert chance_of(wrong, by_chance, 40) <= FALSE_ALARM


def test_what_is_always_missed_fails_and_what_never_is_needs_one_trial():
    with pytest.raises(pytest.fail.Exception, match="6 trials of 6"):
        holds(outcomes([False] * 30))
    seen = []
    holds(lambda: seen.append(1))
    assert len(seen) == 1


def test_what_is_missed_every_second_time_fails():
    with pytest.raises(pytest.fail.Exception):
        holds(outcomes([False, True] * 30), most=40)


def test_one_miss_takes_four_more_trials_to_be_forgiven():
    seen = []
    trial = outcomes([False])
    holds(lambda: seen.append(1) or trial())
    assert len(seen) == 5


def test_who_sees_nothing_decides_nothing():
    def blind():
        raise NotNow("busy")

    with pytest.raises(pytest.skip.Exception, match=UNDECIDED + ".* 24 saw nothing.*busy"):
        holds(blind)
    with pytest.raises(pytest.skip.Exception, match=" 3 saw nothing"):
        holds(blind, blind=3)
    with pytest.raises(pytest.skip.Exception, match="1 trials missed, 1 did not"):
        holds(outcomes([False]), most=2)


PARTS = {"half": 0.5, "third": 0.3, "fifth": 0.2}  # those of targets/periodic.py
SAMPLES = 2000  # of a measurement of two seconds


def measurement(chance, bias):
    """trial() by samples drawn for themselves, of a profiler that sees the first part too often, by so many standard errors."""
    extra = bias * shares.standard_error(PARTS["half"], SAMPLES)
    seen_as = [PARTS["half"] + extra, PARTS["third"] - extra, PARTS["fifth"]]

    def trial():
        seen = collections.Counter(chance.choices(list(PARTS), seen_as, k=SAMPLES))
        return shares.off(shares.compare(PARTS, seen, SAMPLES))

    return trial


def found(bias, cases):
    """In how many of so many cases."""
    chance, count = random.Random(1), 0
    for _ in range(cases):
        try:
            holds(measurement(chance, bias), shares.BY_CHANCE)
        except pytest.fail.Exception:
            count += 1
    return count


def test_shares_are_off_by_chance_no_more_often_than_is_said():
    trial = measurement(random.Random(1), 0)
    assert sum(bool(trial()) for _ in range(1000)) <= 1000 * shares.BY_CHANCE
    assert found(0, 200) == 0


def test_a_bias_of_three_standard_errors_of_two_seconds_is_found():
    """In one case of two or more, and there are dozens of them; one of four errors in each case but a few."""
    assert found(3, 100) >= 55
    assert found(4, 100) >= 90


def test_a_share_between_two_is_right():
    between = shares.Comparison("a", 0.2, 0.3, 1000, other_truth=0.4)
    assert between.score == 0 and not shares.off([between])
    assert shares.Comparison("a", 0.4, 0.1, 1000, other_truth=0.2).score < -5
    assert shares.at_most("a", 0.02, 0.001, 1000).score == 0 and shares.at_most("a", 0.02, 0.1, 1000).score > 5


def test_each_part_may_have_taken_longer_whatever_the_others_did():
    assert shares.bounds({"a": 1, "b": 3}, {"a": 3, "b": 5}) == {"a": (1 / 6, 3 / 6), "b": (3 / 6, 5 / 6)}
    assert shares.bounds({"a": 1, "b": 3}, {"a": 1, "b": 3}) == {"a": (1 / 4, 1 / 4), "b": (3 / 4, 3 / 4)}
    assert shares.bounds({"a": 0}, {"a": 0}) == {"a": (0.0, 0.0)}
    slow = {"a": 100, "b": 300}, {"a": 300, "b": 500}
    assert not shares.off(shares.compare(slow[0], {"a": 400, "b": 600}, 1000, longest=slow[1]))
    assert shares.off(shares.compare(slow[0], {"a": 600, "b": 400}, 1000, longest=slow[1]))


def test_what_ran_in_missed_periods_is_left_out():
    """A pause and a boundary of parts within a period count as long as they are; a period with two samples counts twice."""
    timeline = Timeline({"names": ["a", "b", "a"], "times": [1000, 1025, 1030, 1045, 1045, 1060]}, 1000)
    every = timeline.time_in({number: 1 for number in range(6)}, 10)
    assert every == {"a": 40, "b": 15, None: 5}
    assert timeline.time_in({2: 1, 4: 2}, 10) == {"a": 15, "b": 10, None: 5}
