# SPDX-License-Identifier: Apache-2.0
"""Where a report page goes: to standard output, to a file with a name of its own, beside a recording, into a browser."""
import json
import os

import pytest

from harness.figures import make
from harness.page import Page, blocks, page_is_built  # noqa: F401 - a fixture
from harness.plumb import until
from harness.target import started, wait_until
from harness.terminal import Terminal

OWN_FAILURE = 125
BUSY = "import time\nwhile time.process_time() < 0.3: sum(range(99))"  # as long as it takes on a busy machine


def profiles(page):
    return [Page(content) for kind, content in blocks(page)[0] if kind == "profile"]


@pytest.fixture
def recording(plumb):
    return make(plumb, 1)


@pytest.fixture
def browser(plumb):
    """A program that writes what it was given and where it runs, and what it has said so far."""
    seen = plumb.directory / "seen"
    program = plumb.directory / "a browser"
    program.write_text('#!/bin/sh\nwhere=$(ps -o sid= -p $$; readlink /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2)\n'
                       'printf "%%s\\n" "$where" "$#" "$@" >"%s.new"\nmv "%s.new" "%s"\n' % ((seen,) * 3))
    program.chmod(0o755)

    def said():
        wait_until(seen.exists, "the browser was started")
        return seen.read_text().splitlines()

    return program, said


def test_a_page_for_a_program_goes_to_standard_output(plumb, recording):
    result = plumb("report", recording, "--html")
    assert result.status == 0 and result.stderr == "" and len(profiles(result.stdout.encode())) == 1
    assert result.stdout.startswith("<!doctype html>")


def test_on_a_terminal_it_is_a_file_named_after_the_recording(plumb, recording):
    elsewhere = plumb.directory / "elsewhere"
    elsewhere.mkdir()
    for options, name in ((["--html"], recording.stem + ".html"), (["-f", "html"], recording.stem + ".html")):
        with Terminal([plumb.binary, "report", recording, *options], directory=elsewhere) as terminal:
            assert terminal.wait() == 0
            assert "note: the page is %s" % name in terminal.plain and "<script" not in terminal.plain
        assert len(profiles((elsewhere / name).read_bytes())) == 1
        (elsewhere / name).unlink()


def test_a_file_that_was_named_is_not_told(plumb, recording):
    out = plumb.path(".htm")
    result = plumb("report", recording, "--html", "-o", out)
    assert result.status == 0 and result.stdout == result.stderr == ""
    assert len(profiles(out.read_bytes())) == 1


def test_what_was_written_is_shown(plumb, recording, browser):
    program, said = browser
    result = plumb("report", recording, "--open", env={**os.environ, "BROWSER": "/nowhere/browser:%s:/nowhere/else" % program})
    page = plumb.directory / (recording.stem + ".html")
    assert result.status == 0 and result.stdout == "" and result.stderr == "note: the page is %s\n" % page.name
    session, stdin, stdout, stderr, count, argument = said()
    assert int(session) != os.getsid(0)
    assert stdin == stdout == stderr == "/dev/null"
    assert (count, argument) == ("1", str(page))
    assert len(profiles(page.read_bytes())) == 1


def test_without_a_browser_the_page_is_there_all_the_same(plumb, recording):
    out = plumb.path(".html")
    environment = {**os.environ, "BROWSER": "", "PATH": str(plumb.directory)}
    result = plumb("report", recording, "--open", "-o", out, env=environment)
    lines = result.stderr.splitlines()
    assert result.status == OWN_FAILURE and len(lines) == 2, result
    assert lines[0].startswith("plumb: there is no browser to show") and lines[1].startswith("hint: ")
    assert len(profiles(out.read_bytes())) == 1


def test_where_xdg_open_finds_no_browser_it_is_said(plumb, recording):
    """As it ends on a server without a display; BROWSER, too, may be what is not there."""
    program = plumb.directory / "xdg-open"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    environment = {**os.environ, "BROWSER": "/nowhere/browser", "DISPLAY": "", "WAYLAND_DISPLAY": "",
                   "PATH": "%s:%s" % (plumb.directory, os.environ["PATH"])}
    result = plumb("report", recording, "--open", env=environment)
    page = recording.stem + ".html"
    assert result.status == OWN_FAILURE and result.stderr.splitlines() == [
        "note: the page is %s" % page, "plumb: there is no browser to show %s: xdg-open finds none" % page,
        "hint: open the file in a browser, or name one in BROWSER"], result
    program.write_text("#!/bin/sh\n")
    assert plumb("report", recording, "--open", "--force", env=environment).status == 0


