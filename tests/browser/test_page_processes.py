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


def test_threads_are_sorted_by_what_is_clicked(forked, opened):
    page = opened(forked)
    page.tab("Statistics")
    table = page.page.get_by_role("region", name="Threads", exact=True)
    for want in ("descending", "ascending"):
        table.get_by_role("button", name="Samples").click()
        page.rest()
        assert table.get_by_role("columnheader", name="Samples").get_attribute("aria-sort") == want
        samples = [int(text.replace(",", "")) for text in table.locator("tbody td:nth-child(2)").all_inner_texts()]
        assert samples == sorted(samples, reverse=want == "descending") and len(samples) > 2


def test_what_words_of_the_statistics_mean_stands_below_them(forked, opened):
    page = opened(forked)
    page.tab("Statistics")
    sure = page.page.get_by_role("heading", name="How sure it is").locator("..")
    pairs = sure.locator("dt").all_inner_texts()
    assert "Stacks exact" in pairs
    assert "each was proved to have existed at one instant, without stopping the thread" in sure.inner_text()
    assert len(sure.locator(".about").all()) == len(pairs) - 1, "all but the number of samples"
