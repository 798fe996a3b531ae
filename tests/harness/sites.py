# SPDX-License-Identifier: Apache-2.0
"""Places where a Python can run: as what file, in which program, in which root and namespaces.

A site is made from an interpreter. What this machine lacks raises Lacking with the reason."""
import dataclasses
import os
import pathlib
import shutil
import subprocess
import sys

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
    script: str = "calls.py"
    arguments: bool = True  # takes --seconds

    @property
    def environment(self):
        return dict(os.environ, PYTHONDONTWRITEBYTECODE="1", **self.env)


def tool(name):
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if not path:
        raise Lacking("%s is not installed" % name)
    return path


def _is_static(python):
    return len(python.command) == 1


def _is_shared(python):
    return python.name.endswith("-shared")


def _is_debian(python):
    return python.name.endswith("-debian")


def _copy(python, directory, strip):
    """A copy of a static interpreter or of a shared library, under a name that says nothing."""
    source = os.path.realpath(python.command[-1])
    copy = os.path.join(directory, "application")
    shutil.copy(source, copy)
    if strip:
        subprocess.run([tool("strip"), "-s", copy], check=True)
    if _is_shared(python):
        return dataclasses.replace(python, command=(python.command[0], copy)), {}
    # Where it lies tells an interpreter where its library is; here it does not.
    prefix = subprocess.run([source, "-c", "import sys; print(sys.prefix)"], capture_output=True, text=True, check=True).stdout.strip()
    return dataclasses.replace(python, command=(copy,)), {"PYTHONHOME": prefix}


def _file(python, directory, strip=False, after=None):
    copy, env = _copy(python, directory, strip)
    path = copy.command[-1]
    return Site(copy, env, after=(lambda pid: after(path)) if after else None)


def renamed(python, directory):
    return _file(python, directory)


def stripped(python, directory):
    return _file(python, directory, strip=True)


def deleted(python, directory):
    return _file(python, directory, after=os.unlink)


def _upgrade(path):
    """As a package manager does it: another file under the same name."""
    shutil.copy("/bin/true", path + ".new")
    os.rename(path + ".new", path)


def upgraded(python, directory):
    return _file(python, directory, strip=True, after=_upgrade)


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
    copy, env = _copy(python, directory, False)
    place = os.path.join(directory, "mount")
    os.mkdir(place)
    script = 'mount -t tmpfs none "$0" && cp "$1" "$0/application" && shift && exec "$0/application" "$@"'
    return Site(copy, env, before=(*unshare("--mount"), "/bin/sh", "-c", script, place))


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
    return Site(host, {"PYTHONPATH": str(TARGETS)}, arguments=False)


def uwsgi(python, directory):
    program = pathlib.Path(sys.executable).parent / "uwsgi"
    if not program.exists():
        raise Lacking("uwsgi is not installed in the tests' environment")
    options = "--master --die-on-term --lazy-apps --enable-threads --processes 1 --need-app".split()
    listen = ("--socket", os.path.join(directory, "socket"))
    host = dataclasses.replace(python, name="uwsgi", command=(str(program), *options, *listen, "--wsgi-file"), root="")
    return Site(host, {"PYTHONPATH": str(TARGETS)}, script="host_app.py", arguments=False)


# Which interpreters can be put somewhere: the reason why not, or "".


def _any(python):
    return ""


def _a_file(python):
    return "" if _is_static(python) or _is_shared(python) else "it lies in another root, and a copy would not find its libraries"


def _static(python):
    return "" if _is_static(python) else "its one file is not enough: it has a shared library, or another root"


def _an_interpreter(python):
    return "in a program that embeds Python this is a place of its own" if _is_shared(python) else ""


def _a_library(python):
    return "" if _is_shared(python) else "for programs that load Python as a shared library"


def _rooted(python):
    return "" if python.root else "it is in our own root"


def _debian(python):
    return "" if _is_debian(python) else "the place brings its own Python; it stands in Debian's column"


NOT_BY_RUN = "it happens to a program that runs already"
# place -> (how it is made, why an interpreter cannot be put there, why it is not launched there)
SITES = {
    "renamed": (renamed, _a_file, ""),
    "stripped, renamed": (stripped, _a_file, ""),
    "deleted": (deleted, _a_file, NOT_BY_RUN),
    "upgraded": (upgraded, _a_file, NOT_BY_RUN),
    "main thread ended": (leaderless, _an_interpreter, ""),
    "in a thread, main thread ended": (embedded_in_a_thread, _a_library, ""),
    "other root": (other_root, _rooted, ""),
    "other pid namespace": (pid_namespace, _any, ""),
    "private mount": (private_mount, _static, ""),
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
