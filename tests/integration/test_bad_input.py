# SPDX-License-Identifier: Apache-2.0
"""Whatever is wrong, the user reads one clear sentence and gets the right status."""
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys

import pytest

from harness.plumb import Plumb, finish, until
from harness.recording import chunks_with_samples, with_samples
from harness.target import started, thread_ids

BAD_INPUT, OWN_FAILURE = 1, 125


def sentence(result, *words, status=OWN_FAILURE):
    """One sentence (a second line may hold a hint), no program output, the status of plumb's own failures."""
    assert result.status == status, result
    assert result.stdout == "", result
    lines = result.stderr.splitlines()
    assert lines and lines[0].startswith("plumb: ") and len(lines) <= 2, result
    for word in words:
        assert word.lower() in result.stderr.lower(), "%r is not mentioned: %s" % (word, result)


def free_pid():
    """A process id that nobody has."""
    child = subprocess.Popen(["true"])
    child.wait()
    return child.pid


# Processes ------------------------------------------------------------------------------------------------------------


@pytest.mark.smoke
def test_no_such_process(plumb):
    pid = free_pid()
    sentence(plumb("attach", pid), str(pid), "process")


@pytest.mark.smoke
@pytest.mark.parametrize("pid", ["", "x12", "-3", "0", "99999999999999999999", "12.5", "1e3"])
def test_what_is_no_process_id(plumb, pid):
    result = plumb("attach", pid) if not pid.startswith("-") else plumb("attach", "--", pid)
    sentence(result, "process" if pid in ("0",) else pid)


@pytest.mark.smoke
def test_no_process_given(plumb):
    sentence(plumb("attach"))


@pytest.mark.smoke
def test_a_process_that_is_no_python_is_called_what_it_is(plumb):
    other = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    try:
        sentence(plumb("attach", other.pid), "cat", "Python")
    finally:
        other.communicate()


def test_a_kernel_thread_is_no_python(plumb):
    if "kthreadd" not in pathlib.Path("/proc/2/comm").read_text():
        pytest.skip("process 2 is no kernel thread here")
    result = plumb("attach", "2")
    assert result.status == OWN_FAILURE and result.stderr.startswith("plumb: "), result


@pytest.mark.smoke
def test_a_thread_is_not_a_process(plumb, target, any_python):
    with target(any_python, "threads.py") as running:
        tid = next(tid for tid in thread_ids(running.pid) if tid != running.pid)
        sentence(plumb("attach", tid), str(tid), str(running.pid))


def test_a_process_of_somebody_else_says_which_permission(plumb, target, any_python):
    if os.geteuid() != 0:
        sentence(plumb("attach", "1"), "permi")
        return
    # Another user must be able to execute the binary: a copy in a place that is open to all.
    place = pathlib.Path("/tmp/plumb-%d-for-all" % os.getpid())
    shutil.copy(plumb.binary, place)
    place.chmod(0o755)
    try:
        with target(any_python, "calls.py") as running:
            result = finish(subprocess.Popen(
                [str(place), "attach", str(running.pid)], cwd="/tmp", user="nobody", group="nogroup", extra_groups=[],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE))
        sentence(result, "belongs to user", "root")
    finally:
        place.unlink()


