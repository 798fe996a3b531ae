# SPDX-License-Identifier: Apache-2.0
"""Notebooks that are executed by a real kernel, which has the package."""
import json

import pytest

from harness import consumers, package
from harness.interpreters import Interpreter


def python():
    """The interpreter that has IPython, nbclient and ipykernel."""
    found = Interpreter("notebook", (3, 11), (consumers.environment("venv-notebook"),))
    if package.why_not(found):
        pytest.skip(package.why_not(found))
    return found


def executed(cells, *page):
    """What each cell said: tests/python/notebook.py."""
    return json.loads(package.run(python(), "notebook.py", json.dumps(cells), *page))
