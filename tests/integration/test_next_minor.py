# SPDX-License-Identifier: Apache-2.0
"""A minor release that is newer than plumb: used, and said so, if it is laid out as the newest one that is known."""
import json

from harness.dump import PATIENCE
from harness.plumb import until

NEWER = 16  # than the newest minor plumb knows; if this fails because there is one, count on


def inner_seen(profile):
    """As often as it takes to be no accident: how many of all samples can be proved depends on how busy the machine is."""
    return sum(stack.samples for stack in profile.stacks if stack.has("main", "outer", "inner") and stack.sure) >= 100


def test_a_newer_minor_is_sampled_with_a_note(plumb, target, newest):
    says = "3.%d.%d%s read as 3.%d" % (NEWER, newest.version[2], newest.build, newest.minor[1])
    with target(newest, "tomorrow.py", "--minor", str(NEWER)) as busy:
        result, profile = until(lambda seconds: plumb.attach(busy.pid, "-d", seconds), lambda found: inner_seen(found[1]), 0.5)
        dumped = json.loads(plumb("dump", "--json", *PATIENCE, busy.pid).stdout)["processes"][0]
        asked = json.loads(plumb("doctor", "--json", busy.pid).stdout)
    assert "CPython " + says in result.stderr, result
    assert [p["python"] for p in profile.json["processes"]] == [says], profile.json["processes"]
    assert inner_seen(profile), profile.stacks
    assert dumped["python"] == says and [f["name"] for f in dumped["threads"][0]["frames"]][-1] == "<module>", dumped
    layout, = [f for f in asked["findings"] if f["id"] == "layout"]
    assert layout["status"] == "note" and says in layout["fact"] and layout["remedy"] == "update plumb", layout
