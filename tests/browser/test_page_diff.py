# SPDX-License-Identifier: Apache-2.0
"""The page of a comparison says what `plumb diff --json` says, and no more."""
import re
import xml.etree.ElementTree

import pytest

from harness import onscreen

WORDS = {"same": "", "new": "+ new", "gone": "− gone", "more": "+ more", "less": "− less"}


def rows_of(page):
    """{(name, place): cells}"""
    page.page.get_by_role("grid", name="Changes of functions").wait_for()
    return {(cells[6][0].strip(), cells[6][-1]): [" ".join(cell) for cell in cells[:6]] for _, cells in page.rows()}


def wanted(diff, figure):
    return {(row["qualname"], "%s:%d" % (row["file"], row["line"]) if row["line"] else row["file"]): row[figure]
            for row in diff["list"] if row[figure]["before"] or row[figure]["after"]}


@pytest.mark.parametrize("figure", ["Total", "Self"])
def test_verdicts_and_figures_are_those_of_the_report(compared, opened, figure):
    page, diff = opened(compared), compared.diff()
    assert page.current_tab == "Comparison"
    page.switch("What is compared", figure)
    expected, shown = wanted(diff, figure.lower()), rows_of(page)
    assert set(shown) == set(expected)
    for function, (verdict, before, after, points, _, _) in shown.items():
        figures = expected[function]
        assert verdict == WORDS[figures["verdict"]], function
        assert onscreen.says(before, figures["before"]) and onscreen.says(after, figures["after"]), function
        change = re.match(r"([+−])([\d.]+) ±", points)
        assert onscreen.says(change[2] + " %", abs(figures["change"])), (points, figures)
        assert figures["change"] == 0 or (change[1] == "−") == (figures["change"] < 0) or onscreen.says("0.0 %", abs(figures["change"]))
    assert sum(row[figure.lower()]["verdict"] != "same" for row in diff["list"]) > 0, "the programs differ"
    said = page.page.get_by_role("tabpanel").inner_text()
    changes = diff["changes"][figure.lower()]
    assert "%d of %d functions changed" % (changes, len(diff["list"])) in said


def test_what_stands_beside_it_tells_before_and_after(compared, opened):
    page, diff = opened(compared), compared.diff()
    beside = page.page.get_by_role("complementary", name="Details of the selected function")
    names = [name.strip() for name in beside.locator("dt").all_inner_texts()]
    figures = [text.split(" → ") for text in beside.locator("dd").all_inner_texts()]
    assert len(names) == len(figures) == min(10, len(diff["list"]))
    heaviest = sorted((max(row["self"]["before"], row["self"]["after"]) for row in diff["list"]), reverse=True)
    for (before, after), most in zip(figures, heaviest):
        assert onscreen.says(before, most) or onscreen.says(after, most), (figures, heaviest)
    beside.get_by_role("button", name=names[0], exact=True).click()
    page.rest()
    assert "→".join(beside.get_by_role("heading", name="Before → after").all_inner_texts()) != ""
    assert " → ".join(figures[0]) in beside.inner_text()


def test_the_sentence_says_which_recording_it_is_about(compared, opened):
    page = opened(compared)
    page.rest()
    assert page.page.locator(".answer").inner_text().startswith("After: ")
    page.switch("Recording", "Before")
    page.rest()
    assert page.page.locator(".answer").inner_text().startswith("Before: ")


def test_what_may_be_chance_is_grey(same, opened, tmp_path):
    """Of two runs of one program: no red, no blue."""
    page, diff = opened(same), same.diff()
    assert colours(page, tmp_path) <= {True} or diff["changes"]["total"] > 0


def test_what_changed_is_red_or_blue(compared, opened, tmp_path):
    assert False in colours(opened(compared), tmp_path)


def colours(page, tmp_path):
    """Whether fills of boxes are grey, as the picture of the page has them."""
    svg = xml.etree.ElementTree.parse(page.saved("Save picture as SVG", tmp_path / "diff.svg"))
    fills = {e.get("fill") for e in svg.iter("{http://www.w3.org/2000/svg}rect") if (e.get("fill") or "").startswith("#")}
    channels = [[int(fill[1 + 2 * i : 3 + 2 * i], 16) for i in range(3)] for fill in fills if len(fill) == 7]
    assert channels
    return {max(c) - min(c) < 24 for c in channels}


def test_the_views_show_either_side(compared, opened):
    page = opened(compared)
    page.tab("Functions")
    sides = [compared.plumb.report(recording) for recording in compared.recordings]
    for name, profile in zip(("Before", "After"), sides):
        page.switch("Recording", name)
        page.switch("Unit", "Samples")
        rows = page.functions()
        found = [onscreen.count(total[-1]) for function, _, _, total in rows if function == "work"]
        assert found == [profile.function("work")["total"]["samples"]], (name, page.fragment, rows)


def test_the_change_is_found_in_the_flame_graph_by_keyboard(compared, opened):
    page = opened(compared)
    page.page.get_by_role("application", name="Flame graph of the comparison").focus()
    page.page.keyboard.press("ArrowDown")
    page.rest()
    assert page.page.locator(".flame-sentence").first.inner_text()


def test_a_link_opens_the_comparison_as_it_was(compared, opened):
    page = opened(compared)
    page.switch("What is compared", "Self")
    link, seen = page.fragment, rows_of(page)
    page.go(link)
    assert rows_of(page) == seen
