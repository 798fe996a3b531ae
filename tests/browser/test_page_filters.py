# SPDX-License-Identifier: Apache-2.0
"""Whatever is filtered, all figures and intervals on the page are those of `plumb report --json` with the same options."""
import collections
import random

import pytest

from harness import figures, onscreen
from harness.page import Page, blocks
from harness.pages import Made, page_of

CASES = 4
BITS = {"on-cpu": 1, "waiting": 2, "gil": 4, "wants-gil": 8, "gc": 16, "exception": 32}
IDLE = {"hide": [], "keep": ["--idle"], "skip": ["--skip-idle"]}
# A range with so many steps has batches of whole steps, as the command line cuts them; of a shorter one they are longer.
STEPS = 64


@pytest.fixture(scope="module")
def random_recording(maker):
    """Thousands of stacks, threads in several processes, all states."""
    recording = figures.make(maker, 7, 40000, "2000", "program")
    return Made(maker, recording, page_of(maker, recording))


def data_of(made):
    found, _ = blocks(made.page.read_bytes())
    return Page(found[0][1])


class Filter:
    """A random one, as a link says it and as the command line does."""

    def __init__(self, chance, data):
        self.fragment, self.options = ["su=1"], []
        meta, bin_ns = data.meta, data.meta["bin_ns"] << data.shift
        bins = -(-data.meta["bins"] >> data.shift)
        if chance.random() < 0.7 and bins > STEPS:
            first = chance.randrange(bins - STEPS)
            last = chance.randrange(first + STEPS, bins + 1)
            self.add("t=%d-%d" % (first * bin_ns, last * bin_ns), "--time", "%.9f..%.9f" % (first * bin_ns / 1e9, last * bin_ns / 1e9))
        tids = collections.Counter(thread["tid"] for thread in meta["threads"])
        if chance.random() < 0.4:
            threads = [i for i, thread in enumerate(meta["threads"]) if tids[thread["tid"]] == 1 and chance.random() < 0.5] or [0]
            self.add("th=" + ".".join(map(str, threads)), "--threads", ",".join(str(meta["threads"][i]["tid"]) for i in threads))
        if chance.random() < 0.3:
            process = chance.randrange(len(meta["processes"]))
            self.add("pr=%d" % process, "--process", str(meta["processes"][process]["pid"]))
        if chance.random() < 0.4:
            states = chance.sample(sorted(BITS), chance.randint(1, 3))
            self.add("st=%d" % sum(BITS[state] for state in states), "--state", ",".join(states))
        idle = chance.choice(sorted(IDLE))
        self.add("i=" + idle, *IDLE[idle])

    def add(self, fragment, *options):
        self.fragment.append(fragment)
        self.options += options


def same_rows(shown, functions):
    """Rows stand in one order; where figures are equal, rows are told apart by their intervals."""
    key = lambda f: (f["self"]["weight_ns"], f["total"]["weight_ns"])  # noqa: E731
    wanted = sorted((f for f in functions if f["total"]["samples"]), key=key, reverse=True)
    assert len(shown) == len(wanted)
    groups = collections.defaultdict(list)
    for function in wanted:
        groups[key(function)].append(function)
    for (_, _, own, total), function in zip(shown, wanted):
        group = groups[key(function)]
        found = next((f for f in group if says(own, f["self"]) and says(total, f["total"])), None)
        assert found, (own, total, group)
        group.remove(found)


def says(texts, figure):
    share, time = texts
    return onscreen.says_interval(share, figure["share"], figure["half_width"]) and onscreen.says(time, figure["weight_ns"])


def cards(page):
    """{name: value} of all cards."""
    page.tab("Statistics")
    page.rest()
    pairs = "cards => [...cards].flatMap(card => [...card.querySelectorAll('dt')].map(dt => [dt.innerText, dt.nextSibling.innerText]))"
    return dict(page.page.locator(".card").evaluate_all(pairs))


STATES = {"on_cpu": "running or ready", "wants_gil": "waiting for the GIL", "in_gc": "collecting garbage", "exception": "handling an exception"}


