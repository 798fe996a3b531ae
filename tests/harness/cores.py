# SPDX-License-Identifier: Apache-2.0
"""Cores that the kernel writes of targets."""
import contextlib
import fcntl
import os
import pathlib
import resource
import shutil

import pytest

from harness.target import PATIENCE


@contextlib.contextmanager
def alone_in(directory):
    """Whoever leaves a file of a name that is not its own to choose, while another run of the tests does the same."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def core_of(target, python, directory, script, look, signo):
    """A core of the script, with its arguments, after that signal; look(program) comes before. Skips where the kernel writes
    cores elsewhere."""
    pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text().strip()
    if pattern.startswith(("|", "/")):
        pytest.skip("cores go to %s" % pattern)

    def unlimited():
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    left = pathlib.Path(python.root or directory)  # chroot goes to its new root
    with alone_in(left):
        for core in left.glob("*core*"):  # of a run that was ended before it took it
            core.unlink()
        with target(python, *script, cwd=directory, preexec_fn=unlimited) as program:
            look(program)
            os.kill(program.pid, signo)
            program.process.wait(PATIENCE)
            (core,) = left.glob("*core*")
            return pathlib.Path(shutil.move(core, directory)) if python.root else core
