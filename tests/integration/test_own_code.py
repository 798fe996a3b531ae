# SPDX-License-Identifier: Apache-2.0
"""--own: code that is installed and the program's own all the same, in every output and from then on."""
import json
import os

import pytest

from harness.page import Page, blocks, page_is_built  # noqa: F401
from harness.plumb import until

PLUGIN = """
def work(end):
    import time
    while time.time() < end:
        sum(range(1000))
"""


@pytest.fixture
def program(any_python, tmp_path):
    """A program that has all of its work done by a package in a site-packages."""
    site = tmp_path / "lib" / "site-packages"
    (site / "plugin").mkdir(parents=True)
    (site / "plugin" / "__init__.py").write_text(PLUGIN)
    script = tmp_path / "app.py"
    script.write_text("import os, sys, time\nsys.path.insert(0, %r)\nimport plugin\nplugin.work(time.time() + float(os.environ['PLUMB_TEST_SECONDS']))\n" % str(site))
    return [*any_python.command, str(script)]


def recorded(plumb, program, *options):
    recording = None

    def run(seconds):
        nonlocal recording
        recording = plumb.path()
        result = plumb("run", *options, "-o", recording, "--", *program, env=dict(os.environ, PLUMB_TEST_SECONDS=str(seconds)))
        assert result.status == 0, result
        return plumb.report(recording) if recording.exists() else None

    until(run, lambda profile: sum(s.samples for s in profile.stacks if s.has("work")) > profile.samples * 0.8 and profile.samples > 300, 0.5)
    return recording


def outputs(plumb, recording, *options):
    """Whether the function is own code in (JSON, text, Markdown, the page)."""
    answer = plumb("report", "--json", *options, recording)
    assert answer.status == 0, answer
    work, = [f for f in json.loads(answer.stdout)["functions"] if f["qualname"] == "work"]
    text, markdown = (plumb("report", *form, *options, recording).stdout for form in ((), ("--markdown",)))
    page = Page(blocks(plumb_page(plumb, recording, options))[0][0][1])
    category, = {f["category"] for f in page.functions if f["qualname"] == "work"}
    return work["own"], "plugin.work" not in text, "plugin.work" not in markdown, page.meta["categories"][category]["name"] == "Application"


def plumb_page(plumb, recording, options):
    path = plumb.path(".html")
    result = plumb("report", "-o", path, *options, recording)
    assert result.status == 0, result
    return path.read_bytes()


@pytest.mark.parametrize("name", ["plugin", "site-packages/plugin/__init__.py", "path"])
def test_code_that_was_named_is_own_in_every_output(plumb, program, tmp_path, name):
    name = str(tmp_path / "lib") if name == "path" else name
    recording = recorded(plumb, program)
    assert outputs(plumb, recording) == (False,) * 4
    assert outputs(plumb, recording, "--own", name) == (True,) * 4
    assert outputs(plumb, recording, "--own", "plug,other", "--own", "elsewhere/plugin") == (False,) * 4


def test_a_recording_keeps_what_was_named(plumb, program):
    recording = recorded(plumb, program, "--own", "plugin")
    converted, merged = plumb.path(), plumb.path()
    assert plumb("convert", recording, converted, "--time", "0..1h").status == 0
    assert plumb("merge", recording, recording, "-o", merged).status == 0
    for path in (recording, converted, merged):
        assert outputs(plumb, path) == (True,) * 4, path
    assert outputs(plumb, recording, "--own", "other") == (False,) * 4


def test_more_names_than_there_is_room_for_are_refused(plumb):
    result = plumb("run", "--own", ",".join("module%d" % i for i in range(200)), "--", "true")
    assert result.status == 125 and "more than 1024 bytes" in result.stderr, result