def test_a_user_may_profile_processes_of_his_own(plumb, any_python):
    """Without privileges: same user, no capability."""
    if os.geteuid() != 0:
        pytest.skip("every other test shows this already, not being root")
    place = pathlib.Path("/tmp/plumb-%d-unprivileged" % os.getpid())
    place.mkdir()
    try:
        shutil.copy(plumb.binary, place / "plumb")
        os.chmod(place / "plumb", 0o755)
        os.chmod(place, 0o777)
        code = "import time\ndef spin():\n    return sum(range(1000))\nwhile time.process_time() < 0.5:\n    spin()\n"
        result = finish(subprocess.Popen(
            [place / "plumb", "run", "-o", place / "x.plumb", "--", "/usr/bin/python3", "-c", code], cwd=place, user="nobody",
            group="nogroup", extra_groups=[], env={"PATH": "/usr/bin:/bin"}, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
        assert result.status == 0 and "spin" in result.stderr, result
    finally:
        shutil.rmtree(place)


@pytest.mark.smoke
@pytest.mark.parametrize("script", ["", "raise SystemExit(5)", "import os; os._exit(5)", "import os; os.abort()"])
def test_programs_too_short_to_sample(plumb, any_python, script):
    result = plumb("run", "--", *any_python.command, "-c", script)
    assert result.status == (128 + signal.SIGABRT if "abort" in script else 5 if script else 0), result
    assert "Traceback" not in result.stderr, result


# Options --------------------------------------------------------------------------------------------------------------


@pytest.mark.smoke
@pytest.mark.parametrize("rate", ["0", "-1", "x", "1e99", "", "1q", "nan", "inf"])
def test_bad_rates(plumb, rate):
    sentence(plumb("run", "--rate=" + rate, "--", "true"), "rate")


@pytest.mark.smoke
@pytest.mark.parametrize("rate", ["1", "0.5", "100", "1khz", "2k", "10000", "max", "250hz"])
def test_good_rates(plumb, any_python, rate):
    result = plumb("run", "-r", rate, "-o", plumb.path(), "--", *any_python.command, "-c", "pass")
    assert result.status == 0, result


@pytest.mark.smoke
@pytest.mark.parametrize("duration", ["-1", "x", "", "nan"])
def test_bad_durations(plumb, duration):
    sentence(plumb("run", "--duration=" + duration, "--", "true"), "duration")


@pytest.mark.smoke
@pytest.mark.parametrize("option, nearest", [
    ("--rtae", "--rate"), ("--outptu", "--output"), ("--nver-stop", "--never-stop"), ("--durtion", "--duration"),
])
def test_a_mistyped_option_gets_the_nearest(plumb, option, nearest):
    sentence(plumb("run", option, "--", "true"), option, nearest)


@pytest.mark.smoke
@pytest.mark.parametrize("option, ours", [
    ("--nonblocking", "--never-stop"),  # py-spy
    ("--gil", "--mode"),
    ("--interval", "-r "),  # austin
    ("--sleepless", "--mode"),
    ("--exposure", "-d "),
    ("--sampling-rate", "-r "),  # CPython's own
    ("--blocking", "--always-stop"),
])
def test_names_that_other_profilers_use_are_known(plumb, option, ours):
    sentence(plumb("attach", option, "1"), option, ours)


@pytest.mark.smoke
def test_an_unknown_command_gets_the_nearest(plumb):
    sentence(plumb("atach", "12"), "atach", "attach")


@pytest.mark.smoke
@pytest.mark.parametrize("arguments", [["--mode", "memory"], ["--color", "blue"], ["--seed", "x"]])
def test_values_that_make_no_sense(plumb, arguments):
    sentence(plumb("run", *arguments, "--", "true"))


# Files ----------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def recording(tmp_path_factory, places, ordinary_python):
    plumb = Plumb(tmp_path_factory.mktemp("recording"))
    with started(places, ordinary_python, "exec_churn.py") as busy:

        def attach(seconds):
            path = plumb.path()
            result = plumb("attach", "-d", seconds, "-o", path, busy.pid)
            assert result.status == 0, result
            return path

        return until(attach, lambda path: len(chunks_with_samples(path)) > 2, 2.2)


@pytest.mark.smoke
def test_a_file_that_is_not_there(plumb):
    for command in (["report"], ["merge", "-o", plumb.path()]):
        sentence(plumb(*command, "/no/such/file.plumb"), "/no/such/file.plumb", status=BAD_INPUT)


@pytest.mark.smoke
@pytest.mark.parametrize("content, words", [
    (b"", ["empty"]),
    (b"GIF89a" + bytes(1000), ["recording"]),
    (b"\0" * 4096, ["recording"]),
    (b"dear reader,\n" * 10, ["recording"]),
], ids=["empty", "gif", "zeros", "text"])
def test_a_file_that_is_no_recording(plumb, content, words):
    path = plumb.path()
    path.write_bytes(content)
    for command in (["report"], ["merge", "-o", plumb.path()]):
        sentence(plumb(*command, path), str(path), *words, status=BAD_INPUT)


@pytest.mark.smoke
def test_a_comparison_of_what_is_no_recording_has_no_verdict(plumb):
    """1 would mean that something is slower."""
    path = plumb.path()
    path.write_bytes(b"dear reader,\n" * 10)
    sentence(plumb("diff", path, path), str(path))


@pytest.mark.smoke
def test_a_directory_is_no_recording(plumb):
    sentence(plumb("report", plumb.directory), str(plumb.directory))


@pytest.mark.smoke
def test_a_device_is_no_file(plumb, tmp_path):
    """A link in an archive leads to one that has no end: 8 GiB of it were copied."""
    link = tmp_path / "profile.json"
    link.symlink_to("/dev/zero")
    terminal = tmp_path / "profile.plumb"  # a new one, at which nobody sits
    terminal.symlink_to("/dev/ptmx")
    for path in ("/dev/zero", link, terminal):
        result = plumb("report", path)
        assert result.status == 1 and "%s: it is a device, and not a file" % path in result.stderr, result
    assert "/dev/null: this is an empty file" in plumb("report", "/dev/null").stderr


@pytest.mark.smoke
def test_what_the_kernel_makes_up_is_no_file(plumb, tmp_path):
    """The same: /proc/self/pagemap has 256 GiB, of which 8 were copied; others wait for what never comes."""
    link = tmp_path / "profile.json"
    link.symlink_to("/proc/self/pagemap")
    for path in (link, "/proc/self/maps"):
        result = plumb("report", path)
        assert result.status == 1 and "%s: the kernel makes it up, and it is not a file" % path in result.stderr, result


@pytest.mark.smoke
def test_a_device_is_not_opened(plumb, tmp_path):
    """To open one can do something: a watchdog restarts the machine, a tape goes back to its beginning. /dev/tty says whether it was."""
    link = tmp_path / "profile.json"
    link.symlink_to("/dev/tty")
    result = plumb("report", link, before=["setsid", "--wait"])  # has no terminal, so that it cannot be opened
    assert result.status == 1 and "it is a device, and not a file" in result.stderr, result
    result = plumb("dump", "--core", link, before=["setsid", "--wait"])
    assert result.status == 125 and "no plain file" in result.stderr, result


LEASE = """
import fcntl, os, signal, sys
file = os.open(sys.argv[1], os.O_RDWR)
def give_up(*_):
    fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    print("given up", flush=True)
signal.signal(signal.SIGIO, give_up if sys.argv[2] == "kind" else signal.SIG_IGN)
fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
print("leased", flush=True)
while True:
    signal.pause()
"""


@pytest.mark.parametrize("kind", ["kind", "unkind"])
def test_who_has_a_lease_on_a_file_does_not_hold_up_who_reads_it(plumb, recording, tmp_path, kind):
    """The kernel would wait for 45 s."""
    file = shutil.copy(recording, tmp_path)
    with subprocess.Popen([sys.executable, "-c", LEASE, file, kind], stdout=subprocess.PIPE) as holder:
        try:
            assert holder.stdout.readline() == b"leased\n"
            for command in ["report", file], ["merge", file, recording, "-o", tmp_path / "both.plumb"]:
                result = plumb(*command)
                if kind == "kind":
                    assert result.status == 0, result
                else:
                    sentence(result, "keeps it to itself, by a lease", "try again when that program has ended", status=result.status)
                    assert result.status and holder.poll() is None
        finally:
            holder.kill()


def test_top_does_not_wait_for_a_lease(plumb, recording, tmp_path):
    """Whether a name is that of a recording is looked up in the file. When the kernel had taken the lease away it was shown."""
    file = shutil.copy(recording, tmp_path / "app.py")
    with subprocess.Popen([sys.executable, "-c", LEASE, file, "unkind"], stdout=subprocess.PIPE) as holder:
        try:
            assert holder.stdout.readline() == b"leased\n"
            sentence(plumb("top", "--plain", file), "no process is called so")
        finally:
            holder.kill()


@pytest.mark.smoke
def test_a_file_of_holes_is_not_copied(plumb, tmp_path):
    """A few bytes of an archive. 8 GiB were copied of it."""
    path = tmp_path / "profile.json"
    with path.open("wb") as file:
        file.write(b'{"name": ')
        file.truncate(6 << 30)
    for given in ("report", path), ("report", "-"):
        with path.open("rb") as file:
            result = plumb(*given, stdin=file)
        assert result.status == 1 and "nearly all of its 6144 MiB are holes" in result.stderr, result


def test_a_callgrind_file_that_was_cut_says_so(plumb, tmp_path):
    """It says in its head what all of it costs."""
    whole = pathlib.Path(__file__).parents[1] / "golden" / "report" / "example.callgrind"
    lines = whole.read_text().splitlines(keepends=True)
    (tmp_path / "cut.callgrind").write_text("".join(lines[: len(lines) // 2]))
    assert "the file was cut" not in plumb("report", whole).stdout
    assert "incomplete" in plumb("report", tmp_path / "cut.callgrind").stdout


def test_a_recording_cut_at_any_byte_opens_with_its_whole_chunks(plumb, recording):
    data = recording.read_bytes()
    whole = plumb.report(recording)
    assert whole.complete
    cut = plumb.path()
    last = 0
    lengths = [*range(0, min(len(data), 200), 23), *range(200, len(data), max(1, len(data) // 25)), len(data) - 1]
    for length in lengths:
        cut.write_bytes(data[:length])
        result = plumb("report", "--json", cut)
        assert result.status in (0, BAD_INPUT), result
        if result.status == 0:
            profile = plumb.report(cut)
            assert not profile.complete and last <= profile.samples <= whole.samples, (length, profile.samples)
            last = profile.samples
        else:
            assert last == 0, "cut at %d of %d it does not open any more: %s" % (length, len(data), result)
            sentence(result, str(cut), status=BAD_INPUT)
    assert last > 0


@pytest.mark.parametrize("command", [["report"], ["report", "--json"], ["convert", "-f", "collapsed"], ["diff"], ["merge"]])
@pytest.mark.parametrize("is_cut", [False, True])
def test_another_recording_behind_one_is_told(plumb, recording, command, is_cut):
    """As `cat` puts them together: nothing is mixed, and nothing left out in silence."""
    one, both, out = recording.read_bytes(), plumb.path(), plumb.path()
    both.write_bytes((one[:-100] if is_cut else one) + one)
    operands = {"convert": [both, out], "merge": [both, "-o", out], "diff": [recording, both]}.get(command[0], [both])
    result = plumb(*command, *operands)
    told = " ".join((result.stdout + result.stderr).split())
    assert result.status == 0 and "another recording follows in the file and is left out" in told and "'plumb merge'" in told, result
    if command[-1] == "--json":
        losses = json.loads(result.stdout)["losses"]
        assert losses["damaged_parts"] == 1 and losses["damaged"] >= plumb.report(recording).samples, losses


def test_bytes_behind_the_end_are_told(plumb, recording):
    longer = plumb.path()
    longer.write_bytes(recording.read_bytes() + bytes(4096))
    result = plumb("report", longer)
    assert "damaged and left out" in result.stdout and "quality: good" not in result.stdout, result
    assert "1 damaged part left out" in plumb("report", "--json", longer).stderr


def test_a_changed_byte_of_the_magic_costs_nothing(plumb, recording):
    data = bytearray(recording.read_bytes())
    data[1] ^= 1
    damaged = plumb.path()
    damaged.write_bytes(data)
    assert "damaged and left out" in plumb("report", damaged).stdout
    assert plumb.report(damaged).samples == plumb.report(recording).samples


@pytest.mark.smoke
def test_a_damaged_chunk_costs_that_chunk_and_is_told(plumb, recording):
    data = bytearray(recording.read_bytes())
    whole = plumb.report(recording).samples
    data[chunks_with_samples(recording)[1] + 1] ^= 0x55
    damaged = plumb.path()
    damaged.write_bytes(data)
    result = plumb("report", damaged)
    assert result.status == 0 and "damaged" in (result.stdout + result.stderr), result
    assert 0 < plumb.report(damaged).samples < whole


def test_four_changed_bytes_are_told_wherever_they_are(plumb, any_python, tmp_path):
    script = tmp_path / "long.py"
    script.write_text("def work(n):\n    return sum(i * i for i in range(n))\n"
                      + "".join("# %d\n" % (i * 7919 % 10007) for i in range(4000))
                      + "work(10_000_000)\n")
    recording = plumb.path()
    assert plumb("run", "-o", recording, "--", *any_python.command, script).status == 0
    whole = recording.read_bytes()
    damaged = plumb.path()
    for at in range(9, len(whole) - 4, max(1, len(whole) // 40)):
        data = bytearray(whole)
        for i in range(4):
            data[at + i] ^= 0x55
        damaged.write_bytes(data)
        result = plumb("report", damaged)
        if result.status:
            sentence(result, "every part of the recording is damaged", status=BAD_INPUT)
        else:
            assert "damaged and left out" in result.stdout, (at, len(whole), result)
            assert json.loads(plumb("report", "--json", damaged).stdout)["losses"]["damaged_parts"] > 0


@pytest.mark.smoke
@pytest.mark.parametrize("path, words", [
    ("/no/such/directory/x.plumb", ["/no/such/directory/x.plumb"]),
    ("/dev/full", ["/dev/full", "space"]),
    ("/", ["/"]),
])
def test_an_output_that_cannot_be_written_is_told_before_the_program_starts(plumb, path, words):
    sentence(plumb("run", "-o", path, "--", "echo", "started"), *words)


@pytest.mark.smoke
@pytest.mark.parametrize("options", [[], ["--json"], ["--markdown"], ["-f", "collapsed"]], ids=["text", "json", "markdown", "collapsed"])
def test_a_full_disk_under_a_report_is_told(plumb, recording, options):
    with open("/dev/full", "w") as full:
        result = plumb("report", *options, recording, stdout=full)
    sentence(result, "space")


@pytest.mark.smoke
def test_closed_standard_output_is_told(plumb, recording):
    result = plumb("report", recording, before=["sh", "-c", 'exec "$@" >&-', "sh"])
    assert result.status == OWN_FAILURE and result.stderr.startswith("plumb: "), result


@pytest.mark.smoke
def test_all_standard_streams_closed_break_nothing(plumb, places, any_python):
    """Descriptors 0, 1 and 2 are free then; no file of ours may land on them and get the program's output."""
    path = plumb.path()
    script = os.path.join(places.directory(any_python.root)[1], "status.py")
    result = plumb("run", "-o", path, "--", *any_python.command, script, "--exit", "0", before=["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh"])
    assert result.status == 0
    assert plumb.report(path).complete


def test_a_disk_that_gets_full_loses_nothing_of_the_report(plumb, places, any_python):
    """The recording may not grow past 80 KB; everything generated in the program makes it grow, by 65 KB a second on a quiet machine."""
    script = os.path.join(places.directory(any_python.root)[1], "exec_churn.py")

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (80_000, 80_000))

    def run(seconds):
        path = plumb.path()
        return plumb("run", "-r", "5000", "--max-overhead", "none", "-o", path, "--", *any_python.command, script, "--seconds", seconds,
                     preexec_fn=limit), path

    result, path = until(run, lambda found: found[0].status != 0, 3)
    assert '"generations"' in result.stdout, result  # the program was not disturbed
    assert result.status == OWN_FAILURE, result
    assert path.name in result.stderr and "too large" in result.stderr.lower() and "ulimit -f" in result.stderr, result
    assert "between" in result.stderr, "the answer itself is not lost: %s" % result
    kept = plumb.report(path)
    assert not kept.complete and kept.samples > 0


@pytest.mark.smoke
def test_several_mistakes_do_not_crash(plumb):
    for arguments in (["report"], ["report", "a", "b"], ["run", "-o"], ["--", "x"], [""], ["help", "nonsense"], ["run", "--"],
                      ["attach", "1", "2"], ["report", "--threads"], ["-r"], ["--json"]):
        result = plumb(*arguments)
        assert result.status == OWN_FAILURE and result.stderr.startswith("plumb: "), (arguments, result)
    assert plumb(sys.argv[0] * 50).status == OWN_FAILURE


def test_a_small_file_does_not_stand_for_thousands_of_millions_of_samples(plumb, threads_recording, tmp_path):
    """Zeros are packed 30,000 to one: what no sampler writes is damage, and told."""
    bomb = tmp_path / "bomb.plumb"
    bomb.write_bytes(with_samples(threads_recording.read_bytes(), 30, 4 << 20))
    profile = plumb.report(bomb)
    most = (64 << 20) + 512 * bomb.stat().st_size
    assert most / 2 < profile.json["samples"]["total"] <= most and profile.losses["damaged"] > 30 * (4 << 20) - most, profile.losses
    assert profile.losses["damaged_parts"], "it is not told"


def varint(value):
    return (bytes([value & 0x7F | 0x80]) + varint(value >> 7)) if value > 0x7F else bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def message(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


def test_a_small_file_does_not_tell_a_long_name_thousands_of_times(plumb, tmp_path):
    """pprof: a name of a megabyte is the name of ten thousand functions, which are ten bytes each."""
    functions = range(1, 10001)
    profile = message(1, number(1, 1) + number(2, 2))
    profile += b"".join(message(5, number(1, i) + number(2, 3) + number(5, i)) for i in functions)
    profile += b"".join(message(4, number(1, i) + message(4, number(1, i))) for i in functions)
    profile += b"".join(message(2, message(1, varint(i)) + message(2, varint(1))) for i in functions)
    profile += b"".join(message(6, text) for text in (b"", b"samples", b"count", b"N" * 1000000))
    bomb = tmp_path / "bomb.pb"
    bomb.write_bytes(profile)
    sentence(plumb("report", bomb), "names", "too much", status=BAD_INPUT)
