# SPDX-License-Identifier: Apache-2.0
"""Too few descriptors, a /proc that shows less, an output that is full: each command works or says in one sentence what is
wrong, and never does half as if it were the whole."""
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess

import pytest

from harness.compiled import needed
from harness.plumb import PATIENCE, finish, running
from harness.scarce import limited, sentence
from harness.target import thread_ids, traces, wait_asleep, wait_until

# Descriptors ------------------------------------------------------------------------------------------------------------


def is_whole_dump(result):
    (process,) = json.loads(result.stdout)["processes"]
    return len(process["threads"]) == 21 and {thread["quality"] for thread in process["threads"][1:]} == {"exact"}


CROWD = "crowd-%d.py" % os.getpid()  # nobody else's
COMMANDS = {
    "dump": (lambda pid: ["dump", "--json", "--timeout", PATIENCE, pid], (0,), is_whole_dump),
    "doctor": (lambda pid: ["doctor", "--json"], (0, 1), lambda result: json.loads(result.stdout)["findings"]),
    "doctor of a process": (lambda pid: ["doctor", "--json", pid], (0, 1), lambda result: json.loads(result.stdout)["findings"]),
    "attach by name": (lambda pid: ["attach", "-q", "-d", "0.1", "-o", "/dev/null", CROWD], (0,), lambda result: True),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_too_few_descriptors_for(plumb, target, any_python, name, tmp_path):
    """From none beyond the standard streams on."""
    arguments, statuses, whole = COMMANDS[name]
    script = tmp_path / CROWD
    script.write_text("import sys\nprint('ready', flush=True)\nsys.stdin.read()\n")
    with target(any_python, "many_threads.py", "--threads", "20", "--depth", "3", count=True) as crowd:
        with subprocess.Popen([*any_python.command, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as named:
            assert named.stdout.readline() == b"ready\n"
            least, last = judge(lambda limit: plumb(*arguments(crowd.pid), before=limited("-n", limit)), statuses, whole)
            named.stdin.close()
        crowd.wait_progress()
        assert not traces(crowd.pid)
    assert least and least <= 64, (least, last)


def judge(call, statuses, whole):
    """(the first limit with which it works, the last result)"""
    least = result = None
    for limit in [*range(3, 24, 2), 30, 40, 64, 256]:
        result = call(limit)
        if "shared libraries" in result.stderr:
            continue  # it was not we who ran
        if result.status in statuses:
            assert whole(result), (limit, result)
            least = least or limit
            continue
        sentence(result, "too many open files")
        assert not least, "with %d it worked, with %d it does not: %s" % (least, limit, result)
    return least, result


TELLING = """
import os, sys
while not os.path.exists(sys.argv[1]):
    pass
print("done")
"""


def sampled_run(plumb, python, before):
    """A run of a program that works until it has been sampled, or plumb has ended: (Result, recording)."""
    recording, over = plumb.path(), plumb.path(".over")
    command = ["run", "-o", recording, "--", *python.command, "-S", "-c", TELLING, over]
    with running(plumb.start(*command, before=before, stdout=subprocess.PIPE, stderr=subprocess.PIPE)) as process:
        wait_until(lambda: process.poll() is not None or plumb.recorded(recording, lambda profile: profile.samples), "it is not sampled")
        over.touch()
        return finish(process), recording


def short_run(plumb, python, before):
    """A run of a program that may be sampled: (Result, recording)."""
    recording = plumb.path()
    program = "import time\nend = time.time() + 0.15\nwhile time.time() < end: pass\nprint('done')"
    return plumb("run", "-o", recording, "--", *python.command, "-S", "-c", program, before=before), recording


def test_too_few_descriptors_for_a_run(plumb, any_python):
    """The program runs, whether it can be sampled or not, or is not started and that is said; its own limit is its own. With 40 it is
    sampled, and with 13 or so plumb can tell only at the program's end that it cannot."""
    worked = set()
    for limit in [*range(3, 24, 2), 30, 40, 64, 256]:
        result, recording = (sampled_run if limit >= 40 else short_run)(plumb, any_python, limited("-n", limit))
        if "shared libraries" in result.stderr and not result.stderr.startswith("plumb: "):
            continue  # it was not we who ran
        if result.status == 0:
            assert result.stdout == "done\n", (limit, result)
            if os.path.exists(recording) and plumb.report(recording).samples:  # it may be over before its first sample
                worked.add(limit)
            continue
        assert result.status == 125 and "too many open files" in result.stderr.lower(), (limit, result)
        assert result.stdout in ("", "done\n"), (limit, result)
        assert not worked, "with %d it worked, with %d it does not: %s" % (min(worked), limit, result)
    assert 40 in worked, worked


# Stacks -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["dump", "attach"])
def test_a_limit_of_stacks_is_not_for_the_threads_of_plumb(plumb, target, any_python, command):
    """In KiB: of the limit the C library makes the size of each stack."""
    arguments = {"dump": ["dump"], "attach": ["attach", "-q", "-d", "0.1", "-o", plumb.path()]}[command]
    with target(any_python, "families.py", count=True) as busy:
        result = plumb(*arguments, busy.pid, before=limited("-s", 80))
        assert result.status == 0, result
        busy.wait_progress()


# /proc ------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def proc_with():
    """proc_with(options, user): what starts a program where /proc is mounted with those."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount /proc with options")
    if tuple(int(n) for n in re.findall(r"\d+", os.uname().release)[:2]) < (5, 8):
        pytest.skip("before Linux 5.8 an option would change every /proc of this machine, and subset=pid is not known")
    unshare, drop = needed("unshare", "setpriv")

    def command(options, user=0):
        become = "%s --reuid=%d --regid=%d --clear-groups" % (drop, user, user) if user else ""
        return [unshare, "--mount", "sh", "-c",
                'mount --make-rprivate / && mount -t proc -o %s proc /proc && exec %s "$@"' % (options, become), "sh"]

    return command


@pytest.mark.parametrize("options", ["subset=pid", "subset=pid,hidepid=2"])
def test_a_proc_that_shows_only_processes_is_enough(plumb, target, any_python, proc_with, options):
    inside = proc_with(options)
    with target(any_python, "blocked.py", count=True) as hung:
        wait_asleep(hung.pid)
        count = len(thread_ids(hung.pid))
        dumped = plumb("dump", "--json", "--timeout", PATIENCE, hung.pid, before=inside)
        asked = plumb("doctor", "--json", hung.pid, before=inside)
        plumb.sampled(lambda profile: len(profile.threads) == count, hung.pid, before=inside)
        told = hung.told
    assert dumped.status == 0 and dumped.stderr == "", dumped
    threads = {thread["name"]: thread for thread in json.loads(dumped.stdout)["processes"][0]["threads"]}
    assert len(threads) == count and threads["in_recv"]["wait"]["fd"]["peer"] == told["server"], dumped
    assert asked.status == 0 and json.loads(asked.stdout)["works"], asked
    proc = next(f for f in json.loads(asked.stdout)["findings"] if f["id"] == "proc")
    assert "subset=pid" in proc["fact"], proc
    ran, recording = sampled_run(plumb, any_python, inside)
    assert ran.status == 0 and plumb.report(recording).samples, ran


@pytest.mark.parametrize("options", ["subset=pid", "hidepid=1", "hidepid=2", "subset=pid,hidepid=2", "hidepid=4"])
def test_whoever_may_not_is_told_so_whatever_proc_shows(plumb, target, any_python, proc_with, options):
    """An ordinary user, a process of root's."""
    place = pathlib.Path("/tmp/plumb-%d-scarce" % os.getpid())
    shutil.copy(plumb.binary, place)
    place.chmod(0o755)
    try:
        with target(any_python, "calls.py", count=True) as busy:
            for arguments in (["attach", str(busy.pid)], ["dump", str(busy.pid)], ["doctor", str(busy.pid)]):
                result = finish(subprocess.Popen([*proc_with(options, 65534), place, *arguments], cwd="/tmp", stdout=subprocess.PIPE,
                                                 stderr=subprocess.PIPE))
                cause = "belongs to user root" if options == "subset=pid" else "hidepid=%s" % options[-1]
                text = " ".join((result.stdout + result.stderr).split())
                assert cause in text or "belongs to user root" in text, (arguments, result)
                if arguments[0] != "doctor":
                    sentence(result, "pid %d" % busy.pid)
                else:
                    assert result.status == 1, result
            busy.wait_progress()
    finally:
        place.unlink()


# Output -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [
    ["help"], ["help", "run"], ["help", "formats"], ["help", "--man", "attach"], ["run", "--help"], ["--help"], ["--version"],
    ["completion", "bash"], ["completion", "zsh"], ["completion", "fish"], ["doctor"], ["doctor", "--json"]], ids=" ".join)
def test_a_full_disk_under_what_needs_no_process(plumb, arguments):
    assert_full_is_told(plumb, arguments)


@pytest.mark.parametrize("options", [[], ["--json"], ["--locals"], ["--json", "--locals"]], ids=" ".join)
@pytest.mark.parametrize("threads", [300])
def test_a_full_disk_under_a_dump(plumb, target, any_python, options, threads):
    """Longer than what is gathered before it is written."""
    with target(any_python, "many_threads.py", "--threads", str(threads), "--depth", "5", "--busy", "0") as crowd:
        assert_full_is_told(plumb, ["dump", "--timeout", PATIENCE, *options, str(crowd.pid)])
        assert_full_is_told(plumb, ["doctor", str(crowd.pid)])


def test_a_full_disk_under_what_says_that_it_samples(plumb, target, any_python, tmp_path):
    """Who has started it, as the engine that is external, would never know of it."""
    with target(any_python, "calls.py") as busy, open("/dev/full", "w") as full:
        result = plumb("attach", busy.pid, "--quiet", "--announce", "-d", "1", "-o", tmp_path / "x.plumb", stdout=full)
    sentence(result, "no space left on device")


def assert_full_is_told(plumb, arguments):
    assert plumb(*arguments).status == 0
    with open("/dev/full", "w") as full:
        result = plumb(*arguments, stdout=full)
    sentence(result, "no space left on device")


def test_a_reader_that_goes_away_is_no_news(plumb, target, any_python):
    """As `plumb dump | head`: no sentence, and no crash."""
    with target(any_python, "many_threads.py", "--threads", "300", "--depth", "5", "--busy", "0") as crowd:
        dump = ["dump", "--timeout", PATIENCE]
        for arguments in ([*dump, crowd.pid], [*dump, "--json", crowd.pid], ["completion", "bash"], ["help"], ["doctor"]):
            ours, theirs = socket.socketpair()
            ours.close()
            with theirs:
                result = plumb(*arguments, stdout=theirs)
            assert result.status == 125, (arguments, result)
            assert len(result.stderr.splitlines()) <= 2, result
