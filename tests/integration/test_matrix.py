# SPDX-License-Identifier: Apache-2.0
"""Every interpreter, launched, attached to and dumped, on every kind of program: the functions, their callers and their lines."""
import os

import pytest

from harness.callgraph import CallGraph, check, whole
from harness.churn import Generations
from harness.dump import assert_true, look
from harness.interpreters import PROGRAMS, SINCE_3, TARGETS
from harness.table import MATRIX

SECONDS = 0.6
PATH = "ünï, путь 関数 𐐨".encode()  # Latin-1, two-byte and four-byte characters, and a blank


def launched(plumb, places, python, script, enough):
    """The profile of a program that plumb starts, for so long, for twice as long, ... until it has enough."""
    for seconds in (SECONDS, 2 * SECONDS, 4 * SECONDS, 8 * SECONDS):
        profile = launched_for(seconds, plumb, places, python, script)
        if enough(profile):
            break
    return profile


def launched_for(seconds, plumb, places, python, script):
    recording = plumb.path()
    _, directory = where(places, python, script)
    path = os.path.join(directory, os.fsencode(script) if isinstance(directory, bytes) else script)
    command = [*python.command, os.fsdecode(path), "--seconds", str(seconds)]
    result = plumb("run", "-o", recording, "--", *command, env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"))
    assert result.status == 0, result
    assert result.stdout.startswith('{"event": "ready"'), "the program's own output: %s" % result
    return plumb.report(recording)


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
def cell(python, program, table):
    """cell(way, outcome) of this program on this interpreter."""

    def put(way, outcome):
        table("%s, %s" % (program, way), python, outcome, title=MATRIX)

    return put


def needed(python, program):
    if program in SINCE_3 and python.version < (3,):
        pytest.skip("Python 2.7 cannot run %s" % PROGRAMS[program])
    return CallGraph(TARGETS / PROGRAMS[program])


@pytest.mark.parametrize("program", PROGRAMS)
def test_functions_callers_and_lines_are_shown(plumb, places, python, program, cell):
    cell("run", "FAILED")
    graph = needed(python, program)
    profile = launched(plumb, places, python, PROGRAMS[program], lambda profile: whole(graph, profile, 100))
    assert_right(graph, profile, program, 100)
    cell("run", "ok")


@pytest.mark.parametrize("program", PROGRAMS)
def test_functions_callers_and_lines_of_a_running_program(plumb, target, places, python, program, cell):
    """Looked at once by attach and then, over and over, by dump."""
    cell("attach", "FAILED")
    cell("dump", "FAILED")
    graph, script = needed(python, program), PROGRAMS[program]
    with target(python, script, directory=where(places, python, script)) as running:
        profile = plumb.attach_until(lambda profile: whole(graph, profile, 100), running.pid, seconds=SECONDS)
        looks = look(plumb, running.pid, graph, TARGETS / script)
    assert_right(graph, profile, program, 100)
    cell("attach", "ok")
    assert_true(looks, graph)
    assert_right(graph, looks, program, 0)
    cell("dump", "ok")


def whole_depth(profile):
    return any(sum(frame.name == "down" for frame in stack.python) == 10000 for stack in profile.stacks)


def test_recursion_ten_thousand_deep_keeps_its_root(plumb, target, minor):
    with target(minor, "recursion.py", "--depth", "10000") as running:
        profile = plumb.attach_until(whole_depth, running.pid, seconds=1)
    assert whole_depth(profile), "no whole stack; the deepest has %d frames" % max(len(stack.frames) for stack in profile.stacks)
    verdict = check(CallGraph(TARGETS / "recursion.py"), profile)
    assert not verdict.impossible, verdict


@pytest.mark.smoke
def test_a_shell_script_that_execs_python_is_followed(plumb, places, any_python):
    script = plumb.path(".sh")
    script.write_text('#!/bin/sh\nexec "$@"\n')
    script.chmod(0o755)
    recording = plumb.path()
    program = os.path.join(places.directory(any_python.root)[1], "calls.py")
    result = plumb("run", "-o", recording, "--", script, *any_python.command, program, "--seconds", "0.5")
    assert result.status == 0, result
    assert not CallGraph(TARGETS / "calls.py").missing(plumb.report(recording).stacks)


def inner_seen(profile):
    return any(stack.has("main", "outer", "inner") for stack in profile.stacks)


@pytest.mark.parametrize("arguments", [["-m", "calls"], ["-c", "import calls; calls.main()"]], ids=["-m", "-c"])
def test_modules_and_commands_are_programs_too(plumb, places, any_python, arguments):
    recording = plumb.path()
    directory = places.directory(any_python.root)[1]
    command = [*any_python.command, *arguments, "--seconds", "0.5"]
    result = plumb("run", "-o", recording, "--", *command, env=dict(os.environ, PYTHONPATH=directory))
    assert result.status == 0, result
    assert inner_seen(plumb.report(recording))


def test_a_file_name_that_is_not_utf8_does_not_break_the_report(plumb, target, places, any_python):
    directory = places.subdirectory(any_python.root, b"not \xff\xfe utf-8")
    with target(any_python, "calls.py", directory=directory) as running:
        profile = plumb.attach_until(inner_seen, running.pid)
    assert inner_seen(profile)