def same_blame(page, report):
    """Who held the GIL, most first; of the statistics, which are shown."""
    rows = [row.split("\t") for row in page.page.locator("[data-table=gil] tbody tr").all_inner_texts()]
    blame = report.get("gil_blame", {"holders": [], "unseen": {"samples": 0}})
    unseen = [row for row in rows if row[0].strip() == "not seen"]
    holders = [row for row in rows if row[0].strip() != "not seen"]
    assert len(unseen) == (blame["unseen"]["samples"] > 0) and len(holders) == min(12, len(blame["holders"]))
    wanted = list(blame["holders"])
    for _, share, time, *_ in holders:
        heaviest = wanted[0]["weight_ns"]
        found = next((one for one in wanted if one["weight_ns"] == heaviest and says((share, time), one)), None)
        assert found, (share, time, wanted[:3])
        wanted.remove(found)
    assert all(says(row[1:3], blame["unseen"]) for row in unseen)


def same_cards(shown, report):
    samples = report["samples"]["total"]
    for state, name in STATES.items():
        figure = report["states"][state]
        assert onscreen.says_interval(shown[name], figure["share"], figure["half_width"]), (name, shown[name], figure)
    assert onscreen.says(shown["Duration"], report["duration_ns"])
    assert onscreen.count(shown["Samples that pass the filters"]) == samples
    for member, name in (("missed", "Missed"), ("unreadable", "Unreadable"), ("queue", "Dropped")):
        assert onscreen.count(shown.get(name, "0")) == report["losses"][member], name
    if "time in which any thread held the GIL" in shown and len(report["processes"]) == 1:
        held = report["states"]["has_gil"]
        at_once = report["samples"]["weight_ns"] / report["taken_ns"] if report["taken_ns"] else samples / report["ticks"]
        share, half_width = min(1, held["share"] * at_once), held["half_width"] * at_once
        assert onscreen.says_interval(shown["time in which any thread held the GIL"], share, half_width)


@pytest.mark.parametrize("program", ["threads", "random_recording"])
def test_random_filters_have_the_figures_of_the_report(request, opened, program, effort):
    made = request.getfixturevalue(program)
    data, page, done = data_of(made), opened(made), 0
    seed = effort(1, random.randrange(1 << 30))
    print("seed %d" % seed)
    chance = random.Random(seed)
    while done < CASES:
        asked = Filter(chance, data)
        report = made.report(*asked.options)
        if not report.samples:
            continue
        print(asked.options)
        page.page.evaluate("hash => { location.hash = hash; }", "&".join(["v=functions", *asked.fragment]))
        page.rest()
        same_rows(page.functions(), report.functions)
        same_cards(cards(page), report.json)
        same_blame(page, report.json)
        done += 1


def samples_shown(page):
    return onscreen.count(page.page.locator(".foot").inner_text())


def ends(page):
    """The range that is shown, in seconds."""
    page.rest()
    sliders = [page.page.get_by_role("slider", name=end + " of the time range") for end in ("Start", "End")]
    return [float(slider.get_attribute("aria-valuenow")) for slider in sliders]


@pytest.fixture(scope="module")
def days(maker):
    """Two days of a program with 20,000 stacks."""
    recording = figures.make(maker, 3, 60000, "days")
    return Made(maker, recording, page_of(maker, recording))


def test_a_part_of_days_is_chosen_by_hand(days, opened):
    page = opened(days)
    assert "in steps of" in page.page.locator(".strip-legend").inner_text()
    box = page.page.locator(".strip-brush").bounding_box()
    page.page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 10)
    page.page.mouse.down()
    page.page.mouse.move(box["x"] + 0.42 * box["width"], box["y"] + 10, steps=3)
    page.page.mouse.up()
    first, last = ends(page)
    assert 0.39 * 48 * 3600 < first < last < 0.43 * 48 * 3600
    report = days.report("--time", "%.9f..%.9f" % (first, last))
    assert 0 < report.samples == samples_shown(page)


def test_a_range_of_a_link_is_shown_as_it_is_applied(days, opened):
    page = opened(days, "#t=3600000000000-36000000000000")
    first, last = ends(page)
    assert first <= 3600 < 36000 <= last < 40000 and first != 3600
    assert days.report("--time", "%.9f..%.9f" % (first, last)).samples == samples_shown(page)
