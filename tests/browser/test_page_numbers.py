# SPDX-License-Identifier: Apache-2.0
"""The numbers on the page are those of `plumb report --json` with the same filter."""
import collections
import re

import pytest

from harness import browser as browsers, calltables, onscreen


def counted(page):
    """[(name, self, total)] in samples, as the table of functions shows it."""
    page.switch("Unit", "Samples")
    rows = page.functions()
    return sorted((name, onscreen.count(own[-1]), onscreen.count(total[-1])) for name, _, own, total in rows)


def wanted(profile):
    return sorted((f["qualname"], f["self"]["samples"], f["total"]["samples"]) for f in profile.functions if f["total"]["samples"])


def matches(texts, figure):
    share, time = texts
    return onscreen.says_interval(share, figure["share"], figure["half_width"]) and onscreen.says(time, figure["weight_ns"])


def test_functions_have_the_figures_of_the_report(mixed, opened):
    page, profile = opened(mixed), mixed.report()
    page.whole_stacks()
    rows, left = page.functions(), list(profile.functions)
    last = None
    for name, place, own, total in rows:
        of_name = [f for f in left if f["qualname"] == name and (not f["line"] or ("%s:%d" % (f["file"], f["line"])).endswith(place))]
        function = next((f for f in of_name if matches(own, f["self"]) and matches(total, f["total"])), None)
        assert function, (name, place, own, total, of_name)
        left.remove(function)
        assert last is None or function["self"]["weight_ns"] <= last, "not the most self time first"
        last = function["self"]["weight_ns"]
    assert not left
    assert counted(page) == wanted(profile)


def test_lines_have_the_figures_of_the_report(mixed, opened):
    page, profile = opened(mixed), mixed.report("--lines")
    page.whole_stacks()
    page.switch("Merge by", "Lines")
    page.switch("Unit", "Samples")
    shown = sorted((name, place.rpartition(":")[2] if ":" in place else "0", onscreen.count(own[-1]), onscreen.count(total[-1]))
                   for name, place, own, total in page.functions())
    names = [f["qualname"] for f in profile.functions]
    lines = [row for row in profile.json["lines"] if row["total"]["samples"]]
    assert shown == sorted((names[row["function"]], str(row["line"]), row["self"]["samples"], row["total"]["samples"]) for row in lines)


STATES = {"on-cpu": "Running or ready", "waiting": "Waiting", "gil": "Holds the GIL", "wants-gil": "Waits for the GIL",
          "gc": "Collects garbage", "exception": "Handles an exception"}


@pytest.mark.parametrize("states", [["on-cpu"], ["waiting"], ["gil"], ["wants-gil"], ["gc"], ["on-cpu", "wants-gil"]], ids="+".join)
def test_states(threads, opened, states):
    page = opened(threads)
    page.whole_stacks()
    page.tick(browsers.STATES, *(STATES[state] for state in states))
    profile = threads.report("--state", ",".join(states))
    if profile.samples:
        assert counted(page) == wanted(profile)
    else:
        page.tab("Functions")
        page.page.get_by_text("No functions pass the filters").wait_for()


@pytest.mark.parametrize("option, choice", [("--idle", "Count all of their time"), ("--skip-idle", "Count only work")])
def test_idle_threads(threads, opened, option, choice):
    page = opened(threads)
    page.whole_stacks()
    with page.panel(browsers.STATES) as panel:
        panel.get_by_role("radio", name=re.compile(choice)).check()
    assert counted(page) == wanted(threads.report(option))
    assert counted(page) != wanted(threads.report())


@pytest.mark.parametrize("names", [["alpha"], ["alpha", "größer, 名前"], ["waiter"]], ids="+".join)
def test_threads(threads, opened, names):
    page = opened(threads)
    page.whole_stacks()
    page.tick(browsers.THREADS, *(re.compile("^" + re.escape(name)) for name in names))
    tids = [str(t["tid"]) for t in threads.report("--idle").threads if t["name"] in names]
    assert len(tids) == len(names)
    assert counted(page) == wanted(threads.report("--threads", ",".join(tids)))


def test_processes(families, opened):
    page = opened(families)
    page.whole_stacks()
    child = families.report("--idle").json["processes"][-1]
    page.tick(browsers.THREADS, re.compile("%s %d$|%s %d " % (child["name"], child["pid"], child["name"], child["pid"])))
    assert counted(page) == wanted(families.report("--process", str(child["pid"])))


def test_kinds_of_frames(threads, opened):
    page = opened(threads)
    page.whole_stacks()
    assert any(f["kind"] == "marker" for f in threads.report("--idle").functions)
    page.tick(browsers.FRAMES, re.compile("Markers"), on=False)
    assert counted(page) == wanted(threads.report("--kind", "python"))


def test_modules(threads, opened):
    page = opened(threads)
    page.whole_stacks()
    page.tick(browsers.FRAMES, re.compile(r"^threading\b"))
    assert counted(page) == wanted(threads.report("--module", "threading")) != wanted(threads.report())


def test_a_range_of_time(threads, opened):
    page = opened(threads)
    page.whole_stacks()
    ends = []
    for end, key in (("Start", "PageUp"), ("End", "PageDown")):
        slider = page.page.get_by_role("slider", name=end + " of the time range")
        for _ in range(2):
            slider.press(key)
        page.rest()
        ends.append(float(slider.get_attribute("aria-valuenow")))
    profile = threads.report("--time", "%.9f..%.9f" % tuple(ends))
    assert 0 < profile.samples < threads.report().samples
    assert counted(page) == wanted(profile)


@pytest.mark.parametrize("pattern", ["spin", "^work_alpha ", r"threading\.py$"])
def test_search_says_the_share_of_what_is_found(threads, opened, pattern):
    page = opened(threads)
    page.whole_stacks()
    found = page.search(pattern, regex=True)
    share = threads.report("--focus", pattern).json["samples"]["weight_ns"] / threads.report().json["samples"]["weight_ns"]
    assert 0 < share < 1 and onscreen.says(found.replace(" found", ""), share), (found, share)


def plain(name):
    """Without the class or the function that it belongs to."""
    return name.rpartition(".")[2]


def test_the_call_tree_is_that_of_the_stacks(mixed, opened):
    page = opened(mixed, viewport={"width": 1440, "height": 16000})  # all rows: what is not in view is not there
    page.whole_stacks()
    page.switch("Unit", "Samples")
    page.tab("Call tree")
    page.open_branches()
    shown, way = collections.Counter(), []
    for level, (_, total, _, own, name) in page.rows():
        name = name[1:] if level > 32 and name[0].isdigit() else name  # where the page says how deep it is
        way[level - 1 :] = [plain(name[0])]
        shown[(*way, "total")] += onscreen.count(total[-1])
        shown[(*way, "self")] += onscreen.count(own[-1])
    expected = collections.Counter()
    for path, (total, own) in calltables.tree(calltables.stacks_of(mixed.report())).items():
        names = [plain(function[0]) for function in path]
        expected[(*names, "total")] += total
        expected[(*names, "self")] += own
    assert shown == expected
