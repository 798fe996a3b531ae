# SPDX-License-Identifier: Apache-2.0
"""Whether what a sampler tells is true, each sampler in turn on the same programs.

Stacks: of programs whose source says which calls there can be (`# -> name`), the share of its stacks that could never have existed, and
of those that it does not call proved, at several rates, and by how much the program got slower. Shares: of programs that measure their own parts, by how many standard errors
a part's share is off at most."""
import collections
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

import measures
from harness import package
from harness.callgraph import CallGraph, check
from harness.interpreters import TARGETS
from harness.report import Frame, Profile, Stack
from harness.shares import compare
from harness.target import Target, started
from samplers import Plumb, PySpy, Sampler, Tachyon

# Event loops of callbacks and of coroutines, generators, two families of functions, recursion by two ways, calls of a microsecond.
PROGRAMS = ["callbacks", "coroutines", "generators", "families", "alternating", "short_calls"]
RATES = [100, 1000, 2000, None]
SECONDS = 2
MEASURED = ["loops", "mixed", "ccalls", "callers"]  # programs of truth.py
RATE = 1000  # at which they are sampled
INSIDE = str(pathlib.Path(__file__).resolve().parent / "truth_inside.py")
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


class FromOutside:
    """A sampler that attaches to the program."""

    def __init__(self, sampler):
        self.sampler, self.name = sampler, sampler.name

    def stacks_of(self, places, python, script, rate):
        """(the stacks, by how much the program got slower)"""
        with started(places, python, script, count=True) as target:
            before = measures.pace(target, 0.25)
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                sampled = pool.submit(self.pace, target)
                self.sampler.run(target.pid, rate, SECONDS)
            after = measures.pace(target, 0.25)
        return self.read(os.path.join(self.sampler.directory, "out")), 2 * sampled.result() / (before + after) - 1

    def pace(self, target):
        measures.pause(self.sampler.start_seconds)
        return measures.pace(target, SECONDS - self.sampler.start_seconds - 0.2)

    def measured(self, places, python, program):
        """(what the program measured, the stacks)"""
        target = Target(places, python, "truth.py", ["--program", program])
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            try:
                target.wait_ready()
                sampling = pool.submit(self.sampler.run, target.pid, RATE, 60)
                measures.pause(2 * self.sampler.start_seconds)
                target.go()
                measures.pause(SECONDS)
                target.stop()
                told = target.result("truth")
            finally:
                target.close()
            sampling.result()
        return told, self.read(os.path.join(self.sampler.directory, "out"))

    def close(self):
        self.sampler.close()


class TruePlumb(FromOutside):
    def read(self, output):
        text = subprocess.run([self.sampler.binary, "report", "--json", "--idle", output], capture_output=True, check=True).stdout
        return Profile(text).stacks


class TruePySpy(FromOutside):
    def read(self, output):
        return [python_stack([found.groups() for found in map(RAW.fullmatch, stack) if found], samples) for stack, samples in folded(output)]


class Collapsing(Tachyon):
    def command(self, pid, rate, seconds, output):
        return ["--collapsed" if word == "--binary" else word for word in super().command(pid, rate, seconds, output)]


class TrueTachyon(FromOutside):
    def read(self, output):
        return [python_stack(filter(None, map(self.frame, stack)), samples) for stack, samples in folded(output)]

    @staticmethod
    def frame(text):
        file, name, line = (text.rsplit(":", 2) + ["", ""])[:3]
        return (name, file, line if line.isdigit() else 0) if name else None


class Inside(Sampler):
    """A sampler that the program starts itself."""

    def __init__(self, who, packages):
        super().__init__()
        self.name = "%s, in process" % who
        self.who, self.packages = who, packages

    def works_on(self, python):
        """Where files are ours, too, and the package can be imported."""
        found = [*python.command, "-c", "import " + self.who]
        return not python.root and subprocess.run(found, capture_output=True, env=self.environment()).returncode == 0

    def stacks_of(self, _, python, script, rate):
        """But for those of the signal handler that ends it, which interrupts any line of the program."""
        stacks = self.started(python, rate, SECONDS, script)[1]
        told = [stack for stack in stacks if not any(frame.name == "over" and frame.file == INSIDE for frame in stack.python)]
        return told, None  # `--only python` tells how much slower

    def measured(self, _, python, program):
        printed, stacks = self.started(python, RATE, 60, "truth.py", "--program", program, "--seconds", str(SECONDS))
        return next(json.loads(line) for line in printed.splitlines() if '"truth"' in line), stacks

    def started(self, python, rate, seconds, script, *arguments):
        """(what the program printed, its stacks of so many seconds, or until it ended)"""
        output = os.path.join(self.directory, "out")
        command = [*python.command, INSIDE, self.who, str(1 / rate if rate else 1e-5), str(seconds), output, str(TARGETS / script)]
        done = subprocess.run([*command, *arguments], check=True, capture_output=True, text=True, timeout=120, env=self.environment())
        text = pathlib.Path(output).read_text(encoding="utf-8")
        return done.stdout, Profile(text).stacks if self.who == "plumb" else self.identified(json.loads(text))

    def environment(self):
        return dict(os.environ, PYTHONPATH=os.pathsep.join([str(package.built()), str(TARGETS), *self.packages]))

    def identified(self, stacks):
        found = [([frame.groups() for frame in map(IDENTIFIED.match, stack) if frame], samples) for stack, samples in stacks]
        return [python_stack([frame for frame in frames if frame[2]], samples) for frames, samples in found]


