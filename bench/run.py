# SPDX-License-Identifier: Apache-2.0
"""Measure plumb beside py-spy, austin and CPython's own sampler, in one go on the same programs; print a table with ratios and
write all figures as JSON. `./dev bench` calls it. What cannot be had is named at the end."""
import argparse
import json
import os
import pathlib
import platform
import sys

import formats
import measures
import native
import page
import python_package
import truth
from harness import interpreters
from harness.target import Places
from samplers import Austin, Plumb, PySpy, Tachyon

MINORS, NATIVE_MINORS, TRUTH_MINORS = [(3, 14), (3, 15)], [(3, 12)], [(3, n) for n in range(8, 16)]
LOOKS, DUMPS = 5, 15  # runs of each sampler
PARTS = ["stacks", "threads", "slowdown", "first", "dump", "minute"]
# Take minutes or gigabytes: only if they are asked for. TRUTH and NATIVE are of each interpreter, the others need no sampler.
TRUTH, NATIVE, FORMATS, PAGE, PYTHON = EXTRA = "truth", "native", "formats", "page", "python"


class Table:
    """Rows of (what, who, value); the ratio is to plumb's value of the same row."""

    def __init__(self):
        self.rows = []

    def add(self, python, what, values, goal="", digits=1):
        ours = next((v for name, v in values.items() if name.startswith("plumb")), None)
        for name, value in values.items():
            ratio = "" if name.startswith("plumb") or not ours else "%.1f x" % (value / ours)
            self.rows.append((str(python), what, name, "%.*f" % (digits, value), ratio, goal if name.startswith("plumb") else ""))

    def markdown(self):
        head = ("Python", "what", "sampler", "value", "to plumb's", "goal")
        lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
        return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in self.rows])


