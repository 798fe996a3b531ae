# SPDX-License-Identifier: Apache-2.0
"""Which Python interpreters this machine has.

An interpreter is found in pyenv's versions/, on PATH, as Debian's own, as Debian's shared library (started by a small
program of ours), or in the directory with Debian unstable that `./dev setup` makes. Each is asked for its version; one
that does not answer is not used. A minor release nobody offers stays in the list as missing, with the reason, so that
its tests are shown as skipped and the closing lines of the run name it.
"""
import dataclasses
import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# (major, minor, "t" for the free-threaded build or "d" for the debug build)
KINDS = [(2, 7, ""), *((3, n, "") for n in range(6, 16)), (3, 13, "t"), (3, 11, "d")]
HERE = pathlib.Path(__file__).resolve().parent
TARGETS = HERE.parent / "targets"
HANGS = 300  # seconds after which what does not answer is no interpreter

# The programs of the matrix.
PROGRAMS = {
    "plain": "calls.py",
    "recursion": "recursion.py",
    "generators": "generators.py",
    "delegation": "delegation.py",
    "threads": "threads.py",
    "asyncio": "coroutines.py",
    "exec": "exec_churn.py",
    "names": "names.py",
    "exceptions": "exceptions.py",
}
# What 2.7 cannot run: asyncio, yield from, names that are not ASCII.
SINCE_3 = {"asyncio", "delegation", "names"}

_ASK = (
    "import sys,platform as p;"
    "print('%d.%d.%d %s -%s' % (sys.version_info[:3] + (p.python_implementation(), getattr(sys, 'abiflags', ''))))"
)


def cache():
    """The directory where ./dev keeps what is slow to make."""
    given = os.environ.get("PLUMB_DEV_CACHE")
    if given:
        return pathlib.Path(given)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(base) / "plumb-dev"


@dataclasses.dataclass(frozen=True)
class Interpreter:
    name: str  # "3.11.7", "3.11.2-debian", "3.15.2-sid", "3.13.5t"; a missing one is "3.9"
    version: tuple  # (3, 11, 7)
    command: tuple  # what to put before the script
    root: str = ""  # directory the process has as its root; "" for ours
    missing: str = ""  # why it is not there; "" if it is
    build: str = ""  # "t" free-threaded, "d" with Py_DEBUG

    @property
    def minor(self):
        return self.version[:2]

    @property
    def kind(self):
        return (*self.version[:2], self.build)

    @property
    def free_threaded(self):
        return self.build == "t"

    def __str__(self):
        return self.name


def _ask(command):
    """(version, kind of build) of a CPython, or None."""
    try:
        answer = subprocess.run(
            [*command, "-c", _ASK], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=HANGS, cwd="/"
        )
        version, implementation, flags = answer.stdout.split()
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    if implementation != "CPython":
        return None
    return tuple(int(part) for part in version.split(".")), flags[1:].replace("m", "")


def _pyenv():
    roots = [os.environ.get("PYENV_ROOT", ""), os.path.expanduser("~/.pyenv")]
    found = []
    for root in dict.fromkeys(r for r in roots if r):
        for path in glob.glob(os.path.join(root, "versions", "*", "bin", "python")):
            if re.fullmatch(r"\d+\.\d+\.\d+t?", path.split(os.sep)[-3]):
                found.append(path)
    return found


def _on_path(kind):
    name = "python%d.%d%s" % kind
    found = []
    for directory in os.environ.get("PATH", "").split(os.pathsep):
        path = os.path.join(directory, name)
        # pyenv's shims are scripts that stand for versions/, which is looked through itself.
        if os.access(path, os.X_OK) and "shims" not in path.split(os.sep):
            found.append(path)
    return found


