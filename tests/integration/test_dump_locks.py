# SPDX-License-Identifier: Apache-2.0
"""plumb dump: which lock a thread waits for, who has it, and deadlocks, on threads that really wait (targets/locks.py)."""
import json
import os
import re
import signal

import pytest

from harness.dump import AT_ONCE, PATIENCE
from harness.target import status, thread_ids, wait_asleep, wait_until

LOOKS = 45  # at threads that wait in turn


class Seen:
    """One look: the process as JSON has it, its threads by name, what is waited for by id, and the text."""

    def __init__(self, plumb, *arguments):
        told = plumb("dump", "--json", *PATIENCE, *arguments)
        assert told.status == 0 and told.stderr == "", told
        (self.process,) = json.loads(told.stdout)["processes"]
        self.threads = {thread["name"]: thread for thread in self.process["threads"]}
        self.names = {thread["tid"]: thread["name"] for thread in self.process["threads"]}
        self.awaited = {thing["object"]: thing for thing in self.process["awaited"]}
        self.text = plumb("dump", "--no-source", *PATIENCE, *arguments).stdout

    def ring(self):
        """The names in the one deadlock, from the first by name on."""
        (tids,) = self.process["deadlocks"]
        names = [self.names[tid] for tid in tids]
        first = names.index(min(names))
        return names[first:] + names[:first]

    def notes(self):
        """The lines between the header and the threads, each with what was wrapped."""
        return re.sub(r"\n +", " ", self.text.partition("\n\n")[0]).splitlines()[2:]


def seen_until(plumb, pid, condition):
    """The first look of which the condition is true."""
    looks = []

    def seen():
        looks[:] = [Seen(plumb, pid)]
        return condition(looks[0])

    wait_until(seen, "it is never seen")
    return looks[0]


@pytest.fixture
def waiting(plumb, target):
    """waiting(python, case): what is seen once all threads sleep, and the ids of the things."""

    def look(python, case):
        with target(python, "locks.py", "--case", case) as program:
            wait_asleep(program.pid)
            return Seen(plumb, program.pid), program.told["things"]

    return look


def test_two_threads_that_wait_for_each_other(waiting, python):
    seen, locks = waiting(python, "pair")
    assert seen.ring() == ["worker-0", "worker-1"]
    for name, lock, holder in (("worker-0", "lock-1", "worker-1"), ("worker-1", "lock-0", "worker-0")):
        assert seen.threads[name]["wait"]["what"] == "lock"
        assert seen.threads[name]["wait"]["object"] == locks[lock]
        thing = seen.awaited[locks[lock]]
        assert thing == {"what": "lock", "object": locks[lock], "type": "threading.Lock", "held": True, "count": None,
                         "holder": seen.threads[holder]["tid"], "waiters": [seen.threads[name]["tid"]]}
    assert len(seen.awaited) == 2
    (note,) = seen.notes()
    one, two = seen.threads["worker-0"], seen.threads["worker-1"]
    assert note == ("deadlock: worker-0 (%d) waits for lock %#x (threading.Lock), held by worker-1 (%d), which waits for lock %#x "
                    "(threading.Lock), held by worker-0 (%d)"
                    % (one["tid"], locks["lock-1"], two["tid"], locks["lock-0"], one["tid"]))


def test_a_deadlock_of_a_stopped_process(plumb, target, any_python):
    with target(any_python, "locks.py", "--case", "pair") as program:
        wait_asleep(program.pid)
        os.kill(program.pid, signal.SIGSTOP)
        wait_until(lambda: all(status(program.pid, tid)["State"][0] == "T" for tid in thread_ids(program.pid)), "it runs on")
        seen = Seen(plumb, program.pid)
        os.kill(program.pid, signal.SIGCONT)
    assert seen.threads["worker-0"]["doing"] == "stopped" and seen.ring() == ["worker-0", "worker-1"]


def test_three_locks_in_a_ring(waiting, python):
    seen, locks = waiting(python, "three")
    assert seen.ring() == ["worker-0", "worker-1", "worker-2"]
    for i in range(3):
        assert seen.awaited[locks["lock-%d" % i]]["holder"] == seen.threads["worker-%d" % i]["tid"]
    (note,) = seen.notes()
    assert note.startswith("deadlock: worker-0 (") and note.count(", which waits for lock 0x") == 2


def test_recursive_locks_name_their_owner(waiting, python):
    seen, locks = waiting(python, "recursive")
    assert seen.ring() == ["worker-0", "worker-1"]
    for i in range(2):
        thing = seen.awaited[locks["lock-%d" % i]]
        assert (thing["type"], thing["held"], thing["count"]) == ("threading.RLock", True, 1)
        assert thing["holder"] == seen.threads["worker-%d" % i]["tid"]


