# SPDX-License-Identifier: Apache-2.0
"""plumb.profile.ll_get_stack on every interpreter."""
import json

from harness import package


def test_native_stacks_of_the_own_process(able):
    """Also where another root directory is, into which the program is taken along."""
    program = package.built().parent
    where = package.folder(able, program)
    told = json.loads(package.run(able, "native_stack.py", where, other=program, options=["-X", "dev", "-W", "error"]))
    assert len(told["checks"]) == 11