def _chroot_command(root):
    """How a program is started with another root directory, or None if this user may not."""
    ways = [["chroot", root]] if os.geteuid() == 0 else [["unshare", "--map-root-user", "--root=" + root]]
    for way in ways:
        program = shutil.which(way[0], path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        if program and subprocess.run([program, *way[1:], "/bin/true"], capture_output=True).returncode == 0:
            return [program, *way[1:]]
    return None


def _shared_library(builds):
    """A program that only loads libpython and runs it: what an application that embeds Python looks like."""
    libraries = sorted(glob.glob("/usr/lib/*/libpython3.*.so.1.0"))
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not libraries or not compiler:
        return []
    program = builds / "embed"
    subprocess.run([compiler, "-O1", "-o", str(program), str(HERE / "embed.c"), "-ldl"], check=True)
    return [(str(program), library) for library in libraries]


def _candidates(builds):
    """(suffix of the name, command, root) for everything that may be an interpreter."""
    for path in _pyenv():
        yield "", (path,), ""
    for kind in KINDS:
        for path in _on_path(kind):
            yield ("-debian" if path.startswith("/usr/bin/") else ""), (path,), ""
    for pattern in ("free-threaded/bin/python3.[0-9]*t", "debug/usr/bin/python3.[0-9]*d"):
        for path in glob.glob(str(cache() / pattern)):
            yield "", (path,), ""
    for command in _shared_library(builds):
        yield "-shared", command, ""
    root = str(cache() / "sid")
    if os.path.isdir(root):
        chroot = _chroot_command(root)
        for path in sorted(glob.glob(root + "/usr/bin/python3.[0-9]*")):
            if chroot and re.fullmatch(r"python3\.\d+", os.path.basename(path)):
                yield "-sid", (*chroot, path[len(root) :]), root


def _why_missing(kind):
    *minor, build = kind
    reason = cache() / ({"t": "free-threaded", "d": "debug"}.get(build, "sid") + ".because")
    if build:
        return reason.read_text().strip() if reason.exists() else "./dev setup has not made it"
    if minor >= [3, 13] and reason.exists():
        return reason.read_text().strip()
    if minor >= [3, 13] and (cache() / "sid").is_dir() and not _chroot_command(str(cache() / "sid")):
        return "Debian unstable's Python needs chroot, which this user may not"
    return "no Python %d.%d under pyenv's versions/, on PATH, or from Debian" % tuple(minor)


_builds = []  # the temporary directory lives as long as this process


def discover():
    """Every interpreter, oldest first; for a minor release without any, one entry with `missing` set."""
    _builds.append(tempfile.TemporaryDirectory(prefix="plumb-embed-"))
    found, seen = [], set()
    for suffix, command, root in _candidates(pathlib.Path(_builds[-1].name)):
        identity = (root, os.path.realpath(command[-1]), suffix == "-shared")
        if identity in seen:
            continue
        seen.add(identity)
        answer = _ask(command)
        if not answer:
            continue
        version, build = answer
        python = Interpreter("%d.%d.%d" % version + build + suffix, version, tuple(command), root, build=build)
        if python.kind in KINDS:
            found.append(python)
    for kind in KINDS:
        if not any(python.kind == kind for python in found):
            name = "%d.%d%s" % kind
            found.append(Interpreter(name, kind[:2], (), missing=_why_missing(kind), build=kind[2]))
    return sorted(found, key=lambda python: (python.kind, python.name))


def one_per_minor(pythons):
    """The interpreters for the long tests: one of each minor release and kind, an unstripped one where there is a choice. The
    debug build, which differs in nothing that is read, is for the others."""
    chosen = {}
    for python in pythons:
        if python.build == "d":
            continue
        kept = chosen.get(python.kind)
        if kept is None or kept.missing or ("-" in kept.name and "-" not in python.name):
            chosen[python.kind] = python
    return [chosen[kind] for kind in sorted(chosen)]


def main():
    pythons = discover()
    for python in pythons:
        if not python.missing:
            print("%-16s %s" % (python.name, " ".join(python.command)))
    for python in pythons:
        if python.missing:
            print("not there: %s because %s" % (python.name, python.missing))
    return 0


if __name__ == "__main__":
    sys.exit(main())
