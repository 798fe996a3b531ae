# SPDX-License-Identifier: Apache-2.0
"""Recordings of real programs and their pages, made once, and a browser to look at them with."""
import functools
import os

import pytest

from harness import browser as browsers
from harness.interpreters import TARGETS
from harness.pages import Comparison, Made, page_of
from harness.plumb import Plumb


@pytest.fixture(scope="session")
def browser():
    with browsers.launched() as running:
        yield running


@pytest.fixture(scope="session")
def maker(tmp_path_factory):
    runner = Plumb(tmp_path_factory.mktemp("pages"))
    if not os.access(runner.binary, os.X_OK):
        pytest.fail("there is no binary %s: run ./dev build, or set PLUMB_BIN" % runner.binary)
    return runner


@pytest.fixture(scope="session")
def made(maker, ordinary_python):
    """made("mixed.py", ...): the target run to its end under plumb."""

    @functools.lru_cache(maxsize=None)
    def make(script, *arguments, options=()):
        recording = maker.path()
        result = maker("run", "-o", recording, *options, "--", *ordinary_python.command, TARGETS / script, *arguments)
        assert result.status == 0, result
        return Made(maker, recording, page_of(maker, recording))

    return make


@pytest.fixture(scope="session")
def mixed(made):
    """Many functions, one thread."""
    return made("mixed.py", "--seconds", "1.5")


@pytest.fixture(scope="session")
def threads(made):
    """Threads that compute, and one that waits."""
    return made("threads.py", "--seconds", "1.5")


@pytest.fixture
def opened(browser):
    """opened(path, "#...", ...) opens a page; at the end no console may have complained and nothing may have been asked for."""
    reports = []

    def open_page(path, fragment="", **options):
        reports.append(browsers.Report(browser, getattr(path, "page", path), fragment, **options))
        return reports[-1]

    yield open_page
    complaints = [complaint for report in reports for complaint in report.close()]
    assert not complaints, complaints


@pytest.fixture(scope="session")
def families(made):
    """A program with processes of its own."""
    return made("children.py", "--way", "os.fork", "--unit", "0.4")


@pytest.fixture(scope="session")
def recursion(made):
    return made("recursion.py", "--seconds", "1.5")


@pytest.fixture(scope="session")
def compared(made):
    """A program, and the same with a function that takes six times as long."""
    sides = [made("compared.py", "--slow", slow, "--seconds", "3") for slow in ("100", "600")]
    return Comparison(sides[0].plumb, [side.recording for side in sides])


@pytest.fixture(scope="session")
def same(made):
    """Two runs of one program."""
    sides = [made("compared.py", "--slow", "100", "--seconds", seconds) for seconds in ("3", "3.1")]
    return Comparison(sides[0].plumb, [side.recording for side in sides])