class Bench:
    def __init__(self, options):
        self.options = options
        self.places = Places()
        self.results = {"machine": machine()}
        self.table = Table()
        self.absent = []

    def samplers(self, python):
        """plumb first, then every peer that works on that interpreter."""
        peers = pathlib.Path(self.options.peers) if self.options.peers else None
        found = [Plumb(self.options.plumb)]
        if peers and (peers / "py-spy").exists():
            found += [PySpy(str(peers / "py-spy"), "--nonblocking"), PySpy(str(peers / "py-spy"))]
        else:
            self.absent.append("py-spy because it is not installed")
        if peers and (peers / "austin").exists():
            found.append(Austin(str(peers / "austin"), python.root))
        else:
            self.absent.append("austin because it is not installed")
        if python.kind == (3, 15, ""):
            found.append(Tachyon(python))
        working = [sampler for sampler in found if sampler.works_on(python) and self.tried(sampler, python)]
        for sampler in found:
            if sampler not in working:
                sampler.close()
        return working

    def tried(self, sampler, python):
        """Whether it takes stacks at all here."""
        with measures.busy(self.places, python, 10) as target:
            try:
                sampler.run(target.pid, 100, 1)
            except (RuntimeError, OSError) as error:
                self.absent.append("%s on %s because %s" % (sampler.name, python, " ".join(str(error).split())[:120]))
                return False
        return True

    def compare(self, python):
        """Each part of the comparison that was asked for: (its name in --only, what it is, how it is measured)."""
        results, samplers = self.results.setdefault(str(python), {}), self.samplers(python)
        parts = (("stacks", "CPU per stack", self.stacks), ("threads", "200 threads", self.threads),
                 ("slowdown", "slowdown", self.slowdowns), ("first", "first sample", self.first_samples),
                 ("dump", "a dump", self.all_dumps), ("minute", "bytes of a minute", self.minutes))
        for name, what, measure in parts:
            if name in self.options.only:
                print("bench: %s, %s" % (python, what), file=sys.stderr, flush=True)
                measure(python, samplers, results)
        for sampler in samplers:
            sampler.close()

    def stacks(self, python, samplers, results):
        results["per_stack"] = costs = measures.per_stack(self.places, python, samplers, self.options.rounds)
        for case, values in costs.items():
            goal = {"depth 10, max": "<= 5", "depth 100, max": "<= 7"}.get(case, "")
            self.table.add(python, "us of CPU per stack, " + case, {n: v["us_per_stack"] for n, v in values.items()}, goal)
        fastest = {n: v["stacks_per_s"] for n, v in costs["depth 10, max"].items()}
        self.table.add(python, "stacks per second, depth 10, max", fastest, ">= 150000", 0)
        for rate, goal in (("1000", "< 6"), ("max", "")):
            values = {n: v["rss_bytes"] / 1e6 for n, v in costs["depth 100, " + rate].items()}
            self.table.add(python, "peak memory, depth 100, %s, MB" % rate, values, goal)

    def threads(self, python, samplers, results):
        results["threads"] = threads = measures.rounds_of_threads(self.places, python, samplers[:1])
        self.table.add(python, "a round over 200 threads, ms", {n: v["wall_ms"] for n, v in threads.items()}, "<= 0.4", 2)

    def peers(self, samplers):
        return [sampler for sampler in samplers[1:] if "--nonblocking" not in sampler.name]

    def first_samples(self, python, samplers, results):
        results["first_sample_ms"] = first = measures.first_sample(self.places, python, samplers[0], 10)
        looks, failures = measures.one_look(self.places, python, self.peers(samplers), LOOKS)
        self.tell_failures(python, "one look", LOOKS, failures)
        results["one_look_ms"] = looks
        self.table.add(python, "attach to first sample (peers: one look), ms", {samplers[0].name: first, **looks}, "<= 20")

    def all_dumps(self, python, samplers, results):
        peers = self.peers(samplers)
        self.dumps(python, [samplers[0], *peers], results, "dump_ms", "a dump of 10 threads, ms")
        showing_locals = [Plumb(self.options.plumb, "--locals"), *(PySpy(s.program, "--locals") for s in peers if isinstance(s, PySpy))]
        self.dumps(python, showing_locals, results, "dump_locals_ms", "the same with local variables, ms")
        for sampler in showing_locals:
            sampler.close()

    def minutes(self, python, samplers, results):
        chosen = [sampler for sampler in samplers if "py-spy" not in sampler.name]
        results["minute_bytes"] = sizes = measures.bytes_of_a_minute(self.places, python, chosen)
        self.table.add(python, "a minute at 1 kHz, depth 100, MB", {n: v / 1e6 for n, v in sizes.items()}, "<= 0.1", 3)

    def dumps(self, python, samplers, results, key, what):
        results[key], failures = measures.one_dump(self.places, python, samplers, DUMPS)
        self.table.add(python, what, results[key], "<= 10")
        self.tell_failures(python, what, DUMPS, failures)

    def tell_failures(self, python, what, rounds, failures):
        for name, reasons in failures.items():
            self.absent.append("%s on %s: %d of %d runs of %s, because %s" % (what, python, len(reasons), rounds, name, reasons[0][:120]))

    def slowdowns(self, python, samplers, results):
        never = Plumb(self.options.plumb, "--never-stop")
        for kind in ("loop", "calls"):
            values = measures.slowdown(self.places, python, [never, *samplers], 1000, self.options.pairs, kind=kind)
            results["slowdown, " + kind] = values
            for name, ratios in values.items():
                goal = {"plumb --never-stop": "<= 1", "plumb": "<= 3"}.get(name, "")
                median, half = measures.median_interval(ratios)
                self.table.rows.append((str(python), "slowdown at 1 kHz, %s, %%" % kind, name,
                                        "%+.1f ±%.1f" % (100 * median, 100 * half), "%.3f x alone" % (1 + median), goal))
        never.close()

    def pythons(self, usual, free_threaded=False):
        """Those that were asked for, or the usual ones, and can be had."""
        minors = self.options.minors or usual
        pythons = [p for p in interpreters.one_per_minor(interpreters.discover()) if p.minor in minors and free_threaded >= p.free_threaded]
        for python in pythons:
            if python.missing:
                self.absent.append("Python %s because %s" % (python, python.missing))
            else:
                yield python

    def run(self):
        for python in self.pythons(MINORS):
            self.compare(python)

    def truth(self):
        measured = truth.Truth(self.places, self.options.plumb, self.options.peers and pathlib.Path(self.options.peers))
        for python in self.pythons(TRUTH_MINORS, free_threaded=True):
            measured.measure(python)
        print(measured.markdown())
        self.results["truth"] = measured.results
        self.absent += measured.absent

    def native(self):
        measured = native.Native(self.places, self.options.plumb, self.options.peers, self.options.rounds)
        for python in self.pythons(NATIVE_MINORS):
            measured.measure(python)
        print(measured.markdown())
        self.results["native"] = measured.results
        self.absent += measured.absent

    def formats(self):
        measured = formats.Formats(self.options.plumb, self.options.samples, self.options.stacks, self.options.formats)
        measured.run()
        print(measured.markdown())
        self.results["formats"] = measured.results
        self.absent += measured.absent

    def page(self):
        measured = page.Pages(self.options.plumb, self.options.nodes)
        measured.run()
        print(measured.markdown())
        self.results["page"] = measured.results
        self.absent += measured.absent

    def python(self):
        measured = python_package.Package(python_package.peers_python(self.options.peers), 5 * self.options.rounds, self.options.pairs)
        measured.run()
        print(measured.markdown())
        self.results["python"] = measured.results
        self.absent += measured.absent


