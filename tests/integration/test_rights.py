# SPDX-License-Identifier: Apache-2.0
"""A program can name any file as its source, so what root's plumb opens for it is what the program could open itself when its
code ran: never more, whatever the program was before and whatever it has become. docs/design/008-rights.md"""
import ctypes
import json
import os
import pathlib
import shutil
import signal
import stat
import struct
import subprocess
import tempfile
import unittest.mock

import pytest

from harness.compiled import needed, put_in_common, shared_library
from harness.dump import PATIENCE as IN_TIME
from harness.page import Page, blocks
from harness.pages import page_of
from harness.plumb import PATIENCE
from harness.target import wait_asleep, wait_until

ORDINARY = 65534  # nobody
PYTHON = "/usr/bin/python3"  # an ordinary user's, too
SECRET = "# for root alone\n"

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("setpriv") or not os.path.exists(PYTHON),
    reason="needs root, setpriv, and a Python of an ordinary user")

# claim(NAME) makes a function that says it is of that file; `told` tells whether SIGUSR1 has come.
BEGIN = """
import os, signal, sys
def claim(name):
    space = {}
    exec(compile('def claimed(n):\\n    return sum(i * i for i in range(n))\\n', name, 'exec'), space)
    return space['claimed']
told = []
signal.signal(signal.SIGUSR1, lambda *_: told.append(1))
def drop():
    os.setgroups([])
    os.setgid(%d)
    os.setuid(%d)
def say(word):
    sys.stdout.write(word + '\\n')
    sys.stdout.flush()
def wait_for_word():
    say('ready')
    while not told:
        sum(range(1000))
SECRET = sys.argv[1]
""" % (ORDINARY, ORDINARY)

DAEMON = BEGIN + """
wait_for_word()
drop()
claimed = claim(SECRET)
say('claims')
while True:
    claimed(3000)
"""

# Of itself alone, as servers of files do that serve each request with the rights of whoever asks.
THREAD = BEGIN + """
import ctypes, platform, threading
def drop_alone():
    call = ctypes.CDLL(None).syscall
    setresuid, setresgid = {'x86_64': (117, 119), 'aarch64': (147, 149)}[platform.machine()]
    assert not call(setresgid, %d, %d, %d) and not call(setresuid, %d, %d, %d)
def serve():
    drop_alone()
    claimed = claim(SECRET)
    say('claims')
    while True:
        claimed(3000)
wait_for_word()
os.setgroups([])
threading.Thread(target=serve, daemon=True).start()
while True:
    signal.pause()
""" % ((ORDINARY,) * 6)

WORKER = BEGIN + """
wait_for_word()
if os.fork() == 0:
    drop()
    claimed = claim(SECRET)
    say('claims')
    while True:
        claimed(3000)
while True:
    signal.pause()
"""

# 30 ms of it: by then it is sampled, and its texts are not read yet.
EXEC = BEGIN + """
import time
wait_for_word()
claimed = claim(SECRET)
end = time.time() + 0.03
while time.time() < end:
    claimed(300)
say('claims')
os.execv(sys.argv[2], [sys.argv[2], '1000'])
"""

CLAIM = BEGIN + """
claimed = claim(SECRET)
say('ready')
while True:
    claimed(3000)
"""

# A core is of one moment: once it says so it is in there for good.
STAY = BEGIN + """
space = {'say': say}
exec(compile('def claimed():\\n    say("ready") or sum(iter(int, 1))\\n', SECRET, 'exec'), space)
space['claimed']()
"""


