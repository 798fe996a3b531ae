# SPDX-License-Identifier: Apache-2.0
"""Phones, dark and light, and what axe-core finds wrong for those who do not see or point."""
import pytest

from harness import viewers
from harness.browser import VIEWS
from harness.target import wait_until

PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}


def violations(page, axe):
    page.page.evaluate(axe)
    # Of what is right, which is each element by many rules, the number alone: it takes longer to bring here than to find.
    found = page.page.evaluate("axe.run({resultTypes: ['violations']}).then(({passes, violations}) => ({passes: passes.length, violations}))")
    assert found["passes"] > 10
    return [(v["id"], v["help"], v["nodes"][0]["html"][:200], v["nodes"][0]["failureSummary"][:300]) for v in found["violations"]]


@pytest.fixture(scope="module")
def axe():
    return viewers.axe()


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_nothing_is_hard_to_use(threads, opened, axe, view, colours):
    page = opened(threads, color_scheme=colours, reduced_motion="reduce")
    assert page.page.locator("html").get_attribute("data-theme") == colours
    page.menu("spin", "Show callers and callees")
    page.tab(view)
    page.rest()
    assert violations(page, axe) == []


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_nothing_that_opens_is_hard_to_use(threads, opened, axe, colours):
    page = opened(threads, color_scheme=colours, reduced_motion="reduce")
    for title in ("Processes and threads that count", "What threads were doing", "Kinds of frames, folding, modules",
                  "Copy or save what is shown"):
        with page.panel(title):
            assert violations(page, axe) == [], title
    page.page.keyboard.press("?")
    assert violations(page, axe) == []
    page.page.keyboard.press("Escape")
    page.menu("spin", "Focus on the function")
    assert violations(page, axe) == []


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_nothing_of_a_comparison_is_hard_to_use(compared, opened, axe, colours):
    page = opened(compared.page, color_scheme=colours, reduced_motion="reduce")
    assert page.current_tab == "Comparison"
    assert violations(page, axe) == []


def luminance(page, selector="body"):
    colour = page.page.evaluate("selector => getComputedStyle(document.querySelector(selector)).backgroundColor", selector)
    return sum(int(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]) / 765


def test_dark_and_light_follow_the_system_or_the_switch(threads, opened):
    page = opened(threads, color_scheme="dark")
    assert luminance(page) < 0.2
    page.page.emulate_media(color_scheme="light")
    page.rest()
    assert luminance(page) > 0.8
    page.page.get_by_role("button", name="Colours:").click()
    page.page.get_by_role("button", name="Colours:").click()
    page.rest()
    assert luminance(page) < 0.2
    page.go(page.fragment)
    assert luminance(page) < 0.2, "the switch is in the link"


def test_the_graph_begins_in_the_upper_half_of_a_low_screen(threads, opened):
    page = opened(threads, viewport={"width": 1280, "height": 720})
    page.rest()
    top = page.page.get_by_role("application", name="Flame graph").bounding_box()["y"]
    # What the answer says beyond a line is what the program gave it to say.
    said, line = page.page.evaluate("""[...document.querySelectorAll(".answer")].reduce(([said, line], answer) => {
        return [said + answer.clientHeight, parseFloat(getComputedStyle(answer).lineHeight)];
    }, [0, 0])""")
    assert 0 < line <= said
    assert top - (said - line) <= 360


def test_what_a_low_graph_leaves_free_on_a_large_screen_has_the_table_of_functions(threads, opened, axe):
    page = opened(threads, viewport={"width": 2560, "height": 1440})
    page.rest()
    graph, table = page.page.get_by_role("application", name="Flame graph"), page.page.get_by_role("grid", name="Functions")
    above, below = graph.bounding_box(), table.bounding_box()
    assert above["y"] + above["height"] <= below["y"] + 1 and below["y"] + below["height"] > 1300
    assert graph.evaluate("graph => graph.scrollHeight <= graph.clientHeight"), "the graph has all of its rows"
    assert violations(page, axe) == []
    table.get_by_role("row").nth(1).click()
    page.rest()
    assert "f=" in page.fragment
    page.page.set_viewport_size({"width": 1280, "height": 720})
    page.rest()
    assert not table.is_visible()


