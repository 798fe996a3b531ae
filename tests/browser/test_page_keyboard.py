# SPDX-License-Identifier: Apache-2.0
"""Everything by keyboard, and what a screen reader is told."""
import re

import pytest

from harness import calltables, onscreen
from harness.browser import VIEWS


def said(page):
    page.rest()
    return page.page.locator(".flame-sentence").first.inner_text()


def heaviest(below, text):
    """The way that the page has gone: of several that are as heavy as each other it may take any."""
    most = max(figures[0] for figures in below.values())
    ways = [way for way, figures in below.items() if figures[0] == most]
    return next((way for way in ways if text.startswith(way[-1][0].rpartition(".")[2])), ways[0])


def test_a_walk_through_the_flame_graph(mixed, opened):
    page = opened(mixed)
    page.whole_stacks()
    page.page.get_by_role("application", name="Flame graph").focus()
    # By time, as the page goes: samples need not stand for as much of it each.
    nodes = calltables.tree([(stack, weight, weight) for stack, _, weight in calltables.stacks_of(mixed.report())])
    whole = sum(figures[0] for way, figures in nodes.items() if len(way) == 1)
    way, page_says = (), []
    for level in range(1, 5):
        below = {path: figures for path, figures in nodes.items() if path[:-1] == way}
        if not below:  # of what called nothing there are most samples: the machine's to decide
            break
        page.page.keyboard.press("ArrowDown")
        text = said(page)
        way = heaviest(below, text)
        assert text.startswith(way[-1][0].rpartition(".")[2]) and "level %d," % level in text, (text, way)
        share = re.search(r"([<\d.]+ %) of all", text)[1]
        assert onscreen.says(share, nodes[way][0] / whole), (text, nodes[way])
        page_says.append(text)
    assert len(page_says) > 2, way
    page.page.keyboard.press("ArrowUp")
    assert said(page) == page_says[-2]
    before = page.fragment
    page.page.keyboard.press("Enter")
    assert page.fragment != before, "nothing came nearer"
    for _ in page_says:  # each goes out by a level
        page.page.keyboard.press("Backspace")
    assert page.fragment == before
    assert "callee" in page_says[0]


def test_siblings_are_left_and_right(threads, opened):
    page = opened(threads)
    page.page.get_by_role("application", name="Flame graph").focus()
    page.page.keyboard.press("ArrowDown")
    first = said(page)
    page.page.keyboard.press("ArrowRight")
    second = said(page)
    assert first != second and "level 1," in first and "level 1," in second
    page.page.keyboard.press("ArrowLeft")
    assert said(page) == first


def test_views_by_number_and_by_arrows(mixed, opened):
    page = opened(mixed)
    for number, view in enumerate(VIEWS, 1):
        page.page.keyboard.press(str(number))
        assert page.current_tab == view
    page.page.get_by_role("tab", selected=True).focus()
    page.page.keyboard.press("ArrowRight")
    assert page.current_tab == VIEWS[0]
    page.page.keyboard.press("ArrowLeft")
    assert page.current_tab == VIEWS[-1]
    assert page.page.evaluate("document.activeElement.getAttribute('role')") == "tab"


def test_the_table_by_keyboard(mixed, opened):
    page = opened(mixed)
    rows = page.functions()
    page.grid().focus()
    for keys, index in ((["ArrowDown"], 0), (["ArrowDown"], 1), (["End"], len(rows) - 1), (["Home"], 0)):
        for key in keys:
            page.page.keyboard.press(key)
        row = page.page.locator("#" + page.grid().get_attribute("aria-activedescendant"))
        assert row.get_attribute("aria-selected") == "true"
        assert row.get_attribute("aria-rowindex") == str(index + 2)
    assert rows[0][0] in page.page.get_by_role("complementary").get_by_role("heading").first.inner_text()
    page.page.keyboard.press("Shift+F10")
    assert page.page.get_by_role("menu").get_by_role("menuitem").count() > 10
    page.page.keyboard.press("Escape")
    page.page.keyboard.press("Enter")
    assert page.current_tab == "Callers and callees"


def test_columns_sort(mixed, opened):
    page = opened(mixed)
    page.switch("Unit", "Samples")
    page.tab("Functions")
    for column, of_row in (("Function", lambda row: row[0]), ("Total", lambda row: onscreen.count(row[3][-1]))):
        header = page.page.get_by_role("columnheader", name=re.compile("^" + column))
        assert header.get_attribute("aria-sort") == "none"
        sorted_twice = []
        for _ in range(2):
            header.get_by_role("button").click()
            sorted_twice.append([of_row(row) for row in page.functions()])
        assert header.get_attribute("aria-sort") in ("ascending", "descending")
        assert sorted_twice[0] == sorted_twice[1][::-1] != sorted_twice[1]
    assert sorted_twice[0] == sorted(sorted_twice[0], reverse=True), "figures begin with the largest"


def test_the_tree_by_keyboard_tells_levels_and_what_is_open(mixed, opened):
    page = opened(mixed)
    page.tab("Call tree")
    page.grid().focus()
    page.page.keyboard.press("Home")
    current = lambda: page.page.locator("#" + page.grid().get_attribute("aria-activedescendant"))
    assert current().get_attribute("aria-level") == "1" and current().get_attribute("aria-expanded") == "true"
    page.page.keyboard.press("ArrowLeft")
    assert current().get_attribute("aria-expanded") == "false"
    page.page.keyboard.press("ArrowRight")
    page.page.keyboard.press("ArrowRight")
    assert current().get_attribute("aria-level") == "2"
    page.page.keyboard.press("ArrowLeft")
    page.page.keyboard.press("ArrowLeft")
    assert current().get_attribute("aria-level") == "1"


def test_a_screen_reader_hears_the_tree(mixed, opened):
    page = opened(mixed)
    page.tab("Call tree")
    page.rest()
    nodes = page.accessibility()
    grid = [name for role, name, _ in nodes if role == "treegrid"]
    assert len(grid) == 1 and "Call tree" in grid[0]
    rows = [(name, properties) for role, name, properties in nodes if role == "row" and "level" in properties]
    assert rows[0][1]["level"] == 1 and rows[1][1]["level"] == 2
    assert all(re.search(r"\d %", name) for name, _ in rows), rows[:3]
    names = {f["name"] for f in mixed.report().functions}
    assert all(any(function in name for function in names) for name, _ in rows)
    assert {"tablist", "tab", "tabpanel", "columnheader", "banner", "contentinfo", "main"} <= {role for role, *_ in nodes}


def test_help_lists_the_keys(mixed, opened):
    page = opened(mixed)
    page.page.keyboard.press("?")
    help_window = page.page.get_by_role("dialog", name="Help")
    help_window.wait_for()
    assert help_window.get_by_text("Focus on the function").is_visible()
    assert help_window.get_by_role("heading", name="How to read this page").is_visible()
    page.page.keyboard.press("Escape")
    help_window.wait_for(state="detached")


def test_every_key_of_the_help_does_something(mixed, opened):
    page = opened(mixed)
    page.tab("Functions")
    page.page.keyboard.press("/")
    assert page.page.evaluate("document.activeElement.type") == "search"
    page.page.keyboard.type("point")
    page.rest()
    assert "found" in page.page.get_by_role("search").inner_text()
    page.page.keyboard.press("Escape")
    page.page.keyboard.press("Escape")
    before = page.fragment
    for key in "ltib":
        page.page.keyboard.press(key)
        after = page.fragment
        assert after != before, key
        before = after
