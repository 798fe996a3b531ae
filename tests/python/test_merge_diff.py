# SPDX-License-Identifier: Apache-2.0
"""plumb.merge() and plumb.diff() on every interpreter, beside the commands."""
import json

import pytest

from harness import package


def test_profiles_are_added_up_and_compared(able, plumb):
    told = json.loads(package.run(able, "merge_diff.py", options=["-X", "dev", "-W", "error"]))
    assert len(told["checks"]) > 5
    if not able.root:
        said = plumb("diff", "before.folded", "after.folded", cwd=told["folder"])
        assert said.stdout == told["text"]


@pytest.mark.smoke
@pytest.mark.repeated
def test_no_memory_is_misused(one):
    assert json.loads(package.run(one, "merge_diff.py"))["checks"]
