# SPDX-License-Identifier: Apache-2.0
"""What exporting to each format and importing from it costs, and merging: CPU time and peak memory of `plumb convert` on a
synthetic recording (tests/tools/make_profile), and beside it, on a smaller one, the Python tools that do the same."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from harness import interpreters

HERE = pathlib.Path(__file__).resolve().parent
SAMPLES, STACKS = 10_000_000, 1_000_000
PART = 10  # peers, and formats with all frames of all samples in text, get so much less

EXPORTS = ["collapsed", "pprof", "speedscope", "firefox", "otlp", "otlp-json", "flamegraph-json", "dask", "pstats", "callgrind", "svg",
           "csv", "jsonl", "json", "html"]
LARGE = ["perf-script", "chrome-trace"]
ALL = ["opening", *EXPORTS, *LARGE, "merge"]
IMPORTS = ["collapsed", "pprof", "speedscope", "perf-script", "dask", "pstats", "callgrind"]
# format: (kind of format_peers.py, which interpreter has it)
PEERS = {"pprof": ("protobuf", "venv-otlp"), "speedscope": ("json", "venv"), "pstats": ("pstats", "venv"),
         "collapsed": ("collapsed", "3.15"), "flamegraph-json": ("flamegraph", "3.15")}


def run(command, refused=False):
    """{"seconds": CPU, "rss": bytes} of a program, from the kernel's accounts at its end."""
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        log.seek(0)
        if bool(process.returncode) != refused:
            raise RuntimeError(log.read().decode(errors="replace")[-300:])
    return {"seconds": usage.ru_utime + usage.ru_stime, "rss": 1024 * usage.ru_maxrss}


class Formats:
    def __init__(self, plumb, samples, stacks, chosen):
        self.plumb, self.samples, self.stacks, self.chosen = plumb, samples, stacks, chosen
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="plumb-bench-"))
        self.results, self.absent = {}, []

    def make(self, seed, samples, stacks):
        path = self.directory / ("%d.%d.plumb" % (seed, samples))
        if not path.exists():
            maker = pathlib.Path(self.plumb).parent / "tests/tools/make_profile"
            subprocess.run([str(maker), str(seed), str(path), str(samples), str(stacks)], check=True)
        return path

    def convert(self, recording, samples, form):
        """Out and, where that format is read, in again."""
        out, again = self.directory / ("out." + form), self.directory / "again.plumb"
        figures = {"export": run([self.plumb, "convert", recording, out, "-f", form])}
        size = figures["export"]["bytes"] = out.stat().st_size
        if form in IMPORTS:
            figures["import"] = {**run([self.plumb, "convert", out, again, "--from", form]), "bytes": size}
            again.unlink()
        for figure in figures.values():
            figure["samples"] = samples
        return figures, out

    def peer(self, form, source):
        kind, where = PEERS[form]
        command, root = self.interpreter(where)
        if not command:
            self.absent.append("the peer of %s because there is no Python with it (%s)" % (form, where))
            return None
        inside = pathlib.Path(tempfile.mkdtemp(prefix="plumb-bench-", dir=root + "/tmp"))
        try:
            shutil.copy(source, inside / "in")
            shown = str(inside)[len(root):]
            done = subprocess.run([*command, "-c", (HERE / "format_peers.py").read_text(), kind, shown + "/in", shown + "/out"],
                                  capture_output=True, text=True)
        finally:
            shutil.rmtree(inside)
        if done.returncode:
            self.absent.append("the peer of %s because %s" % (form, done.stderr.strip().splitlines()[-1][:120]))
            return None
        return json.loads(done.stdout)

    def interpreter(self, where):
        """(command, its root directory)"""
        python = interpreters.cache() / where / "bin/python"
        if where != "3.15":
            return ([str(python)] if python.exists() else None), ""
        found = [p for p in interpreters.discover() if p.kind == (3, 15, "") and not p.missing]
        return (list(found[0].command), found[0].root) if found else (None, "")

    def merge(self):
        inputs = [self.make(seed, self.samples, self.stacks) for seed in (1, 2)]
        figures = run([self.plumb, "merge", *inputs, "-o", self.directory / "sum.plumb"])
        adding = subprocess.run([str(pathlib.Path(self.plumb).parent / "tests/tools/merge_rate"), *map(str, inputs)],
                                capture_output=True, text=True, check=True)
        self.results["merge"] = {**figures, "samples": 2 * self.samples, **json.loads(adding.stdout)}

    def opening(self):
        """That no thread is called so is found when the recording has been read, and nothing is written then."""
        nothing = [self.plumb, "convert", self.make(1, self.samples, self.stacks), self.directory / "nothing.jsonl", "--threads", "0"]
        self.results["opening"] = {**run(nothing, refused=True), "samples": self.samples}

    def measure(self, form):
        small = self.make(1, self.samples // PART, self.stacks // PART)
        recording = (small, self.samples // PART) if form in LARGE else (self.make(1, self.samples, self.stacks), self.samples)
        figures, out = self.convert(*recording, form)
        out.unlink()
        self.results[form] = figures
        if form in PEERS:
            beside, out = self.convert(small, self.samples // PART, form)
            source = self.convert(small, self.samples // PART, "collapsed")[1] if PEERS[form][1] == "3.15" else out
            figures["beside"] = {"plumb": beside, "peer": self.peer(form, source), "tool": PEERS[form][0]}
            out.unlink(missing_ok=True)

    def run(self):
        try:
            for what in self.chosen:
                print("bench: " + what, file=sys.stderr, flush=True)
                {"opening": self.opening, "merge": self.merge}.get(what, lambda: self.measure(what))()
        finally:
            shutil.rmtree(self.directory)

    def markdown(self):
        lines = ["| format | way | MB | s of CPU | MB/s | samples/s | peak MB | peer, on a tenth |", "|---|---|---:|---:|---:|---:|---:|---|"]
        for form in EXPORTS + LARGE:
            found = self.results.get(form, {})
            for way in ("export", "import"):
                if way in found:
                    f = found[way]
                    note = " (a tenth)" if form in LARGE else ""
                    lines.append("| %s%s | %s | %.0f | %.1f | %.0f | %.1f M | %.0f | %s |" % (
                        form, note, way, f["bytes"] / 1e6, f["seconds"], f["bytes"] / 1e6 / f["seconds"],
                        f["samples"] / 1e6 / f["seconds"], f["rss"] / 1e6, self.beside(found.get("beside"), way)))
        if "opening" in self.results:
            opening = self.results["opening"]
            lines += ["", "Opening the recording alone: %.1f s, %.0f MB." % (opening["seconds"], opening["rss"] / 1e6)]
        if "merge" in self.results:
            merge = self.results["merge"]
            lines += ["", "Merging two such: %.1f s, %.0f MB; adding them in memory, without reading and writing: %.1f M stacks a second,"
                      " with their cells %.1f M rows a second." % (merge["seconds"], merge["rss"] / 1e6, merge["stacks_per_s"] / 1e6,
                                                                    merge["rows_per_s"] / 1e6)]
        return "\n".join(lines)

    def beside(self, beside, way):
        """The peer's time and memory in plumb's, on the same file."""
        if not beside or not beside["peer"] or way not in beside["peer"]:
            return ""
        plumb, peer = beside["plumb"][way], beside["peer"]
        return "%s: %.1fx the time, %.1fx the memory" % (beside["tool"], peer[way] / plumb["seconds"], peer["rss"] / plumb["rss"])
