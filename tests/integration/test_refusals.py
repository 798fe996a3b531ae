# SPDX-License-Identifier: Apache-2.0
"""What is refused is told with the cause that was checked, and by attach as by doctor; what need not fail does not."""
import json
import pathlib
import platform
import sys

import pytest

from harness.sites import Lacking, unshare

DENY = pathlib.Path(__file__).resolve().parents[1] / "harness" / "deny.py"
x86_only = pytest.mark.skipif(platform.machine() != "x86_64", reason="the filter is written for x86-64")


def words(text):
    return " ".join(text.split())


def without(call):
    return [sys.executable, str(DENY), call]


def main_chain(profile):
    return any(stack.has("main", "outer", "middle", "inner") for stack in profile.stacks)


def finding(answer, name):
    return next(f for f in answer["findings"] if f["id"] == name)


@pytest.mark.smoke
@x86_only
def test_a_filter_that_refuses_pidfd_open_is_named(plumb, target, any_python):
    with target(any_python, "calls.py") as busy:
        tried = plumb("attach", "-d", "0.3", busy.pid, before=without("pidfd_open"))
        asked = json.loads(plumb("doctor", "--json", busy.pid, before=without("pidfd_open")).stdout)
    assert tried.status == 125 and "does not let plumb call pidfd_open: Operation not permitted" in tried.stderr, tried
    assert "plumb runs under a seccomp filter" in words(tried.stderr), tried
    assert finding(asked, "pidfd")["status"] == "no" and "the seccomp filter that plumb runs under refuses" in finding(asked, "pidfd")["remedy"], asked


@x86_only
def test_without_the_right_to_stop_a_thread_sampling_goes_on(plumb, target, any_python):
    if plumb.sanitized:
        pytest.skip("the leak checker needs ptrace itself")

    def enough(profile):
        return profile.json["overhead"]["stops_refused"]["filter"] and main_chain(profile)

    with target(any_python, "calls.py") as busy:
        tried, profile = plumb.sampled(enough, busy.pid, before=without("ptrace"))
    assert profile.quality["stopped"] == 0, profile.quality
    refused = profile.json["overhead"]["stops_refused"]
    assert refused["tracer"] == refused["rights"] == refused["other"] == 0, refused
    assert "a seccomp filter around plumb" in refused["last"], refused
    assert "refused: a seccomp filter around plumb" in words(tried.stderr), tried


@pytest.mark.smoke
@x86_only
def test_without_process_vm_readv_stacks_are_read_piece_by_piece(plumb, target, any_python):
    with target(any_python, "calls.py") as busy:
        plumb.sampled(main_chain, busy.pid, before=without("process_vm_readv"))
        asked = json.loads(plumb("doctor", "--json", busy.pid, before=without("process_vm_readv")).stdout)
    assert finding(asked, "read-memory")["status"] == "no" and asked["works"], asked


@pytest.mark.smoke
def test_a_proc_of_another_pid_namespace_is_never_taken_for_ours(plumb, target, any_python):
    """Under its numbers it shows other processes than those we would reach."""
    try:
        inside = unshare("--pid", "--fork", "--kill-child")
    except Lacking as lacking:
        pytest.skip(str(lacking))
    with target(any_python, "calls.py") as busy:
        for arguments in (["attach", busy.pid], ["attach", "calls.py"], ["doctor", busy.pid]):
            result = plumb(*arguments, before=inside)
            assert result.status in (1, 125), result
            assert "that is mounted here is that of another pid namespace" in words(result.stdout + result.stderr), result
            assert "mount -t proc proc /proc" in words(result.stdout + result.stderr), result
    launched = plumb("run", "--", *any_python.command, "-c", "pass", before=inside)
    assert "another pid namespace" in words(launched.stderr), launched
