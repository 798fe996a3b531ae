# SPDX-License-Identifier: Apache-2.0
"""`report -f svg` and `diff -f svg`: an XML parser reads them, every sample is drawn, and a browser zooms and searches them."""
import collections
import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree

import pytest

from harness import interpreters, viewers
from harness.figures import Figures, make, written
from harness.plumb import PATIENCE

SVG = "{http://www.w3.org/2000/svg}"
# Nothing else: no links, no images, no styles, nothing foreign.
ELEMENTS = {"svg", "g", "rect", "text", "title", "script"}
NARROWEST = 0.1 / 1180  # of the whole


def key(function, line):
    return json.dumps([function["qualname"], function["file"], function["line"], function["kind"]])


def read(path):
    """[(depth, is a strip, first line of the title, samples, share of the width)] and the tree."""
    root = xml.etree.ElementTree.parse(path).getroot()
    frames = root.find(SVG + "g[@id='frames']")
    boxes, heights = [], [float(g.find(SVG + "rect").get("y")) for g in frames]
    for g, y in zip(frames, heights):
        name, figures = g.find(SVG + "title").text.split("\n", 1)
        samples = re.search(r"([\d,]+) samples?\b", figures)
        samples = int(samples[1].replace(",", "")) if samples else None  # frames of a comparison tell shares
        depth = round((heights[0] - y) / 17)
        boxes.append((depth, g.get("class") == "s", name, samples, float(g.find(SVG + "rect").get("width")) / 1180))
    return boxes, root


def narrow(boxes):
    """How many frames the strips among them stand for."""
    return sum(int(re.match(r"([\d,]+) frames? too narrow", box[2])[1].replace(",", "")) for box in boxes if box[1])


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_sample_is_drawn(plumb, seed):
    recording = make(plumb, seed, 600)
    wanted = Figures(plumb.report(recording), key)
    boxes, root = read(written(plumb, recording, "svg"))
    assert boxes[0][:4] == (0, False, "all", wanted.all.samples)
    for depth in range(1, 10):
        here = [box for box in boxes if box[0] == depth]
        nodes = [cost for path, cost in wanted.nodes.items() if len(path) == depth]
        assert sum(box[3] for box in here) == sum(cost.samples for cost in nodes), depth
        drawn = collections.Counter(box[3] for box in here if not box[1])
        wide = [cost for cost in nodes if cost.weight_ns / wanted.all.weight_ns >= NARROWEST]
        assert drawn == collections.Counter(cost.samples for cost in wide), depth
        assert narrow(here) == len(nodes) - len(wide), depth
    plain = [(box[2], box[3]) for box in boxes if box[2] == "plain (/srv/app/main.py:1)"]
    assert sum(samples for _, samples in plain) >= wanted.total[json.dumps(["plain", "/srv/app/main.py", 1, "python"])].samples


@pytest.mark.parametrize("seed", [1, 4])
def test_no_name_is_more_than_text(plumb, seed):
    path = written(plumb, make(plumb, seed), "svg", "--lines", "--names", "full")
    boxes, root = read(path)
    only_text(path, root)
    assert any("</script><script>alert(1)</script>" in box[2] for box in boxes)
    assert all(len(box[2]) < 2500 for box in boxes)


def only_text(path, root):
    """No name of the program is more than that."""
    scripts = list(root.iter(SVG + "script"))
    assert len(scripts) == 1 and not scripts[0].attrib and "alert(1)" not in scripts[0].text
    for element in root.iter():
        assert element.tag.replace(SVG, "") in ELEMENTS
        assert not [name for name in element.attrib if name.startswith("on") or "href" in name or name == "style"]
    assert path.read_text("utf-8").count("http") == 1  # the name of the language, which nobody loads


def test_strips_stand_for_what_is_narrow(plumb):
    recording = make(plumb, 5, 14000)
    wanted = Figures(plumb.report(recording), key)
    boxes, _ = read(written(plumb, recording, "svg"))
    strips = [box for box in boxes if box[1]]
    assert len(strips) > 10 and len(boxes) < len(wanted.nodes)
    assert sum(box[3] for box in boxes[1:]) == sum(cost.samples for cost in wanted.nodes.values())


