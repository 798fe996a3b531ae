# SPDX-License-Identifier: Apache-2.0
"""`plumb diff` tells a planted change of a function as large as it is, in its time, and none where there is none.

The programs do a known amount of work and end by themselves. How fast the machine is meanwhile is the machine's to decide, so runs
of both kinds take turns, and what is judged are the intervals, which follow from how much the runs differ."""
import json
import random

import pytest

from harness.statistics import NotNow, assert_at_most, holds

CHANGES = 5, 10, 20, 100  # percent
RUNS = 3  # a side
ROUNDS = 12  # a third of a second to a second
FEW_ROUNDS = 4
SIZE = 32000  # `work` then takes four fifths of the time: told by its share, twice the time would be a ninth more
WIDE = 0.8  # relative: from here on an interval could hold both twice the time and what shares tell of it


@pytest.fixture
def run(plumb, any_python, places):
    """run(mode, slow, rounds): the recording of a run. One that has no sample of its work, as plumb got no processor in time, says nothing."""
    script = places.directory(any_python.root)[1] + "/compared.py"

    def get(mode, slow=100, rounds=ROUNDS):
        while True:
            path = plumb.path()
            result = plumb("run", "-q", "--mode", mode, "-o", path, "--", *any_python.command, script,
                           "--rounds", str(rounds), "--size", str(SIZE), "--slow", str(slow))
            assert result.status == 0, result
            if path.exists() and plumb.report(path).function("work"):
                return path

    return get


def compare(plumb, before, after):
    result = plumb("diff", "--json", *before, "--", *after)
    assert result.status == 0, result
    return json.loads(result.stdout)


def work_of(found):
    (row,) = [row for row in found["list"] if row["name"] == "work"]
    return row["self"]


def off(found, planted):
    """What is wrong with what is told of `work`: its interval leaves out the truth, or it is not called a change though it could
    have been seen."""
    work = work_of(found)
    told, half_width = work["time"]["relative"], work["time"]["relative_half_width"]
    print("%g %% slower: told as %+.1f %% ±%.1f, %s; seen from %.0f %% on" % (
        100 * planted, 100 * told, 100 * half_width, work["verdict"], 100 * work["seen_from"]))
    if planted == 1 and half_width > WIDE:
        raise NotNow("runs differ too much: +-%.0f %%" % (100 * half_width))
    if abs(told - planted) > half_width:
        return "%g %% is told as %g %% +-%g" % (100 * planted, 100 * told, 100 * half_width)
    if work["seen_from"] < planted and work["verdict"] != "more":
        return "%g %% more is not found" % (100 * planted)
    return ""


@pytest.mark.slow
@pytest.mark.parametrize("mode", [pytest.param("cpu", marks=pytest.mark.processor), pytest.param("wall", marks=pytest.mark.alone)])
def test_a_planted_change_is_told_as_large_as_it_is(plumb, run, mode):
    """By chance a trial misses no more often than once in five: of three normally spread runs a side, 3 of 100 intervals leave
    out the truth, there are four of them, and of changes that can be seen 5 of 100 are missed."""

    def trial():
        recordings = {slow: [] for slow in (0, *CHANGES)}
        for _ in range(RUNS):
            for slow in random.Random(len(recordings[0])).sample(list(recordings), len(recordings)):
                recordings[slow].append(run(mode, 100 + slow))
        faults = [off(compare(plumb, recordings[0], recordings[slow]), slow / 100) for slow in reversed(CHANGES)]
        return ", ".join(filter(None, faults))

    holds(trial, by_chance=0.2, blind=2)


def sides_of(runs, size):
    """All comparisons of so many a side, of runs that took turns, each in one of them."""
    return [(runs[i : i + 2 * size : 2], runs[i + 1 : i + 2 * size : 2]) for i in range(0, len(runs), 2 * size)]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["cpu", "wall"])
def test_the_same_work_is_not_called_changed(plumb, run, mode, effort):
    """With one run a side and with three. Of one a side alone there are as many as it takes to fail if all are called changed."""
    alarms, tries = [], 0
    for _ in range(effort(1, 20)):
        runs = [run(mode, rounds=FEW_ROUNDS) for _ in range(4 * RUNS)]
        for before, after in sides_of(runs, 1) + sides_of(runs, RUNS):
            found = compare(plumb, before, after)
            assert found["judged_by"] == ("time and share" if len(before) == 1 else "time")
            alarms += [found["changes"]] if any(found["changes"].values()) else []
            tries += 1
    assert_at_most(0.05, len(alarms), tries, alarms)
