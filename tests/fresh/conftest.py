# SPDX-License-Identifier: Apache-2.0
"""All tests of a machine go to one worker: else each of them makes that machine anew.

What xdist 3.8 has for this, `--dist loadgroup`, does nothing under pytest 9.2: it renames tests in a place where pytest no longer
looks for their names."""
import re

import pytest

try:
    from xdist.scheduler.loadscope import LoadScopeScheduling
except ImportError:  # then there is one worker
    LoadScopeScheduling = object


class MachineByMachine(LoadScopeScheduling):
    """For `--dist loadscope`. The parameter of a test of a fresh machine is its user; any other test is by itself."""

    def _split_scope(self, nodeid):
        user = re.search(r"^fresh/.*\[(\w+)\]$", nodeid)
        return user[1] if user else nodeid


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return MachineByMachine(config, log) if config.getvalue("dist") == "loadscope" else None