def top_of_graph(page):
    page.rest()
    return page.page.get_by_role("application", name="Flame graph").bounding_box()["y"]


def test_on_a_phone_the_graph_begins_in_the_upper_half(threads, opened, axe):
    page = opened(threads, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    assert top_of_graph(page) <= 420
    assert violations(page, axe) == []
    page.page.get_by_role("button", name="Filters", exact=True).click()
    assert page.page.locator(".command").is_visible(), "what is left out comes with the filters"


def test_of_an_answer_that_is_long_for_a_screen_the_rest_is_shown_when_asked(threads, opened):
    page = opened(threads, viewport={"width": 160, "height": 844})
    page.rest()
    answer = page.page.locator(".answer")
    short = answer.bounding_box()["height"]
    page.page.get_by_role("button", name="More …", exact=True).first.click()
    page.rest()
    assert answer.bounding_box()["height"] > short
    page.page.get_by_role("button", name="Less", exact=True).click()
    page.rest()
    assert answer.bounding_box()["height"] == short


def test_the_graph_is_seen_in_a_window_that_is_magnified_twice(threads, opened):
    page = opened(threads, viewport={"width": 640, "height": 360}, device_scale_factor=2)
    assert top_of_graph(page) <= 260


def test_a_low_window_scrolls_and_squeezes_nothing_away(threads, opened):
    page = opened(threads, viewport={"width": 1280, "height": 300})
    page.tab("Source")
    page.rest()
    assert page.page.get_by_role("grid", name="Lines of the file").bounding_box()["height"] >= 100
    assert page.page.evaluate("document.documentElement.scrollHeight") > 300


def test_a_large_screen_shows_more_threads(threads, opened):
    heights = [opened(threads, viewport={"width": 2560, "height": height}).page.locator(".strip-body").bounding_box()["height"] for height in (800, 1440)]
    assert heights[0] < heights[1] <= 0.24 * 1440 + 1


def test_the_timeline_is_as_high_as_a_hand_makes_it(threads, opened):
    page = opened(threads, viewport={"width": 1280, "height": 720})
    page.rest()
    strip = page.page.locator(".strip-body")
    before = strip.bounding_box()
    corner = before["x"] + before["width"] - 4, before["y"] + before["height"] - 4
    page.page.mouse.move(*corner)
    page.page.mouse.down()
    page.page.mouse.move(corner[0], corner[1] + 60)
    page.page.mouse.up()
    page.rest()
    assert strip.bounding_box()["height"] == before["height"] + 60
    page.tab("Functions")
    page.rest()
    assert strip.bounding_box()["height"] == before["height"] + 60, "it stays so"


@pytest.mark.parametrize("width", [320, 360])
@pytest.mark.parametrize("view", VIEWS)
def test_a_phone_shows_every_view_without_scrolling_sideways(threads, opened, view, width):
    page = opened(threads, **dict(PHONE, viewport={"width": width, "height": 740}))
    page.tab(view)
    page.rest()
    needed, inner = page.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert needed <= inner == width
    panel = page.page.get_by_role("tabpanel").bounding_box()
    assert panel["x"] >= 0 and panel["width"] <= width and panel["height"] >= 150


def test_a_finger_selects_and_comes_nearer(threads, opened):
    page = opened(threads, **PHONE)
    graph = page.page.get_by_role("application", name="Flame graph")
    before = page.fragment  # at rest: from now on the picture stays where it is
    box = graph.bounding_box()

    def tap():
        page.page.touchscreen.tap(box["x"] + 40, box["y"] + 10)

    tap()
    page.page.wait_for_function("before => location.hash !== before", arg=before)
    selected = page.fragment

    def is_nearer():
        """Two taps are one double tap, if the machine lets the second one come within a third of a second: else they select, again."""
        tap()
        tap()
        return page.fragment != selected

    wait_until(is_nearer, "a double tap brings nothing nearer")
