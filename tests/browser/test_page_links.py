# SPDX-License-Identifier: Apache-2.0
"""All that is chosen is in the address: a link opens the same view, and the browser's "back" goes back."""
import pytest

from harness import browser as browsers
from harness.browser import VIEWS


def look(page):
    """What can be read of the view and of what is chosen."""
    page.rest()
    return page.current_tab, page.page.get_by_role("tabpanel").inner_text(), page.page.get_by_role("region", name="Filters").inner_text(), \
        page.page.get_by_role("complementary").all_inner_texts()


def choose_all(page):
    page.tick(browsers.STATES, "Running or ready", "Holds the GIL")
    page.tick(browsers.THREADS, "alpha", "beta")
    page.switch("Unit", "Samples")
    page.menu("spin", "Focus on the function")
    page.page.get_by_role("slider", name="Start of the time range").press("PageUp")
    page.search("spin")


@pytest.mark.parametrize("view", VIEWS)
def test_a_link_opens_what_was_seen(threads, opened, view):
    page = opened(threads)
    choose_all(page)
    page.tab(view)
    link, seen = page.fragment, look(page)
    page.go(link)
    assert look(page) == seen
    other = opened(threads, link)
    assert look(other) == seen
    assert seen[0] == view


def test_zoom_and_selection_are_in_the_link(threads, opened):
    page = opened(threads)
    graph = page.page.get_by_role("application", name="Flame graph")
    graph.focus()
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        page.page.keyboard.press(key)
    link, seen = page.fragment, look(page)
    picture = graph.screenshot()
    page.go(link)
    page.page.get_by_role("application", name="Flame graph").focus()
    assert look(page) == seen
    assert graph.screenshot() == picture


def test_back_goes_back(threads, opened):
    page = opened(threads)
    page.tab("Functions")
    second = page.fragment
    page.tick(browsers.STATES, "Running or ready")
    assert page.fragment != second
    page.page.go_back()
    assert page.fragment == second and page.current_tab == "Functions"
    page.page.go_back()
    page.rest()
    assert page.current_tab == "Flame graph"
    page.page.go_forward()
    assert page.fragment == second and page.current_tab == "Functions"


def test_copied_link_is_the_address(threads, opened):
    page = opened(threads)
    page.tab("Call tree")
    page.tick(browsers.STATES, "Running or ready")
    link = page.fragment
    assert page.copied("Copy link to this view").endswith(link)


@pytest.mark.parametrize("fragment", ["#rubbish", "#view=nothing&filter=%ff", "#" + "a" * 100_000, "#view=source&line=-1&file=99999999", "#%E2%80%A8"])
def test_rubbish_in_the_address_opens_the_page(threads, opened, fragment):
    page = opened(threads, fragment)
    page.page.get_by_role("tab", selected=True).wait_for()


def test_a_link_shows_the_lines_that_were_seen_however_high_the_window_is(threads, opened):
    page = opened(threads)
    choose_all(page)
    page.tab("Source")
    other = opened(threads)
    for height in range(480, 840, 30):
        for one in page, other:
            one.page.set_viewport_size({"width": 1280, "height": height})
        page.tab("Functions")
        page.tab("Source")
        seen = look(page)
        page.go(page.fragment)
        assert look(page) == seen, height
        other.go("")
        other.go(page.fragment)
        assert look(other) == seen, height
