# SPDX-License-Identifier: Apache-2.0
"""`report -f firefox`: Mozilla's own reader finds the same threads, functions and samples."""
import collections
import json
import pathlib

import pytest

from harness import viewers
from harness.figures import Figures, make, written


def identity(function, line):
    return function["qualname"], function["file"], function["line"], function["kind"]


def expected(report, thread):
    figures = Figures(viewers.OneThread(report, thread), identity)
    return collections.Counter((name[0], figures.own[name].samples, cost.samples) for name, cost in figures.total.items()
                               if name[0] != "<no frame>")


def found(cli, handle):
    functions = cli("thread", "functions", "--thread", handle, "--limit", 100000)["functions"]
    return collections.Counter((f["name"], round(f["selfSamples"]), round(f["totalSamples"])) for f in functions)


@pytest.mark.parametrize("seed, form", [(1, "firefox"), (3, "firefox-gz")])
def test_profiler_cli_finds_the_same_functions(plumb, seed, form):
    recording = make(plumb, seed)
    report = plumb.report(recording)
    threads = {}
    for index, thread in enumerate(report.threads):
        process = report.json["processes"][thread["process"]]
        threads[thread["tid"], process["name"]] = index
    with viewers.profiler_cli(written(plumb, recording, form)) as cli:
        listed = cli("thread", "list")["threads"]
        assert len(listed) == len(threads)
        assert sum(thread["cpuMs"] for thread in listed) > 0
        for thread in listed[:2]:
            key = thread["tid"], thread["processName"]
            assert found(cli, thread["threadHandle"]) == expected(report, threads[key]), key
        first = next(thread["threadHandle"] for thread in listed if thread["threadIndex"] == 0)
        rows = cli("thread", "markers", "--thread", first)["byType"]
        lost = sum(1 for count in report.losses.values() if count)
        assert sum(row["count"] for row in rows if row["markerName"] == "Lost") == lost


def test_functions_of_machine_code_are_of_their_library(plumb):
    """The viewer merges and collapses functions by it."""
    recording = make(plumb, 1)
    shared = json.loads(written(plumb, recording, "firefox").read_text())["shared"]
    texts, functions, libraries = shared["stringArray"], shared["funcTable"], shared["resourceTable"]
    assert set(libraries["type"]) == {1} and len(set(libraries["name"])) == libraries["length"]
    told = {(texts[name], texts[libraries["name"][resource]]) for name, resource in zip(functions["name"], functions["resource"]) if resource != -1}
    of_machine_code = [f for f in plumb.report(recording).json["functions"] if f["kind"] in ("native", "kernel") and f["file"]]
    assert told == {(f["qualname"], f["file"]) for f in of_machine_code} and told


def test_profiler_cli_chooses_samples_by_labels():
    """The file of the unit test: four samples of a route in three stretches, between which there are others, and a pause."""
    golden = pathlib.Path(__file__).resolve().parent.parent / "golden/report/labels.firefox.json"
    with viewers.profiler_cli(golden) as cli:
        (thread,) = cli("thread", "list")["threads"]
        handle = thread["threadHandle"]
        (rows,) = (row for row in cli("thread", "markers", "--thread", handle)["byType"] if row["markerName"] == "Labels")
        spans = sorted((mark["start"], mark["duration"], mark["label"]) for mark in rows["topMarkers"])
        assert spans == [(0, 2, "[route=/x, type=mine]"), (2, 1, "[route=/y]"), (4, 2, "[route=/x, type=mine]"),
                         (49, 1, "[route=/x, type=mine]")]
        cli("filter", "push", "--thread", handle, "--during-marker", "--search", "route:/x")
        assert {name: own for name, own, _ in found(cli, handle)} == {"serve": 4, "[route=/x, type=mine]": 0}
