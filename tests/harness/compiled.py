# SPDX-License-Identifier: Apache-2.0
"""Libraries of C and C++ that tests compile for the programs that are sampled."""
import pathlib
import re
import shutil
import subprocess

import pytest

from harness.plumb import binary
from harness.sites import Lacking, tool

_LANGUAGES = {".c": ("c", "cc"), ".cc": ("cpp", "c++")}


def needed(*names):
    """Where these programs are; without one of them the test is skipped."""
    try:
        return [tool(name) for name in names]
    except Lacking as lacking:
        pytest.skip(str(lacking))


def _was_built_here(language):
    """Whether this machine has compiled that for plumb."""
    try:
        rules = (pathlib.Path(binary()).resolve().parent / "build.ninja").read_text()
    except OSError:
        return False
    return re.search("^rule %s_COMPILER$" % language, rules, re.MULTILINE) is not None


def _compiler(language, name):
    """Where plumb was built a test that needs one is never skipped: nobody would see that it is not run any more."""
    try:
        return tool(name)
    except Lacking as lacking:
        if _was_built_here(language):
            pytest.fail("%s, and plumb was built here: install build-essential" % lacking)
        pytest.skip(str(lacking))


def shared_library(path, source, *options):
    """Made of a source file, or of C as text; its path."""
    if isinstance(source, str):
        path.with_suffix(".c").write_text(source)
        source = path.with_suffix(".c")
    compiler = _compiler(*_LANGUAGES[source.suffix])
    subprocess.run([compiler, *options, "-shared", "-fPIC", "-o", path, source], check=True)
    return path


def put_in_common(debug, directory):
    """What this debug information has in common with two like it goes to a file of its own, as distributions do it: its
    path."""
    same = [directory / ("%d.debug" % i) for i in range(2)]
    for path in same:
        shutil.copy(debug, path)
    common = directory / "common"
    subprocess.run([tool("dwz"), "-m", common, debug, *same], check=True)
    notes = subprocess.run([tool("readelf"), "-n", common], check=True, capture_output=True, text=True).stdout
    build_id = re.search(r"Build ID: ([0-9a-f]+)", notes)[1]
    place = debug.parent.parent / build_id[:2] / (build_id[2:] + ".debug")
    place.parent.mkdir()
    common.rename(place)
    return place
