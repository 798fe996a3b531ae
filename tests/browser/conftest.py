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
def launch():
    with browsers.launched() as launch:
        yield launch


@pytest.fixture
def browser(launch):
    """That of the tests before; another one if that has ended meanwhile, as by who ends programs of its name."""
    return launch()


@pytest.fixture(scope="session")
def maker(tmp_path_factory):
    runner = Plumb(tmp_path_factory.mktemp("pages"))
    if not os.access(runner.binary, os.X_OK):
        pytest.fail("there is no binary %s: run ./dev build, or set PLUMB_BIN" % runner.binary)
    return runner


@pytest.fixture(scope="session")
def made(maker, ordinary_python):
    """made("mixed.py", ...): the target run to its end under plumb; for twice as long, until the profile is `enough`."""

    @functools.lru_cache(maxsize=None)
    def make(script, *arguments, seconds=1.5, options=(), enough=lambda profile: True):
        while True:
            recording = maker.path()
            command = [*ordinary_python.command, TARGETS / script, *arguments, "--seconds", str(seconds)]
            result = maker("run", "-o", recording, *options, "--", *command)
            assert result.status == 0, result
            if enough(maker.report(recording)):
                return Made(maker, recording, page_of(maker, recording))
            seconds *= 2

    return make


# What a short time shows is the machine's to decide: a busy one gives a tenth of the samples of an idle one. So each recording says what
# its tests need of it.


def has(*names):
    """Whether functions of all these names were sampled."""
    return lambda profile: all(map(profile.function, names))


def shows_what_compared_does(profile):
    """What it calls, and its own time, which is one sample of fifty."""
    inside = [stack for stack in profile.stacks if stack.has("main", "compared")]
    return any(stack.has("__lt__") for stack in inside) and any(stack.frames[-1].name == "compared" for stack in inside)


def shows_all_threads(profile):
    """Some samples of each in each of its states, a marker, and what began the program."""
    began = [s for s in profile.stacks if not s.thread["idle"] and not any(f.file.endswith("threading.py") for f in s.frames)]
    functions = has("work_alpha", "work_gamma", "spin", "spin_gamma")(profile)
    return functions and began and len(profile.threads) == 5 and min(thread["samples"] for thread in profile.threads) > 100 and any(
        function["kind"] == "marker" for function in profile.functions)


def shows_each_process(profile):
    return len(profile.json["processes"]) == 3 and all(process["samples"] for process in profile.json["processes"])


@pytest.fixture(scope="session")
def mixed(made):
    """Many functions, one thread."""
    return made("mixed.py", enough=shows_what_compared_does)


@pytest.fixture(scope="session")
def threads(made):
    """Threads that compute, and one that waits."""
    return made("threads.py", enough=shows_all_threads)


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
    return made("children.py", "--way", "os.fork", "--unit", "0.4", enough=shows_each_process)


@pytest.fixture(scope="session")
def forked(made):
    """The same, with processes that multiprocessing forks."""
    return made("children.py", "--way", "fork", "--unit", "0.4", enough=shows_each_process)


@pytest.fixture(scope="session")
def recursion(made):
    return made("recursion.py", enough=has("down", "even"))


@pytest.fixture(scope="session")
def compared(made):
    """A program, and the same with a function that takes six times as long; for long enough to be told apart."""
    seconds, changes = 3, {}
    while not (changes.get("total") and changes.get("self")):
        sides = [made("compared.py", "--slow", slow, seconds=seconds, enough=has("work")) for slow in ("100", "600")]
        found = Comparison(sides[0].plumb, [side.recording for side in sides])
        changes, seconds = found.diff()["changes"], 2 * seconds
    return found


@pytest.fixture(scope="session")
def same(made):
    """Two runs of one program."""
    sides = [made("compared.py", "--slow", "100", seconds=seconds) for seconds in (3, 3.1)]
    return Comparison(sides[0].plumb, [side.recording for side in sides])
