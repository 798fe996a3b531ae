# SPDX-License-Identifier: Apache-2.0
"""One selection everywhere; when things happened; coming nearer by wheel. Canvases are asked for what is drawn on them."""
import re

from harness import browser as browsers, figures, onscreen
from harness.pages import Made, page_of

_DRAWN = """canvas => {
    const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let drawn = 0;
    for (let i = 3; i < data.length; i += 4) drawn += data[i] > 0;
    return drawn;
}"""


def select(page, name):
    page.tab("Functions")
    page.grid().get_by_role("row").filter(has=page.page.get_by_text(name, exact=True)).first.click()
    page.rest()


def test_a_function_that_is_clicked_is_marked_everywhere(threads, opened):
    page = opened(threads)
    assert page.page.locator(".strip-layers canvas").count() == 2, "nothing is selected, nothing is marked"
    select(page, "spin")
    marks = page.page.locator(".strip-layers canvas:nth-child(2)")
    assert marks.count() == 2 and all(marks.nth(i).evaluate(_DRAWN) > 0 for i in range(2))
    assert "spin was on the stack" in page.page.get_by_role("region", name="Timeline").inner_text()
    page.tab("Flame graph")
    page.rest()
    assert page.page.locator(".flame-window canvas:nth-child(2)").evaluate(_DRAWN) > 100
    page.tab("Source")
    page.rest()
    assert page.page.locator(".lines .row.alike").count() > 0
    page.tab("Call tree")
    page.search("spin")
    page.grid().focus()
    page.page.keyboard.press("n")
    page.rest()
    rows = page.page.locator(".tree .row.alike")
    assert rows.count() > 0 and all("spin" in text for text in rows.all_inner_texts())


def graph_of(page):
    page.rest()
    return page.page.get_by_role("application").bounding_box()


def test_coming_nearer_by_wheel_is_in_the_link_and_can_be_undone(threads, opened):
    page = opened(threads)
    box, before = graph_of(page), page.fragment
    page.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 10)
    page.page.keyboard.down("Control")
    page.page.mouse.wheel(0, -300)
    page.page.wait_for_function("before => location.hash !== before", arg=before)
    page.page.keyboard.up("Control")
    near = page.fragment
    first, last = map(int, re.search(r"[#&]w=(\d+)-(\d+)", near).groups())
    scale = page.page.locator(".scale").inner_text()
    assert onscreen.says(scale.replace(" of the width", ""), (last - first) / 1e12)
    page.page.mouse.move(2, 2)
    page.rest()
    picture = page.page.get_by_role("application").screenshot()
    page.page.keyboard.press("u")
    assert page.fragment == "#v=flame" and page.page.get_by_role("button", name="Zoom out").is_disabled()
    assert page.page.get_by_role("application").screenshot() != picture
    page.go(near)
    page.rest()
    assert page.page.get_by_role("application").screenshot() == picture


def test_a_menu_is_not_below_a_tooltip(threads, opened):
    page = opened(threads)
    box = graph_of(page)
    page.page.mouse.move(box["x"] + 40, box["y"] + 10)
    page.page.get_by_role("tooltip").wait_for()
    page.page.mouse.click(box["x"] + 40, box["y"] + 10, button="right")
    page.page.get_by_role("menu").wait_for()
    page.rest()
    assert page.page.get_by_role("tooltip").count() == 0


