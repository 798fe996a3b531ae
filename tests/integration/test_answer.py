# SPDX-License-Identifier: Apache-2.0
"""The function in which a program spends its time is at the top of the text report, however it is called: targets/answers.py.

The hot function has nine tenths of the time. With the samples that are waited for, a right report misses it less than once in a million runs: some
hundred samples in a row would have to fall into the rest."""
import os

import pytest

SAMPLES = 300
TOP = 5  # rows
SHAPES = ["plain", "library", "sorted", "recursion", "decorator", "comprehension", "generator", "coroutine", "threads", "pool"]


@pytest.fixture
def command(places, any_python):
    script = os.path.join(places.directory(any_python.root)[1], "answers.py")
    return lambda shape, seed: [*any_python.command, script, shape, str(seed)]


def samples_of(profile, name):
    return sum(stack.samples for stack in profile.stacks if stack.has(name))


def reported(plumb, command, function):
    """The first rows of the tree, and of the functions; and all of the report. What the program imports is to be little beside the function."""
    recording = plumb.run_and_end(
        lambda profile: samples_of(profile, function) >= max(SAMPLES, 5 * samples_of(profile, "_find_and_load")), *command)
    text = plumb("report", "--width", "120", recording).stdout
    title, tree, functions = text.split("\n\n")
    assert "% computing" in title, text
    return [table.splitlines()[1 : 1 + TOP] for table in (tree, functions)], text


def computes(row, threads=1):
    """By its column `cpu`: more than half of the time that each of so many threads can have, for they share a GIL."""
    return int(row.split("%")[0].split()[-1]) * threads > 50


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", SHAPES)
def test_the_hot_function_is_at_the_top(plumb, command, shape, seed):
    (tree, functions), text = reported(plumb, command(shape, seed), "hot")
    assert any(" hot " in row for row in tree), text
    # Of those that compute: whoever waits for it has as much of the time.
    threads = 2 if shape == "threads" else 1
    assert " hot " in next(row for row in functions if computes(row, threads)), text


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape, function, into", [("parser", "parse", "json.loads"), ("sleeper", "nap", "")])
def test_who_calls_a_hot_library_or_waits_is_at_the_top(plumb, command, shape, function, into, seed):
    (tree, _), text = reported(plumb, command(shape, seed), function)
    (row,) = [row for row in tree if " %s " % function in row]
    assert into in row and computes(row) == bool(into), text
