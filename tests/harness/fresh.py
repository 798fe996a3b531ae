# SPDX-License-Identifier: Apache-2.0
"""A fresh machine: Debian as debootstrap's minbase makes it, with the source of plumb as a clone has it. It is of this machine's
release, or of that in PLUMB_FRESH_RELEASE ("trixie").

It is a root directory, in memory over one that is kept in the cache, with mounts and processes of its own, which end with it.
Of this machine it has what leads to the package registries: mirror, name servers, proxies, certificates. What it downloads
is kept for the next one, and so is what it compiles, if a test installs ccache there. What this machine lacks raises Lacking with the
reason."""
import contextlib
import dataclasses
import fcntl
import glob
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

from harness.interpreters import cache

TOP = pathlib.Path(__file__).resolve().parents[2]
GIGABYTES = 6  # of memory that it may take
SOURCE = "/srv/plumb"
COMPILED = "/var/cache/ccache"
HANGS = 3600  # seconds after which a command is taken for one that hangs

# $1 are the directories of which it is made, $2 is an empty one, $3 keeps downloads, $4 is the user, $5 their home, $6 the
# source and $7 what was compiled. PID 1 collects orphans, and ends with its input.
HOLD = """
mount -t tmpfs -o size=%dg tmpfs "$2"
mkdir "$2/upper" "$2/work" "$2/root"
mount -t overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" overlay "$2/root"
cd "$2/root"
mount -t proc proc proc
mount --rbind /sys sys
mount --rbind /dev dev
mount -t tmpfs tmpfs dev/shm
mount --bind "$3/$4.apt" var/cache/apt/archives
mkdir -p ".$5/.cache/pip" ".$5/.npm" "$3/$4.pip" "$3/$4.npm"
mount --bind "$3/$4.pip" ".$5/.cache/pip"
mount --bind "$3/$4.npm" ".$5/.npm"
mkdir -p "$3/$4.ccache" "./$7"
mount --bind "$3/$4.ccache" "./$7"
[ "$4" = root ] || chroot . useradd --shell /bin/bash "$4"
chroot . chown -R "$4:" "$5" "$6" "$7"
echo ready
exec 3<&0
cat <&3 >/dev/null &
wait
""" % GIGABYTES


class Lacking(Exception):
    pass


@dataclasses.dataclass
class Result:
    command: str
    status: int
    stdout: str
    stderr: str
    seconds: float

    def __str__(self):
        return "%s: status %d after %.0f s\n%s\n%s" % (self.command, self.status, self.seconds, self.stdout[-4000:], self.stderr[-4000:])


def _processor_seconds():
    """Of all that has ended: on a busy machine the clock says little."""
    times = os.times()
    return times.children_user + times.children_system


def _output(*command):
    try:
        done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True)
    except OSError as why:
        raise Lacking(str(why)) from None
    if done.returncode:
        raise Lacking("%s failed: %s" % (command[0], (done.stderr or done.stdout).strip()[-300:]))
    return done.stdout


def _program(name):
    found = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if not found:
        raise Lacking("there is no %s" % name)
    return found


def _release():
    told = dict(re.findall(r'^(\w+)="?([^"\n]*)', pathlib.Path("/etc/os-release").read_text(), re.M))
    if told.get("ID") != "debian":
        raise Lacking("this machine is no Debian")
    return os.environ.get("PLUMB_FRESH_RELEASE") or told["VERSION_CODENAME"]


def _debootstrapped(directory):
    """Made once for each release, in half a minute."""
    release = _release()
    made = directory / release
    with _locked(directory / "lock"):
        if made.exists():
            return made
        new = directory / (release + ".new")
        shutil.rmtree(new, ignore_errors=True)
        mirror = _output(TOP / "tools/debian_mirror.sh").strip()
        _output(_program("debootstrap"), "--variant=minbase", release, new, mirror)
        new.rename(made)
    return made


@contextlib.contextmanager
def _locked(path):
    with open(path, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _home(user):
    return "/root" if user == "root" else "/home/" + user


def _settings():
    """The variables that lead to the registries."""
    wanted = re.compile(r"(https?|no)_proxy|pip_(index_url|extra_index_url|trusted_host|cert|default_timeout)|npm_config_(registry|cafile)|"
                        r"ssl_cert_file|ssl_cert_dir|node_extra_ca_certs|requests_ca_bundle|curl_ca_bundle", re.I)
    return {name: value for name, value in os.environ.items() if wanted.fullmatch(name)}


def _apt_settings():
    yield 'APT::Keep-Downloaded-Packages "true";'
    for line in _output("apt-config", "dump", "Acquire").splitlines():
        if re.match("Acquire::(https?|Retries|Check-)", line):
            yield line
    for scheme in ("http", "https"):
        if scheme + "_proxy" in os.environ:  # sudo leaves no variables
            yield 'Acquire::%s::Proxy "%s";' % (scheme, os.environ[scheme + "_proxy"])


def _copy(source, to):
    if os.path.isfile(source):
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, to)


