# SPDX-License-Identifier: Apache-2.0
"""What judges the tests that compare times, held against times of which the truth is known."""
import itertools
import math
import random

import pytest

from harness.statistics import Pairs, judged

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
    """One in a thousand is what is promised."""
    found = [judged(1.05, times(seed, 1.05, WILD), 60) for seed in range(1000)]
    assert sum(verdict.slower for verdict in found) <= 5


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
