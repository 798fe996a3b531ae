# SPDX-License-Identifier: Apache-2.0
"""What the workers of process pools work on is told as a label."""
import os

import pytest

from harness.interpreters import cache

def labels_of(profile, function):
    """What stands outermost on the stacks of a function."""
    return {stack.frames[0].name for stack in profile.stacks if stack.sure and stack.has(function)}


def check(plumb, python, places, *arguments, env=None):
    script = os.path.join(places.directory(python.root)[1], "pools.py")
    tasks = {"[task=count]"} | ({"[task=Job.measure]"} if python.minor >= (3, 11) else set())

    def enough(profile):
        return tasks <= labels_of(profile, "spin") and profile.stacks

    profile = plumb.run_until(enough, *python.command, script, *arguments, env=dict(os.environ, **(env or {}), PYTHONDONTWRITEBYTECODE="1"))
    told = labels_of(profile, "spin")
    assert told <= tasks | {"[task=measure]"}, told  # the time of a worker's functions is all below its tasks
    assert "[task=count]" in told
    others = [stack for stack in profile.stacks if stack.frames[0].name.startswith("[task=") and not stack.has("spin")]
    # Between the label and the function joblib has functions of its own, in which it is seen at times.
    stray = [stack for stack in others if not any(frame.name in ("count", "measure", "Job.measure") or "joblib" in frame.file for frame in stack.frames)]
    assert not stray


def test_a_worker_of_a_pool_shows_what_it_works_on(plumb, few, places):
    check(plumb, few, places, "pool", "fork")


def test_a_worker_of_concurrent_futures_shows_what_it_works_on(plumb, few, places):
    if few.minor >= (3, 2):
        check(plumb, few, places, "futures", "spawn")


@pytest.mark.parametrize("start", ["fork", "spawn"], ids=["multiprocessing", "loky"])
def test_a_worker_of_joblib_shows_what_it_works_on(plumb, any_python, places, start):
    joblib = cache() / "joblib"
    if not joblib.is_dir():
        pytest.skip("there is no joblib: ./dev setup takes it from the package index")
    check(plumb, any_python, places, "joblib", start, env={"PYTHONPATH": str(joblib)})
