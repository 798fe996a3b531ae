# SPDX-License-Identifier: Apache-2.0
"""Whether what a sampler tells is true, each sampler in turn on the same programs.

Stacks: of programs whose source says which calls there can be (`# -> name`), the share of its stacks that could never have existed, and
of those that it does not call proved, at several rates, and by how much the program got slower. Shares: of programs that measure their
own parts, by how many standard errors the shares are off: their root mean square is 1 where a share is as far off as chance has it.

plumb on each interpreter, from outside and in process; the others beside it, at one rate, on the releases of PEERS. All of it in a quarter
of an hour."""
import collections
import concurrent.futures
import dataclasses
import json
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

import measures
from harness import package
from harness.callgraph import CallGraph, check
from harness.interpreters import TARGETS, cache
from harness.report import Frame, Profile, Stack
from harness.shares import compare
from harness.target import Target, started
from samplers import Plumb, PySpy, Sampler, Tachyon

# Event loops of callbacks and of coroutines, generators, two families of functions, recursion by two ways, calls of a microsecond.
PROGRAMS = ["callbacks", "coroutines", "generators", "families", "alternating", "short_calls"]
RATES = [100, 1000, 2000, None]
SECONDS = {100: 1.0, 1000: 0.7, 2000: 0.5, None: 0.5}  # of a sampler that is there at once
LATE_SECONDS = 2  # of one that is not
AT_ONCE_NS = 10e6  # that plumb may hold a program up for at its start, next to 2.5 % of its time
MEASURED = ["loops", "mixed", "ccalls", "callers"]  # programs of truth.py
MEASURED_SECONDS = 1.5
RATE = 1000  # at which they are sampled, and how much slower a program gets is told
PEERS = [(3, 11), (3, 15)]
HERE = pathlib.Path(__file__).resolve().parent
INSIDE = "truth_inside.py"
RAW = re.compile(r"(.*) \((.*):(\d+)\)")  # how py-spy writes a frame
IDENTIFIED = re.compile(r"([^\x00\x01]*)\x00([^\x00\x01]*)\x00[^\x01]*(?:\x01[^l][^\x01]*)*(?:\x01l(\d+))?")  # and pyinstrument


def python_stack(frames, samples):
    """Of frames as (name, file, line); of a qualified name, only the name is of use here."""
    known = tuple(Frame(name.rpartition(".")[2], file, int(line), "python") for name, file, line in frames)
    return Stack(known, {}, samples, samples, "exact")


def folded(path):
    """(stack, samples) of each line."""
    for line in pathlib.Path(path).read_text(errors="replace").splitlines():
        stack, _, samples = line.rpartition(" ")
        yield stack.split(";"), int(samples)


@dataclasses.dataclass
class Run:
    """What a sampler told of one program."""

    stacks: list
    slower: float = None
    held_ns: float = 0  # that plumb says it held the program up for, without what it may at its start
    lasted_ns: float = 0


def plumb_run(text):
    profile = Profile(text)
    held_ns = profile.json["overhead"]["stopped_ns"]
    return Run(profile.stacks, None, max(0, held_ns - AT_ONCE_NS), profile.json["duration_ns"])


class FromOutside:
    """A sampler that attaches to the program."""

    def __init__(self, sampler):
        self.sampler, self.name = sampler, sampler.name
        self.late = sampler.start_seconds > 0.5

    def stacks_of(self, places, python, script, rate):
        seconds = LATE_SECONDS if self.late else SECONDS[rate]
        with started(places, python, script, count=True) as target:
            if rate != RATE:
                self.sampler.run(target.pid, rate, seconds)
                return self.read(self.output)
            before = measures.pace(target, 0.25)
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                sampled = pool.submit(self.pace, target, seconds)
                self.sampler.run(target.pid, rate, seconds)
            after = measures.pace(target, 0.25)
        return dataclasses.replace(self.read(self.output), slower=2 * sampled.result() / (before + after) - 1)

    def pace(self, target, seconds):
        measures.pause(self.sampler.start_seconds)
        return measures.pace(target, seconds - self.sampler.start_seconds - 0.2)

    @property
    def output(self):
        return os.path.join(self.sampler.directory, "out")

    def measured(self, places, python, program):
        """(what the program measured, the stacks)"""
        target = Target(places, python, "truth.py", ["--program", program])
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            try:
                target.wait_ready()
                sampling = pool.submit(self.sampler.run, target.pid, RATE, 60)
                measures.pause(2 * self.sampler.start_seconds)
                target.go()
                measures.pause(MEASURED_SECONDS)
                target.stop()
                told = target.result("truth")
            finally:
                target.close()
            sampling.result()
        return told, self.read(self.output).stacks

    def close(self):
        self.sampler.close()


