# SPDX-License-Identifier: Apache-2.0
"""The shares of a profile are those the program measured itself, in the default mode, on every release.

A share counts as right within three standard errors. A right profiler misses that for one share in 370, so a case that
misses is run again, twice and then four times as long; it fails if the same share is off on the same side each time. All
results are printed and stand in the table. What is in no share is held down in the same way: docs/internals/statistics.md.
"""
import collections
import json

import pytest

from harness.shares import AtMost, compare, outside

pytestmark = pytest.mark.alone

SECONDS = 2, 20  # in an ordinary run and with --soak
UNKNOWN = 0.02  # the share of samples that may tell no part, beside those between the parts
DOUBTFUL = 0.05  # and of those that may be unproved although there was time left for stops
STOPS = 0.025  # the share of the time that stops may take: from there on, any number is doubtful
PROGRAMS = ["loops", "mixed", "ccalls", "callers"]
PERIODS = [500, 999, 1000, 1001, 2000]  # microseconds; the sampler's own is 1000


def measured_parts(profile, truth, within):
    """{part: (samples, weight)} of the stacks in which a part is called by `within`: the rest is start, calibration, end."""
    parts = collections.defaultdict(lambda: [0, 0])
    for stack in profile.stacks:
        names = [frame.name for frame in stack.python]
        for caller, name in zip(names, names[1:]):
            if caller == within and name in truth:
                parts[name][0] += stack.samples
                parts[name][1] += stack.weight_ns
    return parts


def unknown_share(profile, within):
    """Of the samples that may have missed their part: stacks of which only an outer piece is proved, wherever it ends, and
    those that end in `within` itself, its own few instructions among them."""
    unknown = [s for s in profile.stacks if s.quality == "partial" or [f.name for f in s.python[-1:]] == [within]]
    print("%d samples tell no part; %s; missed %d" % (sum(s.samples for s in unknown), profile.quality, profile.losses["missed"]))
    return sum(s.samples for s in unknown) / profile.samples


def stops_used_up(profile):
    """Whether the time for stops was about used up: then the machine decides how many samples are doubtful or partial."""
    spent = profile.json["overhead"]["stopped_ns"] / profile.json["duration_ns"]
    print("stops took %.2f %% of the time" % (100 * spent))
    return spent >= 0.8 * STOPS


def comparisons(profile, truth, between, within):
    """The parts' shares of the measured time, by the weight of the samples, and what of the samples tells none or is not proved.
    `between`: the share of the time that was spent between the parts."""
    parts = measured_parts(profile, truth, within)
    samples = sum(count for count, _ in parts.values())
    seen = {name: weight for name, (_, weight) in parts.items()}
    # What the profile says of its own error is about all samples; here the part's share is of the measured ones.
    scale = profile.samples / samples if samples else 1.0
    errors = {name: profile.half_width(name) * scale for name in truth}
    untold, used_up = unknown_share(profile, within), stops_used_up(profile)
    if used_up:  # samples that tell no part may be of any: no share is known better than that
        errors = {name: error + 1.96 * untold / 3 for name, error in errors.items()}
    unknown = AtMost("unknown", UNKNOWN + between, 0.0 if used_up else untold, profile.samples)
    doubtful = AtMost("doubtful", DOUBTFUL, 0.0 if used_up else profile.quality["doubtful"] / profile.samples, profile.samples)
    return [*compare(truth, seen, samples, errors), unknown, doubtful]


