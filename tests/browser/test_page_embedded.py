# SPDX-License-Identifier: Apache-2.0
"""The page in a sandboxed frame that is made of text, as notebooks show it: it has its own rules of what may be loaded and run, but no
address and no rights."""
import html
import re

import pytest

from harness import browser as browsers, notebook

FRAME = '<!doctype html><title>notebook</title><iframe sandbox="allow-scripts" style="width: 100%%; height: 640px" srcdoc="%s"></iframe>'


@pytest.fixture
def framed(threads, tmp_path):
    page = tmp_path / "notebook.html"
    page.write_text(FRAME % html.escape(threads.page.read_text()))
    return page


@pytest.fixture
def executed(tmp_path):
    """What a real notebook shows of a cell with %%plumb."""
    page = tmp_path / "executed.html"
    spin = "import time\ndef spin(seconds):\n    end = time.thread_time() + seconds\n    while time.thread_time() < end: pass\n"
    cells = notebook.executed(["%load_ext plumb", spin, "%%plumb\nspin(0.3)"], page)
    assert cells[2]["html"], cells
    return page


@pytest.mark.parametrize("where", ["framed", "executed"])
def test_the_page_works_in_a_frame_without_rights(where, opened, request):
    inside = opened(request.getfixturevalue(where), waits=False).page.frame_locator("iframe")
    inside.get_by_role("tablist").wait_for()
    for view in browsers.VIEWS:
        inside.get_by_role("tab", name=view, exact=True).click()
    inside.get_by_role("tab", name="Functions", exact=True).click()
    inside.get_by_role("searchbox", name="Search functions and files").fill("spin")
    inside.get_by_role("search").locator("output").filter(has_text=re.compile(r"\d")).wait_for()
    # Longer than the page rests before it writes an address: nothing may be written, and no error be told.
    inside.locator("body").evaluate("() => new Promise(done => setTimeout(done, 400))")


def test_stacks_begin_with_the_cell(executed, opened):
    inside = opened(executed, waits=False).page.frame_locator("iframe")
    inside.get_by_role("tab", name="Call tree", exact=True).click()
    first = inside.get_by_role("treegrid").get_by_role("row").nth(1)
    first.filter(has_text="<module>").wait_for()
    inside.get_by_text(re.compile(r"\d\d functions hidden that only start the program")).wait_for()


def test_what_a_frame_cannot_do_is_not_offered(framed, opened):
    inside = opened(framed, waits=False).page.frame_locator("iframe")
    inside.get_by_role("button").and_(inside.get_by_title(browsers.SHARE, exact=True)).click()
    assert inside.get_by_role("dialog", name=browsers.SHARE).get_by_role("button").all_inner_texts() == ["Copy as collapsed text", "Copy as Markdown", "Copy as command"]