class TruePlumb(FromOutside):
    def read(self, output):
        return plumb_run(subprocess.run([self.sampler.binary, "report", "--json", "--idle", output], capture_output=True, check=True).stdout)


class TruePySpy(FromOutside):
    def read(self, output):
        return Run([python_stack([found.groups() for found in map(RAW.fullmatch, stack) if found], samples) for stack, samples in folded(output)])


class Collapsing(Tachyon):
    def command(self, pid, rate, seconds, output):
        return ["--collapsed" if word == "--binary" else word for word in super().command(pid, rate, seconds, output)]


class TrueTachyon(FromOutside):
    def read(self, output):
        return Run([python_stack(filter(None, map(self.frame, stack)), samples) for stack, samples in folded(output)])

    @staticmethod
    def frame(text):
        file, name, line = (text.rsplit(":", 2) + ["", ""])[:3]
        return (name, file, line if line.isdigit() else 0) if name else None


def requirement(package_name):
    lines = (HERE / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if line.startswith(package_name + "=="))


def installed(python, package_name):
    """The folder with a package that the interpreter's own pip has put there; kept for the next time."""
    folder = cache() / ("bench-%s-%s" % (package_name, python))
    if not folder.exists():
        made = folder.with_name(folder.name + ".new")
        command = [*python.command, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--target", str(made), requirement(package_name)]
        done = subprocess.run(command, capture_output=True)
        if done.returncode:
            raise RuntimeError(measures.reason(done))
        made.rename(folder)
    return str(folder)


class Inside(Sampler):
    """A sampler that the program starts itself. The interpreter sees what it needs where it has its root: the package as it was built."""

    def __init__(self, who, python):
        super().__init__(python.root)
        self.name, self.who, self.python = "%s, in process" % who, who, python
        shutil.copy(HERE / INSIDE, self.directory)
        if who != "plumb":
            self.packages = installed(python, who)
        elif package.why_not(python):
            raise RuntimeError(package.why_not(python))
        else:
            self.packages = self.inside(shutil.copytree(package.built(), os.path.join(self.directory, "packages")))

    def stacks_of(self, places, python, script, rate):
        """But for those of the signal handler that ends it, which interrupts any line of the program."""
        run = self.started(places, rate, SECONDS[rate], script)[1]
        told = [stack for stack in run.stacks if not any(frame.name == "over" and frame.file.endswith(INSIDE) for frame in stack.python)]
        return dataclasses.replace(run, stacks=told)  # `--only python` tells how much slower

    def measured(self, places, python, program):
        printed, run = self.started(places, RATE, 60, "truth.py", "--program", program, "--seconds", str(MEASURED_SECONDS))
        return next(json.loads(line) for line in printed.splitlines() if '"truth"' in line), run.stacks

    def started(self, places, rate, seconds, script, *arguments):
        """(what the program printed, the run of so many seconds, or until it ended)"""
        output, targets = os.path.join(self.directory, "out"), places.directory(self.root)[1]
        command = [*self.python.command, self.inside(os.path.join(self.directory, INSIDE)), self.who, str(1 / rate if rate else 1e-5), str(seconds),
                   self.inside(output), os.path.join(targets, script), *arguments]
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join([self.packages, targets]))
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120, env=environment)
        text = pathlib.Path(output).read_text(encoding="utf-8")
        return done.stdout, plumb_run(text) if self.who == "plumb" else Run(self.identified(json.loads(text)))

    def identified(self, stacks):
        found = [([frame.groups() for frame in map(IDENTIFIED.match, stack) if frame], samples) for stack, samples in stacks]
        return [python_stack([frame for frame in frames if frame[2]], samples) for frames, samples in found]


