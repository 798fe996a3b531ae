# SPDX-License-Identifier: Apache-2.0
"""`report -f speedscope`: its schema holds, every thread has its samples, and speedscope itself shows the same figures."""
import collections
import json

import pytest

from harness import viewers
from harness.figures import Figures, make, written

SEEDS = [1, 2, 3, 6]


def identity(function, line):
    return function["qualname"], function["file"], line


def shown(ns):
    """As speedscope writes a time."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns / size >= 1:
            return "%.2f%s" % (ns / size, unit)
    return "%.2fns" % ns


def lines(document):
    return [(f["name"], f.get("file", ""), f.get("line", 0)) for f in document["shared"]["frames"]]


def figures(frames, profile):
    """Self and inclusive weights of a profile's frames."""
    own, total = collections.Counter(), collections.Counter()
    for sample, weight in zip(profile["samples"], profile["weights"], strict=True):
        names = [frames[index] for index in sample]
        for name in set(names):
            total[name] += weight
        if names:
            own[names[-1]] += weight
    return own, total


def weights(costs):
    return {name: cost.weight_ns for name, cost in costs.items() if cost.weight_ns and name[0] != "<no frame>"}


def positive(counter):
    return {name: weight for name, weight in counter.items() if weight}


@pytest.mark.parametrize("seed", SEEDS)
def test_every_thread_has_its_weights(plumb, seed):
    recording = make(plumb, seed)
    report = plumb.report(recording)
    document = json.loads(written(plumb, recording, "speedscope").read_text())
    threads = [profile for profile in document["profiles"] if "sum" not in profile["plumb"]]
    assert len(threads) == len(report.threads)
    by_tid = {(thread["tid"], report.json["processes"][thread["process"]]["start_ns"]): index
              for index, thread in enumerate(report.threads)}
    for profile in threads:
        own_id = profile["plumb"]["tid"], document["plumb_processes"][profile["plumb"]["process"]]["start_ns"]
        wanted = Figures(viewers.OneThread(report, by_tid[own_id]), identity)
        own, total = figures(lines(document), profile)
        assert sum(profile["weights"]) == profile["endValue"] == wanted.all.weight_ns
        assert sum(profile["plumb_counts"]) == wanted.all.samples
        assert positive(own) == weights(wanted.own)
        assert positive(total) == weights(wanted.total)
    everything = document["profiles"][-1]
    own, total = figures(lines(document), everything)
    wanted = Figures(report, identity)
    assert everything["endValue"] == wanted.all.weight_ns
    assert (positive(own), positive(total)) == (weights(wanted.own), weights(wanted.total))


def test_its_schema_holds(plumb):
    schema = viewers.speedscope_schema()
    documents = [written(plumb, make(plumb, seed), "speedscope") for seed in SEEDS]
    assert viewers.validate(schema, documents) == []
    wrong = plumb.path(".json")
    wrong.write_text('{"profiles": [{"type": "sampled"}]}')
    assert viewers.validate(schema, [wrong]) != []  # that it can fail


def test_speedscope_shows_the_same_figures(plumb):
    recording = make(plumb, 3, 300)
    path = written(plumb, recording, "speedscope")
    document = json.loads(path.read_text())
    page = viewers.speedscope(path)
    assert page.importing == ["Importing as speedscope json file"] and not page.errors, page.errors
    # Each frame of the list has a row of its own.
    own, total = figures(range(len(document["shared"]["frames"])), document["profiles"][0])
    expected = collections.Counter((shown(total[name]), shown(own[name])) for name in total)
    rows = collections.Counter((total.split(" ")[0], own.split(" ")[0]) for total, own in page.rows)
    assert len(page.rows) > 10
    assert not rows - expected, (rows - expected, expected)
    assert page.totals[-1] and len(page.totals) == len(document["profiles"])


def text(report, *keys):
    """What a report says of each stack, whatever its numbers are."""
    rows = collections.Counter()
    functions, locations = report.json["functions"], report.json["locations"]
    for stack in report.json["stacks"]:
        thread = report.threads[stack["thread"]]
        process = report.json["processes"][thread["process"]]
        frames = [(locations[index]["line"], *(functions[locations[index]["function"]][key] for key in keys))
                  for index in stack["frames"]]
        rows[process["pid"], process["start_ns"], thread["tid"], thread["name"], *frames] += stack["samples"]
    return rows


@pytest.mark.parametrize("seed", SEEDS)
def test_what_was_written_is_read_again(plumb, seed):
    recording = make(plumb, seed)
    path = plumb.path(".speedscope.json")
    assert plumb("convert", "--idle", recording, path).status == 0
    keys = "name", "qualname", "file", "line", "kind"
    assert text(plumb.report(path), *keys) == text(plumb.report(recording), *keys)
