# SPDX-License-Identifier: Apache-2.0
"""plumb.merge() and plumb.diff(). Each check_ is run; their names are told, and what text they gave for files in a folder."""
import collections
import io
import json
import os
import sys
import tempfile
import warnings

import plumb
from raising import refusal

BEFORE, AFTER = "main;load 5000\nmain;store 5000\n", "main;load 5000\nmain;store 15000\n"
os.chdir(tempfile.mkdtemp(prefix="plumb-test-"))
for name, text in (("before.folded", BEFORE), ("after.folded", AFTER)):
    with open(name, "w") as file:
        file.write(text)


def leaves(p):
    """{stack: samples with it}"""
    counts = collections.Counter()
    for line in p.write("collapsed").decode().splitlines():
        stack, _, count = line.rpartition(" ")
        counts[stack] += int(count)
    return counts


def recorded(**options):
    with plumb.profile(**options) as p:
        while p.info()["samples"] < 20:
            sum(range(3000))
    return p


# ---- merge ----


def check_a_sum_has_the_samples_of_all():
    one, two = recorded(), recorded()
    two.save("two.plumb")
    for both in (plumb.merge(one, two), plumb.merge(one, "two.plumb"), plumb.merge(os.fsencode("two.plumb"), one)):
        assert type(both) is plumb.Profile and leaves(both) == leaves(one) + leaves(two)
    assert leaves(plumb.merge(one)) == leaves(one)
    assert leaves(plumb.merge("before.folded", "after.folded"))["tid:0;main;store"] == 20000


def check_what_still_grows_is_added_as_it_is_then():
    one, grows = recorded(), plumb.start()
    while grows.info()["samples"] < 20:
        sum(range(3000))
    both = plumb.merge(grows, one)
    grows.stop()
    assert 20 <= both.info()["samples"] - one.info()["samples"] <= grows.info()["samples"]


def check_the_same_samples_are_told():
    one = recorded()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        plumb.merge(one, one)
    assert ["recording 2 of merge()" in str(one.message) for one in told] == [True] and told[0].filename == __file__, told


def check_what_cannot_be_added_is_refused():
    assert "recording 2 of merge(): it holds CPU time" in refusal(ValueError, plumb.merge, recorded(), recorded(mode="cpu"))
    assert "there is no file /nowhere" in refusal(plumb.Error, plumb.merge, "/nowhere")
    refusal(TypeError, plumb.merge)
    refusal(TypeError, plumb.merge, 3)


# ---- diff ----


def check_changes_are_told_in_every_form():
    d = plumb.diff("before.folded", "after.folded")
    assert repr(d) == "<plumb.Diff: before.folded -- after.folded>"
    assert "store" in d.text() and max(map(len, d.text(width=60).splitlines())) <= 60
    assert d.html().startswith("<!") and d.write("svg").startswith(b"<?xml") and b"main;store" in d.write("collapsed")
    verdicts = {row["name"]: row["self"]["verdict"] for row in d.stats()["list"]}
    assert (verdicts["load"], verdicts["store"]) == ("less", "more"), verdicts
    there = io.StringIO()
    d.print(there)
    assert there.getvalue() == d.text()
    for name in ("x.txt", "x.json", "x.md", "x.html", "x.folded", "x.svg"):
        d.save(name)
        assert os.path.getsize(name) > 0
    assert d.write("markdown", "y", force=True) is None and os.path.getsize("y") > 0
    with open("mine.txt", "w") as file:
        file.write("mine")
    assert "force=True" in refusal(plumb.Error, d.save, "mine.txt")


def check_profiles_are_compared_as_files_are():
    one, two = plumb.open("before.folded"), plumb.open("after.folded")
    files = plumb.diff(["before.folded", "before.folded"], "after.folded")
    profiles = plumb.diff([one, one], two)
    figures = files.stats(), profiles.stats()
    for one in figures:
        one.pop("made_by"), one.pop("before"), one.pop("after")
    assert figures[0] == figures[1]


def check_what_grew_by_more_than_a_limit_fails():
    d = plumb.diff("before.folded", "after.folded")
    assert d.fails(10) is True and d.fails(1000) is False and plumb.diff("before.folded", "before.folded").fails(0) is False


def check_what_is_compared_is_chosen():
    both = "before.folded", "after.folded"
    assert "store" not in plumb.diff(*both).text(focus="load")
    assert "main" in plumb.diff(*both, normalize="main").text()
    assert plumb.diff(*both, paths=True).stats()["rows"] != plumb.diff(*both).stats()["rows"]


def check_wrong_comparisons_are_refused():
    d = plumb.diff("before.folded", "after.folded")
    assert "comparisons have no option top" in refusal(TypeError, d.text, top=3)
    assert "reports have no option foo" in refusal(TypeError, d.text, foo=3)
    assert "format is one of text, json, markdown, " in refusal(ValueError, d.write, "pprof")
    assert "tells no format: there are .txt, .json, .md, .html, .folded, .svg" in refusal(ValueError, d.save, "x.foo")
    assert "before is a profile, a file, or several" in refusal(TypeError, plumb.diff, [], "after.folded")
    assert "after is a profile, a file, or several" in refusal(TypeError, plumb.diff, "before.folded", 3)
    assert "no samples of a function 'nothing'" in refusal(ValueError, plumb.diff("before.folded", "after.folded", normalize="nothing").text)
    assert "different modes" in refusal(ValueError, plumb.diff(recorded(), recorded(mode="cpu")).text)
    assert "above is a number of percent" in refusal(ValueError, d.fails, "5%")


def main():
    checks = {name: check for name, check in globals().items() if name.startswith("check_")}
    for name in sys.argv[1:] or checks:
        checks[name]()
    text = plumb.diff("before.folded", "after.folded").text()
    print(json.dumps({"checks": list(checks), "folder": os.getcwd(), "text": text}))


main()