@dataclasses.dataclass
class Told:
    """Of one program: all samples of a sampler, those not proved, those whose stack never was."""

    samples: int
    unproved: int
    impossible: int
    slower: float
    held_ns: float
    lasted_ns: float


@dataclasses.dataclass
class Stacks:
    stacks: list


def told_of(program, run):
    verdict = check(CallGraph(TARGETS / (program + ".py")), Stacks(run.stacks))
    unproved = sum(stack.samples for stack in run.stacks if not stack.sure)
    return Told(sum(stack.samples for stack in run.stacks), unproved, verdict.impossible + verdict.outer_impossible, run.slower, run.held_ns,
                run.lasted_ns)


def comparisons(told, stacks):
    """Of each share that the program measured, as harness.shares.Comparison; by whoever called it there."""
    truth, seen, samples = collections.Counter(), collections.Counter(), 0
    for name, begin, end in zip(told["names"], told["times"][::2], told["times"][1::2]):
        truth[name] += end - begin
    for stack in stacks:
        names = [frame.name for frame in stack.python]
        for caller, name in zip(names, names[1:]):
            if caller == "measure" and name in truth:
                seen[name] += stack.weight_ns
                samples += stack.samples
    return compare(truth, seen, samples) if samples else []


def furthest(compared):
    """The share that is furthest off, None if there is none."""
    return max(compared, key=lambda comparison: abs(comparison.score), default=None)


