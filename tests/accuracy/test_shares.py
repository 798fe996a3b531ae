# SPDX-License-Identifier: Apache-2.0
"""The shares of a profile are those the program measured itself, in the default mode, on every release.

One measurement is a trial. It misses if a share is further off than the limit, in standard errors; a right profiler misses so
rarely that trials decide (harness/statistics.py). All results are printed, and the last one stands in the table. What is in
no share is held down in the same way: docs/internals/statistics.md."""
import collections
import contextlib
import json
import os
import re
import subprocess
import sys

import pytest

from harness.consumers import interpreter
from harness.processors import Others
from harness.shares import BY_CHANCE, at_most, compare, off
from harness.statistics import NotNow, holds
from harness.ticks import Timeline, sampled, start_ns

SECONDS = 2, 20  # in an ordinary run and with --soak
ENOUGH = 1000  # samples; with fewer, the program runs for twice as long
# What a sample is worth where the rate fell meanwhile, so that they stand for times of different lengths: where one lasts up to eight
# times as long as another, 4 * 8 / (1 + 8) ** 2 at least of one among equal ones (Kantorovich).
UNEVEN = 0.39
UNKNOWN = 0.02  # the share of samples that may tell no part, beside those between the parts
DOUBTFUL = 0.05  # and of those that may be unproved although there was time left for stops
STOPS = 0.025  # the share of the time that stops may take: from there on, the machine decides how many are unproved
RARE = 0.1  # share of the time without a processor, up to which what depends on it can be judged
MANY = 0.25  # of the periods: where half of them and more were missed, 12 of 26 trials were off (30 programs on two processors)
BLIND = 4  # trials: a machine that has no processor to give has none for a while
LONGEST = 8  # times the length of the first trial. Where it is not enough, as a stop takes a millisecond, fewer samples have to do:
FEW = 0.25  # of them; the limits are as much wider
DEFAULT_HZ = 1000
OTHERS = 0.015, 0.03  # of the samples of GIL mode; and where processors are rare: who has to wait for one may hold the GIL meanwhile
# Of program_natives: what each part calls, as it is named where its file has symbols, and where it has none.
FUNCTIONS = {"part_zlib": "zlib_compress.*|zlib.compress", "part_hash": ".*pbkdf2.*|.*PBKDF2.*", "part_key": "(builtin_)?sorted",
             "part_regex": r"(_sre_)?(SRE_)?[Pp]attern_match.*|re.Pattern.match", "part_sqlite": "sqlite3_step",
             "part_matmul": "DOUBLE_matmul.*"}
OUTSIDE = 0.03  # the share of the samples in a part that may be before its function is called, or behind that
WITHOUT = 0.1  # the share of the samples that may have no native frames: the first, and those whose stop has not come at the end
LOOPS = 7  # that want the processor of a program
HANDED = 0.03  # what a sampler that comes late, or whose stops do, adds to the error of a share of threads that block every 200 us
FEWEST = 10  # samples with native frames in a part, from which on it can be said how many are in its function
PROGRAMS = ["loops", "mixed", "ccalls", "callers"]
PERIODS = [500, 999, pytest.param(1000, marks=pytest.mark.smoke), 1001, 2000]  # microseconds; the sampler's own is 1000


def measured_parts(profile, truth, within, leaf):
    """{part: (samples, weight)} of the stacks in which a part is called by `within`, and `leaf` is called, if there is one: the rest is
    start, calibration, end."""
    parts = collections.defaultdict(lambda: [0, 0])
    for stack in profile.stacks:
        names = [frame.name for frame in stack.python]
        if leaf and leaf not in names:
            continue
        for caller, name in zip(names, names[1:]):
            if caller == within and name in truth:
                parts[name][0] += stack.samples
                parts[name][1] += stack.weight_ns
    return parts


def unknown_share(profile, within):
    """Of the samples that may have missed their part: stacks of which only an outer piece is proved, wherever it ends, and
    those that end in `within` itself, its own few instructions among them."""
    unknown = [s for s in profile.stacks if s.quality == "partial" or [f.name for f in s.python[-1:]] == [within]]
    return sum(s.samples for s in unknown) / profile.samples


