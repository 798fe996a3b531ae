# SPDX-License-Identifier: Apache-2.0
"""The function in which a program spends its time is at the top of the text report, however it is called: targets/answers.py.

The hot function has nine tenths of the time. It is waited for so many samples that its share is known, and until the start of the program, which
takes long on a busy machine, is little beside it."""
import os

import pytest

from harness.processors import Others
from harness.statistics import NotNow, holds

SAMPLES = 300
KNOWN = 0.15  # half of the interval in which the share of the function is
TOP = 5  # rows
SHAPES = ["plain", "library", "sorted", "recursion", "decorator", "comprehension", "generator", "coroutine", "threads", "pool"]
LOOPS = "again", "run_forever", "_worker", "join"  # one of them is on each stack, once the program has begun


@pytest.fixture
def command(places, any_python):
    script = os.path.join(places.directory(any_python.root)[1], "answers.py")
    return lambda shape, seed: [*any_python.command, script, shape, str(seed)]


def is_known(profile, function):
    its = [stack for stack in profile.stacks if stack.has(function)]
    start = [stack for stack in profile.stacks if not any(stack.has(loop) for loop in LOOPS)]
    return (sum(stack.samples for stack in its) >= SAMPLES and profile.half_width(function) <= KNOWN
            and sum(stack.weight_ns for stack in its) >= 5 * sum(stack.weight_ns for stack in start))


def reported(plumb, command, function):
    """The first rows of the tree, and of the functions; and all of the report."""
    recording = plumb.run_and_end(lambda profile: is_known(profile, function), *command)
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
    """Who is woken and has to wait for a processor computes, says the kernel."""

    def off():
        others = Others()
        (tree, _), text = reported(plumb, command(shape, seed), function)
        (row,) = [row for row in tree if " %s " % function in row]
        assert into in row, text
        if computes(row) == bool(into):
            return ""
        if not others.leave(2):
            raise NotNow("others took a processor meanwhile")
        return text

    holds(off, blind=4)
