# SPDX-License-Identifier: Apache-2.0
"""watch() is right where a sampler that needs the GIL is wrong, delivers what it was asked for, and costs next to nothing."""
import collections

import pytest

from harness import package
from harness.statistics import NotNow, assert_at_most, holds, judged, undecided

POINTS = 0.03
STRETCH = 0.3  # seconds
LATE = 0.02  # of its samples: what it takes to get to the processor of a thread, once, is less (docs/design/009-standing-beside.md)
LATE_AT_MOST = 0.1  # where the machine has others to serve all the time: an error may then be larger by as much
TITLE = "Programs that mislead a sampler with the GIL: largest error, in points"
PLAIN = "both let the GIL go"


class Kept:
    """What is kept of one program: samples, and the share of its first function times their number, as it is and as it is seen."""

    def __init__(self):
        self.samples = self.true = self.seen = self.missed = 0

    def add(self, told):
        self.samples += told["samples"]
        self.true += told["samples"] * told["truth"]
        self.seen += told["samples"] * told["ours"]
        self.missed += told["samples"] * max(0.0, told["missed"] - LATE)

    @property
    def error(self):
        """How far the share is off, and more than what came too late can be the reason of."""
        return max(0.0, abs(self.seen - self.true) - self.missed) / self.samples


class Stretches:
    """Short runs of the programs. Those count in which next to no sample came too late: in others the machine had something else to do, and
    shares of what is left may be anything. If there are too few of them, those in which few came too late count as well."""

    def __init__(self, ask, most):
        self._ask, self._left = ask, most
        self._late, self._either = collections.Counter(), collections.Counter()

    def errors(self, samples):
        """{program: how far the share of its first function is off}, from so many samples or more of each."""
        in_time, nearly = collections.defaultdict(Kept), collections.defaultdict(Kept)
        while not self._enough(in_time, samples):
            if not self._left and self._enough(nearly, samples):
                return {program: kept.error for program, kept in nearly.items()}
            if not self._left:
                raise NotNow("too few stretches had all their samples: %s" % {program: kept.samples for program, kept in nearly.items()})
            self._left -= 1
            for program, told in self._one().items():
                for found, late in ((in_time, LATE), (nearly, LATE_AT_MOST)):
                    if told["missed"] <= late:
                        found[program].add(told)
        return {program: kept.error for program, kept in in_time.items()}

    def _enough(self, found, samples):
        return found and len(found) == len(self._either) and min(kept.samples for kept in found.values()) >= samples

    def _one(self):
        told = self._ask()
        plain = told.pop(PLAIN)["missed"] > LATE
        for program, its in told.items():
            self._late[program] += its["missed"] > LATE and not plain
            self._either[program] += (its["missed"] > LATE) != plain
        return told

    def assert_in_time(self):
        """What is busy with the GIL makes no sample late. A busy machine makes late those of the plain program as often, at another
        moment; three times as often would still be taken for that."""
        for program, either in self._either.items():
            if either:
                assert_at_most(0.75, self._late[program], either, "samples come late in the program where %s" % program)


@pytest.mark.alone
@pytest.mark.slow
def test_shares_are_those_of_the_programs_own_clock(some, table, effort):
    """Off by chance once in twenty at most: of 800 independent samples the limit is two standard errors; these vary less, for each is
    of a millisecond of its own, which mostly is of one function as a whole."""
    with package.measuring(some, "skew.py", STRETCH) as ask:
        stretches = Stretches(ask, effort(40, 400))

        def off():
            errors = stretches.errors(effort(800, 10000))
            table(some.name, "watch", "%.1f" % (100 * max(errors.values())), title=TITLE)
            return max(errors.values()) > POINTS and str(errors)

        try:
            holds(off, most=8)
        finally:
            stretches.assert_in_time()


@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.parametrize("release", package.ORIGINALS)
def test_the_original_is_wrong_of_the_same_run(with_gil, release, table):
    if not package.original(release, with_gil).is_dir():
        pytest.skip("there is no distributed %s: ./dev setup takes it from the package index" % release)
    with package.measuring(with_gil, "skew.py", 0.5, "original", other=package.original(release, with_gil)) as ask:

        def off():
            told = ask()
            ours, theirs = ([abs(its[who] - its["truth"]) for program, its in told.items() if program != PLAIN] for who in ("ours", "theirs"))
            table(with_gil.name, release, "%.1f" % (100 * max(theirs)), title=TITLE)
            missed = max(its["missed"] for its in told.values())
            if missed > 0.05:
                raise NotNow("%.0f %% of our samples came too late" % (100 * missed))
            # It takes the GIL a thousand times a second. Waits for it between two functions the program's clock puts down to one.
            return (max(ours) > 3 * POINTS or sorted(theirs)[-2] <= 0.3) and str(told)

        holds(off, most=8)


PACE = "watch(), 1,000 samples a second of a busy thread"


@pytest.mark.alone
def test_each_sample_that_is_due_is_taken_or_told_as_missed(one, table):
    """What comes too late is told; it comes too late no more often than this machine lets a process that only sleeps."""
    with package.measuring(one, "pace.py", "rate") as ask:

        def off():
            told = ask()
            table(one.name, "delivered", "%.1f %%" % (100 * (1 - told["missed"])), title=PACE)
            assert told["due"] <= told["elapsed"] * 1000 + 1, told
            assert_at_most(0.002, told["lost"], told["due"], "samples that are due in time and could not be had")
            if told["sleeper"] > 0.01:
                raise NotNow("a process that only sleeps missed %.1f %% of its milliseconds" % (100 * told["sleeper"]))
            return (told["missed"] > 0.02 or told["due"] < told["elapsed"] * 1000 - 2) and str(told)

        holds(off, by_chance=0.2, most=18)


def test_being_watched_costs_a_program_next_to_nothing(one, table):
    with package.measuring(one, "pace.py", "cost") as ask:
        cost = judged(1.03, iter(ask, None), most=400, seconds=60)
    table(one.name, "time", str(cost), title=PACE)
    assert not cost.slower, cost
    if cost.open:
        undecided(cost)


def test_no_thread_stalls_because_it_is_watched(one):
    with package.measuring(one, "pace.py", "stalls") as ask:

        def off():
            watched, alone = ask()
            if alone > 0.05:
                raise NotNow("a thread oversleeps by %.3f s although it is not watched" % alone)
            return watched > alone + 0.05 and "a watched thread overslept by %.3f s, one that is not by %.3f s" % (watched, alone)

        holds(off, by_chance=0.2, most=18)
