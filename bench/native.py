# SPDX-License-Identifier: Apache-2.0
"""How fast native stacks are made: in memory, by tests/tools/native_rate, and by whole samplers on one program in turn. The program
is tests/targets/native_calls.py, whose stacks are some 40 native frames deep."""
import json
import os
import pathlib
import statistics
import subprocess

import measures
from harness import interpreters
from harness.target import started
from samplers import Austin, Plumb, PySpy

RATE, SHORT, LONG = 200, 1, 5
ROUNDS = 3  # of native_rate: other programs take caches away, so the best of them counts
LOADER, LIBRARIES = "lib64/ld-linux-x86-64.so.2", ("lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu")


class NativePlumb(Plumb):
    """Counts the stacks that have native frames."""

    def __init__(self, binary):
        super().__init__(binary, "--native", "--max-overhead", "none")

    def stacks(self, output, _):
        report = self.report()
        return report["samples"]["total"] - report["losses"]["native"]


class AustinP(Austin):
    """Where the C library is older than it needs it is started by the loader of another root directory, with its libraries; so it
    sees our files. Stacks that it counts as errors are none."""

    name = "austinp"

    def __init__(self, program):
        super().__init__(program)
        self.program = os.path.join(self.directory, "austinp")
        newer = interpreters.cache() / "sid"
        runs = subprocess.run([self.program, "--version"], capture_output=True).returncode == 0
        libraries = ":".join(str(newer / path) for path in LIBRARIES)
        self.loader = [] if runs else [str(newer / LOADER), "--library-path", libraries]

    def command(self, pid, rate, seconds, output):
        return [*self.loader, self.program, "-i", str(1000000 // rate), "-x", str(seconds), "-o", output, "-p", str(pid)]

    def stacks(self, _, text):
        errors, all_stacks = self.counts(text) or (0, 0)
        return all_stacks - errors


class Native:
    def __init__(self, places, plumb, peers, rounds):
        self.places, self.plumb, self.peers, self.rounds = places, plumb, pathlib.Path(peers) if peers else None, rounds
        self.results, self.absent = {}, []

    def measure(self, python):
        with started(self.places, python, "native_calls.py") as target:
            rates = [self.rate(target.pid) for _ in range(ROUNDS)]
            self.results[str(python)] = {"rates": rates, "samplers": self.compare(python, target.pid)}

    def rate(self, pid):
        program = pathlib.Path(self.plumb).parent / "tests/tools/native_rate"
        return json.loads(subprocess.run([program, str(pid)], capture_output=True, text=True, check=True).stdout)

    def samplers(self):
        yield NativePlumb(self.plumb)
        for name, make in (("py-spy", lambda path: PySpy(path, "--native")), ("austinp", AustinP)):
            if self.peers and (self.peers / name).exists():
                yield make(str(self.peers / name))
            else:
                self.absent.append("%s because it is not installed" % name)

    def compare(self, python, pid):
        """{sampler: (us of CPU time a stack, stacks delivered, of those asked for)}, in turns; medians."""
        samplers, found = list(self.samplers()), {}
        for _ in range(self.rounds):
            for sampler in samplers:
                try:
                    seconds, rate, _ = measures.cost(sampler, pid, RATE, SHORT, LONG)
                    found.setdefault(sampler.name, []).append((1e6 * seconds, rate / RATE))
                except (RuntimeError, OSError, ZeroDivisionError) as error:
                    self.absent.append("%s on %s because %s" % (sampler.name, python, " ".join(str(error).split())[:120]))
        for sampler in samplers:
            sampler.close()
        return {name: tuple(statistics.median(column) for column in zip(*rows)) for name, rows in found.items()}

    def markdown(self):
        return "\n\n".join(["\n".join(self.rate_rows()), "\n".join(self.sampler_rows())])

    def rate_rows(self):
        yield "| Python | native frames a stack | unwinds of 40 frames a second | ns a frame | stacks with their Python frames, made nodes, a second | the same with stopping and reading | all unwind tables of the interpreter, ms |"
        yield "|---|--:|--:|--:|--:|--:|--:|"
        yield "| goal | | >= 300000 | | >= 10000 | | <= 10 |"
        for python, result in self.results.items():
            rates = result["rates"]
            most = {what: max(rate[what] for rate in rates) for what in ("unwinds_of_40_per_s", "merged_per_s", "samples_per_s")}
            frames = statistics.median(rate["frames"] / rate["stacks"] for rate in rates)
            yield "| %s | %.1f | %.0f | %.1f | %.0f | %.0f | %.2f |" % (
                python, frames, most["unwinds_of_40_per_s"], min(rate["frame_ns"] for rate in rates), most["merged_per_s"],
                most["samples_per_s"], min(rate["tables_ms"] for rate in rates))

    def sampler_rows(self):
        yield "| Python | sampler, at %d Hz | us of CPU a stack with native frames | to plumb's | delivered of those asked for, %% |" % RATE
        yield "|---|---|--:|--:|--:|"
        for python, result in self.results.items():
            costs = result["samplers"]
            ours = next((cost for name, (cost, _) in costs.items() if name.startswith("plumb")), None)
            for name, (cost, delivered) in costs.items():
                ratio = "%.1f x" % (cost / ours) if ours and not name.startswith("plumb") else ""
                yield "| %s | `%s` | %.0f | %s | %.0f |" % (python, name, cost, ratio, 100 * delivered)