class Case:
    """One program on one interpreter."""

    def __init__(self, plumb, places, python, script, *arguments, within="measure", clock="wall", options=()):
        self.plumb, self.python = plumb, python
        self.command = [*python.command, places.directory(python.root)[1] + "/" + script, *arguments]
        self.within, self.clock, self.options, self.rate = within, clock, options, None

    def measure(self, seconds):
        recording = self.plumb.path()
        command = [*self.command, "--seconds", str(seconds)]
        rate = ["-r", str(self.rate)] if self.rate else []
        result = self.plumb("run", *self.options, *rate, "-o", recording, "--", *command, timeout=seconds * 3 + 30)
        assert result.status == 0, result
        told = [json.loads(line) for line in result.stdout.splitlines() if '"truth"' in line][-1]
        truth, between = told[self.clock], told.get("between", {}).get(self.clock, 0)
        profile = self.plumb.report(recording)
        if stops_used_up(profile) and not self.options:  # a stop takes longer here: ask for fewer, if asked again
            self.rate = (self.rate or 1000) // 2
        return comparisons(profile, truth, between / (between + sum(truth.values())), self.within)

    def judge(self, table, column, seconds):
        first = self.measure(seconds)
        worst = "%+.1f" % max((c.score for c in first), key=abs)
        table(self.python, column, worst)
        print("\n".join(map(str, first)))
        off = outside(first)
        if not off:
            return
        text = list(first)
        for factor in (2, 4):
            again = self.measure(factor * seconds)
            text += again
            print("\n".join(["again, %d times as long:" % factor, *map(str, again)]))
            worst += ", again %+.1f" % max((c.score for c in again), key=abs)
            table(self.python, column, worst)
            off = {name: side for name, side in outside(again).items() if off.get(name) == side}
            if not off:
                return
        pytest.fail("%s: shares are off:\n%s" % (self.python, "\n".join(map(str, text))))


@pytest.mark.slow
@pytest.mark.thinned(2, of=len(PROGRAMS))
@pytest.mark.parametrize("program", PROGRAMS)
def test_shares_are_those_the_program_measured(plumb, places, minor, program, table, effort):
    Case(plumb, places, minor, "truth.py", "--program", program).judge(table, program, effort(*SECONDS))


@pytest.mark.slow
@pytest.mark.thinned(2, of=len(PERIODS))  # whether they beat together is the clock's doing, not the interpreter's
@pytest.mark.parametrize("period", PERIODS)
def test_a_program_in_step_with_the_sampler_is_seen_as_it_is(plumb, places, minor, period, table, effort):
    case = Case(plumb, places, minor, "periodic.py", "--period", str(period), within="main")
    case.judge(table, "%g ms" % (period / 1000), effort(*SECONDS))


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["wall", "cpu"])
def test_waiting_counts_in_wall_time_and_not_in_cpu_time(plumb, places, minor, mode, table, effort):
    case = Case(plumb, places, minor, "truth.py", "--program", "waits", clock=mode, options=["--mode", mode])
    case.judge(table, "waits, " + mode, effort(*SECONDS))


@pytest.mark.slow
def test_falling_asleep_and_waking_up_are_cpu_time(plumb, places, any_python, table, effort):
    """A hundredth of the CPU time: the samples must tell a thread that is about to sleep, or has just woken up, from one that sleeps."""
    case = Case(plumb, places, any_python, "truth.py", "--program", "naps", clock="cpu", options=["--mode", "cpu"])
    case.judge(table, "naps, cpu", effort(6, 20))


@pytest.mark.slow
def test_gil_mode_sees_only_who_holds_it(plumb, places, minor, effort):
    """Hashing and waiting let go of the GIL; the loop does not."""
    if minor.free_threaded:
        pytest.skip("Python %s has no GIL" % minor)
    case = Case(plumb, places, minor, "truth.py", "--program", "waits", options=["--mode", "gil"])
    for factor in (1, 2, 4):
        seen = {c.name: c for c in case.measure(factor * effort(*SECONDS))}
        if seen["part_loop"].samples > 300:
            break
    assert seen["part_loop"].samples > 300, seen["part_loop"]
    holders = ["part_loop", "part_hash"] if minor.version < (3, 7) else ["part_loop"]  # they hash with the GIL
    # The part that waits has it on its way into the wait.
    assert sum(seen[name].seen for name in holders) > 0.97, "\n".join(map(str, seen.values()))
