# SPDX-License-Identifier: Apache-2.0
"""Which lock sampled threads wait for, where, and who holds it: threads that really wait (targets/locks.py), so that it is known."""
from harness.target import thread_ids, wait_asleep

ENOUGH = 20  # samples of each lock with its holder


def locks_of(profile):
    """{id: row}"""
    return {int(row["id"], 16): row for row in profile.json.get("lock_blame", {"locks": ()})["locks"]}


def held(row):
    return sum(holder["samples"] for holder in row["holders"])


def assert_adds_up(row):
    parts = held(row) + row["passed_on"]["samples"] + row["unknown"]["samples"]
    assert parts == sum(place["samples"] for place in row["waiters"]) == row["samples"], row


def sampled(plumb, program, enough):
    """The locks of a program all of whose threads sleep, but those that compute."""
    _, profile = plumb.sampled(lambda profile: enough(locks_of(profile)), program.pid)
    locks = locks_of(profile)
    for row in locks.values():
        assert_adds_up(row)
        assert row["passed_on"]["samples"] == 0, row  # none is ever let go of
    return locks


def test_locks_their_waiters_and_their_holders(plumb, target, minor):
    """A Lock that is held by `with`, an RLock, and a Lock that was taken by a call, of which nothing says who did. What waits for a
    notice, an event, an item, a permit or a thread waits for no lock."""
    with target(minor, "locks.py", "--case", "waits") as program:
        things = program.told["things"]
        wait_asleep(program.pid)
        lock, rlock, taken = things["lock"], things["rlock"], things["taken"]

        def enough(locks):
            return {lock, rlock, taken} <= set(locks) and min(held(locks[lock]), held(locks[rlock]), locks[taken]["samples"]) >= ENOUGH

        locks = sampled(plumb, program, enough)
    assert set(locks) == {lock, rlock, taken}
    assert [locks[each]["threads"] for each in (lock, rlock, taken)] == [2, 1, 1]
    assert [locks[each]["type"] for each in (lock, rlock, taken)] == ["threading.Lock", "threading.RLock", "threading.Lock"]
    assert locks[taken]["holders"] == [] and locks[taken]["held_in"] == []
    for each in (lock, rlock):
        row = locks[each]
        assert {holder["thread"] for holder in row["holders"]} <= {"holder", ""}, row  # a name may come late
        assert len({holder["tid"] for holder in row["holders"]}) == 1, row
        assert {holder["name"] for holder in row["holders"] if "name" in holder} == {"hold"}, row
        assert [place["name"] for place in row["held_in"]] == ["hold"], row
        assert {holder["ran"]["name"] for holder in row["holders"] if "ran" in holder} == {"stay"}, row
    (place,) = locks[lock]["waiters"]
    assert place["name"] == "take" and place["file"].endswith("locks.py")


def test_a_holder_that_computes(plumb, target, minor):
    with target(minor, "locks.py", "--case", "running") as program:
        lock = program.told["things"]["lock"]
        locks = sampled(plumb, program, lambda locks: lock in locks and locks[lock]["threads"] == 2 and held(locks[lock]) >= ENOUGH)
    assert {holder["thread"] for holder in locks[lock]["holders"]} <= {"computing", ""}
    assert len({holder["tid"] for holder in locks[lock]["holders"]}) == 1
    assert {holder["name"] for holder in locks[lock]["holders"]} == {"compute"}


def test_who_has_let_go_of_a_lock_is_not_blamed(plumb, target, few):
    """Who stands inside `with` and has let go of the lock in it, itself or by Condition.wait of another thread, does not hold it."""
    for case in ("taken_back", "given_away"):
        with target(few, "locks.py", "--case", case) as program:
            wait_asleep(program.pid)
            lock = program.told["things"]["lock"]
            locks = sampled(plumb, program, lambda locks: lock in locks and locks[lock]["samples"] >= ENOUGH)
        assert (locks[lock]["holders"], locks[lock]["threads"]) == ([], 1), case


def test_seven_wait_for_one(plumb, target, few):
    """Of an RLock that its holder has taken twice all waiters are told, also of a part of them, by time and by name."""
    with target(few, "locks.py", "--case", "crowd") as program:
        wait_asleep(program.pid)
        lock = program.told["things"]["lock"]
        assert len(thread_ids(program.pid)) == 9

        def enough(locks):
            return lock in locks and locks[lock]["threads"] == 7 and held(locks[lock]) >= 7 * ENOUGH

        locks = sampled(plumb, program, enough)
    assert list(locks) == [lock] and locks[lock]["share"] == 1
    assert [place["name"] for place in locks[lock]["held_in"]] == ["hold"]
