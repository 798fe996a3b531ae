# SPDX-License-Identifier: Apache-2.0
"""Nothing that a program is named breaks the page, nothing of it runs, and a file that is no longer whole says so."""
import base64
import gzip
import re

import pytest

from harness import figures, onscreen
from harness.browser import VIEWS
from harness.pages import Made, page_of

BLOCK = re.compile(r'(<script type="text/plain" class="plumb-block" data-kind="profile">)([A-Za-z0-9+/=\s]*)(</script>)')


def page_of_random(maker, seed, samples):
    recording = figures.make(maker, seed, samples)
    return Made(maker, recording, page_of(maker, recording))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_hostile_names(maker, opened, seed):
    made = page_of_random(maker, seed, 600)
    text = made.page.read_text(encoding="utf-8")
    assert "alert(1)" not in text and "<script>alert" not in text and "\u2028" not in text
    page, profile = opened(made), made.report()
    for view in VIEWS:
        page.tab(view)
        page.rest()
    page.tab("Functions")
    page.whole_stacks()
    page.switch("Unit", "Samples")
    shown = sorted((onscreen.count(own[-1]), onscreen.count(total[-1])) for _, _, own, total in page.functions())
    wanted = [(f["self"]["samples"], f["total"]["samples"]) for f in profile.functions if f["total"]["samples"]]
    assert shown == sorted(wanted)
    assert page.page.evaluate("document.querySelectorAll('#page script').length") == 0


def test_hostile_names_in_menus_crumbs_and_links(maker, opened):
    page = opened(page_of_random(maker, 4, 600))
    page.tab("Functions")
    page.grid().focus()
    for number in range(12):
        page.page.keyboard.press("ArrowDown")
        page.page.keyboard.press("m" if number % 2 else "r")
    link, seen = page.fragment, page.page.get_by_role("navigation", name="What was done").inner_text()
    page.go(link)
    assert page.page.get_by_role("navigation", name="What was done").inner_text() == seen
    page.search("</script>")
    page.search("(", regex=True)
    assert page.page.get_by_role("searchbox", name="Search functions and files").get_attribute("aria-invalid") == "true"


def test_controls_and_bidi_are_shown_as_what_they_are(maker, opened):
    """A name that turns the direction of the text round could make one line of the page read as another."""
    page = opened(page_of_random(maker, 5, 600))
    names = "".join(name for name, *_ in page.functions())
    assert not re.search("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]", names)


def test_no_samples(maker, opened):
    page = opened(page_of_random(maker, 1, 0))
    page.page.get_by_text("The recording has no samples.").wait_for()
    for view in VIEWS:
        page.tab(view)
        page.rest()


def test_one_sample(maker, opened):
    made = page_of_random(maker, 1, 1)
    page = opened(made)
    page.whole_stacks()
    page.switch("Unit", "Samples")
    assert {onscreen.count(total[-1]) for *_, total in page.functions()} == {1}
    for view in VIEWS:
        page.tab(view)
        page.rest()


def test_ten_thousand_frames(made, opened):
    whole = lambda profile: any(len(stack["frames"]) >= 10_000 for stack in profile.json["stacks"])
    page = opened(made("recursion.py", "--depth", "10000", seconds=2, options=("-r", "50"), enough=whole))
    for view in VIEWS:
        page.tab(view)
        page.rest()
    page.page.get_by_role("tab", name="Call tree").click()
    page.grid().focus()
    page.page.keyboard.press("Home")
    page.page.keyboard.press("*")
    page.page.keyboard.press("End")
    page.rest()
    page.menu("down", "Fold its recursion")
    page.tab("Flame graph")
    page.rest()


def damaged(made, path, change):
    text = made.page.read_text()
    block = BLOCK.search(text)
    path.write_text(text[: block.start(2)] + change(block[2]) + text[block.end(2) :])
    return path


def content_changed(change):
    """Of what is inside the block."""
    return lambda text: base64.b64encode(gzip.compress(change(gzip.decompress(base64.b64decode(text))))).decode()


DAMAGE = {
    "cut": lambda text: text[: len(text) // 8 * 4],
    "empty": lambda text: "",
    "no base64": lambda text: "?" + text[1:],
    "other bytes": lambda text: text[: len(text) // 2] + "AAAAAAAA" + text[len(text) // 2 + 8 :],
    "half of the content": content_changed(lambda data: data[: len(data) // 2]),
    "nothing in it": content_changed(lambda data: b""),
    "a section of enormous length": content_changed(lambda data: b"\x01\xff\xff\xff\xff\xff\xff\xff\x7f" + data),
    "zeros at its end": content_changed(lambda data: data[:-100] + bytes(100)),
}


PACKED_BADLY = ("cut", "empty", "no base64", "other bytes")


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_file_says_one_sentence(mixed, opened, tmp_path, how):
    page = opened(damaged(mixed, tmp_path / "damaged.html", DAMAGE[how]))
    if how == "zeros at its end" and page.page.get_by_role("tablist").count():
        return  # a table of zeros can be a table
    said = page.page.get_by_role("alert").inner_text()
    assert said.startswith("This page is damaged or cut: ") and said.count("\n") == 0 and len(said) < 200
    assert "undefined" not in said and "TypeError" not in said
    assert ("cannot be unpacked" in said) == (how in PACKED_BADLY)


def test_a_file_cut_by_a_transfer_says_so(mixed, opened, tmp_path):
    path = tmp_path / "cut.html"
    path.write_text(mixed.page.read_text()[: BLOCK.search(mixed.page.read_text()).end(2) - 1000])
    page = opened(path, waits=False)
    assert page.page.locator("#page").inner_text().startswith("This page needs JavaScript")


def test_an_old_browser_is_told_what_it_lacks(mixed, opened):
    page = opened(mixed, before="delete window.DecompressionStream")
    said = page.page.get_by_role("alert").inner_text()
    assert "browser" in said and "DecompressionStream" in said


@pytest.mark.soak
def test_a_hundred_million_samples_of_two_days_open(maker, opened):
    open_days(maker, opened, 100_000_000)


def test_many_samples_of_days_open(maker, opened):
    open_days(maker, opened, 200_000)


def open_days(maker, opened, samples):
    recording = figures.make(maker, 1, samples, "days")
    made = Made(maker, recording, page_of(maker, recording))
    page, profile = opened(made), made.report("--idle")
    assert profile.samples == samples and profile.json["duration_ns"] >= 47 * 3600e9
    page.rest()
    facts = page.page.get_by_role("banner").inner_text()
    assert "48h" in facts or "47h" in facts
    page.page.get_by_role("slider", name="Start of the time range").press("PageUp")
    page.tab("Functions")
    assert page.rows()
