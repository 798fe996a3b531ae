# SPDX-License-Identifier: Apache-2.0
"""Each command with one allocation failing, or all from some moment on: those of the C library too, as for streams and
directories. No crash, no hang, no half answer that looks like a whole one; the target and the program run on."""
import json
import mmap
import os
import random
import struct
import subprocess

import pytest

from harness import package
from harness.compiled import shared_library
from harness.interpreters import HERE
from harness.plumb import PATIENCE, finish
from harness.target import started, traces

TRIED = 3  # moments for each command in an ordinary run; with --soak each one there is
FAILED = 125


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return shared_library(tmp_path_factory.mktemp("failing") / "failing.so", HERE / "failing_alloc.c", "-O1")


class Failing:
    """Plumb with allocations that fail, or what else is started; all of them, or those of what has `within` in its path."""

    def __init__(self, plumb, library, arguments, start=None, within=""):
        self.start, self.library, self.arguments, self.within = start or plumb.start, library, arguments, within

    def __call__(self, at=-1, all_after=False):
        """(Result, allocations made, how many of them failed)"""
        memory = os.memfd_create("counts")
        os.ftruncate(memory, 4096)
        environment = dict(os.environ, LC_ALL="C.UTF-8", LD_PRELOAD=str(self.library), PLUMB_FAIL_AT=str(at), PLUMB_FAIL_COUNT=str(memory),
                           PLUMB_FAIL_IN=self.within)
        if all_after:
            environment["PLUMB_FAIL_ALL"] = "1"
        arguments = [word() if callable(word) else word for word in self.arguments]
        process = self.start(*arguments, env=environment, pass_fds=[memory], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        result = finish(process)
        with mmap.mmap(memory, 4096) as counts:
            made, failed = struct.unpack_from("=qq", counts)
        os.close(memory)
        return result, made, failed


def moments(total, effort):
    """The first ones, which are made before anything is ready, and some of the others."""
    count = effort(TRIED, total)
    if count >= total:
        return range(total)
    return sorted({*range(4), *random.Random(total).sample(range(total), count)})


def assert_told(result, name, statuses, whole):
    """What came is whole, or a sentence says what is missing. Loader and C library say so in words of their own."""
    assert result.status in (*statuses, FAILED), (name, result)
    if result.status == FAILED:
        # pthread_create has only one word for all that it lacks.
        assert any(word in result.stderr for word in ("memory", "Resource temporarily")), (name, result)
    else:
        assert whole(result), (name, result)


def try_all(failing, effort, statuses, whole, target=None):
    clean, total, _ = failing()
    assert clean.status in statuses and whole(clean) and total > 0, clean
    met = 0
    for at in moments(total, effort):
        for all_after in (False, True):
            result, _, failed = failing(at, all_after)
            met += failed > 0
            assert not target or not traces(target.pid), (at, all_after, traces(target.pid))
            if failed:
                assert_told(result, "from %d on" % at if all_after else "only %d" % at, statuses, whole)
    assert met, "not one failed"
    if target:
        target.wait_progress()


def skip_if_sanitized(plumb):
    if plumb.sanitized:
        pytest.skip("a sanitizer has an allocator of its own")


def is_json(result):
    return bool(json.loads(result.stdout))


PLAIN = {
    "help": (["help"], lambda r: r.stdout.endswith("'plumb --version' shows the version.\n")),
    "help of a command": (["help", "attach"], lambda r: "--max-overhead" in r.stdout),
    "man": (["help", "--man", "run"], lambda r: r.stdout.startswith(".")),
    "completion": (["completion", "bash"], lambda r: r.stdout.rstrip().endswith("plumb")),
    "doctor": (["doctor"], lambda r: "kernel" in r.stdout),
    "doctor --json": (["doctor", "--json"], is_json),
}


@pytest.mark.parametrize("name", PLAIN)
def test_without_a_target(plumb, library, effort, name):
    skip_if_sanitized(plumb)
    arguments, whole = PLAIN[name]
    clean = plumb(*arguments, env=dict(os.environ, LC_ALL="C.UTF-8"))
    same = (lambda r: whole(r) and len(r.stdout.splitlines()) == len(clean.stdout.splitlines())) if "json" not in name else whole
    try_all(Failing(plumb, library, arguments), effort, (0, 1), same)


def threads_shown(count):
    return lambda result: len(json.loads(result.stdout)["processes"][0]["threads"]) == count


@pytest.mark.parametrize("options", [["--json", "--locals"], ["--never-stop"]], ids=" ".join)
def test_dump(plumb, library, effort, target, any_python, options):
    skip_if_sanitized(plumb)
    with target(any_python, "threads.py", count=True) as busy:
        whole = threads_shown(5) if "--json" in options else lambda r: r.stdout.count("work_alpha") and "wait_here" in r.stdout
        try_all(Failing(plumb, library, ["dump", "--timeout", PATIENCE, *options, busy.pid]), effort, (0,), whole, busy)


def test_doctor_of_a_process(plumb, library, effort, target, any_python):
    skip_if_sanitized(plumb)
    with target(any_python, "threads.py", count=True) as busy:
        try_all(Failing(plumb, library, ["doctor", "--json", busy.pid]), effort, (0, 1), is_json, busy)


def test_attach(plumb, library, effort, target, any_python):
    """What cannot be noted is counted as lost; what was recorded until then is reported."""
    skip_if_sanitized(plumb)
    with target(any_python, "threads.py", count=True) as busy:
        arguments = ["attach", "-d", "0.1", "-o", plumb.path, busy.pid]
        try_all(Failing(plumb, library, arguments), effort, (0,), lambda r: "samples" in r.stderr, busy)


def test_run(plumb, library, effort, any_python):
    """The program is not ours to fail: it runs to its end and its status counts, or it was not started at all."""
    skip_if_sanitized(plumb)
    program = [*any_python.command, "-S", "-c", "import time\nend = time.time() + 0.1\nwhile time.time() < end: pass\nprint('done')"]

    def whole(result):
        return result.stdout == "done\n"

    try_all(Failing(plumb, library, ["run", "-o", plumb.path, "--", *program]), effort, (0,), whole)


def test_in_process(plumb, library, effort, any_python):
    """The package in a program that records itself: its own allocations fail, and the program, which goes on, is not harmed."""
    skip_if_sanitized(plumb)

    def start(*arguments, env, **popen):
        return subprocess.Popen([*any_python.command, *arguments], env=dict(env, PYTHONPATH=str(package.built())), **popen)

    failing = Failing(plumb, library, [package.SCRIPTS / "without_memory.py", plumb.path], start, "_plumb.")
    try_all(failing, effort, (0,), lambda r: r.stdout == "done\n")


def test_what_cannot_be_read_for_want_of_memory_is_not_called_damaged(plumb, library, target, any_python):
    """At each moment there is: what unpacks a part takes memory of its own."""
    skip_if_sanitized(plumb)
    with target(any_python, "threads.py", count=True) as busy:
        _, recording = plumb.try_sampling(lambda profile: profile.samples, busy.pid)
    failing = Failing(plumb, library, ["report", "-f", "collapsed", recording])
    clean, _, _ = failing()
    try_all(failing, lambda some, all_of_them: all_of_them, (0,), lambda result: result.stdout == clean.stdout)


@pytest.mark.parametrize("options", [["--lines"], ["--json"], ["--markdown"], ["-f", "collapsed"]], ids=" ".join)
def test_report(plumb, library, effort, places, any_python, options):
    skip_if_sanitized(plumb)
    with started(places, any_python, "exec_churn.py") as busy:
        _, recording = plumb.try_sampling(lambda profile: profile.samples, busy.pid)
    failing = Failing(plumb, library, ["report", *options, recording])
    clean, _, _ = failing()
    try_all(failing, effort, (0,), lambda result: result.stdout == clean.stdout)
