# SPDX-License-Identifier: Apache-2.0
"""plumb dump: what an asyncio task waits for, who has it, and deadlocks of tasks, on tasks that really wait
(targets/task_locks.py)."""
import json
import os
import re
import signal

import pytest

from harness.cores import core_of
from harness.dump import AT_ONCE, PATIENCE
from harness.target import wait_asleep, wait_until

LOOKS = 45  # at tasks that wait in turn
SOURCE = "task_locks.py"


class Seen:
    """One look: the process as JSON has it, its tasks by name, what is waited for by id, and the text."""

    def __init__(self, plumb, *arguments):
        told = plumb("dump", "--json", *PATIENCE, *arguments)
        assert told.status == 0 and told.stderr == "", told
        (self.process,) = json.loads(told.stdout)["processes"]
        self.tasks = {task["name"]: task for task in self.process["tasks"]}
        self.names = {task["id"]: task["name"] for task in self.process["tasks"]}
        self.awaited = {thing["object"]: thing for thing in self.process["task_awaited"]}
        self.text = re.sub(r"\n +", " ", plumb("dump", "--no-source", *PATIENCE, *arguments).stdout)

    def ring(self):
        """The names in the one deadlock, from the first by name on."""
        (ids,) = self.process["task_deadlocks"]
        names = [self.names[each] for each in ids]
        first = names.index(min(names))
        return names[first:] + names[:first]

    def notes(self):
        """The lines between the header and the threads, each with what was wrapped."""
        return self.text.partition("\n\n")[0].splitlines()[2:]

    def words(self, name):
        """What the text says of a task, with its frames."""
        tasks = self.text.partition("\nasyncio: ")[2]
        return re.search(r"[\n ]%s: (.*?)(?: (?:\w+\.)*\w+ \(/|\n|$)" % re.escape(name), tasks).group(1)

    def place(self, name):
        """Where the task awaits asyncio: of what the target's own source has, the innermost."""
        frame = next(frame for frame in self.tasks[name]["frames"] if frame["file"].endswith(SOURCE))
        return "%s, %s:%d" % (frame["qualname"], SOURCE, frame["line"])


def needs(python, *version):
    if python.minor < version:
        pytest.skip("tasks are read on 3.7 and later" if version == (3, 7) else "%d.%d has no such thing" % python.minor)


@pytest.fixture
def waiting(plumb, target):
    """waiting(python, case): what is seen once all tasks wait, and the ids of the things."""

    def look(python, case, *options):
        needs(python, 3, 7)
        with target(python, SOURCE, "--case", case) as program:
            if case != "busy":
                wait_asleep(program.pid)
            return Seen(plumb, *options, program.pid), program.told["things"]

    return look


def test_two_tasks_that_wait_for_each_other(waiting, python):
    seen, locks = waiting(python, "pair")
    assert seen.ring() == ["task-0", "task-1"]
    for name, lock, holder in (("task-0", "lock-1", "task-1"), ("task-1", "lock-0", "task-0")):
        task = seen.tasks[name]
        assert (task["doing"], task["what"], task["object"], task["limited"]) == ("waiting", "lock", locks[lock], False)
        assert seen.awaited[locks[lock]] == {
            "what": "lock", "object": locks[lock], "type": "asyncio.Lock", "held": True,
            "holder": seen.tasks[holder]["id"], "waiters": [task["id"]]}
        assert seen.words(name) == "waiting for lock %#x (asyncio.Lock), held by %s" % (locks[lock], holder)
    (note,) = seen.notes()
    one, two = ("task-0", "task-1") if note.startswith("deadlock: task-0") else ("task-1", "task-0")
    assert note == ("deadlock: %s (%s) waits for lock %#x (asyncio.Lock), held by %s (%s), which waits for lock %#x (asyncio.Lock), "
                    "held by %s" % (one, seen.place(one), seen.tasks[one]["object"], two, seen.place(two),
                                    seen.tasks[two]["object"], one))


def test_three_locks_in_a_ring_one_of_them_of_a_condition(waiting, python):
    seen, locks = waiting(python, "three")
    assert seen.ring() == ["task-0", "task-1", "task-2"]
    for lock, holder in (("lock-0", "task-0"), ("inner", "task-1"), ("lock-2", "task-2")):
        assert seen.awaited[locks[lock]]["holder"] == seen.tasks[holder]["id"]
    (note,) = seen.notes()
    assert note.count(", which waits for lock 0x") == 2


