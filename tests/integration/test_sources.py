# SPDX-License-Identifier: Apache-2.0
"""The text of the sampled files is in the recording, as the target saw it, and lines are shown from there when no file is
left; what must not be read, or is too much, is not in it."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import pytest

from harness.dump import PATIENCE as IN_TIME
from harness.plumb import PATIENCE, until
from harness.target import wait_until

ORDINARY = 65534  # nobody
READY = "import sys\nsys.stdout.write('ready\\n')\nsys.stdout.flush()\n"
SPIN = READY + "def spin():\n    while True:\n        pass  # {mark}\nspin()\n"


class Spinning:
    """A script of its own that computes until it is killed."""

    def __init__(self, python, script, text=None, **popen):
        self.script = pathlib.Path(script)
        if text is not None:
            self.script.write_text(text)
        self.process = subprocess.Popen([*python.command, str(script)], stdout=subprocess.PIPE, **popen)

    def __enter__(self):
        assert self.process.stdout.readline() == b"ready\n"
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    @property
    def pid(self):
        return self.process.pid


def sources(profile):
    return {source["file"]: source for source in profile.json["sources"]}


def lines(plumb, recording):
    """All source lines that are shown of a recording."""
    result = plumb("report", recording, "-f", "flamegraph-json")
    assert result.status == 0, result
    return result.stdout


def attached(plumb, pid, names, *options):
    """A recording in which there are samples of all these files."""
    names = {str(name) for name in names}

    def attach(seconds):
        recording = plumb.path()
        result = plumb("attach", "-d", seconds, "-o", recording, *options, pid)
        assert result.status == 0, result
        return recording

    return until(attach, lambda recording: names <= files_of(plumb.report(recording)), 0.2)


def files_of(profile):
    return {function["file"] for function in profile.functions}


@pytest.fixture
def somewhere(python, tmp_path):
    """A directory that the interpreter can see: (as we call it, as it does)."""
    if not python.root:
        yield tmp_path, tmp_path
        return
    ours = pathlib.Path(tempfile.mkdtemp(prefix="plumb-sources-", dir=os.path.join(python.root, "tmp")))
    yield ours, pathlib.Path(str(ours)[len(python.root) :])
    shutil.rmtree(ours)


def test_a_file_that_is_gone_afterwards(plumb, python, somewhere):
    """On each interpreter, in another root directory, too: the text of the file by the name that the target has for it."""
    ours, theirs = somewhere
    text = SPIN.format(mark="the hot line")
    (ours / "gone.py").write_text(text)
    name = str(theirs / "gone.py")
    with Spinning(python, name) as spinning:
        recording = attached(plumb, spinning.pid, [spinning.script])
    (ours / "gone.py").unlink()
    profile = plumb.report(recording)
    assert sources(profile)[name] == {"file": name, "bytes": len(text), "changed": False}
    assert profile.json["sources_left_out"] == 0
    assert not python.root or not any(file.startswith(python.root) for file in sources(profile))
    assert "the hot line" in lines(plumb, recording)


def test_without_sources(plumb, any_python, tmp_path):
    with Spinning(any_python, tmp_path / "secret.py", SPIN.format(mark="must not leave the machine")) as spinning:
        recording = attached(plumb, spinning.pid, [spinning.script], "--no-sources")
        launched = plumb.path()
        with plumb.start("run", "--no-sources", "-o", launched, "--", *any_python.command, spinning.script,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
            wait_until(lambda: plumb.recorded(launched, lambda profile: profile.samples), "it is not sampled")
            running.send_signal(signal.SIGTERM)
            running.wait(PATIENCE)
    spinning.script.unlink()
    for path in (recording, launched):
        assert plumb.report(path).json["sources"] == []
        assert "must not leave" not in lines(plumb, path)


def test_a_program_that_is_over_at_once(plumb, any_python, tmp_path):
    """It has ended before its first samples are looked at."""
    script = tmp_path / "short.py"
    script.write_text("def work():\n    return sum(i * i for i in range(300000))\nwork()\n")

    def run(_):
        recording = plumb.path()
        assert plumb("run", "-r", "max", "-o", recording, "--", *any_python.command, script).status == 0
        return plumb.report(recording)

    sampled = until(run, lambda profile: str(script) in files_of(profile), 0)
    assert str(script) in sources(sampled)


def test_a_file_that_changes(plumb, any_python, tmp_path):
    """Before it is looked at: what is shown may not be what ran, and the report says so."""
    with Spinning(any_python, tmp_path / "changed.py", SPIN.format(mark="before")) as spinning:
        spinning.script.write_text(SPIN.format(mark="after"))
        os.utime(spinning.script, (time.time() + 1,) * 2)
        recording = attached(plumb, spinning.pid, [spinning.script])
        assert sources(plumb.report(recording))[str(spinning.script)]["changed"]
        spinning.script.write_text("something else altogether\n")
    assert "# after" in lines(plumb, recording)


def test_two_texts_of_one_file(plumb, any_python, tmp_path):
    """As of a worker before and after an upgrade: merged in either order one of them stands, and is marked."""
    recordings = []
    for mark in ("one", "two"):
        with Spinning(any_python, tmp_path / "app.py", SPIN.format(mark=mark)) as spinning:
            recordings.append(attached(plumb, spinning.pid, [spinning.script]))
    merged = []
    for order in (recordings, recordings[::-1]):
        path = plumb.path()
        assert plumb("merge", *order, "-o", path).status == 0
        merged.append(path)
        assert sources(plumb.report(path))[str(spinning.script)]["changed"]
        assert not sources(plumb.report(order[0]))[str(spinning.script)]["changed"]
    assert merged[0].read_bytes() == merged[1].read_bytes()
    spinning.script.unlink()
    assert "# one" in lines(plumb, merged[0]) and "# two" not in lines(plumb, merged[0])


def test_what_is_converted_keeps_them(plumb, any_python, tmp_path):
    with Spinning(any_python, tmp_path / "kept.py", SPIN.format(mark="kept")) as spinning:
        recording = attached(plumb, spinning.pid, [spinning.script])
    spinning.script.unlink()
    whole, part, none = plumb.path(), plumb.path(), plumb.path()
    assert plumb("convert", recording, whole).status == 0
    assert plumb.report(whole).json["sources"] == plumb.report(recording).json["sources"]
    assert plumb("convert", recording, part, "--focus", "spin").status == 0
    assert set(sources(plumb.report(part))) == {str(spinning.script)}
    assert "# kept" in lines(plumb, part)
    assert plumb("convert", recording, none, "--focus", "no_such_function").status == 0
    assert plumb.report(none).json["sources"] == []


def pretending(names):
    """A program whose functions say that they are of other files."""
    made = "exec(compile('def spin{i}(n):\\n    return sum(i * i for i in range(n))\\n', {name!r}, 'exec'))\n"
    calls = "".join("    spin%d(3000)\n" % i for i in range(len(names)))
    return ("".join(made.format(i=i, name=str(name)) for i, name in enumerate(names))
            + READY + "while True:\n" + calls)


def test_what_is_no_source_file(plumb, any_python, tmp_path):
    """A FIFO would block its reader, a device never ends; neither is opened, and none is counted as left out."""
    os.mkfifo(tmp_path / "fifo.py")
    (tmp_path / "empty.py").write_text("")
    names = [tmp_path / "fifo.py", "/dev/zero", tmp_path, tmp_path / "empty.py", tmp_path / "none.py", "<string>"]
    with Spinning(any_python, tmp_path / "odd.py", pretending(names)) as spinning:
        profile = plumb.report(attached(plumb, spinning.pid, names))
    assert not {str(name) for name in names} & set(sources(profile))
    assert str(spinning.script) in sources(profile)
    assert profile.json["sources_left_out"] == 0


def test_a_file_that_is_too_large(plumb, any_python, tmp_path):
    huge, full = tmp_path / "huge.py", tmp_path / "full.py"
    huge.write_text("#" * (1 << 20) + "\n")
    full.write_text("#" * ((1 << 20) - 1) + "\n")
    with Spinning(any_python, tmp_path / "large.py", pretending([huge, full])) as spinning:
        profile = plumb.report(attached(plumb, spinning.pid, [huge, full]))
    assert str(huge) not in sources(profile) and sources(profile)[str(full)]["bytes"] == 1 << 20
    assert profile.json["sources_left_out"] == 1


def shown_line(plumb, pid, name):
    """What dumps show of the file, once one finds the program in it."""
    found = []

    def look():
        (process,) = json.loads(plumb("dump", "--json", *IN_TIME, pid).stdout)["processes"]
        found.extend(frame["source"] for frame in process["threads"][0]["frames"] if frame["file"] == str(name))
        return found

    wait_until(look, "no dump has a frame of %s" % name)
    return found[0]


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root and setpriv")
def test_root_reads_what_the_user_of_the_target_may_read(plumb, tmp_path):
    """A file that only this user may read is read; one that only root may read is not, whatever the program claims."""
    if not os.path.exists("/usr/bin/python3"):
        pytest.skip("an ordinary user has no Python here")
    place = pathlib.Path("/tmp") / tmp_path.name  # pytest's own directory is root's alone
    place.mkdir()
    try:
        private, secret = place / "private.py", place / "secret.py"
        names = [private, secret]
        script = place / "claims.py"
        script.write_text(pretending(names))
        private.write_text("# for its user alone\n" * 2)
        secret.write_text("# for root alone\n" * 2)
        os.chown(private, ORDINARY, ORDINARY)
        private.chmod(0o400)
        secret.chmod(0o600)
        drop = ["setpriv", "--reuid", str(ORDINARY), "--regid", str(ORDINARY), "--clear-groups", "/usr/bin/python3"]
        process = subprocess.Popen([*drop, script], stdout=subprocess.PIPE)
        try:
            assert process.stdout.readline() == b"ready\n"
            profile = plumb.report(attached(plumb, process.pid, names))
            shown = {name: shown_line(plumb, process.pid, name) for name in names}
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
    finally:
        shutil.rmtree(place)
    assert set(map(str, names)) & set(sources(profile)) == {str(private)}
    assert str(script) in sources(profile)
    assert shown == {private: "# for its user alone", secret: None}


def test_a_killed_plumb_leaves_them(plumb, any_python, tmp_path):
    """What a reader sees of the recording while it grows is what is left of it."""
    with Spinning(any_python, tmp_path / "left.py", SPIN.format(mark="left")) as spinning:
        recording = plumb.path()
        with plumb.start("attach", "-o", recording, spinning.pid, stderr=subprocess.DEVNULL) as attached_plumb:
            wait_until(lambda: plumb.recorded(recording, lambda profile: str(spinning.script) in sources(profile)), "it is not sampled")
            attached_plumb.kill()
            attached_plumb.wait()
    spinning.script.unlink()
    profile = plumb.report(recording)
    assert not profile.json["complete"] and str(spinning.script) in sources(profile)
    assert "# left" in lines(plumb, recording)
