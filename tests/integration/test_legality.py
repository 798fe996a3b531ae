# SPDX-License-Identifier: Apache-2.0
"""A stack that could not have existed is never reported as sure, nor as the outer part of one that moved: thousands of samples of hot
programs on each release, of each program on most; 200,000 and more of the program that changes its stack fastest with --soak."""
import os
import subprocess

import pytest

from harness.callgraph import CallGraph, Verdict, check
from harness.churn import Generations
from harness.interpreters import TARGETS
from harness.proved import BLIND, seen_in_time, too_many, unproved
from harness.statistics import holds

# program -> how many sure samples of it, in an ordinary run and with --soak
QUOTA = {
    "families.py": (4_000, 200_000),
    "generators.py": (2_000, 40_000),
    "mixed.py": (2_000, 40_000),
    "threads.py": (2_000, 20_000),
    "coroutines.py": (2_000, 40_000),
}
NO_LIMIT = "-r", "max", "--max-overhead", "none"
AT_ONCE = 2_000  # sure samples in one recording: it is read anew each time that it has grown


def sampled(plumb, target, python, script, quota):
    """Attach again and again until that many sure samples are there. Without a limit most samples are not stopped for: what is sure then is so
    by what was read alone."""
    graph, verdict = CallGraph(TARGETS / script), Verdict()
    with target(python, script) as running:
        while verdict.checked < quota:
            _, profile = plumb.sampled(lambda profile: check(graph, profile).checked >= min(AT_ONCE, quota), running.pid, *NO_LIMIT)
            check(graph, profile, verdict)
    return verdict


# How a stack is read is the same for all programs; each release takes two of them, and the tests below take families.py and generators.py on each.
@pytest.mark.once
@pytest.mark.slow
@pytest.mark.thinned(2, of=len(QUOTA))
@pytest.mark.parametrize("script", QUOTA)
def test_no_stack_that_is_told_is_impossible(plumb, target, minor, table, effort, script):
    if minor.version < (3,) and script == "coroutines.py":
        pytest.skip("Python 2.7 has no coroutines")
    verdict = sampled(plumb, target, minor, script, effort(*QUOTA[script]))
    table(minor, script, "%d / %d (%d)" % (verdict.impossible, verdict.checked, verdict.partial), title="impossible / sure (partial)")
    assert not verdict.impossible and not verdict.outer_impossible, verdict


def moving(profile):
    return [stack for stack in profile.stacks if stack.quality == "partial"]


def bare_share(stacks):
    return sum(stack.samples for stack in stacks if not stack.python) / sum(stack.samples for stack in stacks)


# program -> how many samples in which its stack moved; an event loop often stands still
MOVING = {"families.py": 300, "generators.py": 300, "callbacks.py": 100}


def two_processors():
    mine = sorted(os.sched_getaffinity(0))
    if len(mine) < 2:
        pytest.skip("on one processor any thread stands still while another one runs")
    return mine[:2]


@pytest.mark.once
@pytest.mark.parametrize("script", MOVING)
def test_without_stops_what_is_doubtful_is_shown_as_such_and_the_outer_part_is_known(plumb, target, minor, script):
    """The stacks of these programs change many times while they are read. Where plumb may not run on the processor that they run on
    not all can be proved without a stop."""
    if minor.version < (3,) and script == "callbacks.py":
        pytest.skip("Python 2.7 has no asyncio")
    graph, (its, ours) = CallGraph(TARGETS / script), two_processors()

    def enough(profile):
        return sum(stack.samples for stack in moving(profile)) > MOVING[script]

    def few_are_bare():
        """One in a hundred has no outer part; but a thread that lost its processor between the steps that link a frame stands so for
        many samples. Beside 30 to 60 programs these were more than half in 1 of 22 trials."""
        _, profile = plumb.sampled(enough, running.pid, "-r", "max", "--never-stop", before=["taskset", "-c", str(ours)])
        verdict = check(graph, profile)
        assert not verdict.impossible and not verdict.outer_impossible, verdict
        assert profile.quality["stopped"] == 0, profile.quality
        bare = bare_share(moving(profile))
        return "%d %% of those that moved are bare" % (100 * bare) if bare > 0.5 else ""

    with target(minor, script) as running:
        os.sched_setaffinity(running.pid, {its})
        holds(few_are_bare, by_chance=0.2)