def test_a_stack_chart_shows_a_thread_in_the_order_of_time(threads, opened):
    page = opened(threads)
    page.tab("Stack chart")
    choice = page.page.get_by_role("combobox", name="Thread", exact=True)
    assert choice.locator("option").first.inner_text().startswith("MainThread")
    choice.select_option(label=next(text for text in choice.locator("option").all_inner_texts() if text.startswith("alpha")))
    assert re.search(r"[#&]ct=\d+", page.fragment)
    graph = page.page.get_by_role("application", name="Stack chart")
    graph.focus()
    for _ in range(2):  # the second one is there when the first one is shown
        page.page.keyboard.press("ArrowDown")
        page.rest()
    assert re.search(r", for [\d.]+ ", page.page.locator(".flame-sentence").inner_text())
    brush = page.page.locator(".strip-brush").bounding_box()
    name = page.page.get_by_role("button", name="alpha", exact=True).bounding_box()
    page.page.mouse.move(brush["x"] + brush["width"] * 0.6, name["y"] + name["height"] / 2)
    page.page.get_by_role("tooltip").wait_for()
    assert "alpha" in page.page.get_by_role("tooltip").inner_text()


def test_one_click_chooses_which_time_counts(threads, opened):
    page = opened(threads)
    page.switch("Unit", "Samples")
    for mode, state in (("CPU", "on-cpu"), ("GIL", "gil"), ("Waiting", "waiting"), ("Wall", None)):
        page.switch("Which time counts", mode)
        page.rest()
        report = threads.report(*(["--state", state] if state else []))
        assert onscreen.count(page.page.locator(".foot").inner_text()) == report.samples
    page.page.get_by_role("button", name="My code only").click()
    assert "Only Application" in page.page.get_by_role("navigation", name="What was done").inner_text()
    page.page.get_by_role("button", name="My code only").click()
    assert page.page.get_by_role("navigation", name="What was done").count() == 0


def test_what_differs_in_some_threads_is_told(threads, opened):
    """Elsewhere and here: the shares that a report has of the other threads and of these."""
    page = opened(threads)
    page.tab("What differs")
    page.page.get_by_text("Choose a part of the recording").wait_for()
    page.tick(browsers.THREADS, re.compile("^alpha"))
    page.rest()
    here = [t["tid"] for t in threads.report().threads if t["name"] == "alpha"]
    rest = [t["tid"] for t in threads.report().threads if t["name"] != "alpha" and not t["idle"]]
    shares = [threads.report("--threads", ",".join(map(str, tids))).function("spin") for tids in (rest, here)]
    row = page.page.get_by_role("grid", name="What differs").get_by_role("row").filter(has_text=re.compile(r"spin \S*threads\.py")).first
    cells = row.get_by_role("gridcell").all_inner_texts()
    for text, function in zip(cells[1:3], shares):
        assert onscreen.says(text, function["total"]["share"] if function else 0)
    assert cells[0] in ("", "+ more", "+ only here")


def test_what_would_be_gained_follows_the_slider(threads, opened):
    page = opened(threads)
    select(page, "spin")
    what_if = page.page.get_by_role("slider", name="If all of it were")
    figure = threads.report().function("spin")["total"]
    for presses, factor in ((0, 0.5), (4, 1.0)):
        for _ in range(presses):
            what_if.press("ArrowRight")
        page.rest()
        text = page.page.locator(".what-if b").nth(1).inner_text()
        assert onscreen.says_interval(text, figure["share"] * factor, figure["half_width"] * factor)


def test_what_is_made_in_slices_is_shown_in_the_end(maker, opened):
    """Of a tree that is too large to be made at once; what is chosen meanwhile is not lost."""
    recording = figures.make(maker, 1, 180_000, "60000", "program")
    made = Made(maker, recording, page_of(maker, recording))
    page = opened(made)
    function = max(made.report().functions, key=lambda one: one["self"]["samples"])  # the first row
    select(page, function["name"])
    page.page.locator("body").focus()
    for key in "ilil":
        page.page.keyboard.press(key)
    page.tab("Source")
    page.rest()
    assert not re.search(r"[#&](by|inv)=", page.fragment), "each key was pressed twice"
    assert page.current_tab == "Source" and page.page.locator(".lines .row.alike").count() > 0
    figures_of = page.page.locator(".details .figures dd b").all_inner_texts()
    for text, which in zip(figures_of, ("self", "total"), strict=True):
        assert onscreen.says_interval(text, function[which]["share"], function[which]["half_width"])
