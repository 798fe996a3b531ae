# SPDX-License-Identifier: Apache-2.0
"""Places where a Python can run: as what file, in which program, in which root and namespaces.

A site is made from an interpreter. What this machine lacks raises Lacking with the reason."""
import dataclasses
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from harness.interpreters import HERE, TARGETS, Interpreter, cache


class Lacking(Exception):
    pass


@dataclasses.dataclass
class Site:
    python: Interpreter
    env: dict = dataclasses.field(default_factory=dict)
    before: tuple = ()  # what starts the interpreter there
    around: tuple = ()  # for `plumb run`, instead of `before`: what starts plumb there
    after: object = None  # what happens to it while it runs, called with its pid
    mapped: str = ""  # the file that it must have mapped then, as /proc/PID/maps shows it
    original: str = ""  # and the one that it must not
    script: str = "calls.py"

    @property
    def environment(self):
        return dict(os.environ, PYTHONDONTWRITEBYTECODE="1", **self.env)


def tool(name):
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if not path:
        raise Lacking("%s is not installed" % name)
    return path


def _is_shared(python):
    return python.name.endswith("-shared")


def _is_debian(python):
    return python.name.endswith("-debian")


_WHERE = (
    "import os, sys; print(sys.prefix); maps = '/proc/self/maps';"
    "print(open(maps).read() if os.path.exists(maps) else '')"
)


@functools.lru_cache(None)
def _where(python):
    """(sys.prefix, the shared library that holds the interpreter, or "" if the program itself does)."""
    said = subprocess.run([*python.command, "-c", _WHERE], capture_output=True, text=True, check=True, cwd="/").stdout
    library = re.search(r"/\S*/libpython\d\S*$", said, re.M)
    return said.splitlines()[0], library.group() if library else ""


def _original(python):
    """The file with the interpreter's code: a program may be no more than a launcher of its library."""
    return _where(python)[1] or os.path.realpath(python.root + python.command[-1])


@functools.lru_cache(None)
def _directory(root):
    """What both we and who has that root can see; it lives as long as this process."""
    directory = tempfile.TemporaryDirectory(prefix="plumb-sites-", dir=os.path.join(root, "tmp") if root else None)
    os.chmod(directory.name, 0o755)
    return directory


def _place(root):
    place = tempfile.mkdtemp(dir=_directory(root).name)
    os.chmod(place, 0o755)
    return place


@functools.lru_cache(None)
def _copy(python, strip):
    """Tens of megabytes: made once, and linked to where it is wanted."""
    copy = os.path.join(_place(python.root), "copy")
    if strip:
        subprocess.run([tool("strip"), "-s", "-o", copy, _original(python)], check=True)
    else:
        shutil.copyfile(_original(python), copy)
    os.chmod(copy, 0o755)
    return copy


def _moved(python, place, code):
    """The interpreter with the file `code` in the place of its own, under names that say nothing."""
    prefix, library = _where(python)
    # Where it lies tells an interpreter where its modules are; here it does not.
    home, before = {"PYTHONHOME": prefix}, ()
    if _is_shared(python):
        command, home = (python.command[0], code), {}
    elif library:
        # The loader takes a library that is already there, whatever its file is called.
        command, before = (os.path.join(place, "application"),), (tool("env"), "LD_PRELOAD=" + code)
        shutil.copy(os.path.realpath(python.command[-1]), command[0])
    else:
        command = (*python.command[:-1], code[len(python.root) :])
    moved = dataclasses.replace(python, command=command)
    return Site(moved, home, before, mapped=code, original=_original(python))


def _file(python, strip=False, after=None):
    place = _place(python.root)
    code = os.path.join(place, "code")
    os.link(_copy(python, strip), code)
    site = _moved(python, place, code)
    if not after:
        return site
    return dataclasses.replace(site, after=lambda pid: after(code), mapped=code + " (deleted)")


def renamed(python, directory):
    return _file(python)


def stripped(python, directory):
    return _file(python, strip=True)


def deleted(python, directory):
    return _file(python, after=os.unlink)


def _upgrade(path):
    """As a package manager does it: another file under the same name."""
    shutil.copy("/bin/true", path + ".new")
    os.rename(path + ".new", path)


def upgraded(python, directory):
    return _file(python, strip=True, after=_upgrade)


def _compile(source, directory):
    program = os.path.join(directory, pathlib.Path(source).stem)
    subprocess.run([tool("cc"), "-O1", "-o", program, str(HERE / source), "-ldl", "-pthread"], check=True)
    return program


def embedded_in_a_thread(python, directory):
    program = _compile("embed_thread.c", directory)
    return Site(dataclasses.replace(python, command=(program, python.command[-1])))


def leaderless(python, directory):
    return Site(python, script="leaderless.py")


def unshare(*what):
    command = [tool("unshare"), "--user", "--map-root-user", *what]
    tried = subprocess.run([*command, "/bin/true"], capture_output=True, text=True)
    if tried.returncode:
        raise Lacking("this user may not make namespaces: %s" % tried.stderr.strip())
    return tuple(command)