# In the environment of the browser: what it found, as JSON.
BROWSE = """
import base64, hashlib, json, re, sys
from playwright.sync_api import sync_playwright
path, chromium, pattern, click = sys.argv[1:]
text = open(path, encoding="utf-8").read()
script = re.search(r"<script><!\\[CDATA\\[(.*)\\]\\]></script>", text, re.DOTALL)[1]
digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
policy = "default-src 'none'; script-src 'sha256-%s'" % digest
found = {"trouble": [], "requests": []}
STATE = '''() => {
    const boxes = [...document.querySelectorAll("#frames > g.f")];
    return {shown: boxes.filter(g => g.getAttribute("display") !== "none").length, boxes: boxes.length,
            marked: boxes.filter(g => g.querySelector("rect").getAttribute("fill") === "#c800c8").length,
            widths: boxes.map(g => +g.querySelector("rect").getAttribute("width")),
            matched: document.getElementById("matched").textContent, hash: location.hash,
            top: +boxes[0].querySelector("rect").getAttribute("y"), last: +boxes[boxes.length - 1].querySelector("rect").getAttribute("y")};
}'''
with sync_playwright() as p:
    browser = p.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"])
    page = browser.new_page(viewport={"width": 1220, "height": 800})
    page.on("console", lambda m: found["trouble"].append(m.text))
    page.on("pageerror", lambda e: found["trouble"].append(str(e)))
    page.on("request", lambda r: found["requests"].append(r.url))
    page.on("dialog", lambda d: d.accept(pattern))
    served = {"Content-Security-Policy": policy, "Content-Type": "image/svg+xml; charset=utf-8"}
    page.route("**/*", lambda route: route.fulfill(body=text, headers=served))
    page.goto("http://flames.test/a.svg")
    found["before"] = page.evaluate(STATE)
    page.keyboard.press("Control+f")
    found["searched"] = page.evaluate(STATE)
    page.evaluate("document.querySelectorAll('#frames > g.f')[%s].querySelector('rect').dispatchEvent(new MouseEvent('click', {bubbles: true}))" % click)
    found["zoomed"] = page.evaluate(STATE)
    page.keyboard.press("i")
    found["flipped"] = page.evaluate(STATE)
    page.reload()
    found["reloaded"] = page.evaluate(STATE)
    page.keyboard.press("Escape")
    found["reset"] = page.evaluate(STATE)
    page.unroute("**/*")
    page.goto("file://" + path)
    found["file"] = page.evaluate(STATE)
    found["tooltip"] = page.evaluate("document.querySelector('#frames > g.f title').textContent")
    browser.close()
print(json.dumps(found))
"""


def browser():
    """(Python with playwright, chromium), or skip by name."""
    chromium = shutil.which("chromium")
    python = interpreters.cache() / "venv-browser/bin/python"
    if not chromium:
        pytest.skip("there is no chromium")
    if not os.access(python, os.X_OK):
        pytest.skip("there is no playwright: ./dev setup has not made venv-browser")
    return python, chromium


def browsed(path, pattern, click):
    """What a browser found that searched for the pattern and clicked on that box."""
    python, chromium = browser()
    run = subprocess.run([str(python), "-c", BROWSE, str(path), chromium, pattern, str(click)], capture_output=True, text=True, timeout=PATIENCE)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert found["trouble"] == []
    assert {url.split("#")[0] for url in found["requests"]} == {"http://flames.test/a.svg", "file://" + str(path)}
    return found


def test_a_browser_zooms_searches_and_remembers(plumb):
    recording = make(plumb, 1, 600)
    wanted = Figures(plumb.report(recording), key)
    path = written(plumb, recording, "svg")
    found = browsed(path, "caf.*main|alert", 1)
    before, searched, zoomed = found["before"], found["searched"], found["zoomed"]
    assert before["shown"] == before["boxes"] and before["marked"] == 0 and before["hash"] in ("", "#")
    # What matches, once per stack: the boxes under a matching one add nothing.
    hit = sum(cost.weight_ns for nodes, cost in wanted.nodes.items()
              if "alert" in nodes[-1] and not any("alert" in node for node in nodes[:-1]))
    assert searched["marked"] > 0
    assert float(searched["matched"].split()[1]) == pytest.approx(100 * hit / wanted.all.weight_ns, abs=0.06)
    assert 0 < zoomed["shown"] < before["shown"] and zoomed["widths"][1] == 1180 and before["widths"][1] < 1180
    assert "z=1" in zoomed["hash"] and "s=caf" in zoomed["hash"]
    assert found["flipped"]["top"] < zoomed["top"] == before["top"]
    widths = found["reloaded"].pop("widths"), found["flipped"].pop("widths")
    assert widths[0] == pytest.approx(widths[1])
    assert found["reloaded"] == found["flipped"]
    assert found["reset"]["shown"] == before["shown"] and found["reset"]["marked"] == 0
    assert found["file"]["shown"] == before["shown"]
    assert found["tooltip"].startswith("all\n600 samples")


def compared(plumb, *sides):
    """The SVG of a comparison, and the rows of its JSON, each with `path`, the rows from the root to itself."""
    path, options = plumb.path(".svg"), ("--idle", "--names", "full")
    result = plumb("diff", *sides, "-o", path, *options)
    assert result.status == 0 and not result.stderr, result
    found = json.loads(plumb("diff", *sides, "--json", "--paths", *options).stdout)
    rows = found["list"]
    for index, row in enumerate(rows):
        row["path"] = []
        while index is not None:
            row["path"].insert(0, index)
            index = rows[index]["caller"]
        row["gone"] = row["total"]["after_samples"] == 0
    return path, rows, found


