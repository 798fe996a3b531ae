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
from raising import raises, refusal

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


# ---- open ----


def told_of(path):
    """What plumb.open() warns of; None: it has no samples yet."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            plumb.open(path)
        except plumb.Error as error:
            assert error.code == "empty" and "it is still being written" in str(error), error
            return None
    return [str(one.message) for one in caught]


def check_that_a_file_is_still_being_written_is_told():
    with plumb.profile(output="grows.plumb"):
        while told_of("grows.plumb") is None:
            sum(range(3000))
        told = told_of("grows.plumb")
    assert told == ["plumb: grows.plumb: it is incomplete: it is still being written; what comes later is missing"], told
    assert not told_of("grows.plumb")


def check_what_is_missing_of_a_file_is_told():
    with plumb.profile(output="whole.plumb") as p:
        while p.info()["samples"] < 20:
            sum(range(3000))
    with open("whole.plumb", "rb") as file:
        whole = file.read()
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 1
    cases = {"whole.plumb": (whole, ""), "cut.plumb": (whole[:-25], "is incomplete"), "changed.plumb": (damaged, "damaged part"),
             "both.plumb": (whole + whole, "another recording follows"),
             "some.folded": (b"a;b 5\na;c -7\n", "1 line or record held no sample")}
    for name, (data, expected) in cases.items():
        with open(name, "wb") as file:
            file.write(data)
        for given in (plumb.open, lambda path: plumb.diff(path, path), plumb.merge):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                given(name)
            told = [str(one.message) for one in caught if one.category is RuntimeWarning]
            assert any(name in text and expected in text for text in told) if expected else not told, (name, told)


# ---- merge ----


def check_a_sum_has_the_samples_of_all():
    one, two = recorded(), recorded()
    two.save("two.plumb")
    for both in (plumb.merge(one, two), plumb.merge(one, "two.plumb"), plumb.merge(os.fsencode("two.plumb"), one)):
        assert type(both) is plumb.Profile and leaves(both) == leaves(one) + leaves(two)
    assert leaves(plumb.merge(one)) == leaves(one)
    assert leaves(plumb.merge("before.folded", "after.folded"))["tid:0;main;store"] == 20000


def check_what_it_is_made_of_is_not_written_over():
    """By no name of the file, unless that is asked for: then it is."""
    with plumb.profile(output="own.plumb") as own:
        while own.info()["samples"] < 20:
            sum(range(3000))
    recorded().save("one.plumb")
    recorded().save("two.plumb")
    os.link("one.plumb", "other-name")
    opened = plumb.open("one.plumb")
    cases = [(opened, "one.plumb"), (opened, os.path.abspath("other-name")), (plumb.open("before.folded"), "before.folded"), (own, "own.plumb"),
             (plumb.merge("one.plumb", "two.plumb"), "two.plumb"), (plumb.merge(opened, own), "one.plumb"), (plumb.merge(opened, own), "own.plumb"),
             (plumb.diff("one.plumb", opened), "one.plumb"), (plumb.diff(own, [opened, "two.plumb"]), "two.plumb")]
    for written, name in cases:
        with open(name, "rb") as file:
            before = file.read()
        for write in (lambda: written.write("json", name), lambda: written.open_in_browser(name)):
            error = raises(plumb.Error, write)
            assert "is the recording itself" in str(error) and name in str(error) and error.code == "exists", error
        with open(name, "rb") as file:
            assert file.read() == before, name
    own.save("own.plumb")  # all of it is there again
    opened.write("json", "one.json")
    opened.write("json", "one.json")  # plumb's, and no recording
    opened.save("one.plumb", force=True)
    assert leaves(plumb.open("one.plumb")) == leaves(opened)


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


def check_times_are_told_for_a_unit_of_work():
    one, two = recorded(mode="cpu"), recorded(mode="cpu")  # nothing of it is missed, however busy the machine is
    for per, units in (({"request": (20, 40.5)}, (20, 40.5)), ({"request": [5, 15, 40.5]}, (20, 40.5))):
        d = plumb.diff([one, one] if len(per["request"]) == 3 else one, two, per=per)
        found = d.stats()
        assert found["per"] == {"unit": "request", "before": units[0], "after": units[1]} and found["judged_by"] == "time", found
        assert "per request" in d.text(width=200) and "each of 20 before and 40.5 after" in d.text(width=200)
    each, of_all = (plumb.diff(one, two, per={"x": (n, n)}).stats()["all"]["before_ns"] for n in (10, 1))
    assert abs(of_all - 10 * each) <= 10, (each, of_all)
    assert plumb.diff(one, one, per={"x": (2, 1)}).fails(50) is True and plumb.diff(one, one, per={"x": (1, 2)}).fails(50) is False
    for wrong, error, words in (
        (3, TypeError, "per is what was done, and how often before and after"),
        ({"x": 3}, TypeError, "not {'x': 3}"),
        ({3: (1, 2)}, TypeError, "per is what was done"),
        ({}, ValueError, "per has one unit of work"),
        ({"": (1, 2)}, ValueError, "per has one unit of work"),
        ({"x": (1, 2), "y": (1, 2)}, ValueError, "per has one unit of work"),
        ({"x": (1, 0)}, ValueError, "how often x was done is a number from 1e-09 to 1e+18 each"),
        ({"x": (1, float("nan"))}, ValueError, "how often x was done"),
        ({"x": ("1", "2")}, ValueError, "how often x was done"),
        ({"x": (1, 2, 3)}, ValueError, "per has 3 numbers for 2 profiles"),
    ):
        assert words in refusal(error, plumb.diff, one, two, per=wrong)
    assert "two measures" in refusal(ValueError, plumb.diff(one, two, per={"x": (1, 2)}, normalize="total").text)
    assert "no time" in refusal(ValueError, plumb.diff("before.folded", "after.folded", per={"x": (1, 2)}).text)


def check_what_is_own_code_is_said_for_one_report():
    """It changes nothing of the profile."""
    with open("installed.folded", "w") as file:
        file.write("main (app.py:1);f (/usr/lib/python3/dist-packages/lib/a.py:1) 70\nmain (app.py:1);g (/usr/lib/python3/dist-packages/other/b.py:1) 30\n")
    p = plumb.open("installed.folded")

    def own(**report):
        return sorted(function["name"] for function in p.stats(**report)["functions"] if function["own"])

    assert own() == own(own=None) == own(own=[]) == ["main"]
    assert own(own="lib") == own(own=iter(["lib"])) == ["f", "main"] and own() == ["main"]
    assert own(own=("lib", "/usr/lib/python3/dist-packages/other/b.py")) == ["f", "g", "main"]
    assert own(own="lib", focus="^f ") == ["f", "main"]
    p.save("kept.plumb", own="lib")
    p = plumb.open("kept.plumb")
    assert own() == ["f", "main"] and own(own="other") == ["g", "main"]
    assert plumb.diff(p, p).html(own="other").startswith("<!")
    assert "own is a module, package, file or folder" in refusal(TypeError, p.text, own=3)
    for wrong in ("", ["lib", ""], "a\0b"):
        assert "own is a module, package, file or folder" in refusal(ValueError, p.text, own=wrong)
    assert "more than 1024 bytes" in refusal(plumb.Error, p.text, own="x" * 1024)


def check_wrong_comparisons_are_refused():
    d = plumb.diff("before.folded", "after.folded")
    assert "comparisons have no option top" in refusal(TypeError, d.text, top=3)
    assert "comparisons have no option foo: they have lines, idle, " in refusal(TypeError, d.text, foo=3)
    assert "format is one of text, json, markdown, " in refusal(ValueError, d.write, "pprof")
    assert ": there are .txt, .json, .md, .html, .folded, .svg" in refusal(ValueError, d.save, "x.foo")
    assert "before is a profile, a file, or several" in refusal(TypeError, plumb.diff, [], "after.folded")
    assert "after is a profile, a file, or several" in refusal(TypeError, plumb.diff, "before.folded", 3)
    assert "no samples of a function 'nothing'" in refusal(ValueError, plumb.diff("before.folded", "after.folded", normalize="nothing").text)
    assert "different modes" in refusal(ValueError, plumb.diff(recorded(), recorded(mode="cpu")).text)
    assert "above is a percentage, 0 or more, not" in refusal(ValueError, d.fails, "5%")


def main():
    checks = {name: check for name, check in globals().items() if name.startswith("check_")}
    for name in sys.argv[1:] or checks:
        checks[name]()
    text = plumb.diff("before.folded", "after.folded").text()
    print(json.dumps({"checks": list(checks), "folder": os.getcwd(), "text": text}))


main()