class Measured:
    """What a program told of its parts, and what the profile of the time in which they ran tells."""

    def __init__(self, plumb, recording, told, within, leaf, crowded):
        self.told, self.within, self.crowded = told, within, crowded
        self.whole = plumb.report(recording)
        self.timeline = Timeline(told, start_ns(self.whole))
        self.profile = plumb.report(recording, "--time", "%.9f..%.9f" % (self.timeline.begin / 1e9, self.timeline.end / 1e9))
        self.parts = measured_parts(self.profile, set(told["names"]), within, leaf)
        self.samples = sum(samples for samples, _ in self.parts.values())
        self.worth = self.samples * (UNEVEN if self.whole.json["overhead"]["lowered_to_hz"] else 1)
        self.seen = {name: weight for name, (_, weight) in self.parts.items()}
        self.period_ns = self.whole.json["period_ns"]
        self.periods = sampled(plumb, recording, self.period_ns)

    @property
    def stops_used_up(self):
        """Whether the time for stops was about used up."""
        return self.whole.json["overhead"]["stopped_ns"] >= 0.8 * STOPS * self.whole.json["duration_ns"]

    @property
    def missed(self):
        """The share of the periods in which the sampler got no processor."""
        missed = self.whole.losses["missed"]
        return missed / (missed + self.whole.json["ticks"])

    def native(self):
        """The same of the functions of C that the parts call. Samples without native frames are in a part, and tell nothing of
        its function: of these it has the share that it has of the others. Who has to wait for a processor for most of its time
        runs in few pieces, and the samples of one say less than as many at random."""
        self.undecided_if(self.missed > MANY or self.held_up > MANY)
        inside, all_of = collections.Counter(), collections.Counter()
        for stack in self.profile.stacks:
            part = next((f.name for f in stack.python if f.name in FUNCTIONS), None)
            names = [f.name for f in stack.frames if f.kind == "native"]
            if part and names:
                all_of[part] += stack.samples
                inside[part] += stack.samples * any(re.fullmatch(FUNCTIONS[part], name) for name in names)
        self.undecided_if(any(all_of[part] < FEWEST for part in self.told["names"]))
        self.seen = {part: weight * inside[part] / all_of[part] for part, weight in self.seen.items()}
        total = sum(all_of.values())
        return self.wall() + [at_most("outside", OUTSIDE, 1 - sum(inside.values()) / total, total)]

    def late(self):
        """Of a program whose stops mostly come late: the parts, by the Python frames of each tick. The native frames, which the stop
        has told later, are of the same part. Where the sampler itself has to wait for a processor for long, shares say little."""
        for stack in self.profile.stacks:
            part = next((f.name for f in stack.python if f.name in FUNCTIONS), None)
            others = [f.name for f in stack.frames if f.kind == "native" and any(
                re.fullmatch(pattern, f.name) for other, pattern in FUNCTIONS.items() if part and other != part)]
            assert not others, stack
        shares = self.wall() if self.missed <= MANY else []
        return shares + [at_most("without", WITHOUT, self.whole.losses["native"] / self.whole.samples, self.whole.samples)]

    def wall(self):
        """Of the parts, what they took of the time that was sampled, and of the samples; and what tells none or is not proved."""
        truth = self.timeline.time_in(self.periods, self.period_ns)
        between = truth.pop(None, 0)
        between /= between + sum(truth.values())
        unknown = unknown_share(self.profile, self.within)
        if self.stops_used_up or self.missed > RARE or self.held_up > RARE:
            # The machine decides how much is proved, and a sampler that waits for a processor gets it where the program loses it, which
            # is between the parts. Samples that tell no part may be of any: no share is known better than that.
            error = max(0.0, unknown - between) / 3
            self.undecided_if(error > UNKNOWN)
            return compare(truth, self.seen, self.worth, error=error)
        doubtful = self.profile.quality["doubtful"] / self.profile.samples
        return compare(truth, self.seen, self.worth) + [
            at_most("unknown", UNKNOWN + between, unknown, self.profile.samples),
            at_most("doubtful", DOUBTFUL, doubtful, self.profile.samples)]

    def wall_in_step(self):
        """Where many periods are missed, those that are not come at a stretch, and say less than as many at random."""
        self.undecided_if(self.missed > MANY)
        return self.wall()

    def undecided_if_somebody_waits(self):
        """Where the program falls asleep, the sampler gets the processor that it waited for: of late samples there are too many. Those
        that are late by less than a period are not missed, and hardly hold up the program: so there must be a processor for each."""
        self.undecided_if(self.crowded or self.missed > RARE or self.held_up > RARE)

    def wall_with_waits(self):
        self.undecided_if_somebody_waits()
        return self.wall()

    def cpu(self):
        """Of the CPU time. Where others take the processor of a part there is a sample of it, and the CPU time is told for many samples
        at once: so what a part waited may be in its share or not, whatever is in those of the others."""
        self.undecided_if_somebody_waits()
        return compare(self.told["cpu"], self.seen, self.worth, longest=self.told["ready"])

    @property
    def held_up(self):
        """The share of the time that the program was ready in which it got no processor; 0 of one that has no time between its parts."""
        if "ready" not in self.told:
            return 0.0
        return 1 - sum(self.told["cpu"].values()) / sum(self.told["ready"].values())

    def undecided_if(self, condition):
        if condition:
            raise NotNow(self)

    def __str__(self):
        stopped = self.whole.json["overhead"]["stopped_ns"] / self.whole.json["duration_ns"]
        text = "%d samples; the sampler missed %.1f %% of the periods; stops took %.2f %% of the time" % (
            self.samples, 100 * self.missed, 100 * stopped)
        if self.held_up:
            text += "; the program had no processor in %.1f %% of its time" % (100 * self.held_up)
        if self.crowded:
            text += "; others took one of the two processors that it and the sampler need"
        return "%s; %s" % (text, self.profile.quality)


