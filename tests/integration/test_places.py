# SPDX-License-Identifier: Apache-2.0
"""Wherever a Python runs: under which file, in which program, root, namespace; with its main thread or without."""
import dataclasses
import os
import pathlib
import shutil

import pytest

from harness.callgraph import CallGraph, check, whole
from harness.dump import PATIENCE, assert_true, look
from harness.interpreters import PROGRAMS, SINCE_3, TARGETS
from harness.sites import Lacking, Placement, gaps
from harness.table import MATRIX, NotRun
from harness.target import status, wait_until

pytestmark = pytest.mark.once  # a stack that cannot have been is proof

SECONDS = 0.3
SAMPLES = 20  # at least


def test_where_an_interpreter_cannot_be_put_stands_why(pythons, table):
    for row, python, why in gaps(pythons):
        assert why, (row, python)
        table(row, python, NotRun(why), title=MATRIX)


def made(placed, tmp_path):
    try:
        return placed.make(tmp_path)
    except Lacking as lacking:
        pytest.skip(str(lacking))


def leaderless(pid):
    return status(pid).get("State", "Z")[0] == "Z"


def assert_moved(site, pid):
    """What it has mapped is the file that the place is about."""
    mapped = {line.split(None, 5)[-1] for line in pathlib.Path("/proc/%d/maps" % pid).read_text().splitlines()}
    assert site.mapped in mapped and site.original not in mapped, mapped


def attached(plumb, target, site):
    """A profile and many dumps of the same process."""
    with target(site.python, site.script, before=site.before, env=site.environment, count=True) as running:
        running.wait_progress(1)
        if site.script == "leaderless.py" or "embed_thread" in site.python.command[0]:
            wait_until(lambda: leaderless(running.pid), "its main thread does not end")
        if site.after:
            site.after(running.pid)
        if site.mapped:
            assert_moved(site, running.pid)
        graph = CallGraph(TARGETS / site.script)
        profile = plumb.attach_until(lambda profile: whole(graph, profile, SAMPLES), running.pid, seconds=SECONDS)
        return profile, look(plumb, running.pid, graph, TARGETS / site.script)


def launched(plumb, places, site):
    command = [*site.python.command, os.path.join(places.directory(site.python.root)[1], site.script)]
    if not site.around:
        command = [*site.before, *command]
    graph, ways = CallGraph(TARGETS / site.script), dict(before=site.around, env=site.environment)
    return plumb.run_until(lambda profile: whole(graph, profile, SAMPLES), *command, seconds=SECONDS, **ways)


def assert_true_and_whole(profile, site, samples):
    graph = CallGraph(TARGETS / site.script)
    verdict = check(graph, profile)
    assert not verdict.impossible, verdict
    assert verdict.checked + verdict.partial > samples, verdict
    assert not graph.missing(profile.stacks), "no stack has the chain %s" % graph.missing(profile.stacks)
    for name, function in graph.threads.items():
        assert any(s.thread["name"] == name and s.has(function) for s in profile.stacks), "no samples of thread %r" % name


def test_a_python_is_sampled_wherever_it_runs(plumb, target, places, placed, table, tmp_path):
    """`placed` is every place with interpreters that are put there, launched, or attached to and dumped."""
    for way in placed.ways:
        table(placed.row(way), placed.python, "FAILED", title=MATRIX)
    site = made(placed, tmp_path)
    if placed.way == "run":
        profile, looks = launched(plumb, places, site), None
    else:
        profile, looks = attached(plumb, target, site)
    assert_true_and_whole(profile, site, SAMPLES)
    table(placed.row(placed.way), placed.python, "ok", title=MATRIX)
    if looks:
        assert_true(looks, CallGraph(TARGETS / site.script))
        assert_true_and_whole(looks, site, 0)
        table(placed.row("dump"), placed.python, "ok", title=MATRIX)


def tried(plumb, target, places, site, way):
    graph = CallGraph(TARGETS / site.script)
    if way == "run":
        assert_true_and_whole(launched(plumb, places, site), site, SAMPLES)
        return
    profile, looks = attached(plumb, target, site)
    assert_true_and_whole(profile, site, SAMPLES)
    assert_true(looks, graph)
    assert_true_and_whole(looks, site, 0)


@pytest.mark.soak
def test_every_program_wherever_it_runs(plumb, target, places, placed, table, tmp_path):
    """The matrix of all programs in each place; a table of its own."""
    if made(placed, tmp_path).script != "calls.py":
        pytest.skip("the place has a program of its own")
    failures = {}
    for program, script in PROGRAMS.items():
        if program in SINCE_3 and placed.python.version < (3,):
            continue
        (tmp_path / program).mkdir()
        site = dataclasses.replace(made(placed, tmp_path / program), script=script)  # anew: some are taken away while it runs
        try:
            tried(plumb, target, places, site, placed.way)
        except AssertionError as failed:
            failures[program] = failed
        outcome = "FAILED" if program in failures else "ok"
        table("%s: %s, %s" % (placed.place, program, "/".join(placed.ways)), placed.python, outcome, title="programs in places")
    assert not failures, failures


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root and setpriv")
def test_a_deleted_library_without_a_name_is_found_without_privileges(plumb, target, any_python, tmp_path):
    """No path leads to the file, its mapping does not say what it is, and the kernel's own link is not for us."""
    site = made(Placement("attach", "deleted", any_python), tmp_path)
    drop = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
    with target(site.python, site.script, before=(*drop, *site.before), env=site.environment) as running:
        site.after(running.pid)
        result = plumb("dump", *PATIENCE, running.pid, before=drop)
    assert result.status == 0 and "calls.py" in result.stdout, result


def test_who_waits_for_the_gil_is_told_on_a_stripped_2_7(plumb, target, pythons, tmp_path):
    """The GIL is a static variable there: the code that uses it tells where it is."""
    python = next(python for python in pythons if python.minor == (2, 7))
    if python.missing:
        pytest.skip(python.missing)
    site = made(Placement("attach", "stripped, renamed", python), tmp_path)
    with target(site.python, "threads.py", before=site.before, env=site.environment) as busy:
        assert_moved(site, busy.pid)
        wait_until(lambda: '"doing":"gil"' in plumb("dump", *PATIENCE, "--json", busy.pid).stdout, "nobody waits for the GIL")


def sampled(profile):
    return {thread["tid"]: thread["name"] for thread in profile.threads if thread["samples"]}


def test_threads_of_another_pid_namespace_are_shown_by_our_numbers(plumb, target, few, tmp_path):
    site = made(Placement("attach", "other pid namespace", few), tmp_path)
    with target(few, "threads.py", before=site.before, env=site.environment) as running:
        ours = {int(tid) for tid in os.listdir("/proc/%d/task" % running.pid)}
        profile = plumb.attach_until(lambda profile: len(sampled(profile)) >= 5, running.pid, seconds=SECONDS)
        doctor = plumb("doctor", running.pid)
    seen = sampled(profile)
    assert set(seen) <= ours, "threads are shown as %s, they are %s" % (seen, ours)
    assert {"alpha", "beta", "waiter", "MainThread"} <= set(seen.values()), seen
    assert [tid for tid, name in seen.items() if name == "MainThread"] == [running.pid], seen
    assert doctor.status == 0 and "another, where it is pid 1" in doctor.stdout, doctor
