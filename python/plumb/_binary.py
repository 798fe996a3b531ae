# SPDX-License-Identifier: Apache-2.0
"""Where the program plumb is."""
from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from typing import Iterator

from plumb._plumb import Error


def _candidates() -> Iterator[str]:
    package = os.path.dirname(os.path.abspath(__file__))
    yield os.path.join(package, "..", "..", "plumb")  # where it was built
    yield os.path.join(package, "..", "bin", "plumb")  # pip install --target
    yield os.path.join(sysconfig.get_path("scripts"), "plumb")
    # pip install --user and the like: LIB/pythonX.Y/site-packages/plumb
    yield os.path.join(package, "..", "..", "..", "..", "bin", "plumb")
    yield os.path.join(os.path.dirname(sys.executable or ""), "plumb")
    yield shutil.which("plumb") or ""


def find() -> str:
    """Its path: that of the wheel we are from, or of the build, else the one in PATH."""
    for path in _candidates():
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return os.path.normpath(path)
    raise Error("the program plumb is neither beside its Python package nor in PATH")
