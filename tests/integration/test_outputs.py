# SPDX-License-Identifier: Apache-2.0
"""What plumb writes destroys nothing: a file that plumb did not write stays unless --force is given, one that it did stays until
the new one is worth having, and names of its own choice are free ones. What it writes is its owner's alone."""
import contextlib
import ctypes
import fcntl
import os
import resource
import select
import shutil
import signal
import stat
import subprocess
import tempfile

import pytest

from harness import sites
from harness.plumb import finish, running
from harness.target import wait_asleep, wait_until

OLD = "print('a script')\n"
ORDINARY = 65534  # nobody
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be somebody else")


@pytest.fixture
def recording(plumb, threads_recording):
    """A copy that a test may lose."""
    path = plumb.path()
    path.write_bytes(threads_recording.read_bytes())
    return path


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def left(plumb):
    """What lies beside recordings and pages: nothing."""
    return [name for name in os.listdir(plumb.directory) if name.endswith(".new")]


def test_a_file_that_plumb_did_not_write_stays(plumb, any_python, recording):
    script = plumb.directory / "app.py"
    script.write_text(OLD)
    data = plumb.directory / "data.json"
    data.write_text("{}\n")
    for command in (["run", "-o", script, "--", *any_python.command, script], ["merge", recording, "-o", script],
                    ["report", recording, "-o", data], ["convert", recording, data], ["run", "-o", data, "--", *any_python.command, script]):
        result = plumb(*command)
        assert result.status == 125 and "is there already, and plumb did not write it" in result.stderr, (command, result)
        assert "'--force'" in result.stderr and len(result.stderr.splitlines()) == 2, result
        assert "a script" not in result.stdout, "the program was started"
    assert script.read_text() == OLD and data.read_text() == "{}\n" and not left(plumb)
    assert plumb("convert", recording, data, "--force").status == 0
    assert data.read_text().startswith('{"schema"')
    assert plumb("merge", recording, "-o", script, "--force").status == 0
    assert plumb.report(script).samples > 0


def test_a_recording_with_samples_is_not_replaced_by_one_without(plumb, recording):
    nothing, copy = plumb.path(), plumb.path()
    assert plumb("report", recording, "--focus", "no such function", "-o", nothing).status == 0
    copy.write_bytes(recording.read_bytes())
    for command in (["report", recording, "--focus", "no such function", "-o", copy],
                    ["merge", nothing, "-o", copy], ["symbolize", nothing, "-o", copy]):
        result = plumb(*command)
        assert result.status == 125 and "stays as it was" in result.stderr and "'--force'" in result.stderr, (command, result)
        assert copy.read_bytes() == recording.read_bytes() and not left(plumb)
    assert plumb("merge", nothing, "-o", copy, "--force").status == 0
    assert plumb.report(copy).samples == 0


def test_what_plumb_wrote_is_replaced(plumb, recording):
    """Its recordings wherever they were copied to; all else where the file system remembers who wrote it."""
    page = plumb.path(".html")
    assert plumb("report", recording, "-o", page).status == 0
    if "user.plumb" not in os.listxattr(page):
        pytest.skip("this file system keeps no extended attributes")
    page.write_text("")
    for _ in range(2):
        assert plumb("report", recording, "-o", page).status == 0
        assert page.read_text().startswith("<!doctype html>")
    copy = plumb.path()
    copy.write_bytes(recording.read_bytes())
    assert plumb("merge", recording, "-o", copy).status == 0
    assert plumb.report(copy).samples > 0 and not left(plumb)


@pytest.mark.parametrize("command, status", [
    (["no-such-program"], 127), (["ls"], 0), (["sh", "-c", "exit 7"], 7), (["/dev/null"], 126),
], ids=["not found", "no Python", "no Python, failing", "not executable"])
def test_a_run_that_comes_to_nothing_leaves_what_was_there(plumb, recording, command, status):
    before, folded = recording.read_bytes(), plumb.path(".folded")
    assert plumb("report", recording, "-o", folded).status == 0
    text = folded.read_bytes()
    for output in (recording, folded):
        result = plumb("run", "-o", output, "--", *command)
        assert result.status == status, result
    new = plumb.path()
    assert plumb("run", "-o", new, "--", *command).status == status
    assert recording.read_bytes() == before and folded.read_bytes() == text
    assert not new.exists() and not left(plumb)


def test_an_attach_that_comes_to_nothing_leaves_what_was_there(plumb, recording):
    before = recording.read_bytes()
    with subprocess.Popen(["sleep", "1000"]) as sleeper:
        result = plumb("attach", "-o", recording, sleeper.pid)
        sleeper.kill()
    assert result.status == 125 and recording.read_bytes() == before and not left(plumb), result


def test_a_recording_without_samples_leaves_what_was_there(plumb, recording, ordinary_python):
    """Of a program that takes no CPU time; it is a recording where there was none."""
    before, new = recording.read_bytes(), plumb.path()
    command = [*ordinary_python.command, "-c", "import time; print('ready', flush=True); time.sleep(1000)"]
    with running(subprocess.Popen(command, stdout=subprocess.PIPE)) as idle:
        assert idle.stdout.readline() == b"ready\n"
        for output in (recording, new):
            result = plumb("attach", "--mode", "cpu", "-d", "0.2", "-o", output, idle.pid)
            assert result.status == 0 and "no samples" in result.stderr, result
            assert ("stays as it was" in result.stderr) == (output == recording), result
        idle.kill()
    assert recording.read_bytes() == before and not left(plumb)
    assert plumb.report(new).samples == 0


