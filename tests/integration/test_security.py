# SPDX-License-Identifier: Apache-2.0
"""docs/internals/security.md names the test that shows each rule: they are there."""
import re

from harness.plumb import TOP


def named():
    for file, test in re.findall(r"`([\w.]+)::(\w+)`", (TOP / "docs" / "internals" / "security.md").read_text()):
        yield file, test


def test_each_rule_has_the_test_that_is_named():
    found = list(named())
    assert len(found) > 30
    for file, test in found:
        texts = [path.read_text() for path in (TOP / "tests").rglob(file)]
        assert any(re.search(r"\b(def|void) %s\(" % test, text) for text in texts), "%s has no %s" % (file, test)
