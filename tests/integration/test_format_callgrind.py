# SPDX-License-Identifier: Apache-2.0
"""`report -f callgrind`: callgrind_annotate reads it and finds the same figures."""
import collections
import re
import shutil
import subprocess

import pytest

from harness.figures import Figures, make, written
from harness.plumb import PATIENCE


def clean(text):
    """What is written for a name: one line, without blanks at its ends."""
    out = re.sub(r"[\0-\x1f\x7f]", lambda m: "\\x%02x" % ord(m[0]), text)
    out = re.sub("[\x85\xa0\u2028\u2029]", lambda m: "\\u%04x" % ord(m[0]), out)
    out = re.sub(r"^ | $", r"\\x20", out)
    return out or "<unnamed>"


def key(function, line):
    name = clean(function["qualname"])
    return "%s:%s%s" % (clean(function["file"]), name, ":%d" % function["line"] if function["line"] else "")


def annotated(path, event, *options):
    """{file:function: cost} and the whole, as callgrind_annotate prints them."""
    tool = shutil.which("callgrind_annotate")
    if not tool:
        pytest.skip("there is no callgrind_annotate (Debian: valgrind)")
    command = [tool, "--threshold=100", "--auto=no", "--show=" + event, "--sort=" + event, *options, str(path)]
    shown = subprocess.run(command, capture_output=True, timeout=PATIENCE, cwd=path.parent)  # it strips the directory it runs in
    assert shown.returncode == 0 and shown.stderr == b"", shown.stderr
    rows, whole = {}, None
    for line in shown.stdout.decode().split("\n"):
        row = re.match(r" *([\d,]+) \( *[\d.]+%\)  (.*)", line, re.DOTALL)
        if row and row[2] == "PROGRAM TOTALS":
            whole = int(row[1].replace(",", ""))
        elif row:
            assert row[2] not in rows, row[2]
            rows[row[2]] = int(row[1].replace(",", ""))
    return rows, whole


def apart(rows):
    """The costs without the objects, which stand behind the names in brackets, and these."""
    costs, objects = {}, {}
    for row, cost in rows.items():
        name, _, rest = row.rpartition(" [")
        costs[name], objects[name] = cost, rest[:-1]
    return costs, objects


def wanted_objects(profile):
    """{file:function: object} of those that are not machine code here and Python there."""
    found = collections.defaultdict(set)
    for function in profile.functions:
        found[key({"qualname": function["name"], **function}, function["line"])].add(
            clean(function["file"]) if function["kind"] == "native" else "<python>")
    return {name: objects.pop() for name, objects in found.items() if len(objects) == 1}


def some(costs, field):
    return {name: getattr(cost, field) for name, cost in costs.items() if getattr(cost, field)}


@pytest.mark.parametrize("seed", [1, 2])
def test_callgrind_annotate_finds_the_same_figures(plumb, seed):
    recording = make(plumb, seed)
    wanted = Figures(plumb.report(recording), key)
    path = written(plumb, recording, "callgrind")
    for event, field in (("Samples", "samples"), ("ns", "weight_ns")):
        own, whole = annotated(path, event, "--inclusive=no")
        own, objects = apart(own)
        told = wanted_objects(plumb.report(recording))
        assert len(set(objects.values())) > 1 and {name: objects[name] for name in objects.keys() & told.keys()} == {
            name: told[name] for name in objects.keys() & told.keys()}
        assert whole == getattr(wanted.all, field)
        assert own == some(wanted.own, field)
        inclusive, _ = annotated(path, event, "--inclusive=yes")
        inclusive, _ = apart(inclusive)
        assert inclusive.pop("~:<all>") == whole
        assert inclusive == some(wanted.total, field)


@pytest.mark.parametrize("options", [[], ["--dump-instr=yes", "--collect-jumps=yes"]], ids=["lines", "instructions"])
def test_what_callgrind_wrote_comes_in(plumb, options):
    """Own costs are those that callgrind_annotate finds; of a program with thousands of functions and recursion."""
    valgrind = shutil.which("valgrind")
    if not valgrind:
        pytest.skip("there is no valgrind")
    path = plumb.directory / "callgrind.out.1"
    run = subprocess.run([valgrind, "-q", "--tool=callgrind", "--callgrind-out-file=%s" % path, *options, "/bin/true"], capture_output=True, timeout=PATIENCE)
    assert run.returncode == 0, run.stderr
    own, whole = annotated(path, "Ir", "--inclusive=no")
    profile = plumb.report(path)
    assert profile.samples == whole == sum(f["self"]["weight_ns"] for f in profile.functions)
    found = collections.Counter()
    for function in profile.functions:
        found[function["name"]] += function["self"]["samples"]
    wanted = collections.Counter()
    for name, cost in own.items():
        wanted[re.sub(r" \[.*\]$", "", name).split(":", 1)[1]] += cost
    assert +found == wanted and len(wanted) > 50


def test_our_own_files_come_back(plumb):
    recording = make(plumb, 1)
    wanted = Figures(plumb.report(recording), key)
    path = written(plumb, recording, "callgrind")
    back = Figures(plumb.report(path), lambda function, line: key({**function, "qualname": function["name"]}, line))
    assert back.all == wanted.all
    named = {name: cost for name, cost in wanted.own.items() if cost.weight_ns}
    assert {name: cost for name, cost in back.own.items() if cost.weight_ns} == named
    told, again = wanted_objects(plumb.report(recording)), wanted_objects(plumb.report(path))
    both = {name for name in told.keys() & again.keys() if not name.startswith("~:")}  # markers have no file
    assert {name: again[name] for name in both} == {name: told[name] for name in both}
    assert any(again[name] != "<python>" for name in both)
