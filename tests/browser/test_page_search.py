# SPDX-License-Identifier: Apache-2.0
"""What is found is gone through with Enter, in functions and in the text of a file; and what leads nowhere leads back."""
import re


def searched(page, text):
    page.search(text)
    return page.page.get_by_role("searchbox", name="Search functions and files")


def chosen(page, of):
    found = re.search(r"[#&]%s=(\d+)" % of, page.fragment)
    return found and int(found[1])


def test_enter_goes_through_the_functions_that_are_found(threads, opened):
    page = opened(threads)
    box = searched(page, "spin")
    seen = []
    for _ in range(2):
        box.press("Enter")
        seen.append(chosen(page, "f"))
    assert None not in seen and seen[0] != seen[1]
    box.press("Shift+Enter")
    assert chosen(page, "f") == seen[0]


def test_the_call_tree_opens_what_is_found(threads, opened):
    page = opened(threads, viewport={"width": 1440, "height": 3000})
    page.tab("Call tree")
    page.rest()
    names = {name for name, _, _, _ in page.functions()}
    page.tab("Call tree")
    for name in sorted(names & {"work_alpha", "work_gamma", "spin", "spin_gamma"}):
        page.search(name)
        assert page.page.locator(".tree .row.found").count() > 0, name


def test_the_text_of_a_file_is_searched(threads, opened):
    page = opened(threads)
    page.tab("Source")
    box = searched(page, "def ")
    said = page.page.get_by_role("search").locator("output").inner_text()
    number = int(re.match(r"(\d+) lines", said)[1])
    lines = []
    for _ in range(number + 1):
        box.press("Enter")
        lines.append(chosen(page, "l"))
    assert len(set(lines)) == number and lines[0] == lines[-1]
    assert page.page.locator(".lines .row.selected .code").inner_text().lstrip().startswith("def ")


def test_the_source_view_begins_with_code_of_the_program(threads, opened):
    page = opened(threads)
    page.tab("Source")
    page.rest()
    assert page.page.locator(".source-head .path").inner_text().endswith("threads.py")


def test_the_map_beside_the_lines_leads_to_the_hottest(threads, opened):
    page = opened(threads, viewport={"width": 1280, "height": 1600})
    page.tab("Source")
    page.rest()
    page.page.get_by_role("grid", name="Lines of the file").press("Home")
    page.rest()
    first = chosen(page, "l")
    page.page.locator('.line-map i[style*="--much: 1.000"]').click(force=True)  # the next mark may reach over it
    page.rest()
    assert chosen(page, "l") != first
    assert "--much: 0.500" in page.page.locator(".lines .row.selected").get_attribute("style"), "the most heat that a line has"


def test_a_function_that_was_collapsed_away_is_not_focused_on(threads, opened):
    page = opened(threads)
    page.menu("spin", "Show callers and callees")
    page.tab("Flame graph")
    page.rest()
    page.page.keyboard.press("c")
    page.rest()
    collapsed = page.fragment
    page.page.keyboard.press("f")
    page.page.get_by_role("status").filter(has_text="cannot be done").wait_for()
    assert page.fragment == collapsed


def test_a_key_that_changes_the_view_leaves_the_focus_in_it(threads, opened):
    page = opened(threads)
    page.tab("Functions")
    page.grid().focus()
    page.page.keyboard.press("5")
    page.rest()
    assert page.current_tab == "Call tree"
    assert page.page.evaluate("document.activeElement.id") == "view"


def test_a_panel_is_wide_enough_for_names(families, opened):
    page = opened(families, viewport={"width": 1280, "height": 720})
    with page.panel("Processes and threads that count") as panel:
        box = panel.bounding_box()
        lines = panel.locator("label.tick").evaluate_all("labels => labels.map(label => label.clientHeight)")
        assert box["y"] + box["height"] <= 720 and max(lines) <= 2 * min(lines)


def test_the_tooltip_of_a_box_has_the_hottest_line_of_its_function(threads, opened):
    page = opened(threads)
    box = page.page.get_by_role("application", name="Flame graph").bounding_box()
    page.page.mouse.move(box["x"] + 40, box["y"] + 10)
    source = page.page.locator(".tip-source")
    source.wait_for()
    assert re.match(r"\d+: ", source.inner_text()) and "def " not in source.inner_text()
