# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the end-to-end tests, the end of a test that hangs, and the closing table.

A test that fails is run once more (pytest-rerunfailures), so that a run tells more; what failed first is named at the end, with
what it said: it is a defect to mend. Where a single failure is proof, the test is marked `once`."""
import collections
import contextlib
import gc
import os
import pathlib
import resource
import signal
import sys

import pytest

# Each worker of each step reads all tests anew: what Python compiles of them is kept, out of the source, and what is read stays.
BUILD = pathlib.Path(__file__).resolve().parents[1] / "build"
if BUILD.is_dir():
    sys.pycache_prefix, sys.dont_write_bytecode = str(BUILD / "pycache"), False

from harness import interpreters, left_over, sites, statistics, table as tables
from harness.plumb import Plumb, until
from harness.target import Places, started

# A run in the background of a shell, or under nohup, starts with these ignored, and so would everything it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
# What crashes leaves no core, but for who asks for one: in a root directory that many share it would be taken for another one's.
resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))

PYTHONS = interpreters.discover()
NEWEST_PATCHED = interpreters.one_per_minor(PYTHONS)
HANGS = 600  # seconds after which a test is taken for one that hangs: no measure of anything, on no machine
LEFT_OVER = {}  # lines: what is told twice is there once


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="on the oldest interpreter, the newest and one between")
    parser.addoption("--soak", action="store_true", help="the long form of the tests that have one: hours rather than minutes")


def _left_out(items):
    """What runs with --soak only."""
    numbers = collections.Counter()
    for item in items:
        thinned = item.get_closest_marker("thinned")
        if thinned:  # of what is the same on each interpreter, each takes its own cases
            row, column = divmod(numbers[item.originalname], thinned.kwargs["of"])
            numbers[item.originalname] += 1
        if item.get_closest_marker("soak") or (thinned and (column - row) % thinned.kwargs["of"] >= thinned.args[0]):
            yield item


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--soak"):
        left_out = set(_left_out(items))
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]
    for ordinal, item in enumerate(items):
        item.ordinal = ordinal
        if item.get_closest_marker("once"):
            item.add_marker(pytest.mark.flaky(reruns=0))


@pytest.hookimpl(hookwrapper=True)
def pytest_collection():
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


def pytest_generate_tests(metafunc):
    """`python` is every interpreter; `minor` one for each minor release and kind; `other_build` all but those; `few` the oldest, the
    newest and one between; `any_python` one that is there; `either` that and the free-threaded ones; `jit` those that may have been
    built with a JIT compiler; `newest` those of the newest minor; `placed` every place with those that are put there. Which one a
    test takes: docs/internals/tests.md."""
    if "placed" in metafunc.fixturenames:
        metafunc.parametrize("placed", list(sites.placements(PYTHONS)), ids=str)
    free_threaded = [python for python in NEWEST_PATCHED if python.free_threaded]
    quick = metafunc.config.getoption("--quick")
    choices = {"python": few() if quick else PYTHONS, "minor": few() if quick else NEWEST_PATCHED, "few": few(),
               "other_build": [python for python in PYTHONS if python not in NEWEST_PATCHED],
               "any_python": [favourite()], "free_threaded": free_threaded, "either": [favourite(), *free_threaded],
               "newest": [p for p in NEWEST_PATCHED if p.minor == max(q.minor for q in NEWEST_PATCHED)],
               "jit": [python for python in NEWEST_PATCHED if python.kind >= (3, 14, "")]}
    for name, pythons in choices.items():
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, pythons, ids=str, indirect=True)


def favourite():
    """The interpreter for tests that are not about interpreters: an unstripped recent one, or what there is."""
    there = [python for python in NEWEST_PATCHED if not python.missing]
    wanted = [python for python in there if python.kind == (3, 12, "")]
    return (wanted or there or NEWEST_PATCHED)[-1]


def few():
    """The oldest, the newest and one between: for what differs with the interpreter if at all by its age."""
    there = [python for python in NEWEST_PATCHED if not python.missing and not python.free_threaded]
    return sorted({there[0], favourite(), there[-1]}, key=there.index) if there else NEWEST_PATCHED[-1:]


def _present(request):
    if request.param.missing:
        pytest.skip(request.param.missing)
    return request.param


python = pytest.fixture(_present, name="python")
minor = pytest.fixture(_present, name="minor")
other_build = pytest.fixture(_present, name="other_build")
few_python = pytest.fixture(_present, name="few")
any_python = pytest.fixture(_present, name="any_python")
either = pytest.fixture(_present, name="either")
free_threaded = pytest.fixture(_present, name="free_threaded")
jit = pytest.fixture(_present, name="jit")
newest = pytest.fixture(_present, name="newest")


@pytest.fixture(scope="session")
def ordinary_python():
    """As any_python, for fixtures that outlive a test."""
    if favourite().missing:
        pytest.skip(favourite().missing)
    return favourite()


@pytest.fixture(scope="session")
def pythons():
    """All there are, and those that are missing."""
    return PYTHONS


@pytest.fixture(scope="session")
def places():
    found = Places()
    yield found
    found.remove()


@pytest.fixture(scope="session")
def threads_recording(tmp_path_factory, places, ordinary_python):
    """Of a program with threads, from one second on, with samples of all of them and of each part of that second; to be read only."""
    plumb = Plumb(tmp_path_factory.mktemp("recording"))

    def attach(seconds):
        path = plumb.path()
        result = plumb("attach", "-d", seconds, "-o", path, busy.pid)
        assert result.status == 0, result
        return path

    def enough(path):
        parts = [plumb.report(path, "--time", part).samples for part in ("..0.2", "0.2..0.5", "0.5..0.7", "0.7..")]
        return min(parts) > 20 and {"alpha", "beta", "waiter"} <= {t["name"] for t in plumb.report(path).threads if t["samples"]}

    with started(places, ordinary_python, "threads.py") as busy:
        return until(attach, enough, 1)


@pytest.fixture
def plumb(tmp_path):
    runner = Plumb(tmp_path)
    if not os.access(runner.binary, os.X_OK):
        pytest.fail("there is no binary %s: run ./dev build, or set PLUMB_BIN" % runner.binary)
    return runner


@pytest.fixture
def target(places):
    """target(python, "script.py", ...) starts a target program; see harness.target.started."""

    def start(python, script, *arguments, **options):
        return started(places, python, script, *arguments, **options)

    return start


@pytest.fixture
def effort(request):
    """effort(ordinary, soak): how much of something, in an ordinary run and with --soak."""
    return lambda ordinary, soak: soak if request.config.getoption("--soak") else ordinary


@pytest.fixture
def table(request):
    """table(row, column, text) puts a result into the table at the end of the run; a row is an interpreter or, in a table
    with a title of its own, anything. A test that is skipped afterwards leaves its reason there."""
    request.node.cells = tables.Cells()
    return request.node.cells


# The test may run in another process than the one that prints the tables: its cells go there with its report.
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    report.left_over = item.left_over if call.when == "teardown" else []
    if not hasattr(item, "cells"):
        return
    if report.skipped:
        item.cells.skipped(report.longrepr[2].replace("Skipped: ", "", 1))
    report.cells, report.ordinal = item.cells.plain(), item.ordinal


def pytest_runtest_logreport(report):
    if hasattr(report, "cells"):
        tables.take(report.ordinal, report.cells)
    LEFT_OVER.update(("left running by %s, and killed: %s" % (report.nodeid, told), None) for told in report.left_over)


# What a test leaves running would take the machine from those that come after it. What fixtures share outlives tests.
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    item.left_over = []  # by all its runs: not all releases of the plug-in report the teardown of one that is repeated
    item.processor_before = _processor_seconds()
    with left_over.marked():
        yield


@pytest.hookimpl(hookwrapper=True)
def pytest_fixture_setup(fixturedef):
    with contextlib.nullcontext() if fixturedef.scope == "function" else left_over.unmarked():
        yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_teardown(item, nextitem):
    called = _processor_seconds()
    yield
    item.left_over += left_over.ended()
    # Behind the last test ends what all have shared, as a browser: that is not its own.
    before, item.processor_before = item.processor_before, _processor_seconds() if nextitem else called
    item.user_properties[:] = [("processor", "%.2f" % (item.processor_before - before))]


def _processor_seconds():
    """That this worker has used, and all that it has waited for."""
    return sum(os.times()[:4])


# A test that hangs ends here, and so does one that waits for what others share; what it started ends with its pipes, or is ended, and
# before that it says where it is.
@contextlib.contextmanager
def _ended_if_it_hangs(item):
    seconds = HANGS * (20 if item.config.getoption("--soak") else 6 if item.get_closest_marker("fresh") else 1)

    def give_up(*_):
        print(left_over.stacks(), file=sys.stderr)
        pytest.fail("the test hangs: it has not ended in %d s" % seconds)

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_setup(item):
    with _ended_if_it_hangs(item):
        yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    with _ended_if_it_hangs(item):
        yield


def pytest_terminal_summary(terminalreporter):
    for line in tables.closing_lines():
        terminalreporter.write_line(line)
    notes = ["not run: Python %s because %s" % (p.name, p.missing) for p in PYTHONS if p.missing]
    for report in terminalreporter.stats.get("rerun", []):
        said = report.longreprtext.strip().splitlines() or ["?"]
        notes.append("run again, a defect to mend: %s, which had said: %s" % (report.nodeid, " | ".join(said[-3:])[:300]))
    for report in terminalreporter.stats.get("skipped", []):
        why = report.longrepr[2].replace("Skipped: ", "", 1) if isinstance(report.longrepr, tuple) else ""
        if why.startswith(statistics.UNDECIDED):
            notes.append("%s%s: %s" % (statistics.UNDECIDED, report.nodeid, why[len(statistics.UNDECIDED) :][:300].splitlines()[0]))
    notes += LEFT_OVER
    for line in notes:
        terminalreporter.write_line(line)
    # For the closing lines of ./dev test, which come after more than one run of pytest.
    if notes and BUILD.is_dir():
        with (BUILD / "notes.txt").open("a", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in notes)