def test_a_report_proposes_what_works_here(plumb, recording):
    def proposed(**environment):
        return plumb("report", recording, env={**os.environ, "PATH": str(plumb.directory), **environment}).stdout.split()[-1]

    assert proposed(BROWSER="") == "--html"
    assert proposed(BROWSER="some-browser") == "--open"
    (plumb.directory / "xdg-open").touch(mode=0o755)
    assert proposed(BROWSER="") == "--open"


def test_only_a_page_is_shown(plumb, recording):
    for options in (["--json", "--open"], ["-o", plumb.path(".folded"), "--open"]):
        result = plumb("report", recording, *options)
        assert result.status == OWN_FAILURE and "only a report page can be shown" in result.stderr, result


def test_run_writes_a_page_beside_the_recording(plumb, any_python):
    result = plumb("run", "--html", "--", *any_python.command, "-c", BUSY)
    (recorded,) = plumb.directory.glob("plumb.*.plumb")
    page = recorded.with_suffix(".html")
    assert result.status == 0 and "note: the page is %s" % page.name in result.stderr, result
    (profile,) = profiles(page.read_bytes())
    total = plumb.report(recorded).samples
    assert sum(cell[5] for cell in profile.cells) == total > 0
    assert profile.meta["recording"] == recorded.name


def test_run_writes_it_where_it_is_wanted(plumb, any_python):
    out, kept = plumb.path(".html"), plumb.path()
    for options, page in ((["-o", out], out), (["--html", "-o", out], out), (["--html", "-q", "-o", kept], kept.with_suffix(".html"))):
        result = plumb("run", *options, "--", *any_python.command, "-c", BUSY)
        assert result.status == 0 and len(profiles(page.read_bytes())) == 1, result
        assert "the page is" not in result.stderr
    refused = plumb("run", "--html", "-o", plumb.path(".folded"), "--", *any_python.command, "-c", BUSY)
    assert refused.status == OWN_FAILURE and "is no page" in refused.stderr, refused


def test_attach_writes_a_page_beside_the_recording(plumb, places, any_python):
    recording = plumb.path()
    with started(places, any_python, "threads.py") as busy:
        result = until(lambda seconds: plumb("attach", "--html", "-d", seconds, "-o", recording, busy.pid),
                       lambda _: plumb.report(recording).samples, 0.5)
    assert result.status == 0 and "note: the page is %s" % recording.with_suffix(".html") in result.stderr, result
    (profile,) = profiles(recording.with_suffix(".html").read_bytes())
    assert sum(cell[5] for cell in profile.cells) == plumb.report(recording).samples > 0


def test_run_shows_its_page(plumb, any_python, browser):
    program, said = browser
    result = plumb("run", "-q", "--open", "--", *any_python.command, "-c", BUSY, env={**os.environ, "BROWSER": str(program)})
    assert result.status == 0 and result.stderr == "", result
    (page,) = plumb.directory.glob("plumb.*.html")
    assert said()[-1] == str(page)


def test_a_comparison_has_both_sides_and_what_changed(plumb, recording):
    other, third = make(plumb, 4, 900), make(plumb, 7, 600)
    out = plumb.path(".html")
    for before, after in (([recording], [other]), ([recording, third], [other])):
        assert plumb("diff", "-o", out, *before, "--", *after).status == 0
        found, _ = blocks(out.read_bytes())
        assert [kind for kind, _ in found] == ["profile", "profile", "diff", "diff-paths"]
        for (_, content), side in zip(found, (before, after)):
            page = Page(content)
            assert sum(c[5] for c in page.cells) == sum(plumb.report(path).samples for path in side)
            assert not page.meta["untimed"] and page.meta["recording"] == " ".join(map(str, side))
            assert (page.meta["bin_ns"] == page.meta["batch_ns"]) == (len(side) > 1)
        for (_, content), rows in zip(found[2:], ("--functions", "--paths")):
            said = plumb("diff", "--json", rows, *before, "--", *after)
            assert said.status == 0 and json.loads(content) == json.loads(said.stdout)


def test_a_comparison_of_some_threads_shows_only_these(plumb, recording):
    other, out = make(plumb, 4), plumb.path(".html")
    assert plumb("diff", "--html", "-o", out, "--threads", "MainThread", recording, other).status == 0
    for page, path in zip(profiles(out.read_bytes()), (recording, other)):
        assert sum(c[5] for c in page.cells) == plumb.report(path, "--threads", "MainThread").samples
        assert {thread["name"] for thread in page.meta["threads"]} == {"MainThread"}


def test_on_a_terminal_a_comparison_is_a_file_too(plumb, recording):
    other = make(plumb, 4)
    with Terminal([plumb.binary, "diff", recording, other, "--html"], directory=plumb.directory) as terminal:
        assert terminal.wait() == 0
        assert "note: the page is %s.diff.html" % other.stem in terminal.plain
    assert len(profiles((plumb.directory / (other.stem + ".diff.html")).read_bytes())) == 2
