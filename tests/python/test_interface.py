# SPDX-License-Identifier: Apache-2.0
"""What users meet of the package, on every interpreter: names, decorators, printing."""
import json

import pytest

from harness import package


def test_what_users_meet_is_as_it_is_documented(able):
    assert json.loads(package.run(able, "interface.py", options=["-X", "dev", "-W", "error"]))["checks"]


def test_wrong_calls_are_answered_by_a_sentence_that_names_the_argument(able):
    assert json.loads(package.run(able, "wrong_calls.py", options=["-X", "dev", "-W", "error"]))["calls"] > 100


@pytest.mark.smoke
@pytest.mark.repeated
def test_no_memory_is_misused(one):
    assert json.loads(package.run(one, "interface.py"))["checks"] and json.loads(package.run(one, "wrong_calls.py"))["calls"]
