# SPDX-License-Identifier: Apache-2.0
"""What can be taken away from the page: text that is that of `plumb report -f collapsed`, pictures that are pictures."""
import re
import shlex
import struct
import xml.etree.ElementTree
import zlib

import pytest

from harness import browser as browsers, onscreen

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("by, options", [("Functions", ["--functions"]), ("Lines", [])], ids=["functions", "lines"])
def test_stacks_are_those_of_the_collapsed_format(threads, opened, by, options):
    page = opened(threads)
    page.switch("Merge by", by)
    assert page.copied("Copy as collapsed text") == threads.collapsed(*options)
    page.tick(browsers.STATES, "Running or ready")
    assert page.copied("Copy as collapsed text") == threads.collapsed("--state", "on-cpu", *options)


def test_stacks_of_several_processes_are_those_of_the_collapsed_format(families, opened):
    assert opened(families).copied("Copy as collapsed text") == families.collapsed("--functions")


def test_saved_stacks_are_those_copied(threads, opened, tmp_path):
    page = opened(threads)
    saved = page.saved("Save as collapsed text", tmp_path / "x.folded").read_text(encoding="utf-8")
    assert saved == page.copied("Copy as collapsed text") and len(saved) > 100


def test_names_places_and_stacks_are_copied(threads, opened):
    page = opened(threads)
    page.tab("Call tree")
    page.search("spin_gamma")
    page.grid().focus()
    page.page.keyboard.press("n")
    function = threads.report().function("spin_gamma")
    details = page.page.get_by_role("complementary")
    for button, expected in (("Copy name", "spin_gamma"), ("Copy place", "%s:%d" % (function["file"], function["line"]))):
        assert page.clipboard_after(details.get_by_role("button", name=button)) == expected
    lines = page.clipboard_after(details.get_by_role("button", name="Copy stack")).splitlines()
    assert lines[-1].startswith("spin_gamma (threads.py:") and any(line.startswith("work_gamma ") for line in lines)


@pytest.mark.parametrize("view", ["Flame graph", "Callers and callees"])
def test_the_svg_is_a_picture_with_names(threads, opened, view, tmp_path):
    page = opened(threads)
    page.menu("spin", "Show callers and callees")
    page.tab(view)
    picture = page.saved("Save picture as SVG", tmp_path / "x.svg")
    root = xml.etree.ElementTree.parse(picture).getroot()
    assert root.tag == SVG + "svg"
    caption, *names = ["".join(text.itertext()) for text in root.iter(SVG + "text")]
    assert caption.startswith("threads.py · ") and " samples" in caption
    assert any(name.startswith("work_") for name in names) and any(name.startswith("spin") for name in names)
    assert len(list(root.iter(SVG + "rect"))) > 3
    assert not re.search(r"<script|href|url\([^#]", picture.read_text(encoding="utf-8"))
    shown = opened(picture, waits=False)
    assert shown.page.evaluate("document.querySelector('svg').getBoundingClientRect().width") > 300


def test_the_stack_chart_is_a_picture_too(threads, opened, tmp_path):
    page = opened(threads)
    page.tab("Stack chart")
    root = xml.etree.ElementTree.parse(page.saved("Save picture as SVG", tmp_path / "x.svg")).getroot()
    assert next(root.iter(SVG + "text")).text.startswith("threads.py · ")
    assert len(list(root.iter(SVG + "g"))) > 1


def test_the_png_is_what_is_seen(threads, opened, tmp_path):
    page = opened(threads)
    data = page.saved("Save picture as PNG", tmp_path / "x.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    assert width >= 600 and height >= 60
    at, pixels = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        pixels += data[at + 8 : at + 8 + length] if kind == b"IDAT" else b""
        at += 12 + length
    assert len(set(zlib.decompress(pixels))) > 30


def test_the_command_reports_what_the_page_shows(threads, opened):
    page = opened(threads)
    page.tick(browsers.STATES, "Running or ready")
    page.tick(browsers.THREADS, re.compile("^alpha"))
    words = shlex.split(page.copied("Copy as command"))
    assert words[:3] == ["plumb", "report", str(threads.recording)]
    profile = threads.report(*words[3:])
    assert onscreen.count(page.page.locator(".foot").inner_text()) == profile.samples > 0


def rows_of(markdown):
    return [line for line in markdown.splitlines() if line.startswith("|")]


@pytest.mark.parametrize("by, options", [("Functions", []), ("Lines", ["--lines"])], ids=["functions", "lines"])
def test_rows_as_markdown_are_those_of_the_report(threads, opened, by, options):
    page = opened(threads)
    page.switch("Merge by", by)
    for more in ([], ["--state", "on-cpu"]):
        page.tick(browsers.STATES, *(["Running or ready"] if more else []))
        rows = rows_of(page.copied("Copy as Markdown"))
        assert rows == rows_of(threads.markdown(*options, *more)) and len(rows) > 3


def test_what_is_copied_as_markdown_is_what_is_chosen(threads, opened):
    page = opened(threads)
    page.tab("Call tree")
    page.search("spin_gamma")
    page.grid().focus()
    page.page.keyboard.press("n")
    page.menu("work_alpha", "Drop samples with it")
    page.search("spin_")
    page.page.evaluate("text => navigator.clipboard.writeText(text)", browsers.NOTHING)
    page.grid().focus()
    page.page.keyboard.press("Y")
    page.page.get_by_role("status").filter(has_text="as Markdown").wait_for()
    text = page.page.evaluate("navigator.clipboard.readText()")
    rows = rows_of(text)[2:]
    assert text.startswith("### plumb: `threads.py · ") and "- Without `work_alpha`" in text
    assert rows and all("`spin_" in row for row in rows), "those that were found"
    assert "\n```sh\nplumb report " in text


def test_a_note_goes_with_the_link(threads, opened):
    page = opened(threads)
    with page.panel(browsers.SHARE) as panel:
        panel.get_by_role("textbox", name="Note in the link").fill("50 % & more: <b>look</b>\nhere")
    page.rest()
    again = opened(threads, page.fragment)
    assert again.page.get_by_role("note").inner_text() == "50 % & more: <b>look</b>\nhere"
