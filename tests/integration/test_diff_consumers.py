# SPDX-License-Identifier: Apache-2.0
"""Stacks with two counts, as `plumb diff -f collapsed` writes them and other programs read them, say what the comparison says."""
import collections
import html
import json
import os
import re

import pytest

from harness import viewers

SAMPLES = 2000


@pytest.fixture
def sides(plumb):
    """Random recordings that have some paths in common."""
    return viewers.plain(plumb, 6, SAMPLES), viewers.plain(plumb, 7, SAMPLES)


def rows(plumb, sides, *options):
    """{name in collapsed stacks: [total of each row of that name]}, and how many samples there are after."""
    result = plumb("diff", "--json", "--idle", *options, *sides)
    assert result.status == 0, result
    found, totals = json.loads(result.stdout), collections.defaultdict(list)
    for row in found["list"]:
        place = "" if row["kind"] == "marker" else os.path.basename(row["file"]) + ":"
        totals[place + row["qualname"]].append(row["total"])
    return totals, found["after"]["samples"]


def folded(plumb, sides):
    result = plumb("diff", "--idle", *sides, "-f", "collapsed")
    assert result.status == 0, result
    return result.stdout


def stacks_in(text):
    """[(frames, before, after)]"""
    lines = [line.rsplit(" ", 2) for line in text.splitlines()]
    return [(stack.split(";"), int(before), int(after)) for stack, before, after in lines]


def per_function(stacks):
    """name -> [before, after, stacks] of all stacks it is in, each once."""
    found = collections.defaultdict(lambda: [0, 0, 0])
    for frames, before, after in stacks:
        for name in set(frames):
            for i, number in enumerate((before, after, 1)):
                found[name][i] += number
    return found


def test_stacks_add_up_to_the_totals_of_functions(plumb, sides):
    totals, all_after = rows(plumb, sides)
    found = per_function(stacks_in(folded(plumb, sides)))
    assert set(found) == set(totals) and len(found) > 40
    alone = {name: of[0] for name, of in totals.items() if len(of) == 1}  # a sample can be in two functions of one name
    assert len(alone) > 30
    for name, total in alone.items():
        before, after, stacks = found[name]
        assert after == total["after_samples"], name
        # Brought to the samples after, each stack to a whole number.
        assert abs(before - total["before"] * all_after) <= stacks, name


def boxes_in(svg):
    """name -> [[samples, change in percent] of each box]"""
    found = collections.defaultdict(list)
    for name, samples, change in re.findall(r"<title>([^<]*) \(([\d,]+) samples?, [\d.]+%; ([-+]?[\d.]+)%\)</title>", svg):
        found[html.unescape(name)].append([int(samples.replace(",", "")), float(change)])
    return found


@pytest.mark.parametrize("program", ["flamegraph.pl", "inferno-flamegraph"])
def test_flame_graphs_of_other_tools_draw_both_counts(plumb, sides, program):
    """Of frames that are there after: those without any width they put into each other's place."""
    both = plumb.path()
    assert plumb("merge", *sides, "-o", both).status == 0
    sides = sides[0], both
    text = folded(plumb, sides)
    if program == "flamegraph.pl":
        drawn, brackets = viewers.flamegraph(text.encode()), {60: 40, 62: 41}  # it draws () for <>
    else:
        path = plumb.path(".folded")
        path.write_text(text)
        drawn, brackets = viewers.inferno_flamegraph(path), {}
    boxes, paths = boxes_in(drawn), rows(plumb, sides, "--paths")[0]
    all_after = sum(after for _, _, after in stacks_in(text))
    changes = collections.Counter()
    for frames, before, after in stacks_in(text):
        changes[frames[-1].translate(brackets)] += after - before
    for name, totals in paths.items():
        name = name.translate(brackets)
        assert sum(samples for samples, _ in boxes[name]) == sum(total["after_samples"] for total in totals), name
        # What it says of a box is the change of what ends there, in hundredths of a percent.
        change = sum(change for _, change in boxes[name])
        assert change == pytest.approx(100 * changes[name] / all_after, abs=0.00501 * len(boxes[name])), name
    assert any(changes.values())


def test_inferno_compares_the_reports_alike(plumb, sides):
    files = []
    for side in sides:
        files.append(plumb.path(".folded"))
        assert plumb("report", "--idle", "--functions", "--names", "full", "-f", "collapsed", "-o", files[-1], side).status == 0
    # Without process and thread, folders, and the line, which is 0.
    stacks = [([re.sub(":0$", "", os.path.basename(frame)) for frame in frames[2:]], before, after)
              for frames, before, after in stacks_in(viewers.inferno_diff(*files))]
    found, (totals, _) = per_function(stacks), rows(plumb, sides)
    alone = {name: of[0] for name, of in totals.items() if len(of) == 1}
    assert {name: found[name][:2] for name in alone} == {
        name: [total["before_samples"], total["after_samples"]] for name, total in alone.items()}
