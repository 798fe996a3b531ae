# SPDX-License-Identifier: Apache-2.0
"""plumb.profile.watch(), by reading memory and with the GIL."""
import json

import pytest

from harness import package


def checked(python, script, engine, *options):
    return json.loads(package.run(python, script, engine, options=options))["checks"]


@pytest.mark.slow
def test_it_keeps_what_it_promises(some):
    assert len(checked(some, "watching.py", "inprocess", "-X", "dev", "-W", "error")) > 15


@pytest.mark.slow
def test_it_keeps_that_with_the_gil_as_well(able, effort):
    if able.minor == (3, 11) or able.free_threaded:
        pytest.skip("it has no such engine")
    if effort(able.minor not in ((3, 8), (3, 12), (3, 15)), False):
        pytest.skip("one old, one new and one between are enough, without --soak")
    assert len(checked(able, "watching.py", "gil", "-W", "error")) > 15


@pytest.mark.once
@pytest.mark.parametrize("calls", [["process_vm_readv"], ["pread64"]], ids=" ".join)
def test_where_memory_is_not_to_be_read_it_samples_with_the_gil_and_says_so(able, calls):
    told = json.loads(package.run(able, "denied.py", *calls))
    if able.minor == (3, 11):
        assert "3.11" in told["error"] and "is refused" in told["error"] and told["threads"] == 1
        return
    if able.free_threaded:
        assert "without a GIL" in told["error"] and "is refused" in told["error"] and told["threads"] == 1
        return
    assert told["engine"] == "gil" and told["refused"] == "not-permitted"
    assert told["names"] == ["<module>", "main", "spin"]
    assert len(told["said"]) == 1 and "GIL" in told["said"][0]


@pytest.mark.smoke
@pytest.mark.repeated
def test_it_misuses_no_memory(one):
    assert checked(one, "watching.py", "inprocess")


def test_its_thread_does_not_wait_for_itself(free_threaded):
    """A waiting thread gives the processor away 80 times for each such lookup: to be preempted for a tenth of that is no chance."""
    if package.why_not(free_threaded) or free_threaded.minor != (3, 13):
        pytest.skip(package.why_not(free_threaded) or "its dict.get() does not wait for itself")
    took = json.loads(package.run(free_threaded, "lookups.py"))
    assert took["modules"] * 10 < took["gets"], took
