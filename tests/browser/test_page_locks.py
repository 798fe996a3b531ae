# SPDX-License-Identifier: Apache-2.0
"""Which locks threads waited for, and who held them: the page shows the figures of the report."""
from harness import onscreen
from harness.pages import Made, page_of
from harness.target import wait_asleep


def locks_of(profile):
    return profile.json.get("lock_blame", {"locks": ()})["locks"]


def says(row, figure):
    return onscreen.says_interval(row[1], figure["share"], figure["half_width"]) and onscreen.says(row[2], figure["weight_ns"])


def test_the_lock_its_waiters_and_its_holder(maker, target, ordinary_python, opened):
    with target(ordinary_python, "locks.py", "--case", "crowd") as program:
        wait_asleep(program.pid)
        result, recording = maker.try_sampling(lambda profile: any(lock["held_in"] for lock in locks_of(profile)), program.pid)
    assert result.status == 0, result
    made = Made(maker, recording, page_of(maker, recording))
    (lock,) = locks_of(made.report())
    page = opened(made)
    page.tab("Statistics")
    page.rest()
    shown, waiter, holder = [row.split("\t") for row in page.page.locator("[data-table=locks] tbody tr").all_inner_texts()][:3]
    assert shown[0].strip() == "%s %s" % (lock["type"], lock["id"]) and says(shown, lock)
    assert waiter[0].split() == ["waited", "for", "in", lock["waiters"][0]["name"]] and says(waiter, lock["waiters"][0])
    assert holder[0].startswith("held by ") and holder[0].endswith(" in hold") and says(holder, lock["held_in"][0])