def trees(path):
    """The boxes of what is there after, and of what was there only before, each with its root first."""
    boxes, root = read(path)
    roots = [i for i, box in enumerate(boxes) if box[0] == 0] + [len(boxes)]
    return boxes[: roots[1]], boxes[roots[1]:], root


@pytest.mark.parametrize("seeds", [(1, 4), (3, 6)])
def test_a_comparison_draws_what_is_there_and_what_is_gone(plumb, seeds):
    path, rows, found = compared(plumb, *(make(plumb, seed, 600) for seed in seeds))
    after, gone, root = trees(path)
    only_text(path, root)
    assert after[0][2:4] == ("after", found["after"]["samples"])
    unit, lost = after[0][4], collections.Counter()
    for row in rows:
        for index in row["path"] if row["gone"] else ():  # a gone path, and what its callers no longer call
            lost[index] += row["self"]["before"]
    there = {index: row["total"]["after"] for index, row in enumerate(rows) if not row["gone"]}
    for boxes, shares in (after, there), (gone, lost):
        for depth in range(1, 10):
            here = [share for index, share in shares.items() if len(rows[index]["path"]) == depth]
            wide = sorted(share for share in here if share * unit >= NARROWEST)
            drawn = sorted(box[4] / unit for box in boxes if box[0] == depth and not box[1])
            assert drawn == pytest.approx(wide, abs=2e-6), depth
            assert narrow(box for box in boxes if box[0] == depth) == len(here) - len(wide), depth
    assert any(row["gone"] for row in rows) and gone[0][2] == "only before"


def test_the_same_comparison_is_the_same_bytes(plumb):
    sides = make(plumb, 1, 600), make(plumb, 4, 600)
    assert compared(plumb, *sides)[0].read_bytes() == compared(plumb, *sides)[0].read_bytes()


# A frame of the first tree -> the colour that its verdict gives it.
GREY, RED, BLUE = "#d4d4d4", {"#fbd9cc", "#f5b5a0", "#ee9077", "#e56b50", "#d9472f"}, {"#d3e4f3", "#acccec", "#84b3e3", "#5c9ad9", "#3a80cc"}
COLOURS = {"same": {GREY}, "more": RED, "new": RED, "less": BLUE, "gone": BLUE}


def test_only_what_the_comparison_calls_a_change_has_a_colour(plumb):
    """A path of its own for every name: a profile, and one in which it calls some of the paths four times as often."""
    sides = []
    for factor in (1, 4):
        text = plumb.path(".folded")
        text.write_text("".join("main;f%d %d\n" % (i, 400 * (factor if i % 3 == 0 else 1)) for i in range(12)))
        sides.append(plumb.path())
        assert plumb("convert", text, sides[-1]).status == 0
    path, rows, _ = compared(plumb, *sides)
    _, root = read(path)
    fills = {g.find(SVG + "title").text.split()[0]: g.find(SVG + "rect").get("fill") for g in root.find(SVG + "g[@id='frames']")}
    verdicts = {row["qualname"]: row["total"]["verdict"] for row in rows}
    assert {"same", "more", "less"} <= set(verdicts.values())
    for name, verdict in verdicts.items():
        assert fills[name] in COLOURS[verdict], name


def test_a_browser_zooms_into_what_is_gone(plumb):
    path, rows, _ = compared(plumb, viewers.plain(plumb, 6, 600), viewers.plain(plumb, 7, 600))
    boxes, root = read(path)
    frames = [box for box in boxes if not box[1]]
    (gone,) = [i for i, box in enumerate(frames) if box[0] == 0 and i]
    found = browsed(path, "function_1[0-9] ", gone)
    hits = [row for row in rows if any(re.fullmatch("function_1[0-9]", rows[index]["qualname"]) for index in row["path"])]
    after, before = re.fullmatch(r"Matched: ([\d.]+) % \+ ([\d.]+) % only before", found["searched"]["matched"]).groups()
    assert float(after) == pytest.approx(100 * sum(row["self"]["after"] for row in hits), abs=0.06)
    assert float(before) == pytest.approx(100 * sum(row["self"]["before"] for row in hits if row["gone"]), abs=0.06)
    assert found["zoomed"]["widths"][gone] == 1180 and found["before"]["widths"][gone] < 1180
    assert found["zoomed"]["shown"] == len(frames) - gone < found["before"]["shown"] == len(frames)
    assert found["reset"]["widths"] == found["before"]["widths"]
