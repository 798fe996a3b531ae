# SPDX-License-Identifier: Apache-2.0
"""The live view: places and pages that it gives to others, which are the clipboard, an editor and a browser."""
import base64
import contextlib
import os
import re
import struct
import subprocess

import pytest

pytest.importorskip("pyte")

from harness.emulator import Emulator
from harness.live import close, phases, reads_lines, top
from harness.silent import file_that_falls_silent


@pytest.mark.parametrize("term, sty, begin, end", [
    ("xterm", "", b"\x1b]52;c;", b"\x07"), ("screen", "1.pts", b"\x1bP\x1b]52;c;", b"\x07\x1b\\"), ("linux", "", None, None)],
    ids=["xterm", "screen", "linux"])
def test_the_place_is_copied(plumb, any_python, top, tmp_path, term, sty, begin, end):
    """As it is shown, so that nothing runs where it is pasted: the name has the end of a line in it. A console has no clipboard."""
    folder = tmp_path / "end\nof line"
    folder.mkdir()
    with phases(any_python, folder) as program:
        with Emulator([plumb.binary, "top", str(program.pid)], columns=300, environment={"TERM": term, "STY": sty, "TMUX": ""}) as t:
            t.see(r" first ")
            t.type("/first\ry")
            place = str(folder / "phases.py").replace("\n", r"\n") + ":2"
            t.see("^" + re.escape(place) + "$")
            expected = begin and begin + base64.b64encode(place.encode()) + end
            t.until(lambda: not expected or expected in t.raw, expected)
            close(t)
        assert expected or b"\x1b]" not in t.raw


def test_the_editor(plumb, any_python, top, tmp_path):
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf "%s|" "$@" > "${0}.told"\n')
    editor.chmod(0o755)
    with phases(any_python, tmp_path) as program:
        with Emulator([plumb.binary, "top", str(program.pid)], directory=plumb.directory,
                      environment={"VISUAL": "", "EDITOR": "%s --wait" % editor}) as t:
            t.see(r" first ")
            t.type("e")
            told = tmp_path / "editor.told"
            expected = "--wait|+2|%s|" % (tmp_path / "phases.py")
            t.until(lambda: told.exists() and told.read_text() == expected, expected)
            t.until(lambda: not reads_lines(t), "the terminal is the screen's again")
            t.type("?")
            t.see("Ctrl-C +quit")
            close(t)


def test_the_editor_opens_nothing_but_files(plumb, any_python, top):
    with subprocess.Popen([*any_python.command, "-c", "def f(): input()\nf()"], stdin=subprocess.PIPE) as program:
        try:
            with Emulator([plumb.binary, "top", str(program.pid)], environment={"VISUAL": "false"}) as t:
                t.see(r" f ")
                t.type("e")
                t.see("the place of the file is not known")
                close(t)
        finally:
            program.kill()


def its_file_is_not_edited(plumb, program):
    with Emulator([plumb.binary, "top", str(program.pid)], environment={"VISUAL": "false"}) as t:
        t.see(r" first ")
        t.type("e")
        t.see("others may replace the file")
        close(t)


def is_not_edited(plumb, python, folder):
    """A program's file there, which is root's."""
    with phases(python, folder) as program:
        its_file_is_not_edited(plumb, program)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be somebody else")
def test_root_edits_no_file_where_somebody_else_may_put_another(plumb, any_python, top, tmp_path):
    """Who owns the directory can turn a link of that name, or lay something beside the file for the editor to read."""
    hers = tmp_path / "hers"
    hers.mkdir()
    os.chown(hers, 1000, 1000)
    is_not_edited(plumb, any_python, hers)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be somebody else")
def test_root_edits_no_file_that_others_may_lay_something_beside(plumb, any_python, top, tmp_path):
    """In a directory like /tmp they may not replace it."""
    like_tmp = tmp_path / "tmp"
    like_tmp.mkdir()
    like_tmp.chmod(0o1777)
    is_not_edited(plumb, any_python, like_tmp)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be somebody else")
def test_root_edits_no_file_that_a_group_may_write(plumb, any_python, top, tmp_path):
    """Others are in it, whether it is the group's by the mode or by a list of further users (acl(5))."""
    group = tmp_path / "group"
    group.mkdir()
    listed = tmp_path / "listed"
    listed.mkdir()
    os.chown(group, 0, 1000)
    group.chmod(0o775)
    rows = [(1, 7, -1), (2, 7, 1000), (4, 5, -1), (16, 7, -1), (32, 5, -1)]  # of user 1000, up to the mask
    try:
        os.setxattr(listed, "system.posix_acl_access", struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *row) for row in rows))
        folders = [group, listed]
    except OSError:  # a file system without lists
        folders = [group]
    for folder in folders:
        assert folder.stat().st_mode & 0o022 == 0o020
        is_not_edited(plumb, any_python, folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be somebody else")
def test_root_edits_no_file_whose_owner_is_what_a_program_says(plumb, any_python, top, tmp_path):
    """A file system of somebody's own (FUSE) says what it likes of its files."""
    with phases(any_python, tmp_path) as program, contextlib.ExitStack() as mounts:
        script = tmp_path / "phases.py"
        try:
            mounts.enter_context(file_that_falls_silent(script, script.read_bytes()))
        except OSError as why:
            pytest.skip("no file system can be mounted: %s" % why)
        its_file_is_not_edited(plumb, program)


def test_the_page(plumb, any_python, top, tmp_path):
    """Of all that was sampled, for nobody else, in the browser that there is; where there is none it is told where it is."""
    if plumb("report", "-f", "html", "nothing.plumb").status == 125:
        pytest.skip("this plumb was built without its page")
    browser = tmp_path / "browser"
    browser.write_text('#!/bin/sh\necho "$1" > "$0.told"\n')
    browser.chmod(0o755)
    with phases(any_python, tmp_path) as program:
        command = [plumb.binary, "top", str(program.pid)]
        with Emulator(command, directory=plumb.directory, environment={"BROWSER": str(browser)}) as t:
            t.see(r" first ")
            t.type("o")
            page = plumb.directory / t.see(r"the page is (plumb\.top\.%d\.html)" % program.pid)[1]
            told = tmp_path / "browser.told"
            t.until(lambda: told.exists() and told.read_text() == "%s\n" % page.resolve(), "the browser's")
            assert page.stat().st_mode & 0o777 == 0o600 and "<html" in page.read_text()
            close(t)
        assert "the page is %s" % page.name in t.text.rsplit("[?1049l")[-1]
        with Emulator(command, directory=plumb.directory, environment={"BROWSER": "", "PATH": "/nowhere"}, columns=120) as t:
            t.see(r" first ")
            t.type("o")
            t.see(r"there is no browser to show plumb\.top\.%d\.2\.html" % program.pid)
            close(t)