@pytest.fixture
def place():
    """pytest's own directory is root's alone."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="plumb-rights-", dir="/tmp"))
    directory.chmod(0o755)
    secret = directory / "secret.py"
    secret.write_text(SECRET * 2)
    secret.chmod(0o600)
    yield directory
    shutil.rmtree(directory)


class Running:
    def __init__(self, place, text, *arguments, before=()):
        script = place / "program.py"
        script.write_text(text)
        script.chmod(0o644)
        self.process = subprocess.Popen([*before, PYTHON, str(script), str(place / "secret.py"), *map(str, arguments)],
                                        stdout=subprocess.PIPE, start_new_session=True)

    def __enter__(self):
        self.hear(b"ready\n")
        return self

    def hear(self, line):
        assert self.process.stdout.readline() == line

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()


def ordinary():
    return ["setpriv", "--reuid", str(ORDINARY), "--regid", str(ORDINARY), "--clear-groups"]


def claims(profile, name):
    return any(function["file"] == str(name) for function in profile.functions)


def assert_not_in(plumb, recording, name):
    """It was sampled, by its name, and neither its text nor a line of it is anywhere."""
    profile = plumb.report(recording)
    assert claims(profile, name)
    assert str(name) not in {source["file"] for source in profile.json["sources"]}
    for form in ("flamegraph-json", "html"):
        shown = plumb("report", recording, "-f", form, "-o", plumb.path("." + form))
        assert shown.status == 0, shown
    assert SECRET.strip() not in plumb("report", recording, "-f", "flamegraph-json").stdout


def sampled_from_before(plumb, running, name, *options):
    """A recording that began before the program was told to go on, and has what it claims then."""
    recording = plumb.path()
    with plumb.attached(running.process.pid, *options, recording=recording):
        os.kill(running.process.pid, signal.SIGUSR1)
        running.hear(b"claims\n")
        wait_until(lambda: plumb.recorded(recording, lambda profile: claims(profile, name)), "it is not sampled")
    return recording


def test_a_daemon_that_has_dropped_its_rights(plumb, place):
    with Running(place, DAEMON) as daemon:
        recording = sampled_from_before(plumb, daemon, place / "secret.py")
    assert_not_in(plumb, recording, place / "secret.py")


def test_a_thread_that_has_dropped_its_rights(plumb, place):
    with Running(place, THREAD) as server:
        recording = sampled_from_before(plumb, server, place / "secret.py")
        dumped = plumb("dump", "--json", server.process.pid)
    assert_not_in(plumb, recording, place / "secret.py")
    assert str(place / "program.py") in {source["file"] for source in plumb.report(recording).json["sources"]}
    assert_shows_no_line_of(dumped, place / "secret.py")
    assert [thread for thread in json.loads(dumped.stdout)["processes"][0]["threads"] if thread["main"] and thread["frames"][0]["source"]]


def test_a_forked_worker_that_has_dropped_its_rights(plumb, place):
    with Running(place, WORKER) as server:
        recording = sampled_from_before(plumb, server, place / "secret.py", "--subprocesses")
    assert_not_in(plumb, recording, place / "secret.py")


def test_a_program_that_becomes_one_with_more_rights(plumb, place):
    """By exec of a program that bears its owner's rights."""
    trusted = place / "trusted"
    shutil.copy(shutil.which("sleep"), trusted)
    trusted.chmod(0o755 | stat.S_ISUID)
    for _ in range(8):
        recording = plumb.path()
        with Running(place, EXEC, trusted, before=ordinary()) as program:
            with plumb.start("attach", "-o", recording, "-r", "5000", program.process.pid, stderr=subprocess.DEVNULL) as attached:
                wait_until(lambda: plumb.recorded(recording, lambda profile: profile.samples), "it is not sampled")
                os.kill(program.process.pid, signal.SIGUSR1)
                program.hear(b"claims\n")
                wait_until(lambda: os.stat("/proc/%d" % program.process.pid).st_uid == 0, "it does not get them")
                attached.send_signal(signal.SIGINT)
                assert attached.wait(PATIENCE) == 0
        profile = plumb.report(recording)
        assert str(place / "secret.py") not in {source["file"] for source in profile.json["sources"]}
        assert str(place / "program.py") in {source["file"] for source in profile.json["sources"]}


@pytest.mark.parametrize("name", ["/proc/self/environ", "/proc/1/environ", "/proc/self/maps", "/sys/kernel/notes"])
def test_what_the_kernel_makes_up(plumb, place, name):
    """Opened by plumb it would be plumb's, or what plumb may see."""
    with Running(place, CLAIM.replace("SECRET = sys.argv[1]", "SECRET = %r" % name), before=ordinary()) as program:
        profile = plumb.attach_until(lambda profile: claims(profile, name), program.process.pid)
        dumped = plumb("dump", "--json", program.process.pid)
    assert claims(profile, name) and name not in {source["file"] for source in profile.json["sources"]}
    assert_shows_no_line_of(dumped, name)


def assert_shows_no_line_of(dumped, name):
    (process,) = json.loads(dumped.stdout)["processes"]
    assert not [frame for thread in process["threads"] for frame in thread["frames"] if frame["file"] == str(name) and frame["source"]]


