# SPDX-License-Identifier: Apache-2.0
"""plumb.event on every interpreter."""
import json

import pytest

from harness import package


def test_what_is_noted_is_in_the_recordings(able):
    assert len(json.loads(package.run(able, "events.py", options=["-X", "dev", "-W", "error"]))["checks"]) > 8


@pytest.mark.smoke
@pytest.mark.repeated
def test_no_memory_is_misused(one):
    assert json.loads(package.run(one, "events.py"))["checks"]
