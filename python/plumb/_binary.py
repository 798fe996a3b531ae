# SPDX-License-Identifier: Apache-2.0
"""Where the program plumb is."""
from __future__ import annotations

import os
import re
import shutil
import sys
import sysconfig
from typing import Iterator

from plumb._plumb import Error


def _built(package: str) -> str:
    """What was built together with the package: the build says so in a file, which is not installed."""
    try:
        with open(os.path.join(package, "_built"), encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return ""


def _candidates() -> Iterator[str]:
    """Where only those can have put a program who could change the package, too: above the directory of pip install --target, which may
    be /tmp, that is anybody."""
    package = os.path.dirname(os.path.abspath(__file__))
    packages = os.path.dirname(package)
    yield _built(package)
    yield os.path.join(packages, "bin", "plumb")  # pip install --target
    yield os.path.join(sysconfig.get_path("scripts"), "plumb")
    if re.search("/lib[^/]*/python[^/]*/(site|dist)-packages$", packages):  # pip install --user and the like
        yield os.path.join(packages, "..", "..", "..", "bin", "plumb")
    if sys.executable:
        yield os.path.join(os.path.dirname(sys.executable), "plumb")
    yield shutil.which("plumb") or ""


def find() -> str:
    """Its path: that of the wheel we are from, or of the build, else the one in PATH."""
    for path in _candidates():
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return os.path.normpath(path)
    raise Error("the program plumb is neither with its Python package nor in PATH")
