# SPDX-License-Identifier: Apache-2.0
"""plumb doctor: what works here, on this process, and why not."""
import json
import os
import shutil
import subprocess

import pytest

from harness.plumb import finish

ORDINARY = 65534  # nobody


def examine(plumb, *arguments, **options):
    """(status, {(about, id): finding}, whole answer)"""
    result = plumb("doctor", "--json", *arguments, **options)
    assert result.status in (0, 1) and result.stderr == "", result
    answer = json.loads(result.stdout)
    assert answer["schema"] == "plumb.doctor/1"
    assert answer["works"] == (result.status == 0)
    for finding in answer["findings"]:
        assert finding["status"] in ("ok", "no", "note"), finding
        assert (finding["cost"] is None) or finding["status"] != "ok", finding
    return result.status, {(f["about"], f["id"]): f for f in answer["findings"]}, answer


@pytest.fixture
def sleeper():
    """A process that is no Python."""
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


@pytest.mark.smoke
def test_the_machine(plumb):
    status, found, answer = examine(plumb)
    assert status == 0, answer
    assert answer["pid"] is None
    assert answer["summary"].startswith("plumb can sample ")
    assert {about for about, _ in found} == {"machine"}
    for name in ("kernel", "user", "read-memory", "yama", "cap-sys-ptrace", "perf-events", "btf", "run-counters", "timers"):
        assert ("machine", name) in found
    assert os.uname().release in found["machine", "kernel"]["fact"]
    assert "uid %d" % os.geteuid() in found["machine", "user"]["fact"]


@pytest.mark.smoke
def test_the_text_says_the_same(plumb):
    _, found, answer = examine(plumb)
    result = plumb("doctor", env=dict(os.environ, COLUMNS="60", LC_ALL="C"))
    lines = result.stdout.splitlines()
    assert result.status == 0 and result.stderr == "", result
    assert result.stdout.isascii() and "\033" not in result.stdout
    words = {"ok": "ok", "no": "no", "note": "--"}
    shown = [tuple(line.split()[:2]) for line in lines if line[:2] in words.values()]
    assert shown == [(words[f["status"]], f["id"]) for f in answer["findings"]]
    assert all(len(line) <= 60 for line in lines if " " in line.strip() and "/" not in line), result
    summary = " ".join(" ".join(lines[lines.index("") + 1 :]).split())
    assert summary == answer["summary"]


def test_colour_when_asked(plumb):
    assert "\033[32mok" in plumb("doctor", "--color", "always").stdout


@pytest.mark.smoke
def test_a_live_python(plumb, target, python):
    with target(python, "threads.py") as busy:
        status, found, answer = examine(plumb, busy.pid)
    assert status == 0, answer
    assert answer["summary"].startswith("plumb can sample pid %d now" % busy.pid)
    assert found["process", "access"]["status"] == "ok"
    assert "CPython %d.%d" % python.minor in found["process", "layout"]["fact"], answer
    how = "debug offsets" if python.minor >= (3, 13) else "built-in table"
    assert how in found["process", "layout"]["fact"], answer
    assert "MainThread (%d)" % busy.pid in found["process", "threads"]["fact"], answer
    assert "alpha (" in found["process", "threads"]["fact"], answer
    if "-shared" in python.name:
        assert "shared library" in found["process", "python"]["fact"]


def test_threads_with_hostile_names_stay_on_their_line(plumb, target, any_python):
    with target(any_python, "names.py") as busy:
        result = plumb("doctor", busy.pid, env=dict(os.environ, LC_ALL="C"))
    assert result.status == 0, result
    assert all(line == "" or line.isprintable() for line in result.stdout.splitlines()), result
    assert result.stdout.isascii()


def test_no_python(plumb, sleeper):
    status, found, answer = examine(plumb, sleeper.pid)
    assert status == 1
    assert found["process", "access"]["status"] == "ok"
    assert found["process", "python"]["status"] == "no"
    assert "sleep, not Python" in answer["summary"]


def test_no_such_process(plumb):
    gone = subprocess.Popen(["true"])
    gone.wait()
    status, found, answer = examine(plumb, gone.pid)
    assert status == 1
    assert found["process", "process"]["status"] == "no"
    assert str(gone.pid) in answer["summary"]


@pytest.mark.parametrize("word", ["-1", "0", "99999999999", ""])
def test_no_pid(plumb, word):
    result = plumb("doctor", "--", word)
    assert result.status == 125 and "is not a process id" in result.stderr, result


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root and setpriv")
def test_a_process_of_root_for_somebody_else(plumb, target, any_python):
    shutil.copy(plumb.binary, "/tmp/plumb-doctor-%d" % os.getpid())
    binary = "/tmp/plumb-doctor-%d" % os.getpid()
    try:
        os.chmod(binary, 0o755)
        drop = ["setpriv", "--reuid", str(ORDINARY), "--regid", str(ORDINARY), "--clear-groups", binary]
        pipes = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd="/")
        with target(any_python, "threads.py") as busy:
            asked = finish(subprocess.Popen([*drop, "doctor", "--json", str(busy.pid)], **pipes))
            tried = finish(subprocess.Popen([*drop, "attach", str(busy.pid)], **pipes))
        alone = finish(subprocess.Popen([*drop, "doctor", "--json"], **pipes))
    finally:
        os.unlink(binary)
    assert asked.status == 1, asked
    answer = json.loads(asked.stdout)
    access = next(f for f in answer["findings"] if f["id"] == "access")
    assert access["status"] == "no" and "it belongs to user root (uid 0)" in access["fact"], access
    assert access["remedy"] and access["remedy"] in tried.stderr, "attach names the same: %s" % tried
    # The machine itself is fine.
    answer = json.loads(alone.stdout)
    assert alone.status == 0 and "sudo plumb" in answer["summary"], answer


def test_a_traced_process(plumb, target, any_python):
    if not shutil.which("strace") and not shutil.which("gdb"):
        pytest.skip("needs strace or gdb, to trace")
    tracer = ["strace", "-f", "-qq", "-e", "trace=none"] if shutil.which("strace") else ["gdb", "-q", "-batch", "-ex", "run", "--args"]
    with target(any_python, "threads.py", before=tracer) as busy:
        status, found, answer = examine(plumb, busy.pid)
    assert status == 0, answer
    assert found["process", "tracer"]["status"] == "no"
    assert found["process", "tracer"]["remedy"] in answer["summary"]
