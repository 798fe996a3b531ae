# SPDX-License-Identifier: Apache-2.0
"""--tasks: for how long tasks wait, where and what for (targets/waiters.py), is what the program measured itself; what could not be
read is told as lost, and no wait is below a coroutine that does not wait there."""
import math

import pytest

from harness.statistics import holds
from harness.ticks import start_ns

SCRIPT = "waiters.py"
NAMES = "sleeper", "for_a_lock", "holder", "for_an_item", "for_a_future", "awaiter", "gatherer"
WHAT = {"sleeper": "time", "for_a_lock": "lock", "holder": "time", "for_an_item": "item", "for_a_future": "future", "awaiter": "time", "gatherer": "event"}
WHERE = {"awaiter": "awaited", "gatherer": "gathered"}  # else in the root itself
LOOKS = 60
READ = 8 / 11  # of the tasks there are, in each
# In standard errors. That one of seven is further off is 1 in 50, or less: the error of a share that is looked at at random instants is
# that of so many coin tosses at most.
FAR = 3
SYSTEMATIC = 0.02  # waking up, the edges of the recording


def needs_tasks(python):
    if python.minor < (3, 7):
        pytest.skip("tasks are read on 3.7 and later")


def own(row):
    """The program's own frames."""
    return [frame for frame in row["frames"] if frame["file"].endswith(SCRIPT)]


def seen(profile):
    """{root: {what: task seconds in each second}}, of what waits where it may."""
    waits = profile.json["waits"]
    rates = {}
    for row in waits["stacks"]:
        root = own(row)[0]["name"]
        rates.setdefault(root, {}).setdefault((row["what"], own(row)[-1]["name"]), 0.0)
        rates[root][row["what"], own(row)[-1]["name"]] += row["task_ns"] / waits["covered_ns"]
    return rates


def true_rates(profile, told):
    """{root: of how much of the recording's time it waited}"""
    begin = start_ns(profile)
    end = begin + profile.json["duration_ns"]
    sums = dict.fromkeys(NAMES, 0)
    for name, start, stop in zip(told["names"], told["times"][::2], told["times"][1::2]):
        sums[name] += max(0, min(stop, end) - max(start, begin))
    return {name: ns / (end - begin) for name, ns in sums.items()}


def sampled(plumb, target, python, options, looks):
    with target(python, SCRIPT, "--tell", "1") as program:
        _, profile = plumb.sampled(lambda profile: profile.json.get("waits", {}).get("looks", 0) >= looks, program.pid, "--tasks", *options)
        program.stop()
        return profile, program.result("waits")


def place(name):
    return WHAT[name], WHERE.get(name, name)


def check_places(rates):
    """Deterministic: what is shown was so. Who wakes the next one with a lock has to queue for it himself."""
    for name in NAMES:
        for found in rates.get(name, {}):
            assert found in (place(name), ("lock", "holder")), "%s waited for %s in %s" % (name, *found)


WAYS = ["usual", "never-stop"]


@pytest.mark.thinned(1, of=len(WAYS))
@pytest.mark.parametrize("way", WAYS)
def test_tasks_wait_for_as_long_as_they_say(plumb, target, minor, table, effort, way):
    needs_tasks(minor)
    options = ["--never-stop"] if way == "never-stop" else []

    def trial():
        profile, told = sampled(plumb, target, minor, options, effort(LOOKS, 10 * LOOKS))
        waits, rates, truth = profile.json["waits"], seen(profile), true_rates(profile, told)
        check_places(rates)
        lost = waits["lost_ns"] / waits["covered_ns"]
        off = []
        for name in NAMES:
            rate = rates.get(name, {}).get(place(name), 0.0)
            error = FAR * math.sqrt(max(truth[name] * (1 / READ - truth[name]), 0.01) / waits["looks"]) + SYSTEMATIC
            if not truth[name] - error - lost <= rate <= truth[name] + error:
                off.append("%s waited %.3f of the time and is told with %.3f ±%.3f (%.3f lost)" % (name, truth[name], rate, error, lost))
        table(minor, way, "%d looks, %.1f %% lost" % (waits["looks"], 100 * lost / 11), title="waits of tasks")
        return "; ".join(off)

    holds(trial, by_chance=0.05)


def has_all(profile):
    """Whether each has been seen waiting."""
    rates = seen(profile) if profile.json.get("waits", {}).get("covered_ns") else {}
    return all(place(name) in rates.get(name, {}) for name in NAMES)


def test_the_report_tells_waits_beside_what_was_computed(plumb, target, any_python):
    with target(any_python, SCRIPT) as program:
        profile = plumb.attach_until(lambda profile: profile.json.get("waits", {}).get("task_ns", 0) > 0, program.pid, "--tasks", seconds=2)
    roots = {root["name"]: root for root in profile.json["waits"]["roots"]}
    assert roots["sleeper"]["task_ns"] > 0, roots
    assert profile.json["waits"]["task_ns"] == sum(root["task_ns"] for root in roots.values())
    assert profile.json["waits"]["task_ns"] == sum(row["task_ns"] for row in profile.json["waits"]["stacks"])


def test_the_text_has_a_table_of_waits(plumb, target, any_python):
    with target(any_python, SCRIPT) as program:
        _, recording = plumb.try_sampling(has_all, program.pid, "--tasks")
    text = plumb("report", recording).stdout
    assert "what tasks waited for, in task seconds" in text, text
    assert len(text.splitlines()) <= 25, text
    wide = plumb("report", "--top", "40", recording).stdout
    for words in ("sleeper", "time (sleep), in sleeper", "a lock, in for_a_lock", "an item of a queue, in for_an_item", "a future, in for_a_future"):
        assert words in wide, wide


def test_without_it_nothing_is_told_of_waits(plumb, target, any_python):
    with target(any_python, SCRIPT) as program:
        _, profile = plumb.attach(program.pid, "-d", "1")
    assert "waits" not in profile.json


def test_waits_pass_through_files_filters_and_sums(plumb, target, any_python):
    with target(any_python, SCRIPT) as program:
        _, recording = plumb.try_sampling(has_all, program.pid, "--tasks")
    waits = plumb.report(recording).json["waits"]
    copy, twice = plumb.path(), plumb.path()
    assert plumb("convert", recording, copy).status == 0
    assert plumb.report(copy).json["waits"] == waits
    assert plumb("merge", "-o", twice, recording, copy).status == 0
    assert plumb.report(twice).json["waits"]["task_ns"] == 2 * waits["task_ns"]
    focused = plumb.report(recording, "--focus", "for_a_lock").json["waits"]["stacks"]
    assert {own(row)[0]["name"] for row in focused} == {"for_a_lock"}
    assert not plumb.report(recording, "--time", "0..100").json.get("waits", {}).get("stacks")
