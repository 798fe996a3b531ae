# SPDX-License-Identifier: Apache-2.0
"""plumb dump counts threads, not entries, and says which it did not look at."""
import json
import re
import resource

import pytest

from harness.dump import PATIENCE
from harness.target import thread_ids, wait_asleep, wait_until

LOOKED_AT = 4000


def dump(plumb, *arguments):
    """(the process as JSON has it, the text), of two looks."""
    told = plumb("dump", *PATIENCE, *arguments)
    assert told.status == 0, told
    (process,) = json.loads(plumb("dump", "--json", *PATIENCE, *arguments).stdout)["processes"]
    return process, told.stdout


def test_a_thread_of_several_interpreters_is_one(plumb, target, minor):
    if minor.version < (3, 8):
        pytest.skip("Python %d.%d has no module for interpreters" % minor.minor)
    looks = []

    def both_show():
        """A thread in two interpreters, as both looks find it."""
        looks[:] = dump(plumb, busy.pid)
        process, text = looks
        entries = [thread["tid"] for thread in process["threads"] if thread["python"]]
        looks.append(re.search(r", (\d+) threads \((\d+) entries: one for each interpreter a thread has been in\)", text))
        return len(entries) > len(set(entries)) and looks[-1]

    with target(minor, "subinterpreters.py") as busy:
        wait_until(both_show, "it is never in two interpreters")
        threads = len(thread_ids(busy.pid))
    process, text, told = looks
    assert process["os_threads"] == threads == len({thread["tid"] for thread in process["threads"]}), process
    assert process["threads_beyond"] == 0
    # Those that run Python at that moment: a thread of the process may run none.
    assert int(told.group(1)) <= threads and int(told.group(1)) < int(told.group(2)), text


@pytest.mark.slow
def test_threads_beyond_those_that_are_looked_at_are_marked(plumb, target, any_python):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 3 * LOOKED_AT:
        pytest.skip("two descriptors a thread: needs %d, allowed are %d" % (3 * LOOKED_AT, hard))
    with target(any_python, "many_threads.py", "--threads", str(LOOKED_AT + 20)) as crowd:
        total = len(thread_ids(crowd.pid))
        process, text = dump(plumb, "--no-source", crowd.pid)
    beyond = [thread for thread in process["threads"] if thread["python"] is None]
    assert process["os_threads"] == total and total > LOOKED_AT, (process["os_threads"], total)
    assert process["threads_beyond"] == len(beyond) == total - 1 - LOOKED_AT
    assert not any(thread["frames"] for thread in beyond)
    main = process["threads"][0]
    assert main["main"] and main["python"] and main["frames"], "the main thread is not left out for the others: %s" % main
    assert ", %d threads and %d not looked at: too many" % (LOOKED_AT + 1, len(beyond)) in text
    assert text.count(" not looked at: blocked") == len(beyond), text[-2000:]
    assert "without Python" not in text


def names(process):
    return {thread["name"] for thread in process["threads"]}


def test_threads_are_chosen_by_name_and_by_their_numbers(plumb, target, minor):
    with target(minor, "locks.py", "--case", "waits") as waiting:
        everyone, _ = dump(plumb, waiting.pid)
        chosen = [thread for thread in everyone["threads"] if thread["name"] in ("in_event", "in_get")]
        by_tid, text = dump(plumb, waiting.pid, "--threads", chosen[0]["tid"], "--threads=%d" % chosen[1]["tid"])
        by_name, _ = dump(plumb, waiting.pid, "--threads", "in_event,in_get")
        by_ident, _ = dump(plumb, waiting.pid, "--threads", ",".join(str(thread["ident"]) for thread in chosen))
    total = len(everyone["threads"])
    for process in (by_tid, by_name, by_ident):
        assert names(process) == {"in_event", "in_get"} and all(thread["frames"] for thread in process["threads"])
        assert (process["threads_left_out"], process["os_threads"]) == (total - 2, total) and process["tasks"] == []
    assert ", 2 threads, of %d in all\n" % total in text, text


def test_who_holds_what_a_chosen_thread_waits_for_is_shown_too(plumb, target, any_python):
    with target(any_python, "locks.py", "--case", "three") as waiting:
        tids = thread_ids(waiting.pid)
        wait_asleep(waiting.pid, tids)
        process, _ = dump(plumb, waiting.pid, "--threads", "worker-0")
    assert names(process) == {"worker-0", "worker-1"} and process["threads_left_out"] == len(tids) - 2, process


def test_a_thread_that_is_not_there_is_named(plumb, target, any_python):
    with target(any_python, "native.py") as nested:
        pid, tid = nested.pid, int(nested.pid)
        told = plumb("dump", pid, "--threads", "in_callbacks,in_callback", *PATIENCE)
        other = plumb("dump", pid, "--json", "--threads", "1", *PATIENCE)
    assert told.status == 125 and told.stdout == "", told
    assert told.stderr.startswith("plumb: pid %d has no thread 'in_callback'\nhint: there are " % pid), told.stderr
    assert " (%d)" % tid in told.stderr and "in_qsort (" in told.stderr
    (failure,) = json.loads(other.stdout)["failures"]
    assert failure["code"] == "no-thread" and failure["message"] == "pid %d has no thread '1'" % pid
