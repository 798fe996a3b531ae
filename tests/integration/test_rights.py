# SPDX-License-Identifier: Apache-2.0
"""A program can name any file as its source, so what root's plumb opens for it is what the program could open itself when its
code ran: never more, whatever the program was before and whatever it has become. docs/design/008-rights.md"""
import json
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import tempfile

import pytest

from harness.plumb import PATIENCE
from harness.target import wait_until

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


def test_a_core_shows_what_its_owner_may_read(plumb, place, any_python):
    """What a core says of its process can be made up; whose file it is cannot. But what root keeps can be anybody's process."""
    gcore = shutil.which("gcore")
    if not gcore:
        pytest.skip("gcore is not installed")
    with Running(place, CLAIM, before=ordinary()) as program:
        made = subprocess.run([gcore, "-o", place / "core", str(program.process.pid)], capture_output=True, text=True)
        assert made.returncode == 0, made.stderr
        core = place / ("core.%d" % program.process.pid)
    of_root = plumb("dump", "--json", "--core", core)
    assert any(frame["file"] == str(place / "program.py") and frame["source"]
               for thread in json.loads(of_root.stdout)["processes"][0]["threads"] for frame in thread["frames"]), of_root
    assert_shows_no_line_of(of_root, place / "secret.py")
    os.chown(core, ORDINARY, ORDINARY)
    assert_shows_no_line_of(plumb("dump", "--json", "--core", core), place / "secret.py")
