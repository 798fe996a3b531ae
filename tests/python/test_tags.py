# SPDX-License-Identifier: Apache-2.0
"""plumb.tag: what is set, that it is found, and that samples bear it. On every interpreter."""
import gzip
import json

import pytest

from harness import package
from harness.plumb import Plumb
from harness.shares import compare
from harness.statistics import assert_at_most
from harness.ticks import Timeline, sampled, start_ns

OURS = ("only_a", "only_b", "nested_b")
A, B, NESTED = "[method=GET, route=/a]", "[method=GET, route=/b]", "[method=GET, route=/b, step=nested]"


@pytest.mark.once
def test_what_is_tagged_is_found_by_its_number(able):
    told = json.loads(package.run(able, "tags.py", options=["-X", "dev", "-W", "error"]))
    assert len(told["checks"]) > 15


@pytest.mark.once
@pytest.mark.smoke
@pytest.mark.repeated
def test_no_memory_is_misused(one):
    assert json.loads(package.run(one, "tags.py"))["checks"]
    assert json.loads(package.run(one, "tags_sampled.py", 100))["requests"]["seen"]


def counted(program, tag, function):
    return program["seen"].get(tag, {}).get(function, 0)


def anywhere(program, function):
    return sum(row.get(function, 0) for row in program["seen"].values())


def has_its_tag(program, tag, function):
    """A sample is without its tag at most where it could not be proved, and never has another."""
    seen, lost = counted(program, tag, function), counted(program, "", function)
    assert seen + lost == anywhere(program, function), program["seen"]
    assert_at_most(package.UNTAGGED, lost, seen + lost, "samples of %s without their tag %s" % (function, tag))


def shares_are_right(plumb, recording, program):
    """They are compared with what the program did in the periods that have a sample: others say nothing, and a busy machine has many.
    Chance is further off than 5.3 errors once in three million."""
    report = plumb.report(recording)
    period_ns = report.json["period_ns"]
    truth = Timeline(program, start_ns(report)).time_in(sampled(plumb, recording, period_ns), period_ns)
    seen = {function: anywhere(program, function) for function in OURS}
    for comparison in compare({function: truth[function] for function in OURS}, seen, sum(seen.values())):
        print(comparison)
        assert abs(comparison.score) <= 5.3, str(comparison)


def test_samples_bear_the_tag_of_their_request_or_thread(able, plumb, tmp_path, effort):
    folder = package.folder(able, tmp_path)
    told = json.loads(package.run(able, "tags_sampled.py", effort(400, 20000), folder, other=tmp_path))
    for program in (told["requests"], told["quick"]):
        for function, tag in zip(OURS, (A, B, NESTED)):
            has_its_tag(program, tag, function)
    threads = told["threads"]
    for tag, function in {"[role=waiter]": "waiter", "[role=busy]": "busy", "[role=generator]": "only_a"}.items():
        has_its_tag(threads, tag, function)
    for function in ("untagged", "only_b"):
        assert counted(threads, "", function) == anywhere(threads, function) > 0
    assert counted(threads, "", "waiter") == 0  # it stood still all the time
    shares_are_right(plumb, tmp_path / "requests-3000.plumb", told["requests"])


def test_a_report_can_be_of_one_tag(one, tmp_path):
    package.run(one, "tags_sampled.py", 300, tmp_path)
    plumb, recording = Plumb(tmp_path), tmp_path / "requests-3000.plumb"
    assert B in plumb("report", recording).stdout  # the hot path names the tags of what it shows: the half of it all
    picture = plumb.path(".svg")
    plumb("report", recording, "-o", picture)
    assert all(tag in picture.read_text() for tag in (A, B, NESTED))
    whole, of_a = plumb.report(recording), plumb.report(recording, "--focus", "route=/a")
    assert {stack.frames[0].name for stack in of_a.stacks} == {A}
    assert any(stack.has("only_a") for stack in of_a.stacks) and not any(stack.has("only_b") for stack in of_a.stacks)
    assert of_a.samples == sum(stack.samples for stack in whole.stacks if stack.frames[0].name == A)
    assert not plumb.report(recording, "--focus", "route=/none").samples
    assert plumb.report(recording, "--tag", "route=/a").json == of_a.json
    nested = plumb.report(recording, "--tag", "step", "--tag", "route=/b", "--tag", "route=/a")
    assert {stack.frames[0].name for stack in nested.stacks} == {NESTED}
    assert not plumb.report(recording, "--tag", "route=/a", "--tag", "step").samples


def test_labels_are_attributes_where_a_format_has_them(one, tmp_path):
    package.run(one, "tags_sampled.py", 300, tmp_path)
    plumb, recording = Plumb(tmp_path), tmp_path / "requests-3000.plumb"
    whole = plumb.report(recording)
    of = {(label["name"], label["value"]): label["total"]["samples"] for label in whole.json["labels"]}
    assert set(of) == {("method", "GET"), ("route", "/a"), ("route", "/b"), ("step", "nested")}
    assert of["route", "/a"] == plumb.report(recording, "--tag", "route=/a").samples
    assert of["method", "GET"] == of["route", "/a"] + of["route", "/b"] > of["route", "/b"] > of["step", "nested"] > 0
    tags = {function["qualname"]: function["labels"] for function in whole.json["functions"] if "labels" in function}
    assert tags[A] == [{"name": "method", "value": "GET"}, {"name": "route", "value": "/a"}]
    otlp = plumb.path(".otlp.json")
    plumb("report", recording, "-o", otlp)
    assert '"route"' in otlp.read_text() and A not in otlp.read_text()
    pprof = plumb.path(".pb.gz")
    plumb("report", recording, "-o", pprof)
    assert A.encode() not in gzip.decompress(pprof.read_bytes())
    back = plumb.report(pprof)
    assert {label["value"]: label["total"]["samples"] for label in back.json["labels"]} == {value: n for (_, value), n in of.items()}
    assert {stack.frames[0].name for stack in back.stacks} >= {A, B, NESTED}