def test_the_lock_of_a_condition_is_held_by_who_entered_the_condition(waiting, minor):
    seen, locks = waiting(minor, "mixed")
    assert seen.ring() == ["worker-0", "worker-1", "worker-2"]
    assert seen.awaited[locks["inner"]]["holder"] == seen.threads["worker-0"]["tid"]
    assert seen.awaited[locks["inner"]]["type"] == "threading.Lock"


def test_a_thread_that_waits_for_itself(waiting, minor):
    seen, locks = waiting(minor, "itself")
    assert seen.ring() == ["worker"]
    tid = seen.threads["worker"]["tid"]
    assert seen.notes() == ["deadlock: worker (%d) waits for lock %#x (threading.Lock), held by itself" % (tid, locks["lock"])]


def test_a_thread_that_is_joined_by_who_has_its_lock(waiting, minor):
    seen, things = waiting(minor, "joined")
    assert seen.ring() == ["joiner", "taker"]
    joined = seen.awaited[things["thread"]]
    assert (joined["what"], joined["held"], joined["holder"]) == ("thread", None, seen.threads["taker"]["tid"])
    (note,) = seen.notes()
    assert "taker (%d) to end, which waits for lock" % seen.threads["taker"]["tid"] in note or note.startswith("deadlock: taker")


# name of the thread -> (what it waits for, the thing, its type)
WAITS = {
    "in_lock": ("lock", "lock", "threading.Lock"),
    "in_lock_too": ("lock", "lock", "threading.Lock"),
    "in_rlock": ("lock", "rlock", "threading.RLock"),
    "in_taken": ("lock", "taken", "threading.Lock"),
    "in_condition": ("notice", "condition", "threading.Condition"),
    "in_event": ("event", "event", "threading.Event"),
    "in_semaphore": ("permit", "semaphore", "threading.Semaphore"),
    "in_get": ("item", "empty", "queue.Queue"),
    "in_get_too": ("item", "empty", "queue.Queue"),
    "in_put": ("room", "full", "queue.Queue"),
    "in_queue_join": ("done", "undone", "queue.Queue"),
    "in_join": ("thread", "thread", "threading.Thread"),
    "in_simple_get": ("item", "simple", "_queue.SimpleQueue"),
    "in_barrier": ("barrier", "barrier", "threading.Barrier"),
    "in_result": ("result", "future", "concurrent.futures._base.Future"),
}


def test_what_each_thread_waits_for(waiting, python):
    seen, things = waiting(python, "waits")
    for name, (what, thing, kind) in WAITS.items():
        if thing not in things:
            assert name not in seen.threads
            continue
        wait, awaited = seen.threads[name]["wait"], seen.awaited[things[thing]]
        assert (wait["on"], wait["what"], wait["object"]) == ("lock", what, things[thing]), name
        assert (awaited["what"], awaited["type"].lower()) == (what, kind.lower()), name
        assert seen.threads[name]["tid"] in awaited["waiters"], name
    assert seen.process["deadlocks"] == []
    holder = seen.threads["holder"]["tid"]
    assert (seen.awaited[things["lock"]]["holder"], seen.awaited[things["lock"]]["held"]) == (holder, True)
    assert (seen.awaited[things["rlock"]]["holder"], seen.awaited[things["rlock"]]["count"]) == (holder, 2)
    assert seen.awaited[things["thread"]]["holder"] == holder
    # It was taken by a call: nothing says who did.
    assert (seen.awaited[things["taken"]]["held"], seen.awaited[things["taken"]]["holder"]) == (True, None)
    assert_told_together(seen, things)


def assert_told_together(seen, things):
    tid = {name: thread["tid"] for name, thread in seen.threads.items()}

    def told(*names):  # in the order of their numbers, which may have begun anew between two of them
        return ", ".join("%s (%d)" % (name, tid[name]) for name in sorted(names, key=tid.get))

    notes = sorted(seen.notes())
    assert len(notes) == 2, notes
    assert notes[0].lower() == "2 threads wait for an item of queue.queue %#x: %s" % (things["empty"], told("in_get", "in_get_too"))
    assert notes[1] == ("2 threads wait for lock %#x (threading.Lock), held by holder (%d): %s"
                        % (things["lock"], tid["holder"], told("in_lock", "in_lock_too")))


def local(thread, name):
    """The value that --locals shows of the variable, of the innermost frame that has it."""
    return next(each["value"] for frame in thread["frames"] for each in frame["locals"] or () if each["name"] == name)


