# SPDX-License-Identifier: Apache-2.0
"""What can be done to the stacks, against the same done anew to those of the JSON report; and how it is undone."""
import pytest

from harness import calltables, onscreen

MIXED = {
    "Focus on the function": calltables.focused,
    "Hide it: its time goes to its callers": calltables.hidden,
    "Drop samples with it": calltables.dropped,
    "Collapse what it calls": calltables.cut_below,
    "Hide all of its module": calltables.module_hidden,
    "Collapse its module": calltables.module_collapsed,
}
RECURSION = {"Fold its recursion": calltables.folded, "Fold its direct recursion only": calltables.folded_directly}


def counted(page):
    return sorted((name, onscreen.count(own[-1]), onscreen.count(total[-1])) for name, _, own, total in page.functions())


def begin(page):
    page.whole_stacks()
    page.switch("Unit", "Samples")
    return counted(page)


def named(profile, name):
    f = profile.function(name)
    return f["qualname"], f["file"], f["line"]


def check(page, made, name, item, transform):
    """The rows, but for the name of a module, which is the page's to choose."""
    profile = made.report()
    changed = calltables.table(transform(calltables.stacks_of(profile), named(profile, name)))
    page.menu(named(profile, name)[0], item)
    if transform is calltables.module_collapsed:
        assert sorted(row[1:] for row in counted(page)) == sorted(row[1:] for row in changed)
    else:
        assert counted(page) == changed
    return changed


@pytest.mark.parametrize("item", MIXED)
def test_transforms_and_their_undo(mixed, opened, item):
    page = opened(mixed)
    before = begin(page)
    changed = check(page, mixed, "compared", item, MIXED[item])
    assert changed != before
    page.page.keyboard.press("u")
    assert counted(page) == before
    page.page.keyboard.press("Control+Shift+Z")
    assert counted(page) != before
    page.page.keyboard.press("Control+z")
    assert counted(page) == before


@pytest.mark.parametrize("item", RECURSION)
@pytest.mark.parametrize("name", ["down", "even"])
def test_recursion_is_folded(recursion, opened, name, item):
    page = opened(recursion)
    begin(page)
    check(page, recursion, name, item, RECURSION[item])


def test_each_step_can_be_taken_back_by_its_crumb(mixed, opened):
    page = opened(mixed)
    before = begin(page)
    stacks = calltables.stacks_of(mixed.report())
    compared = named(mixed.report(), "compared")
    page.menu("main", "Hide it: its time goes to its callers")
    page.menu("compared", "Focus on the function")
    crumbs = page.page.get_by_role("navigation", name="What was done to the call tree")
    assert crumbs.get_by_role("listitem").count() == 2
    crumbs.get_by_role("button", name="Take back: Hide").click()
    assert counted(page) == calltables.table(calltables.focused(stacks, compared))
    crumbs.get_by_role("button", name="Take back: Focus").click()
    assert counted(page) == before
    assert crumbs.count() == 0


def test_filters_are_undone_as_well(threads, opened):
    page = opened(threads)
    before = begin(page)
    page.tick("What threads were doing", "Running or ready")
    assert counted(page) != before
    page.page.keyboard.press("Control+z")
    assert counted(page) == before


def tree_names(page):
    page.tab("Call tree")
    page.open_branches()
    return {cells[-1][0] for _, cells in page.rows()}


def test_start_up_frames_are_folded_at_first_and_the_page_says_so(threads, opened):
    page = opened(threads, viewport={"width": 1440, "height": 4000})
    names = tree_names(page)
    assert "work_alpha" in names and "Thread._bootstrap" not in names
    said = page.page.get_by_role("contentinfo").get_by_text("only start the program").inner_text()
    assert onscreen.count(said) > 0
    page.whole_stacks()
    assert {"work_alpha", "Thread._bootstrap"} <= tree_names(page)
    assert page.page.get_by_role("contentinfo").get_by_text("only start the program").count() == 0


def test_a_path_alone(mixed, opened):
    page = opened(mixed, viewport={"width": 1440, "height": 6000})
    begin(page)
    page.tab("Call tree")
    page.open_branches()
    page.grid().get_by_role("row").filter(has=page.page.get_by_text("compared", exact=True)).first.click()
    page.page.keyboard.press("Shift+F")
    stacks = calltables.stacks_of(mixed.report())
    way = next(stack for stack, *_ in stacks if stack and stack[-1][0] == "compared")
    inside = [(stack[len(way) - 1 :], *figures) for stack, *figures in stacks if stack[: len(way)] == way]
    assert counted(page) == calltables.table(inside)
