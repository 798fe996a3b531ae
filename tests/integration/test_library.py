# SPDX-License-Identifier: Apache-2.0
"""libplumb as a program of others has it: installed, found by pkg-config, and used by the example in C."""
import os
import pathlib
import shutil
import subprocess

import pytest

from harness.plumb import TOP


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", **more)
    assert done.returncode == 0, done
    return done.stdout


@pytest.fixture
def installed(plumb, tmp_path):
    """The folder that took the place of the root directory."""
    build = pathlib.Path(plumb.binary).resolve().parent
    if plumb.sanitized:
        pytest.skip("a program that loads a sanitized library needs the sanitizer first")
    for tool in ("meson", "cc", "pkg-config"):
        if not shutil.which(tool):
            pytest.skip("%s is not installed" % tool)
    if not (build / "src" / "library" / "libplumb.so").exists():
        pytest.skip("plumb was built without its library")
    root = tmp_path / "root"
    run("meson", "install", "-C", build, "--no-rebuild", "--tags", "runtime,devel", "--destdir", root)
    return root


def test_a_program_in_c_samples_a_python(installed, target, any_python, tmp_path):
    (pc,) = installed.rglob("plumb.pc")
    environment = {**os.environ, "PKG_CONFIG_PATH": str(pc.parent), "PKG_CONFIG_SYSROOT_DIR": str(installed)}
    flags = run("pkg-config", "--cflags", "--libs", "plumb", env=environment).split()
    run("cc", "-std=c99", "-Wall", "-Werror", "-D_POSIX_C_SOURCE=200809L", TOP / "examples" / "in_c.c", "-o", tmp_path / "in_c", *flags)
    with target(any_python, "calls.py") as busy:
        told = run(tmp_path / "in_c", busy.pid, 0.5, env={**os.environ, "LD_LIBRARY_PATH": str(pc.parents[1])})
    assert "inner" in told and "outer" in told, told