def test_locks_among_the_variables(plumb, target, python):
    module = "thread" if python.minor < (3, 0) else "_thread"
    with target(python, "locks.py", "--case", "waits") as program:
        wait_asleep(program.pid)
        seen, things = Seen(plumb, "--locals", program.pid), program.told["things"]
    assert local(seen.threads["in_lock"], "lock") == "<locked %s.lock object at %#x>" % (module, things["lock"])
    assert re.fullmatch("<unlocked %s.lock object at 0x[0-9a-f]+>" % module, local(seen.threads["holder"], "free"))
    if python.minor >= (3, 0):
        owner = seen.threads["holder"]["ident"]
        assert local(seen.threads["in_rlock"], "lock") == (
            "<locked _thread.RLock object owner=%d count=2 at %#x>" % (owner, things["rlock"]))


def test_waits_that_end_by_themselves_are_no_deadlock(waiting, minor):
    if minor.version < (3, 2):
        pytest.skip("2.7 waits for a lock in time by asking again and again")
    seen, locks = waiting(minor, "timed")
    assert seen.process["deadlocks"] == [] and seen.notes() == []
    # Who has what is told all the same.
    for i in range(2):
        assert seen.awaited[locks["lock-%d" % i]]["holder"] == seen.threads["worker-%d" % i]["tid"]


def test_a_lock_that_its_own_block_lets_go_of(waiting, minor):
    """Whoever stands inside `with` and waits for the same lock in the same function is taking it back."""
    seen, things = waiting(minor, "taken_back")
    assert seen.process["deadlocks"] == [] and seen.notes() == []
    thing = seen.awaited[things["lock"]]
    assert (thing["held"], thing["holder"], thing["waiters"]) == (True, None, [seen.threads["worker"]["tid"]])


def test_a_lock_that_another_thread_lets_go_of(waiting, minor):
    """The outer thread is inside `with condition`, and the one that waits there for a notice has let go of its lock."""
    seen, things = waiting(minor, "given_away")
    assert seen.process["deadlocks"] == [] and seen.notes() == []
    thing = seen.awaited[things["lock"]]
    assert (thing["held"], thing["holder"], thing["waiters"]) == (True, None, [seen.threads["inner"]["tid"]])


def test_a_holder_that_runs(plumb, target, minor):
    with target(minor, "locks.py", "--case", "running") as program:
        # A thread that has only begun may have no name yet.
        first = seen_until(plumb, program.pid, lambda seen: {"waiter-0", "waiter-1"} <= set(seen.threads))
        waiters = [first.threads["waiter-%d" % i]["tid"] for i in range(2)]
        assert set(thread_ids(program.pid)) >= set(waiters)
        wait_asleep(program.pid, waiters)
        # 2.7 waits for its GIL as for any lock.
        seen = seen_until(plumb, program.pid, lambda seen: seen.threads["computing"]["doing"] in ("running", "gil"))
        lock = program.told["things"]["lock"]
    assert seen.process["deadlocks"] == []
    thing = seen.awaited[lock]
    assert (thing["held"], thing["holder"]) == (True, seen.threads["computing"]["tid"])
    assert sorted(thing["waiters"]) == sorted(waiters)


@pytest.mark.parametrize("frames, known", [(300, True), (20000, False)])
def test_who_has_a_lock_is_not_known_where_not_all_frames_were_looked_at(plumb, target, pythons, frames, known):
    """There would be no end to it, and a frame that was not looked at may have let go of the lock."""
    found = [python for python in pythons if python.kind == (3, 11, "") and not python.missing]
    if not found:
        pytest.skip("the stack is made up of frames of CPython 3.11, which this machine does not have")
    with target(found[0], "deep_holder.py", "--frames", str(frames)) as program:
        seen = seen_until(plumb, program.pid, lambda seen: program.told["lock"] in seen.awaited)
        thing = seen.awaited[program.told["lock"]]
        assert thing["held"] and thing["holder"] == (program.pid if known else None), thing
        assert seen.process["deadlocks"] == []
        assert known or "held; by whom is not known" in " ".join(seen.text.split())
        program.kill()


@pytest.mark.once
def test_threads_that_wait_for_one_another_in_turn_are_no_deadlock(plumb, target, minor):
    """Each look shows other waits: a ring put together of what was true at different moments would be one that never was."""
    with target(minor, "locks.py", "--case", "orderly") as program:
        for _ in range(LOOKS // AT_ONCE):
            told = plumb("dump", "--json", "--no-source", *PATIENCE, *[program.pid] * AT_ONCE)
            assert told.status == 0 and told.stderr == "", told
            for process in json.loads(told.stdout)["processes"]:
                assert process["deadlocks"] == [], process


@pytest.mark.parametrize("case", ("pair", "joined"))
def test_no_deadlock_is_seen_before_there_is_one(plumb, target, few, case):
    """Looks while the threads come to it: what is told then must be the one that there is in the end."""
    with target(few, "locks.py", "--case", case) as program:
        looks = [Seen(plumb, program.pid) for _ in range(3)]
        wait_asleep(program.pid)
        ring = Seen(plumb, program.pid).ring()
    for look in looks:
        assert look.process["deadlocks"] == [] or look.ring() == ring
