# SPDX-License-Identifier: Apache-2.0
"""Surroundings in which plumb lacks something, and what it has to say then."""
from harness.sites import unshare


def sentence(result, *words):
    """The status of plumb's own failures, one sentence, perhaps with a hint."""
    assert result.status == 125 and result.stderr.startswith("plumb: ") and len(result.stderr.splitlines()) <= 2, result
    assert any(word in result.stderr.lower() for word in words), result


def limited(option, value):
    """What starts plumb under a limit of the shell."""
    return ["sh", "-c", 'ulimit %s %d && exec "$@"' % (option, value), "sh"]


def mounted(*commands):
    """What runs plumb where /proc has been changed, in a mount namespace of its own."""
    return [*unshare("--mount"), "/bin/sh", "-c", "%s && exec \"$@\"" % " && ".join(commands), "sh"]