def _put_source(to):
    """What is tracked, as it is in the working tree."""
    for name in _output("git", "-C", TOP, "-c", "safe.directory=*", "ls-files", "-z").split("\0"):
        if name:
            _copy(TOP / name, to / name)


def _put_settings(layer, home):
    """Name servers, certificates, and the settings of apt, pip and npm."""
    for path in ["/etc/resolv.conf", "/etc/pip.conf", "/etc/npmrc", *glob.glob("/usr/local/share/ca-certificates/*.crt")]:
        _copy(path, layer / path[1:])
    for path in _settings().values():
        if path.startswith("/") and not path.startswith("/etc/ssl/"):  # that comes with ca-certificates
            _copy(path, layer / path[1:])
    for name in (".npmrc", ".config/pip/pip.conf", ".pip/pip.conf"):
        _copy(os.path.expanduser("~/" + name), layer / home[1:] / name)
    settings = layer / "etc/apt/apt.conf.d/90this-machine"
    settings.parent.mkdir(parents=True)
    settings.write_text("\n".join(_apt_settings()) + "\n")


class Machine:
    """Commands run in it as `user`, in the directory of the source, or as root."""

    def __init__(self, root, seen, user, namespaces):
        self.user, self._seen = user, seen
        self._enter = [*namespaces, _program("chroot"), str(root)]

    def run(self, command, user=None):
        """By a shell, with the environment of somebody who has just logged in."""
        user = user or self.user
        path = "/usr/local/bin:/usr/bin:/bin" + (":/usr/local/sbin:/usr/sbin:/sbin" if user == "root" else "")
        variables = {**_settings(), "TERM": "dumb", "HOME": _home(user), "USER": user, "LOGNAME": user, "SHELL": "/bin/bash", "PATH": path,
                     "CCACHE_DIR": COMPILED}
        began, computed = time.monotonic(), _processor_seconds()
        done = subprocess.run([*self._enter, "runuser", "-u", user, "--", "env", "-i", *map("=".join, variables.items()),
                               "sh", "-c", "cd %s && %s" % (SOURCE, command)],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=HANGS)
        result = Result(command, done.returncode, done.stdout, done.stderr, time.monotonic() - began)
        print("%4.0f s, %.0f s of a processor: %s" % (result.seconds, _processor_seconds() - computed, command))
        return result

    def seen(self, path):
        """Where a file of it is as we see it."""
        return pathlib.Path(self._seen + path)

    def must(self, command, user=None):
        result = self.run(command, user)
        assert result.status == 0, str(result)
        return result


@contextlib.contextmanager
def _held(layers, downloads, user):
    """The mounts live as long as what is yielded: how to get there, where it is then, and where it is as we see it."""
    place = downloads / (user + ".mnt")
    for directory in (place, downloads / (user + ".apt")):
        directory.mkdir(exist_ok=True)
    words = [":".join(map(str, layers)), place, downloads, user, _home(user), SOURCE, COMPILED]
    with subprocess.Popen([_program("unshare"), "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", HOLD, "hold", *map(str, words)],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as holder:
        try:
            if holder.stdout.readline() != "ready\n":
                raise Lacking("no root directory in memory: %s" % holder.stderr.read().strip()[-300:])
            of = "/proc/%d/" % holder.pid
            yield [_program("nsenter"), "--mount=%sns/mnt" % of, "--pid=%sns/pid_for_children" % of], place / "root", "%sroot%s/root" % (of, place)
        finally:
            holder.stdin.close()


@contextlib.contextmanager
def machine(user):
    """One at a time for each user: what is downloaded is kept."""
    if os.geteuid() != 0:
        raise Lacking("only root can make a fresh machine")
    available = int(re.search(r"MemAvailable: +(\d+)", pathlib.Path("/proc/meminfo").read_text())[1])
    if available < GIGABYTES << 20:
        raise Lacking("less than %d GB of memory are free" % GIGABYTES)
    directory = cache() / "fresh"
    directory.mkdir(parents=True, exist_ok=True)
    with _locked(directory / (user + ".lock")), tempfile.TemporaryDirectory(dir=directory) as layer:
        made = _debootstrapped(directory)
        _put_settings(pathlib.Path(layer), _home(user))
        _put_source(pathlib.Path(layer + SOURCE))
        with _held([layer, made], directory, user) as (namespaces, root, seen):
            yield Machine(root, seen, user, namespaces)
