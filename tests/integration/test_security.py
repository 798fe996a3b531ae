# SPDX-License-Identifier: Apache-2.0
"""docs/internals/security.md names the test that shows each rule: they are there."""
import re

from harness.plumb import TOP


PAGE = (TOP / "docs" / "internals" / "security.md").read_text()


def named():
    for file, test in re.findall(r"`([\w./]+)::(\w+)`", PAGE):
        yield file, test


def test_each_rule_has_the_test_that_is_named():
    found = list(named())
    assert len(found) > 30
    for file, test in found:
        texts = [path.read_text() for path in (TOP / "tests").rglob(file)]
        assert any(re.search(r"\b(def|void) %s\(" % test, text) for text in texts), "%s has no %s" % (file, test)


def test_no_test_is_named_without_its_file():
    assert not re.findall(r"`test_\w+`", PAGE)


def test_no_attack_is_told_twice():
    attacks = re.findall(r"^\|([^|]+)\|", PAGE, re.MULTILINE)
    assert not [attack for attack in set(attacks) if attacks.count(attack) > 1 and attack.strip(" -")]
