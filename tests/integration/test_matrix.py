# SPDX-License-Identifier: Apache-2.0
"""Every interpreter, launched and attached to, on every kind of program: the functions, their callers and their lines."""
import os

import pytest

from harness.callgraph import CallGraph, check
from harness.churn import Generations
from harness.interpreters import TARGETS

PROGRAMS = {
    "plain": "calls.py",
    "recursion": "recursion.py",
    "generators": "generators.py",
    "delegation": "delegation.py",
    "threads": "threads.py",
    "asyncio": "coroutines.py",
    "exec": "exec_churn.py",
    "names": "names.py",
    "exceptions": "exceptions.py",
}
# What 2.7 cannot run: asyncio, yield from, names that are not ASCII.
SINCE_3 = {"asyncio", "delegation", "names"}
SECONDS = 0.7
PATH = "ünï, путь 関数 𐐨".encode()  # Latin-1, two-byte and four-byte characters, and a blank


def sampled(plumb, target, places, python, way, script):
    """The profile of a program on that interpreter."""
    directory = places.subdirectory(python.root, PATH) if script == "names.py" else places.directory(python.root)
    if way == "attach":
        with target(python, script, directory=directory) as running:
            return plumb.attach(running.pid, "-d", SECONDS)[1]
    recording = plumb.path()
    path = os.path.join(directory[1], os.fsencode(script) if isinstance(directory[1], bytes) else script)
    command = [*python.command, os.fsdecode(path), "--seconds", str(SECONDS)]
    result = plumb("run", "-o", recording, "--", *command, env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"))
    assert result.status == 0, result
    assert result.stdout.startswith('{"event": "ready"'), "the program's own output: %s" % result
    return plumb.report(recording)


def assert_threads(graph, profile):
    """Named threads keep their names, and their stacks begin where each thread's work begins."""
    for name, function in graph.threads.items():
        mine = [stack for stack in profile.stacks if stack.thread["name"] == name]
        assert mine, "no samples of thread %r; there are %r" % (name, sorted({s.thread["name"] for s in profile.stacks}))
        for stack in mine:
            ours = [frame.name for frame in stack.python if graph.ours(frame)]
            assert not ours or ours[0] == function, "thread %r shows %s" % (name, stack)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("way", ["run", "attach"])
def test_functions_callers_and_lines_are_shown(plumb, target, places, python, way, program, table):
    if program in SINCE_3 and python.version < (3,):
        pytest.skip("Python 2.7 cannot run %s" % PROGRAMS[program])
    script = PROGRAMS[program]
    graph = CallGraph(TARGETS / script)
    table(python, "%s %s" % (way, program), "FAILED")
    profile = sampled(plumb, target, places, python, way, script)
    verdict = check(graph, profile)
    assert not verdict.impossible, verdict
    assert verdict.checked + verdict.partial > 100, verdict
    assert not graph.missing(profile.stacks), "no stack has the chain %s" % graph.missing(profile.stacks)
    assert_threads(graph, profile)
    if program == "exec":
        generations = Generations(profile)
        assert generations.samples > 50 and not generations.wrong, generations
    if program == "names":
        files = {frame.file for stack in profile.stacks for frame in stack.python if graph.ours(frame)}
        assert any(PATH.decode() in file for file in files), files
    table(python, "%s %s" % (way, program), "ok")


@pytest.mark.timeout(120)
def test_recursion_ten_thousand_deep_keeps_its_root(plumb, target, minor):
    with target(minor, "recursion.py", "--depth", "10000") as running:
        _, profile = plumb.attach(running.pid, "-d", "1.5")
    deep = [stack for stack in profile.stacks if sum(frame.name == "down" for frame in stack.python) == 10000]
    assert deep, "no whole stack; the deepest has %d frames" % max(len(stack.frames) for stack in profile.stacks)
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


@pytest.mark.parametrize("arguments", [["-m", "calls"], ["-c", "import calls; calls.main()"]], ids=["-m", "-c"])
def test_modules_and_commands_are_programs_too(plumb, places, any_python, arguments):
    recording = plumb.path()
    directory = places.directory(any_python.root)[1]
    command = [*any_python.command, *arguments, "--seconds", "0.5"]
    result = plumb("run", "-o", recording, "--", *command, env=dict(os.environ, PYTHONPATH=directory))
    assert result.status == 0, result
    assert any(stack.has("main", "outer", "inner") for stack in plumb.report(recording).stacks)


def test_a_file_name_that_is_not_utf8_does_not_break_the_report(plumb, target, places, any_python):
    directory = places.subdirectory(any_python.root, b"not \xff\xfe utf-8")
    with target(any_python, "calls.py", directory=directory) as running:
        _, profile = plumb.attach(running.pid, "-d", "0.4")
    assert any(stack.has("main", "outer", "inner") for stack in profile.stacks)
