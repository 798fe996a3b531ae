# SPDX-License-Identifier: Apache-2.0
"""plumb.event on every interpreter."""
import json

import pytest

from harness import package


def test_what_is_noted_is_in_the_recordings(able):
    assert len(json.loads(package.run(able, "events.py", options=["-X", "dev", "-W", "error"]))["checks"]) > 8


# Counted where they are written, for all releases by the same code.
def test_of_very_many_those_that_are_kept_are_whole(some):
    assert len(json.loads(package.run(some, "events_many.py", options=["-X", "dev", "-W", "error"]))["checks"]) == 2


@pytest.mark.smoke
@pytest.mark.repeated
def test_no_memory_is_misused(one):
    for script in ("events.py", "events_many.py"):
        assert json.loads(package.run(one, script))["checks"]