@pytest.mark.once
@pytest.mark.thinned(1, of=len(MOVING))
@pytest.mark.parametrize("script", MOVING)
def test_without_stops_a_stack_is_proved_from_the_processor_of_its_thread(plumb, target, minor, script):
    """It does not run there while plumb does."""
    if minor.version < (3,) and script == "callbacks.py":
        pytest.skip("Python 2.7 has no asyncio")
    graph, _ = CallGraph(TARGETS / script), two_processors()

    def nearly_all_are_proved():
        _, profile = plumb.sampled(lambda profile: check(graph, profile).checked > 400, running.pid, "--never-stop")
        verdict = check(graph, profile)
        assert not verdict.impossible and not verdict.outer_impossible, verdict
        assert profile.quality["stopped"] == 0 and profile.json["overhead"]["stopped_ns"] > 0, profile.json["overhead"]
        return too_many(unproved(seen_in_time(profile)), profile.samples)

    with target(minor, script) as running:
        holds(nearly_all_are_proved, blind=BLIND)


@pytest.mark.once
@pytest.mark.parametrize("script", ["families.py", "generators.py"])
def test_always_stop_is_always_sure(plumb, target, minor, script):
    graph = CallGraph(TARGETS / script)

    def nearly_all_are_proved():
        """It never blocks, so it may always be stopped, also where it is often pushed off its processor: none to 6 in 1000 were not
        proved; beside 50 programs 1 of 2,089."""
        _, profile = plumb.sampled(lambda profile: check(graph, profile).checked > 200, running.pid, "--always-stop")
        verdict = check(graph, profile)
        assert not verdict.impossible and not verdict.outer_impossible, verdict
        return "" if verdict.partial <= 0.02 * verdict.checked else "%d of %d are not proved" % (verdict.partial, verdict.checked)

    with target(minor, script) as running:
        holds(nearly_all_are_proved)


def has_jit(python):
    return subprocess.run([*python.command, "-c", "import sys; sys.exit(not sys._jit.is_available())"],
                          stderr=subprocess.DEVNULL).returncode == 0


@pytest.mark.once
@pytest.mark.slow
@pytest.mark.parametrize("script", ["families.py", "generators.py", "mixed.py"])
def test_a_jit_compiler_makes_no_stack_impossible(plumb, target, jit, script):
    """In compiled traces a frame may be left out, so not every chain need be seen; none that never was is."""
    if not has_jit(jit):
        pytest.skip("Python %s has no JIT compiler" % jit)
    graph = CallGraph(TARGETS / script)
    with target(jit, script, env=dict(os.environ, PYTHON_JIT="1")) as running:
        _, profile = plumb.sampled(lambda profile: check(graph, profile).checked > 100, running.pid, "-r", "max")
    verdict = check(graph, profile)
    assert not verdict.impossible, verdict


@pytest.mark.once
@pytest.mark.slow
def test_no_dead_function_is_ever_named(plumb, target, minor, table, effort):
    """Each sample is of another generation, mostly, and code that is always new costs so much that few can be had in a second."""
    least = effort(400, 20_000)

    def enough(generations):
        return generations.samples > least and len(generations.seen) > least / 2

    with target(minor, "exec_churn.py") as running:
        _, profile = plumb.sampled(lambda profile: enough(Generations(profile)), running.pid, "-r", "5000")
    generations = Generations(profile)
    table(minor, "dead / churned", "%d / %d" % (generations.wrong, generations.samples))
    assert not generations.wrong, generations