def machine():
    with open("/proc/cpuinfo") as f:
        names = [line.split(":", 1)[1].strip() for line in f if line.startswith("model name")]
    return {"processor": names[0] if names else platform.machine(), "cores": os.cpu_count(), "kernel": platform.release(),
            "load": os.getloadavg()[0]}


def minor(text):
    major, _, number = text.partition(".")
    return int(major), int(number)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plumb", default=os.environ.get("PLUMB_BIN", "build/plumb"))
    parser.add_argument("--peers", help="directory with py-spy and austin")
    parser.add_argument("--minors", type=lambda text: [minor(part) for part in text.split(",")],
                        help="releases to measure, such as 3.14,3.15 (these two; for native, 3.12; for truth, 3.8 to 3.15 and free-threaded 3.13)")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--pairs", type=int, default=30, help="how often plumb's slow-down is measured (30)")
    parser.add_argument("--only", type=lambda text: text.split(","), default=PARTS,
                        help="these parts, with commas between them: %s; and %s" % (", ".join(PARTS), ", ".join(EXTRA)))
    parser.add_argument("--samples", type=int, default=formats.SAMPLES, help="of the recording for formats (%d)" % formats.SAMPLES)
    parser.add_argument("--stacks", type=int, default=formats.STACKS, help="of the recording for formats (%d)" % formats.STACKS)
    parser.add_argument("--formats", type=lambda text: text.split(","), default=formats.ALL,
                        help="these of formats, with commas between them: %s" % ", ".join(formats.ALL))
    parser.add_argument("--nodes", type=lambda text: [int(part) for part in text.split(",")], default=page.NODES,
                        help="of the pages (%s)" % ",".join(map(str, page.NODES)))
    parser.add_argument("--json", default="build/bench.json")
    options = parser.parse_args()
    unknown = [part for part in options.only if part not in [*PARTS, *EXTRA]]
    if unknown:
        parser.error("there is no part '%s'; there are %s" % (unknown[0], ", ".join([*PARTS, *EXTRA])))
    unknown = [name for name in options.formats if name not in formats.ALL]
    if unknown:
        parser.error("'%s' is not measured; there are %s" % (unknown[0], ", ".join(formats.ALL)))
    options.plumb = os.path.abspath(options.plumb)
    bench = Bench(options)
    if set(options.only) - set(EXTRA):
        bench.run()
        print(bench.table.markdown())
    if TRUTH in options.only:
        bench.truth()
    if NATIVE in options.only:
        bench.native()
    bench.places.remove()
    if FORMATS in options.only:
        bench.formats()
    if PAGE in options.only:
        bench.page()
    if PYTHON in options.only:
        bench.python()
    for line in sorted(set(bench.absent)):
        print("not run: " + line)
    bench.results["not run"] = sorted(set(bench.absent))
    with open(options.json, "w", encoding="utf-8") as f:
        json.dump(bench.results, f, indent=1)
        f.write("\n")
    print("all figures: " + options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
