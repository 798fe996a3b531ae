# SPDX-License-Identifier: Apache-2.0
"""Every interpreter, launched, attached to and dumped, on every kind of program: the functions, their callers and their lines."""
import os

import pytest

from harness.callgraph import CallGraph, check, whole
from harness.churn import Generations
from harness.dump import assert_true, look
from harness.interpreters import PROGRAMS, SINCE_3, TARGETS
from harness.table import MATRIX

pytestmark = pytest.mark.once  # a stack that cannot have been is proof

SAMPLES = 100  # at least
PATH = "ünï, путь 関数 𐐨".encode()  # Latin-1, two-byte and four-byte characters, and a blank
# What another build of a release runs: it is laid out as the first one, and differs in how it is found and linked.
OF_OTHER_BUILDS = ["plain", "threads"]


def launched(plumb, places, python, program, enough):
    """The profile of a program that plumb starts."""
    script, directory = PROGRAMS[program], where(places, python, PROGRAMS[program])[1]
    path = os.path.join(directory, os.fsencode(script) if isinstance(directory, bytes) else script)
    return plumb.report(plumb.run_and_end(enough, *python.command, os.fsdecode(path), env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1")))


def where(places, python, script):
    return places.subdirectory(python.root, PATH) if script == "names.py" else places.directory(python.root)


def assert_threads(graph, profile):
    """Named threads keep their names, and their stacks begin where each thread's work begins."""
    for name, function in graph.threads.items():
        mine = [stack for stack in profile.stacks if stack.thread["name"] == name]
        assert mine, "no samples of thread %r; there are %r" % (name, sorted({s.thread["name"] for s in profile.stacks}))
        for stack in mine:
            ours = [frame.name for frame in stack.python if graph.ours(frame)]
            assert not ours or ours[0] == function, "thread %r shows %s" % (name, stack)


def has_enough(graph, program):
    """Whether a profile shows all that the program must show."""
    return lambda profile: whole(graph, profile, SAMPLES) and (program != "exec" or Generations(profile).samples > 0)


def assert_right(graph, profile, program, samples):
    """Of a profile, or of many dumps. `samples`: at least so many."""
    verdict = check(graph, profile)
    assert not verdict.impossible, verdict
    assert verdict.checked + verdict.partial > samples, verdict
    assert not graph.missing(profile.stacks), "no stack has the chain %s" % graph.missing(profile.stacks)
    assert_threads(graph, profile)
    if program == "exec":
        generations = Generations(profile)
        assert generations.samples > 0 and not generations.wrong, generations
    if program == "names":
        files = {frame.file for stack in profile.stacks for frame in stack.python if graph.ours(frame)}
        assert any(PATH.decode() in file for file in files), files


@pytest.fixture
def cells(table):
    """cells(program, python)(way, outcome)"""
    return lambda program, python: lambda way, outcome: table("%s, %s" % (program, way), python, outcome, title=MATRIX)


def needed(python, program):
    if program in SINCE_3 and python.version < (3,):
        pytest.skip("Python 2.7 cannot run %s" % PROGRAMS[program])
    return CallGraph(TARGETS / PROGRAMS[program])


def launched_and_right(plumb, places, python, program, cell):
    cell("run", "FAILED")
    graph = needed(python, program)
    assert_right(graph, launched(plumb, places, python, program, has_enough(graph, program)), program, SAMPLES)
    cell("run", "ok")


def running_and_right(plumb, target, places, python, program, cell):
    """Looked at by attach and then, over and over, by dump."""
    cell("attach", "FAILED")
    cell("dump", "FAILED")
    graph, script = needed(python, program), PROGRAMS[program]
    with target(python, script, directory=where(places, python, script)) as running:
        _, profile = plumb.sampled(has_enough(graph, program), running.pid)
        looks = look(plumb, running.pid, graph, TARGETS / script)
    assert_right(graph, profile, program, SAMPLES)
    cell("attach", "ok")
    assert_true(looks, graph)
    assert_right(graph, looks, program, 0)
    cell("dump", "ok")


# Where a program is met first, as it starts or later, does not depend on the program: it is launched on some interpreters.
@pytest.mark.thinned(2, of=len(PROGRAMS))
@pytest.mark.parametrize("program", PROGRAMS)
def test_functions_callers_and_lines_are_shown(plumb, places, minor, program, cells):
    launched_and_right(plumb, places, minor, program, cells(program, minor))


@pytest.mark.parametrize("program", PROGRAMS)
def test_functions_callers_and_lines_of_a_running_program(plumb, target, places, minor, program, cells):
    running_and_right(plumb, target, places, minor, program, cells(program, minor))


@pytest.mark.parametrize("program", OF_OTHER_BUILDS)
def test_functions_callers_and_lines_on_another_build(plumb, target, places, other_build, program, cells):
    cell = cells(program, other_build)
    launched_and_right(plumb, places, other_build, program, cell)
    running_and_right(plumb, target, places, other_build, program, cell)


def whole_depth(profile):
    return any(sum(frame.name == "down" for frame in stack.python) == 10000 for stack in profile.stacks)


def test_recursion_ten_thousand_deep_keeps_its_root(plumb, target, minor):
    with target(minor, "recursion.py", "--depth", "10000") as running:
        _, profile = plumb.sampled(whole_depth, running.pid)
    assert whole_depth(profile), "no whole stack; the deepest has %d frames" % max(len(stack.frames) for stack in profile.stacks)
    verdict = check(CallGraph(TARGETS / "recursion.py"), profile)
    assert not verdict.impossible, verdict


@pytest.mark.smoke
def test_a_shell_script_that_execs_python_is_followed(plumb, places, any_python):
    script = plumb.path(".sh")
    script.write_text('#!/bin/sh\nexec "$@"\n')
    script.chmod(0o755)
    program = os.path.join(places.directory(any_python.root)[1], "calls.py")
    graph = CallGraph(TARGETS / "calls.py")
    profile = plumb.report(plumb.run_and_end(lambda profile: not graph.missing(profile.stacks), script, *any_python.command, program))
    assert not graph.missing(profile.stacks)


def inner_seen(profile):
    return any(stack.has("main", "outer", "inner") for stack in profile.stacks)


@pytest.mark.parametrize("arguments", [["-m", "calls"], ["-c", "import calls; calls.main()"]], ids=["-m", "-c"])
def test_modules_and_commands_are_programs_too(plumb, places, any_python, arguments):
    directory = places.directory(any_python.root)[1]
    recording = plumb.run_and_end(inner_seen, *any_python.command, *arguments, env=dict(os.environ, PYTHONPATH=directory))
    assert inner_seen(plumb.report(recording))


def test_a_file_name_that_is_not_utf8_does_not_break_the_report(plumb, target, places, any_python):
    directory = places.subdirectory(any_python.root, b"not \xff\xfe utf-8")
    with target(any_python, "calls.py", directory=directory) as running:
        assert inner_seen(plumb.sampled(inner_seen, running.pid)[1])
