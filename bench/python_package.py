# SPDX-License-Identifier: Apache-2.0
"""The Python package: the functions of plumb.profile beside distributed's, and what it costs to sample in the same process, beside
pyinstrument and distributed's own watch. All by interpreters that are started for it."""
import json
import os
import pathlib
import subprocess
import sys

import measures
from harness import package

HERE = pathlib.Path(__file__).resolve().parent
GOALS = {"process": 50, "merge": 15, "get_profile, 1,000 entries of 200 nodes, asked again": 100, "plot_data": 10}
KINDS = ["loop", "calls"]
PATIENCE = 900


class Package:
    """`python` has the peers installed; `pairs` is how often a cost is measured."""

    def __init__(self, python, rounds, pairs):
        self.python, self.rounds, self.pairs = python, rounds, pairs
        self.results = {"trees": {}, "in process": {}}
        self.absent = []

    def run(self):
        for release in package.ORIGINALS:
            self.tell("functions beside distributed %s" % release)
            found = self.measured(release, "trees.py", str(self.rounds))
            if found:
                self.results["trees"][found["release"]] = found["seconds"]
        newest = list(package.ORIGINALS)[-1]
        for kind in KINDS:
            self.results["in process"][kind] = costs = {}
            for who in ("plumb", "pyinstrument", "distributed"):
                self.tell("%s in process, %s" % (who, kind))
                costs[who] = self.measured(newest, "inprocess.py", who, kind, str(self.pairs))

    def tell(self, what):
        print("bench: Python package, " + what, file=sys.stderr, flush=True)

    def measured(self, release, script, *arguments):
        """What a script says; None: it could not run, and why is kept."""
        paths = [str(package.built()), str(package.original(release))]
        done = subprocess.run([self.python, str(HERE / script), *arguments], capture_output=True, text=True, timeout=PATIENCE,
                              env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)})
        if done.returncode == 0:
            return json.loads(done.stdout)
        said = (done.stderr.strip().splitlines() or ["?"])[-1]
        self.absent.append("%s %s beside distributed %s because %s" % (script, " ".join(arguments), release, said))
        return None

    def markdown(self):
        return "\n\n".join(["\n".join(self.tree_rows()), "\n".join(self.cost_rows())])

    def tree_rows(self):
        releases = list(self.results["trees"])
        yield "| CPU time, ms | goal | " + " | ".join("plumb | distributed %s" % release for release in releases) + " |"
        yield "|---|---:|" + "---:|---:|" * len(releases)
        for what in next(iter(self.results["trees"].values()), {}):
            goal = next((">= %d x" % ratio for name, ratio in GOALS.items() if what.startswith(name)), "")
            cells = [self.compared(self.results["trees"][release][what]) for release in releases]
            yield "| %s | %s | %s |" % (what, goal, " | ".join(cells))

    def compared(self, seconds):
        ratio = seconds["distributed"] / seconds["plumb"]
        return "%.3g | %.3g (%.1f x)" % (1000 * seconds["plumb"], 1000 * seconds["distributed"], ratio)

    def cost_rows(self):
        yield "| at 1 kHz, in process | program | slowdown, % | samples taken of those asked for, % | CPU of other threads, % |"
        yield "|---|---|---:|---:|---:|"
        for kind, costs in self.results["in process"].items():
            for who, cost in costs.items():
                if cost:
                    shares = [*measures.median_interval(cost["slower"]), cost["delivered"], max(0, cost["others"])]
                    yield "| %s | `%s` | %+.1f ±%.1f | %.0f | %.1f |" % (who, kind, *(100 * share for share in shares))


def peers_python(peers):
    """The interpreter that has the peers, or the one that runs this."""
    path = pathlib.Path(peers or "") / "python"
    return str(path) if peers and os.access(path, os.X_OK) else sys.executable