@pytest.mark.parametrize("count", (2, 3))
def test_tasks_that_await_one_another(waiting, minor, count):
    seen, _ = waiting(minor, "two_tasks" if count == 2 else "three_tasks")
    assert seen.ring() == ["task-%d" % i for i in range(count)]
    assert {task["what"] for name, task in seen.tasks.items() if name.startswith("task-")} == {None}
    (note,) = seen.notes()
    first = note.split()[1]
    assert note.startswith("deadlock: %s (%s) waits for task-" % (first, seen.place(first))) and note.endswith(first)


def test_a_task_that_waits_for_itself(waiting, minor):
    seen, locks = waiting(minor, "itself")
    assert seen.ring() == ["outer"]
    assert seen.notes() == ["deadlock: outer (%s) waits for lock %#x (asyncio.Lock), held by itself"
                            % (seen.place("outer"), locks["lock"])]


@pytest.mark.parametrize("case", ("gathered", "grouped", "waited"))
def test_who_waits_for_a_task_that_wants_its_lock(waiting, minor, case):
    if case == "grouped":
        needs(minor, 3, 11)
    seen, locks = waiting(minor, case)
    assert seen.ring() == ["inner", "outer"]
    assert seen.awaited[locks["lock"]]["holder"] == seen.tasks["outer"]["id"]
    assert seen.words("inner") == "waiting for lock %#x (asyncio.Lock), held by outer" % locks["lock"]


def test_a_wait_that_ends_by_itself_is_no_deadlock(waiting, minor):
    seen, locks = waiting(minor, "timed")
    assert seen.process["task_deadlocks"] == [] and seen.notes() == []
    # Who has what is told all the same.
    assert seen.awaited[locks["lock"]]["holder"] == seen.tasks["outer"]["id"]
    assert seen.tasks["outer"]["limited"] and not seen.tasks["inner"]["limited"]
    assert seen.words("outer") == "waiting for inner, with a time limit"


def test_a_lock_that_its_own_block_lets_go_of(waiting, minor):
    seen, locks = waiting(minor, "taken_back")
    assert seen.process["task_deadlocks"] == [] and seen.notes() == []
    thing = seen.awaited[locks["lock"]]
    assert (thing["held"], thing["holder"], thing["waiters"]) == (True, None, [seen.tasks["outer"]["id"]])


def test_a_lock_that_another_task_lets_go_of(waiting, minor):
    """The outer task is inside `async with condition`, and the task that waits there for a notice has let go of its lock."""
    seen, locks = waiting(minor, "given_away")
    assert seen.process["task_deadlocks"] == [] and seen.notes() == []
    thing = seen.awaited[locks["lock"]]
    assert (thing["held"], thing["holder"], thing["waiters"]) == (True, None, [seen.tasks["inner"]["id"]])


# name of the task -> (what it waits for, the thing, its type, the words around it)
WAITS = {
    "holder": ("result", "future", "asyncio.Future", "for the result of asyncio.Future %s"),
    "in_lock": ("lock", "lock", "asyncio.Lock", "for lock %s (asyncio.Lock), held by holder"),
    "in_lock_too": ("lock", "lock", "asyncio.Lock", "for lock %s (asyncio.Lock), held by holder"),
    "in_taken": ("lock", "taken", "asyncio.Lock", "for lock %s (asyncio.Lock), held; by whom is not known"),
    "in_condition": ("notice", "condition", "asyncio.Condition", "for a notification of asyncio.Condition %s"),
    "in_condition_for": ("notice", "condition", "asyncio.Condition", "for a notification of asyncio.Condition %s"),
    "in_event": ("event", "event", "asyncio.Event", "for asyncio.Event %s to be set"),
    "in_semaphore": ("permit", "semaphore", "asyncio.Semaphore", "for asyncio.Semaphore %s to be released"),
    "in_bounded": ("permit", "bounded", "asyncio.BoundedSemaphore", "for asyncio.BoundedSemaphore %s to be released"),
    "in_get": ("item", "empty", "asyncio.Queue", "for an item of asyncio.Queue %s"),
    "in_get_too": ("item", "empty", "asyncio.Queue", "for an item of asyncio.Queue %s"),
    "in_put": ("room", "full", "asyncio.PriorityQueue", "for room in asyncio.PriorityQueue %s"),
    "in_queue_join": ("done", "undone", "asyncio.Queue", "for asyncio.Queue %s to be done"),
    "in_future": ("result", "future", "asyncio.Future", "for the result of asyncio.Future %s"),
    "in_barrier": ("barrier", "barrier", "asyncio.Barrier", "for the others at asyncio.Barrier %s"),
    "in_limited": ("event", "limited", "asyncio.Event", "for asyncio.Event %s to be set, with a time limit"),
    "in_unlimited": ("event", "unlimited", "asyncio.Event", "for asyncio.Event %s to be set"),
    "inner": ("event", "slow", "asyncio.Event", "for asyncio.Event %s to be set"),
}


