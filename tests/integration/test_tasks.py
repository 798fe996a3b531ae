# SPDX-License-Identifier: Apache-2.0
"""--tasks: what an asyncio task does is shown below the coroutines that await it, across tasks (targets/awaiters.py), and never below
others; what is not proved stays on the stack of its thread, and is counted."""
import re

import pytest

from harness.callgraph import CallGraph
from harness.interpreters import TARGETS

SCRIPT = "awaiters.py"
# What must be seen: the way to work() of each task.
CHAINS = {
    "gather": ("top", "by_gather", "gathered"),
    "a task": ("top", "by_task", "created"),
    "wait_for": ("top", "by_wait_for", "timed"),
    "shield": ("top", "by_shield", "shielded"),
    "wait": ("top", "by_wait", "waited"),
    "TaskGroup": ("top", "by_group", "grouped"),
    "an asynchronous generator": ("top", "by_generator", "generated", "steps"),
    "several": ("top", "by_nesting", "inner", "gathered"),
    "nobody": ("abandoned",),
}
LEAF = "query", "work", "spin"
# How it is read: while it runs, or while it is stopped; and how long its tasks live.
UNSTOPPED = "-r", "max", "--max-overhead", "none"
WAYS = {"unstopped": (UNSTOPPED, 3000), "stopped": (["--always-stop"], 3000), "brief": (UNSTOPPED, 300), "brief, stopped": (["--always-stop"], 300),
        "with native frames": (["--native=all", "-r", "1000", "--max-overhead", "none"], 3000)}


def begun(graph, frames):
    """Without the frame of a coroutine that is being made: from 3.11 on its function runs for that as far as its first line."""
    made = frames and frames[-1].line in [first for first, _ in graph.functions.get(frames[-1].name, ())]
    return frames[:-1] if made else frames


def needs_tasks(python):
    if python.minor < (3, 7):
        pytest.skip("tasks are read on 3.7 and later")


class Awaiting:
    """What a profile with --tasks shows of the program's own functions."""

    def __init__(self, graph, profile):
        self.tasks, self.below_the_loop, self.problems = {}, 0, []
        self.native = 0  # samples of tasks with native frames
        for stack in profile.stacks:
            if stack.sure:
                self.add(graph, stack, begun(graph, [frame for frame in stack.python if graph.ours(frame)]))

    def add(self, graph, stack, own):
        names = tuple(frame.name for frame in own)
        if names[:2] == ("<module>", "main") and names[2:3] not in ((), ("ready",)):
            self.below_the_loop += stack.samples
            return
        problem = graph.problem(own)
        if problem:
            self.problems.append("%d x %s: %s" % (stack.samples, problem, stack))
        if names[:1] != ("<module>",):
            self.tasks[names] = self.tasks.get(names, 0) + stack.samples
            self.native += stack.samples * any(frame.kind == "native" for frame in stack.frames)

    def missing(self, chains):
        return [chain for chain in chains if not self.tasks.get(chain + LEAF)]


@pytest.fixture(scope="module")
def graph():
    return CallGraph(TARGETS / SCRIPT)


# How tasks are laid out differs with the release, how a thread is read with a stop and without does not: each release takes one of the ways.
@pytest.mark.once
@pytest.mark.slow
@pytest.mark.thinned(1, of=len(WAYS))
@pytest.mark.parametrize("way", WAYS)
def test_no_task_is_shown_below_one_that_does_not_await_it(plumb, target, minor, graph, table, effort, way):
    needs_tasks(minor)
    chains = [chain for name, chain in CHAINS.items() if name != "TaskGroup" or minor.minor >= (3, 11)]
    least = effort(1_000, 20_000)

    def enough(profile):
        seen = Awaiting(graph, profile)
        return seen.problems or (not seen.missing(chains) and sum(seen.tasks.values()) > least)

    options, loops = WAYS[way]
    with target(minor, SCRIPT, "--steps", str(loops // 150), "--loops", str(loops)) as program:
        _, profile = plumb.sampled(enough, program.pid, "--tasks", *options)
    seen = Awaiting(graph, profile)
    assert not seen.problems, "\n".join(seen.problems[:5])
    # Each that is proved and still not below who awaits it is counted.
    assert seen.below_the_loop <= profile.losses["task"], (seen.below_the_loop, profile.losses)
    assert bool(seen.native) == ("--native=all" in options)
    table(minor, way, "%d" % sum(seen.tasks.values()), title="samples of tasks, none impossible")


def test_without_it_a_task_is_below_its_loop(plumb, target, any_python, graph):
    with target(any_python, SCRIPT) as program:
        _, profile = plumb.sampled(lambda profile: profile.samples > 200, program.pid)
    own = [[frame.name for frame in stack.python if graph.ours(frame)] for stack in profile.stacks if stack.sure and stack.has("work")]
    assert own and all(names[:2] == ["<module>", "main"] for names in own), own
    assert profile.losses["task"] == 0


def test_times_of_the_thread_stay_what_they_are(plumb, target, any_python):
    """A sample is shown elsewhere, and none is added."""
    with target(any_python, SCRIPT) as program:
        _, profile = plumb.sampled(lambda profile: profile.samples > 200, program.pid, "--tasks")
    assert sum(stack.samples for stack in profile.stacks) == profile.samples <= profile.json["ticks"]


def test_what_is_not_proved_is_told(plumb, target, any_python):
    """Without stops, and from another processor than its own, what a moving task does is not proved."""
    with target(any_python, SCRIPT) as program:
        unproved = "--tasks", "--never-stop", "-r", "max", "--max-overhead", "none"
        _, recording = plumb.try_sampling(lambda profile: profile.losses["task"] > 20, program.pid, *unproved)
    profile = plumb.report(recording)
    told = plumb("report", recording).stdout
    assert profile.losses["task"] <= sum(stack.samples for stack in profile.stacks)
    assert re.search(r"without awaiters|who awaits", told), told


def test_callbacks_that_lead_nowhere_cost_no_more_than_is_allowed(plumb, target, any_python):
    needs_tasks(any_python)
    with target(any_python, "task_callbacks.py") as program:
        _, profile = plumb.sampled(lambda profile: profile.losses["task"] > 50, program.pid, "--tasks", "-r", "100")
    # It takes more than is allowed, so that no task is shown below another one.
    assert all([frame.name for frame in stack.python].count("chain") <= 1 for stack in profile.stacks)
