# SPDX-License-Identifier: Apache-2.0
"""plumb.Profiler: control of a long-lived session, on every interpreter."""
import json

import pytest

from harness import package


@pytest.mark.once
def test_a_profiler_is_controlled_and_asked(able):
    told = json.loads(package.run(able, "profiler_checks.py", options=["-X", "dev", "-W", "error"]))
    assert len(told["checks"]) > 10


@pytest.mark.alone
def test_it_is_quick_to_end_silent_when_paused_and_in_nobodys_way(one, table):
    told = json.loads(package.run(one, "profiler_checks.py", "fine"))["checks"]
    for name, found in told.items():
        table(name[len("fine_") :].replace("_", " "), str(one), str(found), title="plumb.Profiler")
    assert len(told) > 3
