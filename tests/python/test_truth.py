# SPDX-License-Identifier: Apache-2.0
"""watch() is right where a sampler that needs the GIL is wrong, delivers what it was asked for, and costs next to nothing."""
import json

import pytest

from harness import package

POINTS = 0.03
TITLE = "Programs that mislead a sampler with the GIL: largest error, in points"


def errors(told, who):
    """{program: points that the share of its first function is off}"""
    off = {}
    for program, shares in told.items():
        name = next(iter(shares["truth"]))
        off[program] = abs(shares[who][name] - shares["truth"][name])
    return off


@pytest.mark.alone
@pytest.mark.slow
def test_shares_are_those_of_the_programs_own_clock(some, table, effort):
    told = json.loads(package.run(some, "skew.py", effort(0.8, 10)))
    off = errors(told, "ours")
    table(some.name, "watch", "%.1f" % (100 * max(off.values())), title=TITLE)
    assert max(off.values()) <= POINTS, told


@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.parametrize("release", package.ORIGINALS)
def test_the_original_is_wrong_of_the_same_run(with_gil, release, table):
    if not package.original(release, with_gil).is_dir():
        pytest.skip("there is no distributed %s: ./dev setup takes it from the package index" % release)
    told = json.loads(package.run(with_gil, "skew.py", 0.8, "original", other=package.original(release, with_gil)))
    ours, theirs = errors(told, "ours"), errors(told, "theirs")
    table(with_gil.name, release, "%.1f" % (100 * max(theirs.values())), title=TITLE)
    # It takes the GIL a thousand times a second. Waits for it between two functions the program's clock puts down to one.
    assert max(ours.values()) <= 3 * POINTS, told
    assert sorted(theirs.values())[-2] > 0.3, told


@pytest.mark.alone
@pytest.mark.slow
def test_a_thousand_samples_a_second_for_a_hundredth_of_the_time(one, table):
    told = json.loads(package.run(one, "pace.py"))
    (rate, _), (cost, _), (stalls, _) = told["rate"], told["cost"], told["stalls"]
    title = "watch(), 1,000 samples a second of a busy thread"
    table(one.name, "delivered", "%.1f %%" % (100 * min(rate, 1)), title=title)
    table(one.name, "time", "%+.1f %%" % (100 * (cost - 1)), title=title)
    assert rate >= 0.98 and stalls == 0, told
    assert cost <= 1.03, told
