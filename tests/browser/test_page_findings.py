# SPDX-License-Identifier: Apache-2.0
"""What a rule finds wrong with a program leads to where it can be seen: "Show where" of each finding, in a window and on a phone."""
import os
import re

import pytest

from harness.interpreters import TARGETS
from harness.pages import Made, page_of
from harness.plumb import until
from harness.statistics import undecided

DOCUMENTED = TARGETS.parent.parent / "docs/user/json.md"
WINDOWS = {"desk": {"width": 1440, "height": 900}, "phone": {"width": 360, "height": 780}}
# By rule: what is in view once it was asked for, and what is said to be chosen.
TABLE = {"lock": "locks", "loop-held": "loop-holds"}
CHOSEN = {"gil": "waits for the GIL", "gc": "collects garbage", "cpu": "ready, without a CPU",
          "import": "_find_and_load", "event-loop": "_run_once"}
# All of it lies in the window, and nothing lies over its middle.
SEEN = """element => {
    const {left, right, top, bottom} = element.getBoundingClientRect();
    const over = document.elementFromPoint((left + Math.min(right, innerWidth)) / 2, (top + bottom) / 2);
    return top >= 0 && bottom <= innerHeight && (element.contains(over) || over?.contains(element));
}"""


def rules_of(profile):
    return [finding["rule"] for finding in profile.json["findings"]]


@pytest.fixture(scope="module")
def found(maker, ordinary_python):
    """found(rule): a recording of a program with that fault, and its page."""
    pages = {}

    def make(rule):
        def run(seconds):
            recording = maker.path()
            environment = dict(os.environ, PLUMB_TEST_SECONDS=str(seconds))
            result = maker("run", "-o", recording, "--", *ordinary_python.command, TARGETS / "faults.py", rule, env=environment)
            assert result.status == 0, result
            return recording, maker.report(recording)

        if rule not in pages:
            recording, profile = until(run, lambda pair: rule in rules_of(pair[1]), 2)
            if rule not in rules_of(profile):
                undecided("the machine was too busy for that fault to be sure")
            pages[rule] = Made(maker, recording, page_of(maker, recording))
        return pages[rule]

    return make


def test_all_rules_are_gone_through():
    part = re.search(r"## `findings\[\]`.*?\n## ", DOCUMENTED.read_text(), re.DOTALL).group()
    assert set(re.findall(r'^\| `"([a-z-]+)"` \|', part, re.MULTILINE)) == TABLE.keys() | CHOSEN.keys()


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("rule", [*TABLE, *CHOSEN])
def test_a_finding_leads_to_its_evidence(found, opened, rule, window):
    made = found(rule)
    report = opened(made, "#v=functions", viewport=WINDOWS[window])
    report.rest()
    more = report.page.get_by_role("button", name="More …", exact=True).and_(report.page.locator(".answer-box button"))
    if more.count():
        more.click()
    report.page.get_by_role("button", name="Show where").nth(rules_of(made.report()).index(rule)).click()
    report.rest()
    assert not report.page.get_by_role("button", name="Less", exact=True).count(), "what was asked for is in view, not the findings"
    if rule in TABLE:
        section = report.page.locator("[data-table=%s]" % TABLE[rule])
        assert section.get_by_role("heading").evaluate(SEEN) and section.locator("tbody tr").first.evaluate(SEEN)
        assert "asked" in section.get_attribute("class") and section.locator(":focus").count() == 1
        assert "tb=%s" % TABLE[rule] in report.fragment
    else:
        assert CHOSEN[rule].lower() in " ".join(report.page.locator(".bar, .crumbs").all_text_contents()).lower()
        graph = report.page.get_by_role("application").first.bounding_box()
        assert graph and graph["y"] + 60 <= WINDOWS[window]["height"]
