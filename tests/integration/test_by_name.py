# SPDX-License-Identifier: Apache-2.0
"""Naming a process instead of giving its number."""
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import uuid

import pytest

from harness.dump import PATIENCE
from harness.interpreters import TARGETS


class App:
    """A copy of calls.py under a name that no other process has."""

    def __init__(self, directory):
        self.directory = str(directory)
        self.module = "app_" + uuid.uuid4().hex[:8]
        self.script = self.module + ".py"
        for name in ("calls.py", "parley.py"):
            shutil.copy(TARGETS / name, self.directory)
        shutil.copy(TARGETS / "calls.py", os.path.join(self.directory, self.script))

    def start(self, target, python, script=None, **options):
        return target(python, script or self.script, directory=(self.directory, self.directory), **options)


@pytest.fixture
def app(tmp_path_factory, any_python):
    if any_python.root:
        pytest.skip("the interpreter has another root")
    return App(tmp_path_factory.mktemp("app"))


def words(text):
    return " ".join(text.split())


@pytest.mark.smoke
def test_the_script_the_stem_and_the_path_lead_to_the_process(plumb, target, any_python, app):
    with app.start(target, any_python) as running:
        for name in (app.script, app.module, os.path.join(app.directory, app.script), "./" + app.script):
            recording = plumb.path()
            result = plumb("attach", "-d", "0.2", "-o", recording, name, cwd=app.directory)
            assert result.status == 0, result
            assert [p["pid"] for p in plumb.report(recording).json["processes"]] == [running.pid]
        doctor = plumb("doctor", "--json", app.script)
        dump = plumb("dump", *PATIENCE, "--json", app.script)
        assert json.loads(doctor.stdout)["pid"] == running.pid, doctor
        assert [p["pid"] for p in json.loads(dump.stdout)["processes"]] == [running.pid], dump


def test_a_module_leads_to_the_process(plumb, target, any_python, app):
    environment = dict(os.environ, PYTHONPATH=app.directory)
    python = any_python.__class__(any_python.name, any_python.version, (*any_python.command, "-m"))
    with target(python, app.module, directory=("", ""), env=environment) as running:
        doctor = plumb("doctor", "--json", app.module)
    assert json.loads(doctor.stdout)["pid"] == running.pid, doctor


def test_a_dump_takes_numbers_and_names_mixed(plumb, target, any_python, app, tmp_path_factory):
    """In the order of the operands; a name of nobody does not keep plumb from the others."""
    other = App(tmp_path_factory.mktemp("other"))
    with app.start(target, any_python) as one, other.start(target, any_python) as two:
        mixed = plumb("dump", *PATIENCE, "--json", two.pid, app.script, other.script)
        some = plumb("dump", *PATIENCE, "--json", app.script, "nobody-is-called-that", two.pid)
    assert mixed.status == 0 and mixed.stderr == "", mixed
    assert [p["pid"] for p in json.loads(mixed.stdout)["processes"]] == [two.pid, one.pid, two.pid], mixed
    assert some.status == 1 and "no process is called 'nobody-is-called-that'" in some.stderr, some
    assert [p["pid"] for p in json.loads(some.stdout)["processes"]] == [one.pid, two.pid], some


def test_of_several_a_dump_tells_the_command_for_all(plumb, target, any_python, app):
    with contextlib.ExitStack() as stack:
        pids = [stack.enter_context(app.start(target, any_python)).pid for _ in range(2)]
        listed = plumb("dump", app.script)
        command, text = listed.stderr.splitlines()[-1].split("  for ")
        assert text == "both" and command.split() == ["plumb", "dump", *map(str, pids)], listed
        dump = plumb("dump", *PATIENCE, "--json", *command.split()[2:])
    assert [p["pid"] for p in json.loads(dump.stdout)["processes"]] == pids, dump


def age(pid):
    """What they stand in the order of: when it began, and its number, which may have begun anew."""
    return int(pathlib.Path("/proc/%d/stat" % pid).read_text().rsplit(")", 1)[1].split()[19]), pid


def test_a_program_and_its_children_are_listed_in_order(plumb, any_python):
    """Children of one moment: those whose start times are equal stand in the order of their numbers."""
    script = "family_%s.py" % uuid.uuid4().hex[:8]
    path = plumb.directory / script
    path.write_text("import os, sys\n"
                    "pids = []\n"
                    "for _ in range(8):\n"
                    "    pids.append(os.fork())\n"
                    "    if pids[-1] == 0:\n"
                    "        os.read(0, 1)\n"
                    "        os._exit(0)\n"
                    "os.write(1, b'ready')\n"
                    "os.read(0, 1)\n")
    family = subprocess.Popen([*any_python.command, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert family.stdout.read(5) == b"ready"
        lines = plumb("dump", script, env=dict(os.environ, COLUMNS="200")).stderr.splitlines()[1:-1]
        pids = [int(line.split()[2]) for line in lines]
        assert len(pids) == 9 and pids[0] == family.pid and pids[1:] == sorted(pids[1:], key=age), lines
    finally:
        family.communicate()  # closes the pipe that all of them read
    assert ", child of " not in lines[0] and all(", child of %d: " % family.pid in line for line in lines[1:]), lines


@pytest.mark.parametrize("command", ["attach", "dump", "doctor"])
def test_several_are_listed_and_none_is_chosen(plumb, target, any_python, app, command):
    with contextlib.ExitStack() as stack:
        pids = [stack.enter_context(app.start(target, any_python)).pid for _ in range(3)]
        result = plumb(command, app.script, env=dict(os.environ, COLUMNS="200"))
    assert result.status == 125 and result.stdout == "", result
    lines = result.stderr.splitlines()
    assert lines[0] == "plumb: 3 processes are called '%s'; choose one:" % app.script, result
    assert [line.split()[:3] for line in lines[1:4]] == [["plumb", command, str(pid)] for pid in pids], "the oldest first: %s" % result
    assert len(lines) == 4 + (command != "doctor"), result
    for line in lines[1:4]:
        assert "(uid %d), since " % os.getuid() in line and line.endswith(os.path.join(app.directory, app.script)), line
    assert not list(plumb.directory.glob("*.plumb")), "nothing is recorded"


def test_the_nearest_is_named_if_there_is_none(plumb, target, any_python, app):
    with app.start(target, any_python):
        result = plumb("attach", app.script.replace("app_", "ap_"))
    assert result.status == 125, result
    assert "no process is called '%s'" % app.script.replace("app_", "ap_") in result.stderr, result
    assert "there is one called '%s'" % app.script in words(result.stderr), result


@pytest.mark.parametrize("name", ["nobody-is-called-that", "12x", "\x1b[31mred", "x" * 5000, "/", "."])
def test_names_of_nobody(plumb, name):
    result = plumb("attach", name)
    assert result.status == 125 and "no process is called" in result.stderr, result
    assert "\x1b" not in result.stderr and len(result.stderr) < 1000, result
