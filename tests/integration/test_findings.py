# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a program is found, and nothing where nothing is: targets/faults.py. A finding is told only where its whole interval is above what the rule asks for, so
more samples of a program with that fault lead to it for sure; of a program without it they never do, once its imports are little beside the rest."""
import os
import re

import pytest

from harness.plumb import until
from harness.report import Profile
from harness.statistics import undecided

SAMPLES = 500
WORDS = {
    "gil": r"threads waited for the GIL for \d+ % of their time, and it was held for \d+ % of the time: more threads will not help"
    r"(; for \d+ % of that wait it was held by compute \(faults\.py:\d+\))?",
    "lock": r"6 threads waited for a lock for \d+ % of their time, in (under_a_lock|acquires) \(faults\.py:\d+\): one works while the others wait"
    r"(; for \d+ % of that wait it was held( by [^;]+)? in under_a_lock \(faults\.py:\d+\))?",
    "gc": r"garbage collection took \d+ % of the time",
    "import": r"imports took \d+ % of the time",
    "event-loop": r"the event loop waited \d+ % of the time; of its CPU time compute took \d+ %",
}
ASYNC = ("event-loop", "busy-loop")


def sampled(plumb, places, python, shape, enough):
    """(the rules that found something, with their sentences; the text report) of a run that was long enough."""
    script = os.path.join(places.directory(python.root)[1], "faults.py")
    recording = None

    def run(seconds):
        nonlocal recording
        recording = plumb.path()
        environment = dict(os.environ, PLUMB_TEST_SECONDS=str(seconds))
        result = plumb("run", "-o", recording, "--", *python.command, script, shape, env=environment)
        assert result.status == 0, result
        return Profile(plumb("report", "--json", recording).stdout) if recording.exists() else None

    profile = until(run, lambda profile: profile.samples >= SAMPLES and imports_are_little(profile, shape) and enough(profile), 1)
    if not profile or profile.samples < SAMPLES or not imports_are_little(profile, shape):
        undecided("the machine was too busy for a program whose imports are little beside the rest")
    shown = plumb("report", "--width", "300", recording).stdout
    return {finding["rule"]: finding["sentence"] for finding in profile.json["findings"]
            if finding["rule"] != "cpu"}, shown  # that is a fault of this machine


def imports_are_little(profile, shape):
    return shape == "import" or 10 * sum(stack.samples for stack in profile.stacks if stack.has("_find_and_load")) < profile.samples


@pytest.mark.parametrize("shape", [*WORDS, "acquire"])
def test_the_fault_of_a_program_is_told(plumb, places, few, shape):
    if few.version < (3, 7) and shape not in ("lock", "acquire"):
        pytest.skip("threads fight for its GIL on the CPU, imports and the collector cannot be seen, and there is no asyncio")
    rule = "lock" if shape == "acquire" else shape

    def told(profile):
        found = [finding["sentence"] for finding in profile.json["findings"] if finding["rule"] == rule]
        return found and re.fullmatch(WORDS[rule], found[0])

    found, shown = sampled(plumb, places, few, shape, told)
    assert set(found) == {rule}, shown
    assert re.fullmatch(WORDS[rule], found[rule]), found
    assert " " + found[rule] in shown.splitlines()[1:4], shown  # below what it waited for, and what the machine lacks


@pytest.mark.parametrize("shape", ["plain", "sleepers", "pool", "queue", "busy-loop"])
def test_nothing_is_told_of_a_program_without_fault(plumb, places, few, shape):
    if few.version < (3, 7) and shape in ("pool", *ASYNC):
        pytest.skip("there is no such module")
    found, shown = sampled(plumb, places, few, shape, lambda profile: True)
    assert found == {}, shown