def test_what_each_task_waits_for(waiting, python):
    seen, things = waiting(python, "waits")
    for name, (what, thing, kind, words) in WAITS.items():
        if thing not in things:
            assert name not in seen.tasks
            continue
        task, awaited = seen.tasks[name], seen.awaited[things[thing]]
        assert (task["doing"], task["what"], task["object"]) == ("waiting", what, things[thing]), name
        assert (awaited["what"], awaited["type"]) == (what, kind) and task["id"] in awaited["waiters"], name
        assert (awaited["held"] is None) == (what != "lock"), name
        assert seen.words(name) == "waiting " + words % hex(things[thing]), name
    sleeping, timed = seen.tasks["in_sleep"], seen.tasks["in_wait_for"]
    assert (sleeping["what"], sleeping["object"], seen.words("in_sleep")) == ("time", None, "sleeping")
    assert (timed["limited"], seen.words("in_wait_for")) == (True, "waiting for inner, with a time limit")
    assert seen.process["task_deadlocks"] == []
    assert sorted(seen.notes()) == [
        "2 tasks wait for a notification of asyncio.Condition %#x: in_condition, in_condition_for" % things["condition"],
        "2 tasks wait for an item of asyncio.Queue %#x: in_get, in_get_too" % things["empty"],
        "2 tasks wait for lock %#x (asyncio.Lock), held by holder: in_lock, in_lock_too" % things["lock"],
        "2 tasks wait for the result of asyncio.Future %#x: holder, in_future" % things["future"]]


def seen_proved(plumb, target, python, case):
    """It is proved while the loop's thread stands, which a look does not always come to in its time: 158 of 180 did at once."""
    looks = []

    def told():
        looks[:] = [Seen(plumb, program.pid)]
        return looks[0].process["task_deadlocks"]

    with target(python, SOURCE, "--case", case) as program:
        wait_until(told, "it is never told")
    return looks[0]


def test_a_deadlock_beside_a_task_that_runs_all_the_time(plumb, target, minor):
    needs(minor, 3, 7)
    assert seen_proved(plumb, target, minor, "busy").ring() == ["task-0", "task-1"]


def test_a_deadlock_of_many_beside_a_task_that_runs_all_the_time(plumb, target, few):
    """All of it is read while the thread stands, for which there is a bound."""
    needs(few, 3, 7)
    assert seen_proved(plumb, target, few, "crowded").ring() == ["task-%d" % i for i in range(300)]


def test_a_deadlock_that_cannot_be_proved_is_not_told(waiting, either):
    """The loop never rests and may not be stopped: who holds what is told, as it was read."""
    seen, locks = waiting(either, "busy", "--never-stop")
    assert seen.process["task_deadlocks"] in ([], [[seen.tasks["task-0"]["id"], seen.tasks["task-1"]["id"]]])
    assert seen.awaited[locks["lock-0"]]["holder"] == seen.tasks["task-0"]["id"]


IN_TURN = "orderly", "turns"


@pytest.mark.once
@pytest.mark.thinned(1, of=len(IN_TURN))
@pytest.mark.parametrize("case", IN_TURN)
def test_tasks_that_wait_for_one_another_in_turn_are_no_deadlock(plumb, target, minor, case):
    """Each look shows other waits: a ring put together of what was true at different moments would be one that never was."""
    needs(minor, 3, 7)
    with target(minor, SOURCE, "--case", case, count=True) as program:
        waits = 0
        for _ in range(LOOKS // AT_ONCE):
            program.wait_progress()
            told = plumb("dump", "--json", "--no-source", *PATIENCE, *[program.pid] * AT_ONCE)
            assert told.status == 0 and told.stderr == "", told
            for process in json.loads(told.stdout)["processes"]:
                assert process["task_deadlocks"] == [], process
                waits += sum(thing["what"] == "lock" for thing in process["task_awaited"])
        assert waits, "nobody was seen to wait"


def test_a_core_tells_the_same_deadlock(plumb, target, minor, tmp_path):
    needs(minor, 3, 7)
    before = []

    def look(program):
        wait_asleep(program.pid)
        before.append(Seen(plumb, program.pid))

    core = core_of(target, minor, tmp_path, (SOURCE, "--case", "pair"), look, signal.SIGABRT)
    seen = Seen(plumb, "--core", core, "--trust-core", *(["--root", minor.root] if minor.root else []))
    assert seen.ring() == before[0].ring() == ["task-0", "task-1"]
    assert seen.process["task_awaited"] == before[0].process["task_awaited"]
    assert seen.notes() == before[0].notes()