def test_root_of_a_user_namespace_is_nobody_here(plumb, place):
    unshare = ["unshare", "--user", "--map-root-user"]
    if subprocess.run([*ordinary(), *unshare, "true"], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("an ordinary user may make no user namespace here")
    with Running(place, CLAIM, before=[*ordinary(), *unshare]) as program:
        recording = plumb.path()
        with plumb.attached(program.process.pid, recording=recording):
            wait_until(lambda: plumb.recorded(recording, lambda profile: claims(profile, place / "secret.py")), "it is not sampled")
        dumped = plumb("dump", "--json", program.process.pid)
    assert_not_in(plumb, recording, place / "secret.py")
    assert_shows_no_line_of(dumped, place / "secret.py")


# Each function is of another file, as its debug information says.
LIBRARY = """
#line 1 "%(open)s"
__attribute__((noinline)) unsigned open_one(unsigned n) { unsigned x = n; while (n--) x = x * 69069 + 1; return x; }
#line 1 "%(secret)s"
__attribute__((noinline)) unsigned secret_one(unsigned n) { unsigned x = n; while (n--) x = x * 69069 + 3; return x; }
#line 1 "%(link)s"
__attribute__((noinline)) unsigned link_one(unsigned n) { unsigned x = n; while (n--) x = x * 69069 + 5; return x; }
#line 1 "%(fifo)s"
__attribute__((noinline)) unsigned fifo_one(unsigned n) { unsigned x = n; while (n--) x = x * 69069 + 7; return x; }
#line 1 "%(open)s"
unsigned all(unsigned n) { return open_one(n) + secret_one(n) + link_one(n) + fifo_one(n); }
"""
CALLS = BEGIN + """
import ctypes
library = ctypes.CDLL(sys.argv[2])
say('ready')
while True:
    library.all(30000)
"""
IN_OPEN = 0x20


class Watch:
    """Tells whether any of these files was opened, by anybody."""

    def __init__(self, *paths):
        libc = ctypes.CDLL(None, use_errno=True)
        self.descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        assert self.descriptor >= 0
        for path in paths:
            assert libc.inotify_add_watch(self.descriptor, os.fsencode(path), IN_OPEN) >= 0, path

    def opened(self):
        try:
            return bool(os.read(self.descriptor, 4096))
        except BlockingIOError:
            return False

    def close(self):
        os.close(self.descriptor)


@pytest.fixture
def c_library(place):
    """Of an ordinary user's program, and the sources that its debug information names."""
    sources = {name: place / (name + ".c") for name in ("open", "secret", "link", "fifo")}
    sources["open"].write_text("/* for all */\n")
    sources["secret"].write_text("/* %s */\n" % SECRET.strip())
    sources["secret"].chmod(0o600)
    sources["link"].symlink_to(sources["secret"])
    os.mkfifo(sources["fifo"], 0o600)
    return shared_library(place / "code.so", LIBRARY % sources, "-g", "-O1"), sources


def test_debug_information_names_files_that_the_program_may_not_read(plumb, place, c_library):
    """Nothing of them is in the recording or on the page, and nobody has opened them with more rights than the program's."""
    library, sources = c_library

    def has_all(profile):
        return set(map(str, sources.values())) <= {function.get("source") for function in profile.functions}

    barred = [path for name, path in sources.items() if name != "open"]
    watch = Watch(sources["secret"], sources["fifo"])
    with Running(place, CALLS, library, before=ordinary()) as program:
        result, recording = plumb.try_sampling(has_all, program.process.pid, "--native")
    assert result.status == 0, result
    profile = plumb.report(recording)
    assert has_all(profile) and not watch.opened()
    shown = {source["file"] for source in profile.json["sources"]}
    assert str(sources["open"]) in shown and not shown & set(map(str, barred)), shown
    found, _ = blocks(page_of(plumb, recording).read_bytes())
    texts = Page(found[0][1]).sources
    assert "for all" in "".join(texts[str(sources["open"])][1].values()) and not set(texts) & set(map(str, barred)), texts
    assert SECRET.strip() not in str(texts) and not watch.opened()
    sources["secret"].read_text()
    assert watch.opened()  # it would have told
    watch.close()


RESTS = """
#include <unistd.h>
static volatile long sum;
static inline __attribute__((always_inline)) void hidden_inside(long n) { sum += n; pause(); sum++; }
static __attribute__((noinline)) void hidden(long n) { hidden_inside(n); sum += n; }
void rest(long n) { hidden(n); sum++; }
"""
RESTING = BEGIN + """
import ctypes
library = ctypes.CDLL(sys.argv[2])
say('ready')
while True:
    library.rest(1)
"""
BUILD_ID = "c0ffee" + 34 * "2"


@pytest.fixture
def stripped(place):
    """A library that says it is of a build, and what is kept of that build, for all to read."""
    (objcopy,) = needed("objcopy")
    library = shared_library(place / "rests.so", RESTS, "-g", "-O1", "-Wl,--build-id=0x" + BUILD_ID)
    debug = place / "debug" / ".build-id" / BUILD_ID[:2] / (BUILD_ID[2:] + ".debug")
    debug.parent.mkdir(parents=True)
    subprocess.run([objcopy, "--only-keep-debug", library, debug], check=True)
    subprocess.run([objcopy, "--strip-all", library], check=True)
    debug.chmod(0o644)
    return library, debug


def dumped_and_recorded(plumb, place, library):
    """As text: what root's plumb, which finds what is kept, shows of an ordinary user's program."""
    environment = dict(os.environ, PLUMB_DEBUG_PATH=str(place / "debug"))

    def is_named(profile):
        return any(function["name"] == "rest" for function in profile.functions)

    with Running(place, RESTING, library, before=ordinary()) as program:
        wait_asleep(program.process.pid)
        dumped = plumb("dump", *IN_TIME, "--json", "--native", program.process.pid, env=environment)
        result, recording = plumb.try_sampling(is_named, program.process.pid, "--native", env=environment)
    assert dumped.status == result.status == 0 and '"rest"' in dumped.stdout, (dumped, result)
    return dumped.stdout, json.dumps(plumb.report(recording).json)


@pytest.mark.parametrize("shut", ["nothing", "the file", "a directory"])
def test_debug_information_that_the_program_may_not_read(plumb, place, stripped, shut):
    """Any file can say that it is of any build."""
    library, debug = stripped
    if shut == "the file":
        debug.chmod(0o600)
    elif shut == "a directory":
        debug.parent.chmod(0o700)
    for text in dumped_and_recorded(plumb, place, library):
        for word in ("hidden", "hidden_inside", str(place / "rests.c")):
            assert ('"%s"' % word in text) == (shut == "nothing"), text


@pytest.mark.parametrize("mode", [0o644, 0o600])
def test_debug_information_in_common_that_the_program_may_not_read(plumb, place, stripped, mode):
    needed("dwz", "readelf")
    library, debug = stripped
    put_in_common(debug, place).chmod(mode)
    debug.chmod(0o644)
    for text in dumped_and_recorded(plumb, place, library):
        assert '"hidden"' in text and ('"hidden_inside"' in text) == (mode == 0o644), text


@pytest.fixture
def core(place):
    """Of an ordinary user's program that names secret.py; root's, as gcore has made it."""
    gcore = shutil.which("gcore")
    if not gcore:
        pytest.skip("gcore is not installed")
    with Running(place, STAY, before=ordinary()) as program:
        made = subprocess.run([gcore, "-o", place / "core", str(program.process.pid)], capture_output=True, text=True)
        assert made.returncode == 0, made.stderr
        return place / ("core.%d" % program.process.pid)


def sources_of(plumb, core, *options):
    """Lines that are shown of the files that a core names, by file."""
    dumped = plumb("dump", "--json", *options, "--core", core)
    assert dumped.status == 0, dumped
    (process,) = json.loads(dumped.stdout)["processes"]
    shown = {frame["file"]: frame["source"] for thread in process["threads"] for frame in thread["frames"] if frame["source"]}
    return {pathlib.Path(file).name: line for file, line in shown.items()}, process.get("source_barred")


PROGRAM, ANY = "program.py", unittest.mock.ANY


def test_a_core_shows_what_its_owner_may_read(plumb, place, any_python, core):
    """What a core says of its process can be made up; whose file it is cannot."""
    os.chown(core, ORDINARY, ORDINARY)
    assert sources_of(plumb, core) == ({PROGRAM: ANY}, str(place / "secret.py"))
    os.chown(place / "secret.py", ORDINARY, ORDINARY)
    assert sources_of(plumb, core) == ({PROGRAM: ANY, "secret.py": SECRET.strip()}, None)


def test_a_core_is_not_believed_to_be_of_its_files_group(plumb, place, any_python, core):
    """Files get the group of a directory with the set-group-ID bit, whoever makes them."""
    os.chown(core, ORDINARY, 4321)
    os.chown(place / "secret.py", 0, 4321)
    (place / "secret.py").chmod(0o640)
    assert sources_of(plumb, core) == ({PROGRAM: ANY}, str(place / "secret.py"))


def test_a_core_that_others_may_write_to_is_anybodys(plumb, place, any_python, core):
    os.chown(core, ORDINARY, ORDINARY)
    os.chown(place / "secret.py", ORDINARY, ORDINARY)
    for mode in (0o660, 0o606):
        core.chmod(mode)
        assert sources_of(plumb, core) == ({PROGRAM: ANY}, str(place / "secret.py")), oct(mode)


def set_user(core, user):
    """The kernel notes the ids as the process's own user namespace has them."""
    data = bytearray(core.read_bytes())
    (headers,), (count,) = struct.unpack_from("<Q", data, 32), struct.unpack_from("<H", data, 56)
    for at in range(headers, headers + 56 * count, 56):
        kind, _, at_note, _, _, length = struct.unpack_from("<IIQQQQ", data, at)
        if kind != 4:  # PT_NOTE
            continue
        end = at_note + length
        while at_note < end:
            name, text, note = struct.unpack_from("<III", data, at_note)
            at_note += 12 + (name + 3 & ~3)
            if note == 3:  # NT_PRPSINFO
                struct.pack_into("<II", data, at_note + 16, user, user)
            at_note += text + 3 & ~3
    core.write_bytes(data)


@pytest.mark.parametrize("user", [0, 1234])
def test_whom_a_core_of_roots_names_counts_for_nothing(plumb, place, any_python, core, user):
    """Root keeps everybody's cores, and in a user namespace of its own everybody can be root, or anyone else."""
    set_user(core, user)
    os.chown(place / "secret.py", user, user)
    for mode in (0o400, 0o440, 0o444 & ~0o040):
        (place / "secret.py").chmod(mode)
        assert sources_of(plumb, core) == ({PROGRAM: ANY}, str(place / "secret.py")), oct(mode)
    told = " ".join(plumb("dump", "--core", core).stdout.split())
    assert "secret.py is not open to the owner of the core" in told and "(--trust-core shows them)" in told, told
    assert sources_of(plumb, core, "--trust-core")[0] == {PROGRAM: ANY, "secret.py": SECRET.strip()}
    (place / "secret.py").chmod(0o444)
    assert sources_of(plumb, core)[0] == {PROGRAM: ANY, "secret.py": SECRET.strip()}


def test_whom_systemd_has_noted_at_a_core_of_roots_counts(plumb, place, any_python, core):
    """In attributes that only whoever may write the file can give it."""
    set_user(core, 0)
    os.chown(place / "secret.py", ORDINARY, ORDINARY)
    try:
        os.setxattr(core, "user.coredump.uid", b"%d" % ORDINARY)
        os.setxattr(core, "user.coredump.gid", b"%d" % ORDINARY)
    except OSError as why:
        pytest.skip("files of %s have no attributes: %s" % (place, why))
    assert sources_of(plumb, core) == ({PROGRAM: ANY, "secret.py": SECRET.strip()}, None)
    core.chmod(0o666)
    assert sources_of(plumb, core) == ({PROGRAM: ANY}, str(place / "secret.py"))


@pytest.mark.parametrize("user, group, mode", [(0, 0, 0o400), (ORDINARY, 0, 0o440), (ORDINARY, 4321, 0o440)])
def test_root_as_systemd_has_noted_it_may_be_that_of_a_container(plumb, place, any_python, core, user, group, mode):
    """Without a user namespace of its own its ids are those of here, and its files are not; it has any group that it likes."""
    os.chown(place / "secret.py", 0, group)
    (place / "secret.py").chmod(mode)
    try:
        os.setxattr(core, "user.coredump.uid", b"%d" % user)
        os.setxattr(core, "user.coredump.gid", b"%d" % group)
    except OSError as why:
        pytest.skip("files of %s have no attributes: %s" % (place, why))
    assert sources_of(plumb, core) == ({PROGRAM: ANY}, str(place / "secret.py"))
    assert sources_of(plumb, core, "--trust-core")[0] == {PROGRAM: ANY, "secret.py": SECRET.strip()}


def test_a_group_that_may_not_read_what_others_may(plumb, place, any_python, core):
    """The owner of a core may be in it: of which groups it was in nothing is known."""
    os.chown(core, ORDINARY, ORDINARY)
    os.chown(place / "secret.py", 0, 4321)
    (place / "secret.py").chmod(0o604)
    assert sources_of(plumb, core) == ({PROGRAM: ANY}, str(place / "secret.py"))
    (place / "secret.py").chmod(0o644)
    assert sources_of(plumb, core) == ({PROGRAM: ANY, "secret.py": SECRET.strip()}, None)


def test_a_core_that_cannot_be_read_with_everybodys_rights_says_so(plumb, place, any_python, core):
    """Its program is below a directory of root's."""
    (place / "root").mkdir(mode=0o700)
    (place / "root" / "usr").symlink_to("/usr")
    refused = plumb("dump", "--core", core, "--root", place / "root")
    assert refused.status == 125 and "'--trust-core' looks into all" in refused.stderr, refused