def pid_namespace(python, directory):
    """As a container has it: namespaces and, for the interpreters of Debian unstable, a root directory of its own."""
    inside = ("--pid", "--mount", "--fork", "--kill-child")
    return Site(python, before=unshare(*inside), around=unshare(*inside, "--mount-proc"))


def private_mount(python, directory):
    """The interpreter's file lies on a file system that only the process itself sees."""
    place = _place(python.root)
    mount = os.path.join(place, "mount")
    os.mkdir(mount)
    site = _moved(python, place, os.path.join(mount, "code"))
    script = 'mount -t tmpfs none "$0" && cp "$1" "$2" && shift 2 && exec "$@"'
    inside = ("/bin/sh", "-c", script, mount, site.original, site.mapped)
    return dataclasses.replace(site, before=(*unshare("--mount"), *inside, *site.before))


def other_root(python, directory):
    return Site(python)


def musl(python, directory):
    program = cache() / "musl" / "bin" / "python3.9"
    if not program.exists():
        raise Lacking("./dev setup has not made a Python on musl")
    return Site(Interpreter("musl", (3, 9, 2), (str(program),)), script="threads.py")


def gdb(python, directory):
    program = tool("gdb")
    version = subprocess.run([program, "-nx", "-q", "-batch", "-ex", "python print('has Python')"], capture_output=True, text=True)
    if "has Python" not in version.stdout:
        raise Lacking("this gdb has no Python")
    host = dataclasses.replace(python, name="gdb", command=(program, "-nx", "-q", "-batch", "-x"), root="")
    return Site(host, {"PYTHONPATH": str(TARGETS)})


def uwsgi(python, directory):
    program = pathlib.Path(sys.executable).parent / "uwsgi"
    if not program.exists():
        raise Lacking("uwsgi is not installed in the tests' environment")
    options = "--master --die-on-term --lazy-apps --enable-threads --processes 1 --need-app".split()
    listen = ("--socket", os.path.join(directory, "socket"))
    host = dataclasses.replace(python, name="uwsgi", command=(str(program), *options, *listen, "--wsgi-file"), root="")
    return Site(host, {"PYTHONPATH": str(TARGETS)}, script="host_app.py")


# Which interpreters are put somewhere: the reason why not, or "".


def _any(python):
    return ""


# Releases that keep what leads to their threads in different ways: in variables, in one structure, with offsets in it.
_DIFFERENT = {(2, 7), (3, 6), (3, 12), (3, 15)}


def _some(python):
    different = python.minor in _DIFFERENT or _is_shared(python)
    return "" if different else "how its file is found there does not depend on the release; some of different kinds are tried"


def _an_interpreter(python):
    return "in a program that embeds Python this is a place of its own" if _is_shared(python) else _some(python)


def _a_library(python):
    return "" if _is_shared(python) else "for programs that load Python as a shared library"


def _rooted(python):
    return "" if python.root else "it is in our own root"


def _debian(python):
    return "" if _is_debian(python) else "the place brings its own Python; it stands in Debian's column"


NOT_BY_RUN = "it happens to a program that runs already"
# place -> (how it is made, why an interpreter cannot be put there, why it is not launched there)
SITES = {
    "renamed": (renamed, _some, ""),
    "stripped, renamed": (stripped, _any, ""),
    "deleted": (deleted, _some, NOT_BY_RUN),
    "upgraded": (upgraded, _some, NOT_BY_RUN),
    "main thread ended": (leaderless, _an_interpreter, ""),
    "in a thread, main thread ended": (embedded_in_a_thread, _a_library, ""),
    "other root": (other_root, _rooted, ""),
    "other pid namespace": (pid_namespace, _some, ""),
    "private mount": (private_mount, _some, ""),
    "musl (3.9.2)": (musl, _debian, ""),
    "gdb": (gdb, _debian, ""),
    "uwsgi": (uwsgi, _debian, ""),
}
WAYS = ("run", "attach")  # dump looks at what attach has sampled


@dataclasses.dataclass(frozen=True)
class Placement:
    way: str
    place: str
    python: Interpreter

    def make(self, directory):
        return SITES[self.place][0](self.python, str(directory))

    @property
    def ways(self):
        return ["run"] if self.way == "run" else ["attach", "dump"]

    def row(self, way):
        """Of the table."""
        return "%s, %s" % (self.place, way)

    @property
    def gap(self):
        """Why this cannot be; "" if it can."""
        _, why_not, not_launched = SITES[self.place]
        return (not_launched if self.way == "run" else "") or why_not(self.python)

    def __str__(self):
        return "%s-%s-%s" % (self.way, self.place, self.python)


def _every(pythons):
    return [Placement(way, place, python) for place in SITES for python in pythons if not python.missing for way in WAYS]


def placements(pythons):
    """Every place with every interpreter that can be put there and every way to sample it."""
    return [placement for placement in _every(pythons) if not placement.gap]


def gaps(pythons):
    """(row, interpreter, reason) of what is left out."""
    return [(p.row(way), p.python, p.gap) for p in _every(pythons) if p.gap for way in p.ways]
