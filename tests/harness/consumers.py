# SPDX-License-Identifier: Apache-2.0
"""Programs of others, as `./dev setup` makes them: they read what plumb writes, or plumb samples them. A test that needs one
which could not be had is not run and says why."""
import os
import pathlib
import subprocess

import pytest

from harness.interpreters import Interpreter

CACHE = pathlib.Path(os.environ.get("PLUMB_DEV_CACHE") or
                     pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "plumb-dev")


def go_program(name):
    """A program that tools/go_consumers.sh built."""
    path = CACHE / "go" / name
    if not os.access(path, os.X_OK):
        because = CACHE / "go" / (name + ".because")
        pytest.skip("there is no %s: %s" % (name, because.read_text().strip() if because.exists() else "./dev setup makes it"))
    return str(path)


def environment(name):
    """The Python of an environment of its own."""
    path = CACHE / name / "bin" / "python"
    if not os.access(path, os.X_OK):
        pytest.skip("there is no Python environment %s: ./dev setup makes it" % name)
    return str(path)


def interpreter(name, module):
    """That Python, which has the module, as one that programs of tests run on."""
    python = environment(name)
    version = subprocess.check_output([python, "-c", "import %s, sys; print(*sys.version_info[:3])" % module], text=True)
    return Interpreter(module, tuple(map(int, version.split())), (python,))
