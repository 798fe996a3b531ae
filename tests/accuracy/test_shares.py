# SPDX-License-Identifier: Apache-2.0
"""The shares of a profile are those the program measured itself, in the default mode, on every release.

A share counts as right within three standard errors. A right profiler misses that for one share in 370, so a case that
misses is run again, twice and then four times as long; it fails if the same share is off on the same side each time. All
results are printed and stand in the table.
"""
import collections
import json

import pytest

from harness.statistics import compare, outside

SECONDS = 2
PROGRAMS = ["loops", "mixed", "ccalls", "callers"]
PERIODS = [500, 999, 1000, 1001, 2000]  # microseconds; the sampler's own is 1000


def measured_parts(profile, truth, within):
    """{part: (samples, weight)} of the stacks in which a part is called by `within`: the rest is start, calibration, end.
    Part "" are the stacks of `within` that end before they come to a part: glue, and moving stacks with a short proved part."""
    parts = collections.defaultdict(lambda: [0, 0])
    for stack in profile.stacks:
        names = [frame.name for frame in stack.python]
        if names and names[-1] == within:
            parts[""][0] += stack.samples
        for caller, name in zip(names, names[1:]):
            if caller == within and name in truth:
                parts[name][0] += stack.samples
                parts[name][1] += stack.weight_ns
    return parts


def comparisons(profile, truth, within):
    """The parts' shares of the measured time, by the weight of the samples."""
    parts = measured_parts(profile, truth, within)
    unknown = parts.pop("", [0, 0])[0]
    print("%d samples of %s itself; %s; missed %d" % (unknown, within, profile.quality, profile.losses["missed"]))
    samples = sum(count for count, _ in parts.values())
    seen = {name: weight for name, (_, weight) in parts.items()}
    # What the profile says of its own error is about all samples; here the part's share is of the measured ones.
    scale = profile.samples / samples if samples else 1.0
    errors = {name: profile.half_width(name) * scale for name in truth}
    return compare(truth, seen, samples, errors)


class Case:
    """One program on one interpreter."""

    def __init__(self, plumb, places, python, script, *arguments, within="measure", clock="wall", options=()):
        self.plumb, self.python = plumb, python
        self.command = [*python.command, places.directory(python.root)[1] + "/" + script, *arguments]
        self.within, self.clock, self.options = within, clock, options

    def measure(self, seconds):
        recording = self.plumb.path()
        command = [*self.command, "--seconds", str(seconds)]
        result = self.plumb("run", *self.options, "-o", recording, "--", *command, timeout=seconds * 3 + 30)
        assert result.status == 0, result
        truth = [json.loads(line) for line in result.stdout.splitlines() if '"truth"' in line][-1][self.clock]
        return comparisons(self.plumb.report(recording), truth, self.within)

    def judge(self, table, column):
        first = self.measure(SECONDS)
        worst = "%+.1f" % max((c.score for c in first), key=abs)
        table(self.python, column, worst)
        print("\n".join(map(str, first)))
        off = outside(first)
        if not off:
            return
        text = list(first)
        for factor in (2, 4):
            again = self.measure(factor * SECONDS)
            text += again
            print("\n".join(["again, %d times as long:" % factor, *map(str, again)]))
            worst += ", again %+.1f" % max((c.score for c in again), key=abs)
            table(self.python, column, worst)
            off = {name: side for name, side in outside(again).items() if off.get(name) == side}
            if not off:
                return
        pytest.fail("%s: shares are off:\n%s" % (self.python, "\n".join(map(str, text))))


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("program", PROGRAMS)
def test_shares_are_those_the_program_measured(plumb, places, minor, program, table):
    Case(plumb, places, minor, "truth.py", "--program", program).judge(table, program)


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("period", PERIODS)
def test_a_program_in_step_with_the_sampler_is_seen_as_it_is(plumb, places, minor, period, table):
    case = Case(plumb, places, minor, "periodic.py", "--period", str(period), within="main")
    case.judge(table, "%g ms" % (period / 1000))


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("mode", ["wall", "cpu"])
def test_waiting_counts_in_wall_time_and_not_in_cpu_time(plumb, places, minor, mode, table):
    case = Case(plumb, places, minor, "truth.py", "--program", "waits", clock=mode, options=["--mode", mode])
    case.judge(table, "waits, " + mode)


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_gil_mode_sees_only_who_holds_it(plumb, places, minor):
    """Hashing and waiting let go of the GIL; the loop does not."""
    if minor.free_threaded:
        pytest.skip("Python %s has no GIL" % minor)
    case = Case(plumb, places, minor, "truth.py", "--program", "waits", options=["--mode", "gil"])
    seen = {c.name: c for c in case.measure(SECONDS)}
    assert seen["part_loop"].samples > 300, seen["part_loop"]
    holders = ["part_loop", "part_hash"] if minor.version < (3, 7) else ["part_loop"]  # they hash with the GIL
    # The part that waits has it on its way into the wait.
    assert sum(seen[name].seen for name in holders) > 0.97, "\n".join(map(str, seen.values()))
