# SPDX-License-Identifier: Apache-2.0
"""For how long an event loop was held, and by what, against what the program measured itself: targets/lagging.py."""
import json
import os
import re

import pytest

from harness.plumb import until
from harness.report import Profile
from harness.statistics import undecided

NAMES = {"encode", "read"}


def bad(stretch, held, gap):
    """A stretch that is longer than each time that its function held the loop, by more than what is between samples."""
    return stretch["length_ns"] > max(seconds for name, seconds in held if name == stretch["name"]) * 1e9 + 2 * gap


@pytest.mark.parametrize("options", [(), ("--tasks",)], ids=["plain", "tasks"])
def test_what_held_the_loop_is_told(plumb, places, few, options):
    if few.version < (3, 7):
        pytest.skip("there is no asyncio, or it is another")
    script = os.path.join(places.directory(few.root)[1], "lagging.py")
    recording = held = None

    def run(seconds):
        nonlocal recording, held
        recording = plumb.path()
        environment = dict(os.environ, PLUMB_TEST_SECONDS=str(seconds))
        result = plumb("run", "-o", recording, *options, "--", *few.command, script, env=environment)
        assert result.status == 0, result
        held = json.loads(result.stdout.splitlines()[0])
        return Profile(plumb("report", "--json", recording).stdout)

    def seen(profile):
        """Most of the longest time of each, and the finding: on a busy machine a few stretches fall apart."""
        longest = {holder["name"]: holder["longest_ns"] for holder in profile.json.get("loop_holds", {}).get("holders", [])}
        whole = all(longest.get(name, 0) > 0.8e9 * min(seconds for of, seconds in held if of == name) for name in NAMES)
        return whole and any(finding["rule"] == "loop-held" for finding in profile.json["findings"])

    profile = until(run, seen, 2)
    if not profile or not seen(profile):
        undecided("the machine was too busy for stretches of samples without a gap")
    holds = profile.json["loop_holds"]
    assert not [stretch for stretch in holds["longest"] if stretch["name"] in NAMES and bad(stretch, held, holds["gap_ns"])], held
    sentence = next(finding["sentence"] for finding in profile.json["findings"] if finding["rule"] == "loop-held")
    told = r"the event loop was held for 100 ms or more \d+ times, for up to \d+ ms; most by (encode|read) \(lagging\.py:\d+\)"
    assert re.fullmatch(told, sentence), sentence