def test_an_older_recording_stays_until_the_new_one_has_samples(plumb, target, any_python, recording):
    """Until then whoever kills plumb has lost nothing; from then on it is the new one, and can be read."""
    before = recording.read_bytes()
    with target(any_python, "families.py") as busy:
        with running(plumb.start("attach", "-o", recording, busy.pid, stderr=subprocess.DEVNULL)) as process:
            wait_until(lambda: left(plumb) or recording.read_bytes() != before, "it is not begun")
            wait_until(lambda: recording.read_bytes() != before, "it does not take its place")
            assert plumb.report(recording).samples > 0
            assert not left(plumb)
            process.kill()
            process.wait()
    assert not plumb.report(recording).complete


def test_a_second_attach_has_a_name_of_its_own(plumb, target, any_python):
    with target(any_python, "families.py") as busy:
        for _ in range(3):
            result = plumb("attach", "-d", "0.2", busy.pid)
            assert result.status == 0, result
    names = sorted(name for name in os.listdir(plumb.directory) if name.endswith(".plumb"))
    assert names == ["plumb.families.py.%d%s.plumb" % (busy.pid, suffix) for suffix in (".2", ".3", "")]
    assert all(mode(plumb.directory / name) == 0o600 for name in names)


def test_a_link_of_the_name_that_plumb_chooses_is_not_followed(plumb, target, any_python):
    """Planted in a directory that others write to, as /tmp."""
    victim = plumb.directory / "victim"
    victim.write_text(OLD)
    with target(any_python, "families.py") as busy:
        link = plumb.directory / ("plumb.families.py.%d.plumb" % busy.pid)
        link.symlink_to(victim)
        page = plumb.directory / ("plumb.families.py.%d.2.html" % busy.pid)
        page.symlink_to(victim)
        result = plumb("attach", "-d", "0.2", "--html", busy.pid)
    assert result.status == 125 and str(page.name) in result.stderr, result
    assert victim.read_text() == OLD and link.is_symlink() and page.is_symlink()
    assert plumb.report(plumb.directory / ("plumb.families.py.%d.2.plumb" % busy.pid)).samples > 0


def test_what_is_written_is_its_owners_alone(plumb, recording, any_python):
    paths = [plumb.path(suffix) for suffix in (".plumb", ".html", ".svg", ".json", ".folded", ".pb.gz")]
    umask = os.umask(0)
    try:
        for path in paths:
            assert plumb("convert", recording, path).status == 0
        merged = plumb.path()
        assert plumb("merge", recording, "-o", merged).status == 0
        launched = plumb.path()
        assert plumb("run", "-o", launched, "--", *any_python.command, "-c", "sum(range(10**7))").status == 0
    finally:
        os.umask(umask)
    assert {mode(path) for path in [*paths, merged, launched]} == {0o600}


def test_links_that_are_given_are_followed(plumb, recording):
    real, link = plumb.path(".folded"), plumb.path(".folded")
    assert plumb("report", recording, "-o", real).status == 0
    link.symlink_to(real)
    real.write_text("")
    assert plumb("report", recording, "-o", link).status == 0
    assert link.is_symlink() and real.stat().st_size > 0


def test_what_cannot_be_written_is_told_before_the_program_runs(plumb, tmp_path):
    program = ["sh", "-c", "echo it ran"]
    for options in (["-o", "no/such/place.plumb"], ["-o", "/proc/recording.plumb"], ["-o", "no/such/page.html"]):
        result = plumb("run", *options, "--", *program)
        assert result.status == 125 and "cannot write" in result.stderr and "it ran" not in result.stdout, result
    for directory in (tmp_path, "%s/" % tmp_path):
        result = plumb("run", "-o", directory, "--", *program)
        assert result.status == 125 and "cannot write %s: Is a directory" % directory in result.stderr, result
    result = plumb("run", "--", *program, cwd="/proc")
    assert result.status == 125 and "'-o' names another place" in result.stderr, result
    assert "it ran" not in result.stdout


def test_an_export_that_fails_leaves_no_file(plumb, recording):
    damaged = plumb.path()
    damaged.write_bytes(recording.read_bytes()[:30])
    for command in (["report", damaged], ["convert", damaged]):
        out = plumb.path(".html")
        result = plumb(*command, *(["-o"] if command[0] == "report" else []), out)
        assert result.status == 1 and not out.exists(), result