class Case:
    """One program on one interpreter."""

    def __init__(self, plumb, places, python, script, *arguments, within="measure", leaf=None, options=(), slower=1, longer=1):
        self.plumb, self.python = plumb, python
        # Descriptor 9 tells the program how long it waits for a processor: in some places it has no /proc.
        self.command = ["sh", "-c", 'exec 9</proc/self/schedstat; exec "$@"', "sh", *python.command,
                        places.directory(python.root)[1] + "/" + script, "--schedstat", "9", *arguments]
        self.within, self.leaf, self.options = within, leaf, options
        self.slower, self.longer = slower, longer

    def measure(self, seconds, enough=ENOUGH):
        """For so long, or as long as it takes, which a trial after this one need not find out again."""
        rate = ["-r", str(DEFAULT_HZ // self.slower)] if self.slower > 1 else []
        while True:
            recording = self.plumb.path()
            command, others = [*self.command, "--seconds", str(seconds * self.longer)], Others()
            result = self.plumb("run", *self.options, *rate, "-o", recording, "--", *command)
            assert result.status == 0, result
            crowded = not others.leave(2)
            told = [json.loads(line) for line in result.stdout.splitlines() if '"truth"' in line][-1]
            measured = Measured(self.plumb, recording, told, self.within, self.leaf, crowded)
            print(measured)
            if self.longer >= LONGEST:
                measured.undecided_if(measured.samples < enough * FEW)
            elif measured.samples < enough:
                self.longer *= 2
                continue
            return measured

    def judge(self, table, column, seconds, of=Measured.wall, any_rate=False, enough=ENOUGH):
        """any_rate: where stops take long the time for them does not last for the default rate, and a trial that says nothing for that is
        followed by one at half of the rate, with as many samples."""

        def trial():
            measured = self.measure(seconds, enough)
            if any_rate and measured.stops_used_up and self.longer < LONGEST:
                self.slower, self.longer = 2 * self.slower, 2 * self.longer
            found = of(measured)
            print("\n".join(map(str, found)))
            table(self.python, column, "%+.1f" % max((c.score for c in found), key=abs))
            return off(found)

        holds(trial, BY_CHANCE, blind=BLIND)


# Beside as many as wait it took 19 s of a processor to decide one of these, and some could not be; here it takes one trial.
@pytest.mark.processor
@pytest.mark.slow
@pytest.mark.thinned(1, of=len(PROGRAMS))
@pytest.mark.parametrize("program", PROGRAMS)
def test_shares_are_those_the_program_measured(plumb, places, minor, program, table, effort):
    Case(plumb, places, minor, "truth.py", "--program", program).judge(table, program, effort(*SECONDS), any_rate=True)


@pytest.mark.processor
@pytest.mark.slow
@pytest.mark.parametrize("period", PERIODS)  # whether they beat together is the clock's doing, not the interpreter's
def test_a_program_in_step_with_the_sampler_is_seen_as_it_is(plumb, places, any_python, period, table, effort):
    case = Case(plumb, places, any_python, "periodic.py", "--period", str(period), within="main")
    case.judge(table, "%g ms" % (period / 1000), effort(*SECONDS), Measured.wall_in_step)


# Within the usual limits a stack with its tasks can be had some 200 times a second: what is asked for that often has enough in one run,
# and what is asked for more often finds out in three.
@pytest.mark.processor
@pytest.mark.slow
def test_what_a_task_takes_is_that_of_who_awaits_it(plumb, places, few, table, effort):
    if few.version < (3, 7):
        pytest.skip("tasks are read on 3.7 and later")
    case = Case(plumb, places, few, "awaited_shares.py", within="top", leaf="leaf", options=["--tasks"], slower=4, longer=2)
    case.judge(table, "tasks", effort(*SECONDS), any_rate=True, enough=ENOUGH // 2)


@pytest.mark.processor
@pytest.mark.slow
def test_with_native_frames_shares_are_the_same(plumb, places, any_python, table, effort):
    """Each thread that runs is stopped, also in C code without the GIL."""
    case = Case(plumb, places, any_python, "truth.py", "--program", "ccalls", options=["--native"])
    case.judge(table, "--native", effort(*SECONDS), any_rate=True)


# With native frames a stack can be had some 300 times a second within the usual limits.
@pytest.mark.processor
@pytest.mark.slow
@pytest.mark.parametrize("numpy", [False, True])
def test_functions_of_c_have_the_shares_that_their_calls_took(plumb, places, any_python, numpy, table, effort):
    """zlib, OpenSSL, a sort with a key of Python, a regular expression, SQLite; a product of matrices in assembler."""
    python = interpreter("venv-dashboard", "numpy") if numpy else any_python
    case = Case(plumb, places, python, "truth.py", "--program", "natives", options=["--native"], slower=4, longer=2)
    case.judge(table, "functions of C", effort(*SECONDS), Measured.native, any_rate=True, enough=ENOUGH // 2)


@contextlib.contextmanager
def busy_loops(processor):
    loops = [subprocess.Popen(["taskset", "-c", str(processor), sys.executable, "-c", "while True: pass"]) for _ in range(LOOPS)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


@pytest.mark.slow
def test_a_thread_that_waits_for_a_processor_has_its_native_frames(plumb, places, any_python, table, effort):
    """It is stopped when it gets one: several samples wait for that."""
    processor = min(os.sched_getaffinity(0))
    case = Case(plumb, places, any_python, "truth.py", "--program", "natives", options=["--native", "--max-overhead", "none"], slower=2)
    case.command = ["taskset", "-c", str(processor), *case.command]
    with busy_loops(processor):
        case.judge(table, "late stops", effort(*SECONDS), Measured.late, enough=ENOUGH // 2)


@pytest.mark.alone
@pytest.mark.slow
def test_waiting_counts_in_wall_time(plumb, places, few, table, effort):
    case = Case(plumb, places, few, "truth.py", "--program", "waits")
    case.judge(table, "waits, wall", effort(*SECONDS), Measured.wall_with_waits)


@pytest.mark.alone
@pytest.mark.slow
def test_waiting_does_not_count_in_cpu_time(plumb, places, few, table, effort):
    """Who has a processor is the kernel's to say, not the interpreter's."""
    if few.version < (3, 3):
        pytest.skip("Python %s has no clock of a thread's CPU time: to read it through ctypes takes 20 us behind a wait, half of what falling "
                    "asleep and waking up take" % few)
    case = Case(plumb, places, few, "truth.py", "--program", "waits", options=["--mode", "cpu"])
    case.judge(table, "waits, cpu", effort(*SECONDS), Measured.cpu)


@pytest.mark.alone
@pytest.mark.slow
def test_falling_asleep_and_waking_up_are_cpu_time(plumb, places, any_python, table, effort):
    """A hundredth of the CPU time: the samples must tell a thread that is about to sleep, or has just woken up, from one that sleeps."""
    case = Case(plumb, places, any_python, "truth.py", "--program", "naps", options=["--mode", "cpu"])
    case.judge(table, "naps, cpu", effort(6, 20), Measured.cpu)


@contextlib.contextmanager
def one_processor():
    """For this process and what it starts."""
    all_of = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(all_of)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, all_of)


@pytest.mark.processor
@pytest.mark.slow
def test_who_hands_work_over_on_the_processor_of_the_sampler_has_its_cpu_time(plumb, places, any_python, table, effort):
    """Both threads block and lose the processor many times in a period: who had it when the sampler came is who ran."""
    if any_python.version < (3, 3):
        pytest.skip("Python %s has no clock of a thread's CPU time" % any_python)
    if not os.path.exists("/proc/self/sched"):
        pytest.skip("this kernel does not tell when a thread ran last")
    command = [*any_python.command, places.directory(any_python.root)[1] + "/handing.py"]
    longer = 1

    def trial():
        nonlocal longer
        recording = plumb.path()
        with one_processor():
            result = plumb("run", "--mode", "cpu", "-o", recording, "--", *command, "--seconds", str(longer * effort(4, 20)))
        assert result.status == 0, result
        truth = [json.loads(line) for line in result.stdout.splitlines() if '"truth"' in line][-1]["cpu"]
        profile = plumb.report(recording)
        parts = measured_parts(profile, set(truth), "call", None)
        samples = sum(count for count, _ in parts.values())
        if samples < ENOUGH * FEW:
            longer = min(2 * longer, LONGEST)
            raise NotNow("%d samples" % samples)
        found = compare(truth, {name: weight for name, (_, weight) in parts.items()}, samples, error=HANDED)
        print("\n".join(map(str, found)))
        table(any_python, "handed over", "%+.1f" % max((c.score for c in found), key=abs))
        return off(found)

    holds(trial, BY_CHANCE, blind=BLIND)


@pytest.mark.processor
@pytest.mark.slow
def test_gil_mode_sees_only_who_holds_it(plumb, places, minor, table, effort):
    """Hashing and waiting let go of the GIL; the loop does not. The part that waits has it on its way into the wait."""
    if minor.free_threaded:
        pytest.skip("Python %s has no GIL" % minor)
    holders = ["part_loop", "part_hash"] if minor.version < (3, 7) else ["part_loop"]  # they hash with the GIL
    case = Case(plumb, places, minor, "truth.py", "--program", "waits", options=["--mode", "gil"])

    def trial():
        measured = case.measure(effort(*SECONDS), enough=ENOUGH // 2)
        others = sum(weight for name, weight in measured.seen.items() if name not in holders) / sum(measured.seen.values())
        found = at_most("others", OTHERS[measured.missed > RARE], others, measured.samples)
        print(found)
        # Who loses its processor on the way into a wait holds the GIL for as long as it waits for another one.
        measured.undecided_if(off([found]) and measured.held_up > 0.5)
        table(minor, "waits, gil", "%+.1f" % found.score)
        return off([found])

    holds(trial, BY_CHANCE, blind=BLIND)
