# SPDX-License-Identifier: Apache-2.0
"""Running scripts of tests/python with the Python package as it was built, on any interpreter."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

import pytest

from harness.interpreters import cache
from harness.plumb import TOP

SCRIPTS = TOP / "tests" / "python"
UNTAGGED = 0.05  # of the samples of a function that sets and resets tags all the time: where they could not be proved
# Releases of distributed, each with the first Python it runs on; ./dev setup puts them into the cache.
ORIGINALS = {"2022.12.1": (3, 8), "2026.8.0": (3, 10)}

# In a mount namespace of its own a root directory gets our directories, and /proc, which psutil looks into.
_MOUNT = 'root=$0; for dir in opt srv mnt; do mount --bind "$1" "$root/$dir"; shift; done; mount --bind /proc "$root/proc"; exec chroot "$root" "$@"'


def built():
    """The directory to put into sys.path."""
    binary = pathlib.Path(os.environ.get("PLUMB_BIN") or TOP / "build" / "plumb")
    return binary.resolve().parent / "python"


def original(release, python=None):
    """What a free-threaded Python takes has nothing in it that was built for the limited API: that crashes it."""
    return cache() / ("dask-%s%s" % (release, "-free-threaded" if python and python.free_threaded else ""))


def why_not(python):
    """Why the package cannot be had by an interpreter; "" if it can."""
    if python.minor < (3, 8):
        return "the package is for 3.8 and later"
    suffix = "cpython-%d%dt-*" % python.minor if python.free_threaded else "abi3"
    if not list((built() / "plumb").glob("_plumb.%s.so" % suffix)):
        return "the package was not built for it: there are no headers of a Python"
    return ""


def _command(python, other):
    """(what to start, the directories of package, scripts and other as the interpreter sees them)"""
    ours = [str(built()), str(SCRIPTS), str(other or SCRIPTS)]
    if not python.root:
        return [*python.command], ours
    become_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    return ["unshare", *become_root, "--mount", "sh", "-c", _MOUNT, python.root, *ours, python.command[-1]], ["/opt", "/srv", "/mnt"]


def folder(python, other):
    """What `other` is called where an interpreter sees it."""
    return _command(python, other)[1][2]


def environment(python, paths=None):
    """For a program that imports the package."""
    paths = paths or [str(built())]
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(paths), PYTHONDONTWRITEBYTECODE="1")
    if "asan" in built().parent.name:
        found = subprocess.run(["gcc", "-print-file-name=libasan.so"], stdout=subprocess.PIPE, text=True, check=True)
        # What Python does not free at its end is not of interest.
        environment.update(LD_PRELOAD=found.stdout.strip(), ASAN_OPTIONS="detect_leaks=0")
        if not python.free_threaded:  # those have one allocator
            environment.update(PYTHONMALLOC="malloc")
    return environment


@contextlib.contextmanager
def _started(python, script, arguments, other, options, **popen):
    """A script that runs until it ends by itself. If anything fails, what it said is shown, and where its threads are."""
    command, (package, scripts, further) = _command(python, other)
    paths = [package, further] if other else [package]
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(
            [*command, "-X", "faulthandler", *options, os.path.join(scripts, script), *map(str, arguments)],
            env=environment(python, paths), stderr=said, text=True, cwd="/", **popen,
        )
        try:
            yield process
            process.wait()
        except BaseException:
            process.send_signal(signal.SIGABRT)
            process.wait()
            print(_end_of(said), file=sys.stderr)
            raise
        assert process.returncode == 0, "%s %s: status %d\n%s" % (python, script, process.returncode, _end_of(said))


def _end_of(said):
    said.seek(0)
    return said.read()[-6000:]


def run(python, script, *arguments, other=None, options=()):
    """Output of a script; `other` is one more directory in its path."""
    with tempfile.TemporaryFile("w+") as output:
        with _started(python, script, arguments, other, options, stdin=subprocess.DEVNULL, stdout=output):
            pass
        output.seek(0)
        return output.read()


@contextlib.contextmanager
def measuring(python, script, *arguments, other=None):
    """A function that asks a script for one more measurement: it writes a line of JSON for each line that it reads."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with _started(python, script, arguments, other, (), **pipes) as process, process.stdout:

        def ask():
            with contextlib.suppress(BrokenPipeError):
                os.write(process.stdin.fileno(), b"\n")
            return json.loads(process.stdout.readline() or pytest.fail("it has ended"))

        with process.stdin:
            yield ask