class Truth:
    """{(Python, sampler, rate): {program: Told}}, and {(Python, sampler): {program: comparisons}}"""

    def __init__(self, places, plumb, peers):
        self.places, self.plumb, self.peers = places, plumb, peers
        self.told, self.compared = collections.defaultdict(dict), collections.defaultdict(dict)
        self.absent = []

    def samplers(self, python):
        """(sampler, whether it is one of those that are measured everywhere)"""
        yield TruePlumb(Plumb(self.plumb)), True
        yield from ((sampler, True) for sampler in self.inside("plumb", python))
        if python.minor not in PEERS or python.free_threaded:
            return
        yield TruePlumb(Plumb(self.plumb, "--never-stop")), False
        if self.peers and (self.peers / "py-spy").exists():
            spy = str(self.peers / "py-spy")
            yield TruePySpy(PySpy(spy, "--nonblocking", "--full-filenames")), False
            yield TruePySpy(PySpy(spy, "--full-filenames")), False
        else:
            self.absent.append("py-spy because it is not installed")
        if python.kind == (3, 15, ""):
            yield TrueTachyon(Collapsing(python)), False
        yield from ((sampler, False) for sampler in self.inside("pyinstrument", python))

    def inside(self, who, python):
        try:
            return [Inside(who, python)]
        except (RuntimeError, OSError) as error:
            self.absent.append("%s in process on %s because %s" % (who, python, " ".join(str(error).split())[:120]))
            return []

    def measure(self, python):
        for sampler, everywhere in self.samplers(python):
            print("bench: %s, what %s tells" % (python, sampler.name), file=sys.stderr, flush=True)
            for rate in RATES if everywhere else [RATE]:
                for program in PROGRAMS:
                    self.told[str(python), sampler.name, rate or "max"][program] = self.tried(self.stacks, python, sampler, program, rate)
            for program in MEASURED:
                self.compared[str(python), sampler.name][program] = self.tried(self.shares, python, sampler, program)
            sampler.close()

    def stacks(self, python, sampler, program, rate):
        return told_of(program, sampler.stacks_of(self.places, python, program + ".py", rate))

    def shares(self, python, sampler, program):
        return comparisons(*sampler.measured(self.places, python, program))

    def tried(self, measure, python, sampler, program, *rate):
        try:
            return measure(python, sampler, program, *rate)
        except (RuntimeError, OSError, subprocess.SubprocessError) as error:
            self.absent.append("%s, %s on %s because %s" % (sampler.name, program, python, " ".join(str(error).split())[:120]))
            return None

    @property
    def results(self):
        stacks = [{"python": python, "sampler": sampler, "rate": rate, "program": program, **dataclasses.asdict(told)}
                  for (python, sampler, rate), programs in self.told.items() for program, told in programs.items() if told]
        shares = [{"python": python, "sampler": sampler, "program": program, "part": off.name, "truth": [off.least, off.most], "seen": off.seen,
                   "standard_errors": off.score}
                  for (python, sampler), programs in self.compared.items() for program, compared in programs.items() for off in compared or []]
        return {"stacks": stacks, "shares": shares}

    def markdown(self):
        return "\n\n".join("\n".join(rows) for rows in (self.stack_rows(), self.share_rows(), self.rows()))

    def stack_rows(self):
        """At one rate, program by program, on releases with peers."""
        yield "| % that never were / % not proved | sampler | " + " | ".join(PROGRAMS) + " | the program got slower by, % |"
        yield "|---|---|" + "---:|" * (len(PROGRAMS) + 1)
        for python, sampler in self.beside_peers():
            programs = self.told[python, sampler, RATE]
            cells = ["%.2g / %.2g" % (100 * told.impossible / told.samples, 100 * told.unproved / told.samples) if told and told.samples else "-"
                     for told in map(programs.get, PROGRAMS)]
            slower = [told.slower for told in programs.values() if told and told.slower is not None]
            cells.append("%+.1f" % (100 * statistics.median(slower)) if slower else "-")
            yield "| %s | %s | %s |" % (python, sampler, " | ".join(cells))

    def share_rows(self):
        yield "| share furthest off, in points (standard errors) | sampler | " + " | ".join(MEASURED) + " |"
        yield "|---|---|" + "---:|" * len(MEASURED)
        for python, sampler in self.beside_peers():
            all_off = [furthest(self.compared[python, sampler].get(program) or []) for program in MEASURED]
            cells = ["%+.1f (%+.1f)" % (100 * off.score * off.error, off.score) if off else "-" for off in all_off]
            yield "| %s | %s | %s |" % (python, sampler, " | ".join(cells))

    def beside_peers(self):
        peers = {python for python, sampler in self.compared if not sampler.startswith("plumb")}
        return [key for key in self.compared if key[0] in peers]

    def rows(self):
        """At all rates, on each interpreter; with the peers at theirs."""
        yield ("| not proved, of all samples of %d programs | sampler | " % len(PROGRAMS) + " | ".join(str(rate or "max") for rate in RATES)
               + " | never were | held up, % | shares: root mean square of what each is off (standard errors) | furthest off |")
        yield "|---|---|" + "---:|" * (len(RATES) + 4)
        for python, sampler in self.compared:
            by_rate = [[told for told in self.told[python, sampler, rate or "max"].values() if told and told.samples] for rate in RATES]
            all_told = [told for programs in by_rate for told in programs]
            cells = ["{:,} of {:,}".format(*self.sums(programs, "unproved")) if programs else "" for programs in by_rate]
            cells.append("{:,} of {:,}".format(*self.sums(all_told, "impossible")))
            lasted_ns = sum(told.lasted_ns for told in all_told)
            cells.append("%.1f" % (100 * sum(told.held_ns for told in all_told) / lasted_ns) if lasted_ns else "")
            compared = [off for program in self.compared[python, sampler].values() for off in program or []]
            cells.append("%.1f" % math.sqrt(statistics.mean(off.score ** 2 for off in compared)) if compared else "-")
            cells.append("%+.1f of %d" % (furthest(compared).score, len(compared)) if compared else "-")
            yield "| %s | %s | %s |" % (python, sampler, " | ".join(cells))

    @staticmethod
    def sums(programs, what):
        return sum(getattr(told, what) for told in programs), sum(told.samples for told in programs)
