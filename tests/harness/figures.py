# SPDX-License-Identifier: Apache-2.0
"""Random recordings for the tests of formats, and what a format must say of them, added up from the stacks of the JSON report."""
import collections
import os
import pathlib
import subprocess

import pytest

from harness.plumb import PATIENCE


def make(plumb, seed, samples=300, *shape):
    """A recording with everything that hurts formats in it, or of another shape that make_profile knows."""
    program = pathlib.Path(plumb.binary).parent / "tests/tools/make_profile"
    if not os.access(program, os.X_OK):
        pytest.fail("there is no %s: build with -Dtests=true" % program)
    recording = plumb.path()
    subprocess.run([str(program), str(seed), str(recording), str(samples), *shape], check=True, timeout=PATIENCE)
    return recording


def written(plumb, recording, form, *options):
    """The recording in another format: the path of the file."""
    path = plumb.path("." + form)
    result = plumb("report", "--idle", "-f", form, "-o", path, *options, recording)
    assert result.status == 0 and "error" not in result.stderr, result
    return path


class Cost(collections.namedtuple("Cost", "samples weight_ns")):
    def __add__(self, other):
        return Cost(self.samples + other.samples, self.weight_ns + other.weight_ns)


NOTHING = Cost(0, 0)
NO_FRAME = {"name": "<no frame>", "qualname": "<no frame>", "file": "~", "line": 0, "kind": "marker"}


class Figures:
    """Costs by whatever `key` makes of a function of the report, and of the line that ran: functions of equal keys are one."""

    def __init__(self, profile, key):
        report = profile.json
        self.all = NOTHING
        self.own, self.total = collections.defaultdict(lambda: NOTHING), collections.defaultdict(lambda: NOTHING)
        self.called = collections.defaultdict(lambda: NOTHING)  # (caller, callee): of the stacks that have the call
        self.nodes = collections.defaultdict(lambda: NOTHING)  # tuple of keys, root first: of the stacks that begin so
        for stack in report["stacks"]:
            cost = Cost(stack["samples"], stack["weight_ns"])
            places = [report["locations"][index] for index in stack["frames"]]
            frames = [key(report["functions"][place["function"]], place["line"]) for place in places]
            for depth in range(len(frames)):
                self.nodes[tuple(frames[: depth + 1])] += cost
            frames = frames or [key(NO_FRAME, 0)]
            self.all += cost
            self.own[frames[-1]] += cost
            for frame in set(frames):
                self.total[frame] += cost
            for pair in set(zip(frames, frames[1:])):
                self.called[pair] += cost
