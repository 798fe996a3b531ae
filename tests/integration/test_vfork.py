# SPDX-License-Identifier: Apache-2.0
"""A child of vfork that goes on living in its parent's memory is no Python of its own: nothing is counted twice."""

import pytest

from harness.compiled import shared_library
from harness.interpreters import HERE, TARGETS
from harness.callgraph import CallGraph, check
from harness.statistics import assert_at_most
from harness.target import children_of, wait_until


@pytest.fixture
def lingering(target, any_python, tmp_path):
    """(the target, its child)"""
    library = shared_library(tmp_path / "linger.so", HERE / "linger.c", "-O1")
    with target(any_python, "lingering.py", "--library", str(library), count=True) as parent:
        wait_until(lambda: children_of(parent.pid), "there is no child")
        (child,) = children_of(parent.pid)
        yield parent, child
        assert children_of(parent.pid) == [child], "it lived all the while"
    assert parent.process.returncode == 0


def both_sampled(profile):
    return sum(thread["samples"] > 10 for thread in profile.threads) >= 2


def test_it_is_sampled_as_its_parent_only(plumb, lingering):
    parent, _ = lingering
    _, profile = plumb.sampled(both_sampled, parent.pid, "--subprocesses")
    parent.wait_progress()
    by_name = {thread["name"]: thread for thread in profile.threads}
    assert {process["pid"] for process in profile.json["processes"] if process["samples"]} == {parent.pid}, profile.json["processes"]
    assert max(thread["samples"] for thread in profile.threads) <= profile.json["ticks"], by_name
    assert by_name["lingers"]["samples"] > 0 and by_name["lingers"]["on_cpu"] == 0, by_name
    # It computes all the time; to be put to sleep by the kernel, as for a page, is seldom.
    main = by_name["MainThread"]
    assert_at_most(0.05, main["samples"] - main["on_cpu"], main["samples"], "samples of the thread that computes that found it asleep")
    assert not check(CallGraph(TARGETS / "lingering.py"), profile).impossible


def test_a_dump_says_what_its_parent_waits_for_and_finds_no_python_thread_in_it(plumb, lingering):
    parent, child = lingering
    of_parent, of_child = plumb("dump", parent.pid), plumb("dump", child)
    parent.wait_progress()
    assert of_parent.status == 0 and "in vfork for a child" in of_parent.stdout and "library.linger(descriptor)" in of_parent.stdout, of_parent
    assert of_child.status == 0 and "0 threads and 1 without Python" in of_child.stdout, of_child
    assert "blocked in read on fd" in of_child.stdout and "spin" not in of_child.stdout, of_child