@pytest.mark.parametrize("command", [["report"], ["report", "--html"], ["convert"], ["merge"], ["diff"], ["symbolize"]])
def test_a_limit_of_file_sizes_is_told_and_leaves_no_file(plumb, recording, command):
    """Its signal ends whoever has not provided for it, with what was written so far beside the name."""
    end = ".plumb" if command[0] in ("merge", "symbolize") else ".html"
    inputs = [recording] * (2 if command[0] in ("merge", "diff") else 1)
    out = plumb.path(end)
    result = plumb(*command, *inputs, *([] if command[0] == "convert" else ["-o"]), out,
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
    assert result.status == 125 and "File too large" in result.stderr and "ulimit -f" in result.stderr, result
    assert not [name for name in left(plumb) if name.startswith(out.name)], result


def test_a_dash_is_standard_output_and_never_a_file(plumb, recording):
    told = plumb("report", recording, "-o", "-", "-f", "collapsed")
    assert told.status == 0 and told.stdout
    for command in (["run", "-o", "-", "--", "true"], ["attach", "-o", "-", os.getpid()]):
        result = plumb(*command)
        assert result.status == 125 and "not written to standard output" in result.stderr, result
    assert not (plumb.directory / "-").exists()


def test_two_plumbs_with_one_name_lose_no_recording(plumb, target, any_python):
    """Whichever has the name first has it; the other one is refused, or goes on beside it."""
    recording = plumb.path()
    with target(any_python, "families.py") as busy:
        both = [plumb.start("attach", "-d", "0.5", "-o", recording, busy.pid, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                for _ in range(2)]
        results = [finish(process) for process in both]
    whole = [path for path in [recording, *map(plumb.directory.joinpath, left(plumb))] if plumb.report(path).complete]
    told = [result for result in results if "meanwhile" in result.stderr]
    assert len(whole) == 1 + len(told) and all(result.status in (0, 125) for result in results), results


@pytest.fixture
def waits(any_python):
    """A program that is idle, until it is told to use some CPU time, and then ends."""
    program = "import sys; print('ready', flush=True); sys.stdin.read(1); sum(range(3 * 10**7))"
    with running(subprocess.Popen([*any_python.command, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)) as process:
        assert process.stdout.readline() == b"ready\n"
        yield process


def test_a_file_is_not_replaced_while_a_program_is_to_write_it(plumb, recording, any_python):
    """mktemp(1) makes empty files for their names; a shell, for what a program is to say; and plumb's may be added to."""
    ours = plumb.directory / "ours.folded"
    assert plumb("convert", recording, ours).status == 0
    empty = plumb.directory / "empty"
    empty.touch()
    program = "import sys; print('ready', file=sys.stderr, flush=True); sys.stdin.read(1); print('precious')"
    for out, said in (empty, "may have it open to write to it"), (ours, "another program has it open to write to it"):
        with open(out, "ab") as place:
            process = subprocess.Popen([*any_python.command, "-c", program], stdin=subprocess.PIPE, stdout=place, stderr=subprocess.PIPE)
        with running(process):
            assert process.stderr.readline() == b"ready\n"
            for command in (["attach", "-d", "0.2", process.pid], ["run", "--", "echo", "it ran"], ["report", recording, "-f", "collapsed"]):
                result = plumb(command[0], "-o", out, *command[1:])
                assert result.status == 125 and said in result.stderr and "it ran" not in result.stdout, result
            goes_on(process)
            process.wait()
        assert out.read_bytes().endswith(b"precious\n")
    os.truncate(empty, 0)
    for out in empty, ours:
        assert plumb("report", recording, "-f", "collapsed", "-o", out, "--force").status == 0
        assert plumb("report", recording, "-f", "collapsed", "-o", out).status == 0, "what plumb wrote"


def goes_on(process):
    process.stdin.write(b"\n")
    process.stdin.close()


def told_beside(plumb, result):
    """What a plumb has written beside a name that was taken meanwhile, as it says."""
    beside, = left(plumb)
    assert result.status == 125 and "made by another program meanwhile" in result.stderr and beside in result.stderr, result
    return plumb.directory / beside


def test_a_report_that_another_plumb_has_written_meanwhile_stays(plumb, recording, waits):
    """The name was free when each of them began."""
    out = plumb.path(".folded")
    with running(plumb.start("attach", "-o", out, waits.pid, stderr=subprocess.PIPE)) as process:
        wait_until(lambda: left(plumb), "it is not begun")
        assert plumb("report", recording, "-o", out).status == 0
        theirs = out.read_text()
        goes_on(waits)
        beside = told_beside(plumb, finish(process))
    assert out.read_text() == theirs and "<module>" in beside.read_text() and beside.read_text() != theirs


def test_a_recording_that_another_plumb_has_written_meanwhile_stays(plumb, recording, waits):
    """Both are to replace an older one: this one has no sample when the other one is finished."""
    other = plumb.path()
    shutil.copy(recording, other)
    with running(plumb.start("attach", "--mode", "cpu", "-o", recording, waits.pid, stderr=subprocess.PIPE)) as process:
        wait_until(lambda: left(plumb), "it is not begun")
        assert plumb("merge", other, "-o", recording).status == 0
        theirs = recording.read_bytes()
        goes_on(waits)
        beside = told_beside(plumb, finish(process))
    assert recording.read_bytes() == theirs and plumb.report(beside).complete and plumb.report(beside).samples


def test_a_recording_of_an_image_is_replaced(plumb, recording):
    """In a container: overlayfs makes another file of it when it gets another name."""
    try:
        mounts = sites.unshare("--mount")
    except sites.Lacking as lacking:
        pytest.skip(str(lacking))
    lower, upper, work, merged = (plumb.directory / name for name in ("lower", "upper", "work", "merged"))
    for folder in (lower, upper, work, merged):
        folder.mkdir()
    shutil.copy(recording, lower / "out.plumb")
    mount = 'mount -t overlay overlay -o "lowerdir=$0,upperdir=$1,workdir=$2" "$3" || exit 77; shift 3; exec "$@"'
    mounted = [*mounts, "sh", "-c", mount, lower, upper, work, merged]
    result = plumb("merge", recording, recording, "-o", merged / "out.plumb", before=list(map(str, mounted)))
    if result.status == 77:
        pytest.skip("overlayfs cannot be mounted here: %s" % result.stderr)
    assert result.status == 0 and os.listdir(upper) == ["out.plumb"], result
    assert plumb.report(upper / "out.plumb").samples == 2 * plumb.report(recording).samples


def test_a_recording_that_is_written_is_not_replaced(plumb, target, any_python, recording):
    busy_one = plumb.path()
    with target(any_python, "families.py") as busy, plumb.attached(busy.pid, recording=busy_one):
        for command in (["run", "-o", busy_one, "--", "echo", "it ran"], ["merge", recording, "-o", busy_one]):
            result = plumb(*command)
            assert result.status == 125 and "is being written by another plumb" in result.stderr and "it ran" not in result.stdout, result
    assert plumb.report(busy_one).complete
    assert plumb("merge", recording, "-o", busy_one).status == 0


def test_a_recording_that_is_written_says_so_when_it_is_read(plumb, target, any_python, recording):
    """By its name and as standard input; nobody was killed, and nothing is cut."""
    grows = plumb.path()
    with target(any_python, "families.py") as busy, plumb.attached(busy.pid, recording=grows):
        with open(grows, "rb") as opened:
            told = [plumb("report", grows).stdout, plumb("report", "-", stdin=opened).stdout, plumb("report", "--json", grows).stderr,
                    plumb("merge", recording, grows, "-o", plumb.path(".sum.plumb")).stderr]
    assert all("it is still being written; what comes later is missing" in text and "killed" not in text for text in told), told
    assert "incomplete" not in plumb("report", grows).stdout


def taken_away(plumb, target, any_python, take, force=()):
    """What a plumb says whose recording somebody takes away while it is written, and what is beside its name."""
    recording = plumb.path()
    with target(any_python, "families.py") as busy:
        with running(plumb.start("attach", "-o", recording, *force, busy.pid, stderr=subprocess.PIPE)) as process:
            wait_until(lambda: plumb.recorded(recording, lambda profile: profile.samples), "it is not sampled")
            take(recording)
            process.send_signal(signal.SIGINT)
            return recording, finish(process), [plumb.directory / name for name in left(plumb)]


@pytest.mark.parametrize("force", [(), ("--force",)], ids=["unforced", "forced"])
def test_a_recording_that_somebody_has_replaced_is_kept_beside_it(plumb, target, any_python, force):
    """Nothing is left of it but what is open. Who insists has done so for what was there before."""
    def take(path):
        other = path.with_suffix(".theirs")
        other.write_text("notes")
        other.rename(path)

    recording, result, (beside,) = taken_away(plumb, target, any_python, take, force)
    assert recording.read_text() == "notes" and result.status == 125, result
    assert "made by another program meanwhile" in result.stderr and str(beside) in result.stderr, result
    assert plumb.report(beside).complete and plumb.report(beside).samples


def test_a_recording_that_somebody_has_removed_is_there_in_the_end(plumb, target, any_python):
    recording, result, beside = taken_away(plumb, target, any_python, os.unlink)
    assert result.status == 0 and not beside and plumb.report(recording).complete, result


def test_a_recording_that_is_lost_with_its_directory_is_not_offered(plumb, any_python):
    place = plumb.directory / "place"
    place.mkdir()
    remove = "import shutil, sys\nsum(range(10**7))\nshutil.rmtree(sys.argv[1])\n"
    result = plumb("run", "-o", place / "out.plumb", "--", *any_python.command, "-c", remove, place)
    assert result.status == 125 and "cannot write %s" % (place / "out.plumb") in result.stderr, result
    assert "<module>" in result.stderr and "plumb report" not in result.stderr, result


def test_what_has_the_name_of_a_recording_by_its_end_is_not_opened(plumb, target, any_python):
    """A pipe or a disk of somebody who may write to the directory, and a link to one."""
    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    pipe = plumb.directory / "pipe"
    os.mkfifo(pipe)
    in_open = 0x20
    assert libc.inotify_add_watch(watch, os.fsencode(pipe), in_open) >= 0

    def link(path):
        path.unlink()
        path.symlink_to(pipe)

    def put(path):
        path.unlink()
        path.hardlink_to(pipe)

    try:
        for take in (link, put):
            recording, result, beside = taken_away(plumb, target, any_python, take)
            assert result.status == 125 and any(plumb.report(path).complete for path in beside), result
            recording.unlink()
            assert not has_come(watch), "it was opened"
        os.close(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK))
        assert has_come(watch), "this test sees nothing"
    finally:
        os.close(watch)


def test_ctrl_c_before_the_first_sample_loses_nothing(plumb, recording):
    before = recording.read_bytes()
    with running(plumb.start("run", "-o", recording, "--", "sleep", "1000", stderr=subprocess.DEVNULL)) as process:
        wait_until(lambda: left(plumb), "it is not begun")
        process.send_signal(signal.SIGTERM)
        process.wait()
    assert recording.read_bytes() == before and not left(plumb)


def test_what_a_killed_plumb_has_left_is_not_in_the_way(plumb, any_python, recording):
    """In a container each plumb has the same number."""
    try:
        container = sites.unshare("--pid", "--mount-proc", "--fork", "--kill-child")
    except sites.Lacking as lacking:
        pytest.skip(str(lacking))
    with running(plumb.start("run", "-o", recording, "--", "sleep", "1000", before=container, stderr=subprocess.DEVNULL)) as process:
        wait_until(lambda: left(plumb), "it is not begun")
        process.kill()
        process.wait()
    assert len(left(plumb)) == 1
    again = plumb("run", "-o", recording, "--", *any_python.command, "-c", "sum(range(10**7))", before=container)
    assert again.status == 0 and plumb.report(recording).samples, again


def test_what_somebody_has_changed_since_is_theirs(plumb, recording):
    notes = plumb.path(".md")
    for _ in range(2):
        assert plumb("report", recording, "--markdown", "-o", notes).status == 0
    with open(notes, "r+") as file:
        file.write("my own words")
    again = plumb("report", recording, "--markdown", "-o", notes)
    assert again.status != 0 and "plumb did not write it" in again.stderr and notes.read_text().startswith("my own words"), again


def test_what_another_program_writes_meanwhile_stays(plumb, any_python):
    """What plumb made stays as well, and is named."""
    out = plumb.path(".folded")
    make = "import os, sys\nsum(range(10**7))\nopen(sys.argv[1] + '.its', 'w').write('its own')\nos.rename(sys.argv[1] + '.its', sys.argv[1])\n"
    assert plumb("run", "-o", out, "--", *any_python.command, "-c", "sum(range(10**7))").status == 0
    result = plumb("run", "-o", out, "--", *any_python.command, "-c", make, out)
    assert out.read_text() == "its own" and "made by another program meanwhile" in result.stderr, result
    beside, = left(plumb)
    assert beside in result.stderr.replace("\n", "").replace(" ", "") and "<module>" in (plumb.directory / beside).read_text()


WRITES_ITS_OWN = """import os, sys
sum(range(10**7))
with open(sys.argv[1] + sys.argv[2], "w") as file:
    file.write("precious " * 100000)
os.rename(sys.argv[1] + sys.argv[2], sys.argv[1])
"""


@pytest.mark.parametrize("form, suffix", [(".html", ".its"), (".html", ""), (".folded", ""), (".plumb", ".its")])
def test_what_a_program_writes_under_a_free_name_stays(plumb, any_python, form, suffix):
    """Not marked as what plumb wrote, either: the next run would replace it."""
    out = plumb.path(form)
    result = plumb("run", "-o", out, "--", *any_python.command, "-c", WRITES_ITS_OWN, out, suffix)
    beside, = left(plumb)
    assert out.read_text() == "precious " * 100000 and "user.plumb" not in os.listxattr(out)
    assert result.status == 125 and "made by another program meanwhile" in result.stderr and beside in result.stderr, result
    if form == ".plumb":
        assert plumb.report(plumb.directory / beside).samples
    else:
        assert ("</html>" if form == ".html" else "<module>") in (plumb.directory / beside).read_text()
    assert plumb("run", "-o", out, "--", "echo", "it ran").status == 125 and out.read_text() == "precious " * 100000


def test_a_report_whose_file_somebody_removes_meanwhile_is_whole(plumb, any_python):
    out = plumb.path(".folded")
    tidy = "import os\nsum(range(10**7))\n[os.unlink(name) for name in os.listdir('.') if name.endswith('.new')]\n"
    result = plumb("run", "-o", out, "--", *any_python.command, "-c", tidy)
    assert result.status == 0 and "<module>" in out.read_text() and not left(plumb), result


def test_a_long_name_can_be_taken(plumb, recording):
    out = plumb.directory / ("n" * 247 + ".folded")
    assert plumb("report", recording, "-o", out).status == 0 and out.stat().st_size


@needs_root
def test_a_link_that_somebody_else_has_made_is_not_followed(plumb, recording):
    """They can have it lead elsewhere at any time."""
    empty, link = plumb.path(".md"), plumb.path(".md")
    empty.touch()
    link.symlink_to(empty)
    os.chown(link, ORDINARY, ORDINARY, follow_symlinks=False)
    for force in ((), ("--force",)):
        result = plumb("report", recording, "--markdown", "-o", link, *force)
        assert result.status != 0 and "a link that another user has made" in result.stderr and not empty.stat().st_size, result
    os.chown(link, 0, 0, follow_symlinks=False)
    assert plumb("report", recording, "--markdown", "-o", link).status == 0 and empty.stat().st_size


def of_another(path):
    os.chown(path, ORDINARY, ORDINARY, follow_symlinks=False)
    return path


def has_come(fd):
    return bool(select.select([fd], [], [], 0)[0])


@needs_root
def test_a_device_is_not_reached_by_a_link_of_another_user(plumb, recording, any_python):
    """A terminal stands for a disk: it tells what is written to it. Links may lead to further links."""
    device, shown = os.openpty()
    link, further = plumb.directory / "link.plumb", plumb.directory / "further.plumb"
    link.symlink_to(os.ttyname(shown))
    of_another(link)
    further.symlink_to(link.name)
    try:
        for path in (link, further):
            for force in ((), ("--force",)):
                result = plumb("run", "-o", path, *force, "--", *any_python.command, "-c", "print('it ran')")
                assert result.status == 125 and "a link that another user has made" in result.stderr, result
                assert "it ran" not in result.stdout and not has_come(device)
        os.chown(link, 0, 0, follow_symlinks=False)
        assert plumb("report", recording, "-f", "collapsed", "-o", further).status == 0 and has_come(device)
    finally:
        os.close(device)
        os.close(shown)


@needs_root
def test_nothing_is_written_to_a_pipe_of_another_user(plumb, recording):
    pipe, link = plumb.path(), plumb.path()
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    of_another(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        for path in (pipe, link):
            for command in (["run", "-o", path, "--", "echo", "it ran"], ["merge", recording, "-o", path, "--force"],
                            ["report", recording, "-f", "collapsed", "-o", path]):
                result = plumb(*command)
                assert result.status == 125 and "a pipe that another user has made" in result.stderr, result
                assert "it ran" not in result.stdout and os.read(reader, 1) == b""
    finally:
        os.close(reader)


def test_a_pipe_that_nobody_reads_is_told(plumb):
    pipe = plumb.path()
    os.mkfifo(pipe)
    with running(plumb.start("run", "-o", pipe, "--", "echo", "it ran", stdout=subprocess.PIPE, stderr=subprocess.PIPE)) as process:
        wait_until(lambda: process.poll() is not None, "it waits for ever", seconds=60)
        result = finish(process)
    assert result.status == 125 and "nobody reads this pipe" in result.stderr and "space" not in result.stderr, result
    assert "it ran" not in result.stdout


@contextlib.contextmanager
def unread(plumb):
    """A small pipe, whose reader does not read: (its path, the reader). The first samples do not fit."""
    pipe = plumb.path()
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 8192)
        yield pipe, reader
    finally:
        os.close(reader)


def is_full(pipe):
    into = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    try:
        return not select.select([], [into], [], 0)[1]
    finally:
        os.close(into)


def fill(pipe):
    """A pipe is full when it has no page left; what fits into its last one could still be all that plumb has to write."""
    wait_until(lambda: is_full(pipe), "nothing comes")
    into = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(into, b"x")
    os.close(into)


def long_script(plumb):
    """Its source alone does not fit into the pipe, however it is compressed."""
    script = plumb.path(".py")
    script.write_text("# %s\nwhile True:\n    sum(range(1000))\n" % os.urandom(10000).hex())
    return script


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_attach_ends_though_the_pipe_is_not_read_any_more(plumb, any_python, name):
    with running(subprocess.Popen([*any_python.command, long_script(plumb)])) as busy, unread(plumb) as (pipe, _):
        with running(plumb.start("attach", "-o", pipe, busy.pid, stderr=subprocess.PIPE)) as process:
            fill(pipe)
            process.send_signal(getattr(signal, name))
            result = finish(process)
    assert result.status == 125 and "nobody reads it any more" in result.stderr and "samples" in result.stderr, result


def test_run_does_not_outlive_its_program_for_a_pipe_that_is_not_read_any_more(plumb, any_python):
    with unread(plumb) as (pipe, _):
        with running(plumb.start("run", "-o", pipe, "--", *any_python.command, long_script(plumb), stderr=subprocess.PIPE)) as process:
            fill(pipe)
            # The first one ends the program; as long as plumb has not noticed, further ones are the program's, too.
            wait_until(lambda: process.poll() is not None or process.send_signal(signal.SIGTERM), "it waits for ever")
            result = finish(process)
    assert result.status == 128 + signal.SIGTERM and "nobody reads it any more" in result.stderr, result


def test_a_slow_reader_of_a_pipe_loses_nothing(plumb, target, any_python):
    """As long as it reads now and then after the end was asked for."""
    with target(any_python, "families.py") as busy, unread(plumb) as (pipe, reader):
        with running(plumb.start("attach", "-o", pipe, busy.pid, stderr=subprocess.PIPE)) as process:
            wait_until(lambda: is_full(pipe), "nothing comes")
            process.send_signal(signal.SIGINT)
            copy, parts = plumb.path(), [b"more"]
            os.set_blocking(reader, True)
            while parts[-1]:
                parts.append(os.read(reader, 1000))
            result = finish(process)
    copy.write_bytes(b"".join(parts[1:]))
    assert result.status == 0 and plumb.report(copy).complete, result


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("way", ["attach", "run", "run that its program outlives"])
def test_a_report_that_is_not_read_keeps_nobody(plumb, target, any_python, way, name):
    """Standard error is a pipe that is full. By then the recording is complete."""
    recording = plumb.path()
    end, into = os.pipe()
    fcntl.fcntl(into, fcntl.F_SETPIPE_SZ, 4096)
    os.write(into, b"x" * 4096)
    short, endless = ["sh", "-c", 'exec "$@" 2>&-', "sh", *any_python.command, "-c", "sum(range(10**7))"], "while True: sum(range(1000))"
    with contextlib.ExitStack() as programs:
        if way == "attach":
            what = ["attach", "-d", "0.3", programs.enter_context(target(any_python, "families.py")).pid]
        else:
            what = ["run", "--", *short] if way == "run" else ["run", "-d", "0.3", "--", *short[:-1], endless]
        with running(plumb.start(what[0], "-o", recording, *what[1:], stderr=into)) as process:
            wait_until(lambda: plumb.recorded(recording, lambda profile: profile.complete), "it does not end")
            programs.close()
            wait_asleep(process.pid)  # it writes
            process.send_signal(getattr(signal, name))
            wait_until(lambda: process.poll() is not None, "it waits for ever")
    os.close(end)
    os.close(into)
    assert process.returncode == -getattr(signal, name) and plumb.report(recording).complete


def test_pipes_that_are_read_are_written_to(plumb, recording, any_python):
    """One with a name, whose reader comes when it comes; those of a shell; standard output, which another user's shell may have made."""
    expected = plumb("report", recording, "-f", "collapsed").stdout
    pipe = plumb.path()
    os.mkfifo(pipe)
    with subprocess.Popen(["sh", "-c", "cat %s" % pipe], stdout=subprocess.PIPE, text=True) as reader:
        assert plumb("report", recording, "-f", "collapsed", "-o", pipe).status == 0
        assert reader.communicate()[0] == expected
    with running(plumb.start("report", recording, "-f", "collapsed", "-o", pipe)) as process:
        assert pipe.read_text() == expected and process.wait() == 0
    if shutil.which("bash"):
        script = '"$0" run -q -o >(cat >copy.plumb) -- "$@" && wait $!'
        run = [plumb.binary, *any_python.command, "-c", "sum(range(10**7))"]
        assert subprocess.run(["bash", "-c", script, *run], cwd=plumb.directory, stdin=subprocess.DEVNULL).returncode == 0
        assert plumb.report(plumb.directory / "copy.plumb").complete
    out, into = os.pipe()
    if os.geteuid() == 0:
        os.fchown(into, ORDINARY, ORDINARY)
    with open(out) as told:
        with running(plumb.start("report", recording, "-f", "collapsed", "-o", "/dev/stdout", stdout=into)) as process:
            os.close(into)
            assert told.read() == expected and process.wait() == 0


def test_links_lead_to_a_file_wherever_they_lie(plumb, recording):
    """From one directory to another, and as a shell opens one."""
    directory = plumb.directory / "further"
    directory.mkdir()
    real, link, further = plumb.path(".folded"), directory / "link.folded", plumb.path(".folded")
    real.touch()
    link.symlink_to("../" + real.name)
    further.symlink_to("further/link.folded")
    assert plumb("report", recording, "-o", further).status == 0
    assert further.is_symlink() and link.is_symlink() and real.stat().st_size > 0 and not left(plumb)
    shell = plumb.path(".folded")
    with open(shell, "w") as file:
        assert plumb("report", recording, "-f", "collapsed", "-o", "/dev/stdout", stdout=file).status == 0
    assert shell.read_text() == real.read_text()
    link.unlink()
    link.symlink_to(link.name)
    result = plumb("report", recording, "-o", further)
    assert result.status == 125 and "Too many levels of symbolic links" in result.stderr, result


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/proc/thread-self/fd/1"])
def test_standard_output_is_shared_with_whoever_writes_to_it(plumb, recording, name):
    """Nothing is lost of what comes before and after, and it is not marked as plumb's."""
    expected = plumb("report", recording, "-f", "collapsed").stdout
    out = plumb.path(".txt")
    for mode, before in (("w", ""), ("a", ""), ("a", "older\n")):
        out.write_text(before)
        with open(out, mode) as file:
            script = '"$@"; "$@"; echo footer'
            command = ["sh", "-c", script, "sh", plumb.binary, "report", recording, "-f", "collapsed", "-o", name]
            assert subprocess.run(command, stdout=file).returncode == 0
        assert out.read_text() == before + 2 * expected + "footer\n"
        assert "user.plumb" not in os.listxattr(out) and not left(plumb)
    merged = plumb.path()
    with open(merged, "w") as file:
        assert plumb("merge", "-q", recording, "-o", name, stdout=file).status == 0
    assert plumb.report(merged).samples > 0


def test_a_recording_is_not_written_to_what_the_program_may_write_to(plumb, any_python):
    out = plumb.path(".txt")
    program = [*any_python.command, "-c", "print('it ran')"]
    with open(out, "w") as file:
        other = "/proc/%d/fd/%d" % (os.getpid(), file.fileno())
        for name in ("/dev/stdout", "/dev/fd/1", out):
            result = plumb("run", "-o", name, "--", *program, stdout=file)
            assert result.status == 125 and "a recording is not written to standard output" in result.stderr, result
        result = plumb("run", "-o", other, "--", *program)
        assert result.status == 125 and "a file that another program has open" in result.stderr, result
        for command in (["run", "-o", "/dev/fd/%d" % file.fileno(), "--", *program], ["attach", "-o", "/dev/stdout", os.getpid()]):
            result = plumb(*command, pass_fds=[file.fileno()], **({"stdout": file} if command[0] == "attach" else {}))
            assert result.status == 125 and ("a file that is open already" in result.stderr or "standard output" in result.stderr), result
    result = finish(subprocess.Popen([plumb.binary, "run", "-o", "/dev/stdout", "--", *program], stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE))
    assert result.status == 125 and "a recording is not written to standard output" in result.stderr, result
    assert not result.stdout and not out.stat().st_size and not left(plumb)


def test_what_nothing_can_replace_is_told_before_the_program_runs(plumb, any_python):
    """A file that a container was given."""
    try:
        mounts = sites.unshare("--mount")
    except sites.Lacking as lacking:
        pytest.skip(str(lacking))
    given, host = plumb.path(), plumb.path()
    given.touch()
    host.touch()
    mounted = [*mounts, "sh", "-c", 'mount --bind "$0" "$1" && shift && exec "$@"', host, given]
    for force in ((), ("--force",)):
        result = plumb("run", "-o", given, *force, "--", "echo", "it ran", before=list(map(str, mounted)))
        assert result.status == 125 and "it is a mount point, and nothing can take its place" in result.stderr, result
        assert "it ran" not in result.stdout and not left(plumb)


@needs_root
def test_a_file_of_another_user_in_a_directory_for_all_is_told_before_the_program_runs(plumb):
    with tempfile.TemporaryDirectory(prefix="plumb-for-all-") as place:
        os.chmod(place, 0o1777)
        binary, out = os.path.join(place, "plumb"), os.path.join(place, "out.plumb")
        shutil.copy(plumb.binary, binary)
        os.chmod(binary, 0o755)
        open(out, "w").close()
        for force in ((), ("--force",)):
            result = finish(subprocess.Popen([binary, "run", "-o", out, *force, "--", "echo", "it ran"], cwd=place, user=ORDINARY,
                                             group=ORDINARY, extra_groups=[], stdout=subprocess.PIPE, stderr=subprocess.PIPE))
            assert result.status == 125 and "belongs to another user, and nothing can take its place" in result.stderr, result
            assert "it ran" not in result.stdout and sorted(os.listdir(place)) == ["out.plumb", "plumb"]


@contextlib.contextmanager
def sampled_beside(plumb, recording, any_python):
    """A run whose name was taken, and what it is called instead. The shell takes the name before there is a Python to be sampled."""
    take = 'rm "$0" && echo notes >"$0" && exec "$@"'
    with running(plumb.start("run", "-o", recording, "--", "sh", "-c", take, recording, *any_python.command, "-c", "while True: sum(range(1000))",
                             stderr=subprocess.PIPE)) as process:
        wait_until(lambda: left(plumb), "it is not begun")
        beside = plumb.directory / left(plumb)[0]
        wait_until(lambda: plumb.recorded(beside, lambda profile: profile.samples), "it is not sampled")
        yield process, beside


def test_a_recording_goes_on_beside_a_name_that_was_taken_meanwhile(plumb, recording, any_python):
    """To its end, where it is told what it is called."""
    with sampled_beside(plumb, recording, any_python) as (process, beside):
        process.send_signal(signal.SIGTERM)
        result = finish(process)
    assert recording.read_text() == "notes\n" and left(plumb) == [beside.name]
    assert "made by another program meanwhile" in result.stderr and str(beside) in result.stderr, result
    assert "plumb report %s" % beside in result.stderr, result
    assert plumb.report(beside).complete


def test_a_name_that_becomes_free_again_is_taken(plumb, recording, any_python):
    with sampled_beside(plumb, recording, any_python) as (process, _):
        recording.unlink()
        wait_until(lambda: not left(plumb), "it does not take its name")
        process.send_signal(signal.SIGTERM)
        result = finish(process)
    assert "meanwhile" not in result.stderr and plumb.report(recording).complete, result


def test_a_report_that_a_killed_plumb_did_not_finish_is_not_in_the_way(plumb, recording):
    out = plumb.path(".csv")
    with running(plumb.start("run", "-o", out, "--", "cat", stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)) as process:
        wait_until(lambda: left(plumb), "it is not begun")
        process.kill()
        process.wait()
    assert not out.exists() and plumb("report", recording, "-o", out).status == 0 and out.stat().st_size


def test_what_somebody_writes_into_a_file_that_plumb_has_not_finished_is_theirs(plumb, recording):
    """What a killed plumb has left, under another name now."""
    out = plumb.path(".csv")
    with running(plumb.start("run", "-o", out, "--", "cat", stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)) as process:
        wait_until(lambda: left(plumb), "it is not begun")
        process.kill()
        process.wait()
    (plumb.directory / left(plumb)[0]).rename(out)
    with open(out, "r+") as file:
        file.write("my own figures")
    result = plumb("report", recording, "-o", out)
    assert result.status == 125 and "plumb did not write it" in result.stderr, result
    assert out.read_text() == "my own figures"


def test_no_name_of_plumbs_own_choice_can_be_foreseen(plumb):
    """Somebody who writes to that directory, too, could have taken it."""
    took = 'echo theirs >".plumb.$$.new" && exec "$0" run -- echo "it ran"'
    result = finish(subprocess.Popen(["sh", "-c", took, plumb.binary], cwd=plumb.directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    assert result.status == 0 and result.stdout == "it ran\n", result
