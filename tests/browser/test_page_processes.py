# SPDX-License-Identifier: Apache-2.0
"""A program whose work is done by processes that multiprocessing forks."""
import re

PROCESS = re.compile(r" (\d+)$")


def test_the_parent_is_listed_before_the_children_that_work(forked, opened):
    page = opened(forked)
    page.rest()
    first = forked.report().json["processes"][0]["pid"]
    names = page.page.locator(".strip-name").all_inner_texts()[1:]
    pids = [int(found.group(1)) for found in map(PROCESS.search, names) if found]
    assert len(pids) == 3 and pids[0] == first
    page.tab("Statistics")
    rows = page.page.get_by_role("region", name="Processes").locator("tbody th").all_inner_texts()
    assert [int(PROCESS.search(row).group(1)) for row in rows][0] == first


def outermost_of(page):
    """The names of the functions that no other one called."""
    return {text for level, cells in page.rows() if level == 1 for cell in cells for text in cell}


def test_the_stack_that_a_child_has_from_its_parent_is_folded(forked, opened):
    page = opened(forked)
    page.tab("Call tree")
    outermost = outermost_of(page)
    assert "work" in outermost
    page.whole_stacks()
    page.tab("Call tree")
    outermost = outermost_of(page)
    assert "work" not in outermost and "<module>" in outermost