@dataclasses.dataclass
class Told:
    """What a sampler told of one program: all its samples, those not proved, those whose stack never was."""

    samples: int
    unproved: int
    impossible: int
    slower: float


@dataclasses.dataclass
class Stacks:
    stacks: list


def told_of(program, stacks, slower):
    verdict = check(CallGraph(TARGETS / (program + ".py")), Stacks(stacks))
    unproved = sum(stack.samples for stack in stacks if not stack.sure)
    return Told(sum(stack.samples for stack in stacks), unproved, verdict.impossible + verdict.outer_impossible, slower)


def worst(told, stacks):
    """The share that is furthest off, as harness.shares.Comparison: of what the program measured, by whoever called it there."""
    truth, seen, samples = collections.Counter(), collections.Counter(), 0
    for name, begin, end in zip(told["names"], told["times"][::2], told["times"][1::2]):
        truth[name] += end - begin
    for stack in stacks:
        names = [frame.name for frame in stack.python]
        for caller, name in zip(names, names[1:]):
            if caller == "measure" and name in truth:
                seen[name] += stack.weight_ns
                samples += stack.samples
    return max(compare(truth, seen, samples), key=lambda comparison: abs(comparison.score)) if samples else None


class Truth:
    """{(Python, sampler, rate): {program: Told}}, and {(Python, sampler): {program: how far off}}"""

    def __init__(self, places, plumb, peers):
        self.places, self.plumb, self.peers = places, plumb, peers
        self.told, self.off = collections.defaultdict(dict), collections.defaultdict(dict)
        self.absent = []

    def samplers(self, python):
        found = [TruePlumb(Plumb(self.plumb)), TruePlumb(Plumb(self.plumb, "--never-stop"))]
        if self.peers and (self.peers / "py-spy").exists():
            spy = str(self.peers / "py-spy")
            found += [TruePySpy(PySpy(spy, "--nonblocking", "--full-filenames")), TruePySpy(PySpy(spy, "--full-filenames"))]
        if python.kind == (3, 15, ""):
            found.append(TrueTachyon(Collapsing(python)))
        packages = [str(path) for path in self.peers.glob("../lib/python*/site-packages")] if self.peers else []
        inside = [Inside(who, packages) for who in ("plumb", "pyinstrument")]
        return found + [sampler for sampler in inside if sampler.works_on(python)]

    def measure(self, python):
        for sampler in self.samplers(python):
            print("bench: %s, what %s tells" % (python, sampler.name), file=sys.stderr, flush=True)
            for rate in RATES:
                for program in PROGRAMS:
                    self.told[str(python), sampler.name, rate or "max"][program] = self.tried(self.stacks, python, sampler, program, rate)
            for program in MEASURED:
                self.off[str(python), sampler.name][program] = self.tried(self.shares, python, sampler, program)
            sampler.close()

    def stacks(self, python, sampler, program, rate):
        return told_of(program, *sampler.stacks_of(self.places, python, program + ".py", rate))

    def shares(self, python, sampler, program):
        return worst(*sampler.measured(self.places, python, program))

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
                  for (python, sampler), programs in self.off.items() for program, off in programs.items() if off]
        return {"stacks": stacks, "shares": shares}

    def markdown(self):
        return "\n\n".join(["\n".join(self.stack_rows()), "\n".join(self.share_rows())])

    def stack_rows(self):
        yield "| % that never were / % not proved | sampler | rate | " + " | ".join(PROGRAMS) + " | the program got slower by, % |"
        yield "|---|---|---:|" + "---:|" * (len(PROGRAMS) + 1)
        for (python, sampler, rate), programs in self.told.items():
            cells = ["%.2g / %.2g" % (100 * told.impossible / told.samples, 100 * told.unproved / told.samples) if told and told.samples else "-"
                     for told in map(programs.get, PROGRAMS)]
            slower = [told.slower for told in programs.values() if told and told.slower is not None]
            cells.append("%+.1f" % (100 * statistics.median(slower)) if slower else "-")
            yield "| %s | %s | %s | %s |" % (python, sampler, rate, " | ".join(cells))

    def share_rows(self):
        yield "| share furthest off, in points (standard errors) | sampler | " + " | ".join(MEASURED) + " |"
        yield "|---|---|" + "---:|" * len(MEASURED)
        for (python, sampler), programs in self.off.items():
            cells = ["%+.1f (%+.1f)" % (100 * off.score * off.error, off.score) if off else "-" for off in map(programs.get, MEASURED)]
            yield "| %s | %s | %s |" % (python, sampler, " | ".join(cells))
