# SPDX-License-Identifier: Apache-2.0
"""What a program does while plumb watches it from within is as ever: forks, ends, crashes, threads, interpreters."""
import json

import pytest

from harness import package


@pytest.mark.slow
def test_nothing_of_the_program_changes(some):
    assert len(json.loads(package.run(some, "robust.py", "inprocess"))["checks"]) > 10


@pytest.mark.slow
def test_nothing_changes_with_the_gil_either(with_gil):
    assert len(json.loads(package.run(with_gil, "robust.py", "gil"))["checks"]) > 10
