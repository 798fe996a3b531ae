# SPDX-License-Identifier: Apache-2.0
"""plumb.profile(), plumb.start() and plumb.open() on every interpreter, and how a recording ends when its process does."""
import contextlib
import functools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

import pytest

from harness import package
from harness.statistics import NotNow, holds
from harness.target import PATIENCE, wait_until
from harness.terminal import Terminal

# Scripts, and how many checks each has at least.
CHECKS = [("recording.py", 20), ("recording_calls.py", 7), ("recording_ends.py", 7), ("first_use.py", 3)]
BUSY = "import plumb, sys\ndef busy(n):\n    for _ in range(n): sum(range(300))\n"


@contextlib.contextmanager
def started(python, code, **popen):
    """A program of that text, as a Popen with pipes."""
    environment = dict(package.environment(python), **popen.pop("env", {}))
    popen.setdefault("stdin", subprocess.DEVNULL)
    around = popen.pop("around", lambda *command: list(command))
    process = subprocess.Popen(around(*python.command, "-c", BUSY + code), env=environment, text=True, cwd="/", stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, **popen)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def ended(python, code, **popen):
    """(status, output, errors) of a program of that text."""
    with started(python, code, **popen) as process:
        output, errors = process.communicate()
        return process.returncode, output, errors


@pytest.mark.parametrize("script, least", CHECKS)
def test_blocks_and_functions_are_recorded(some, script, least):
    told = json.loads(package.run(some, script, options=["-X", "dev", "-W", "error"]))
    assert len(told["checks"]) >= least


@pytest.mark.smoke
@pytest.mark.repeated
@pytest.mark.parametrize("script, least", CHECKS)
def test_no_memory_is_misused(one, script, least):
    assert json.loads(package.run(one, script))["checks"]


@pytest.mark.parametrize("end", ["pass", "sys.exit(0)", "raise SystemExit(0)", "del p"])
def test_a_recording_is_complete_when_the_interpreter_ends(one, plumb, end):
    path = plumb.path()
    code = "p = plumb.start(output=%r)\nq = plumb.start()\nwhile p.info()['samples'] < 50: busy(100)\n%s\n" % (str(path), end)
    status, _, errors = ended(one, code)
    assert (status, errors) == (0, "")
    assert plumb.report(path).samples >= 50 and plumb.report(path).json["complete"]


def test_a_recording_survives_a_process_that_is_killed(one, plumb):
    path = plumb.path()
    with started(one, "p = plumb.start(output=%r)\nwhile True: busy(100)\n" % str(path)) as process:
        wait_until(lambda: plumb.recorded(path, lambda profile: any(stack.has("busy") for stack in profile.stacks)), "nothing is recorded")
        process.kill()
        process.wait()
    assert "busy" in plumb("report", path).stdout
    assert not plumb.report(path).json["complete"]


def test_nothing_is_left_in_the_temporary_directory(one, tmp_path):
    code = "p = plumb.start()\nwhile p.info()['samples'] < 50: busy(100)\nprint('there', flush=True)\nwhile True: busy(100)\n"
    with started(one, code, env={"TMPDIR": str(tmp_path)}) as process:
        assert process.stdout.readline() == "there\n"
        process.kill()
        process.wait()
    assert list(tmp_path.iterdir()) == []


def test_a_crash_is_still_told_by_faulthandler(one):
    code = "import faulthandler, os, signal\nfaulthandler.enable()\np = plumb.start()\nwhile p.info()['samples'] < 50: busy(100)\n"
    status, _, errors = ended(one, code + "os.kill(os.getpid(), signal.SIGSEGV)\n")
    assert status == -signal.SIGSEGV and "Fatal Python error: Segmentation fault" in errors


def test_the_external_engine_stops_in_a_program_that_ignores_or_blocks_sigterm(one):
    code = ("import signal, plumb\n"
            "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            "with plumb.profile(engine='external') as p: sum(range(9**6))\n"
            "signal.signal(signal.SIGTERM, signal.SIG_DFL)\n"
            "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])\n"
            "with plumb.profile(engine='external') as p: sum(range(9**6))\n")
    subprocess.run([*one.command, "-c", code], env=package.environment(one), check=True, timeout=PATIENCE)


def test_the_external_engine_attaches_and_stops(one, plumb):
    path = plumb.path()
    code = """
import os, threading
def children(): return [int(name) for name in os.listdir("/proc") if name.isdigit() and parent(name) == os.getpid()]
def parent(pid):
    try:
        with open("/proc/%s/stat" % pid) as file: return int(file.read().rpartition(")")[2].split()[1])
    except OSError: return 0
from plumb import _external
@plumb.tag(step="busy")
def led(p):
    while sum(f["total"]["samples"] for f in p.stats()["functions"] if f["name"] == "busy") < 50: busy(100)
for output in (sys.argv[1], None):
    # As under Yama: it is held back until it is allowed to read us.
    _external._asks_for_permission = lambda: output is None
    with plumb.profile(engine="external", output=output, threads=threading.main_thread(), seed=3) as p:
        assert len(children()) == 1
        led(p)
    assert children() == [] and p.info()["engine"] == "remote"
    # A text has room for the hottest functions only, and which they are is the machine's to decide.
    names = [f["name"] for f in p.stats()["functions"]]
    assert "busy" in names and names[0] in p.text() and not {"<plumb>", "tagged"} & set(names), (names, p.text())
    # Its tags are read from outside, too. Of the least that was asked for nearly all can be proved, and with them their tag.
    labels = {(label["name"], label["value"]): label["total"]["samples"] for label in p.stats()["labels"]}
    assert list(labels) == [("step", "busy")] and labels["step", "busy"] >= 25, labels
assert len(os.listdir("/proc/self/fd")) < 10
try: plumb.start(engine="external", output="/nowhere/at/all.plumb")
except (OSError, plumb.Error) as error: assert "nowhere" in str(error)
else: raise AssertionError
assert children() == []
"""
    command = [*one.command, "-X", "dev", "-W", "error", "-c", BUSY + code, str(path)]
    result = subprocess.run(command, env=package.environment(one), stderr=subprocess.PIPE, text=True, cwd="/")
    assert (result.returncode, result.stderr) == (0, "")
    assert plumb.report(path).samples >= 50


def test_an_external_engine_that_fails_says_why(one, tmp_path):
    failing = tmp_path / "plumb"
    failing.write_text("#!/bin/sh\necho 'plumb: nothing works here' >&2\nexit 125\n")
    failing.chmod(0o755)
    code = "from plumb import _binary\n_binary.find = lambda: %r\ntry: plumb.start(engine='external')\nexcept plumb.Error as error: print(error)\n"
    assert ended(one, code % str(failing))[:2] == (0, "plumb could not attach: nothing works here\n")


def test_the_page_is_shown_in_the_browser(one, tmp_path):
    shown = tmp_path / "shown"
    os.mkfifo(shown)
    browser = tmp_path / "browser"
    browser.write_text('#!/bin/sh\nprintf %%s "$1" >%s\n' % shown)
    browser.chmod(0o755)
    code = """
import os
with plumb.profile() as p: busy(1000)
print(p.open_in_browser())
os.chdir(%r)
p.save("a.plumb")
input()
print(plumb.open("a.plumb").open_in_browser())
"""
    environment = {"BROWSER": "not-there:%s" % browser, "TMPDIR": str(tmp_path)}
    with started(one, code % str(tmp_path), env=environment, stdin=subprocess.PIPE) as process:
        first = shown.read_text()
        # Of two browsers at once it would be read what both have written.
        print(file=process.stdin, flush=True)
        second = shown.read_text()
        assert process.communicate()[0].split() == [first, "a.html"]
    assert second == str(tmp_path / "a.html") and first.startswith(str(tmp_path / "plumb-"))
    for page in (first, second):
        assert pathlib.Path(page).read_text().startswith("<!")


def test_a_report_fits_its_terminal(one):
    # Two functions that take half of the time each, in turns: a tree has branches, on a busy machine, too.
    code = BUSY + (
        "import time\ndef more(n):\n    for _ in range(n): sum(range(300))\n"
        "with plumb.profile() as p:\n    while p.info()['samples'] < 50 or time.process_time() < 0.3: busy(100), more(100)\n"
        "p.print()\n"
    )
    environment = dict(package.environment(one), LANG="C.UTF-8", PYTHONUTF8="1")
    with Terminal([*one.command, "-c", code], columns=70, environment=environment) as terminal:
        terminal.expect("in the function itself (")
        assert terminal.wait() == 0
        assert terminal.coloured and "└" in terminal.plain
        assert max(map(len, terminal.plain.splitlines())) <= 70


def test_what_is_printed_is_what_plumb_report_says(one, plumb):
    path = plumb.path()
    code = "p = plumb.start(output=%r)\nwhile p.info()['samples'] < 50: busy(100)\np.stop().print()\n" % str(path)
    status, output, _ = ended(one, code, env={"LANG": "C.UTF-8", "PYTHONUTF8": "1"})
    assert status == 0
    named_plumb = ["bash", "-c", 'exec -a plumb "$@"', "bash"]  # as it is found in PATH
    assert output == plumb("report", path, before=named_plumb, env=dict(os.environ, LANG="C.UTF-8", BROWSER="any")).stdout


def test_a_crawler_with_threads_is_seen_as_it_is(one):
    """Its own clock is off by chance where a thread loses the GIL between the end of a call and the look at the clock."""

    def off():
        told = json.loads(package.run(one, "crawler.py"))
        assert len(set(told["pages"])) == len(told["pages"]) == 60
        crawlers = {tag: row for tag, row in told["seen"].items() if tag.startswith("[crawler=")}
        assert len(crawlers) == 6, told["seen"]
        seen = {name: sum(row.get(name, 0) for row in crawlers.values()) for name in told["took"]}
        true, found = (times["fetch"] / sum(times.values()) for times in (told["took"], seen))
        if told["missed"] > 0.1:
            raise NotNow("%.0f %% of the samples came too late" % (100 * told["missed"]))
        return abs(true - found) > 0.05 + told["missed"] and "%s %s" % (told["took"], seen)

    holds(off, most=8)

def test_a_page_whose_name_plumb_chooses_follows_no_link(one, tmp_path):
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "a.html").symlink_to("precious")
    code = """
import os
with plumb.profile() as p: busy(1000)
os.chdir(%r)
os.umask(0)
p.save("a.plumb")
try: plumb.open("a.plumb").open_in_browser()
except plumb.Error as error: print(error.code)
print("%%o" %% (os.stat(p.open_in_browser()).st_mode & 0o777))
"""
    assert ended(one, code % str(tmp_path), env={"BROWSER": "true", "TMPDIR": str(tmp_path)}) == (0, "exists\n600\n", "")
    assert (tmp_path / "precious").read_text() == "precious"


REFUSED = """
try: plumb.start(engine={engine!r}, output={output!r})
except plumb.Error as error: print(error)
"""


@pytest.mark.parametrize("engine", ["inprocess", "external"])
def test_no_engine_replaces_what_plumb_did_not_write(one, plumb, tmp_path, engine):
    app, link = tmp_path / "app.py", tmp_path / "link.plumb"
    app.write_text("precious")
    link.symlink_to(app)
    for output in (app, link):
        status, said, errors = ended(one, REFUSED.format(engine=engine, output=str(output)))
        assert (status, errors, app.read_text()) == (0, "", "precious")
        assert "app.py is there already, and plumb did not write it" in said and "force=True" in said
    forced = "with plumb.profile(engine=%r, output=%r, force=True) as p:\n    while p.info()['samples'] < 10: busy(100)\n"
    assert ended(one, forced % (engine, str(app))) == (0, "", "")
    assert plumb.report(app).samples >= 10 and app.stat().st_mode & 0o777 == 0o600


def test_an_older_recording_stays_until_the_external_engine_has_samples(one, plumb, tmp_path):
    path, program = plumb.path(), tmp_path / "plumb"
    whole = "with plumb.profile(engine=%r, output=%r) as p:\n    while p.info()['samples'] < 10: busy(100)\nprint(p.info()['engine'])\n"
    assert ended(one, whole % ("inprocess", str(path))) == (0, "in process\n", "")
    older = path.read_bytes()
    instead = "from plumb import _binary\n_binary.find = lambda: %r\n" % str(program)
    program.write_text("#!/bin/sh\nexit 125\n")
    program.chmod(0o755)
    status, said, errors = ended(one, instead + REFUSED.format(engine="external", output=str(path)))
    assert (status, errors, path.read_bytes()) == (0, "", older) and "could not attach" in said
    program.write_text("#!/bin/sh\necho sampling\nexec sleep infinity\n")
    status, said, errors = ended(one, instead + REFUSED.format(engine="external", output=str(path)))
    assert (status, errors, path.read_bytes()) == (0, "", older) and "does not hand over what it writes to %s" % path in said
    code = """
p = plumb.start(engine="external", output=%r, threads=thread, mode="cpu")
print(p._session.written())
"""
    status, said, _ = ended(one, NOTHING_TO_SAMPLE + code % str(path))
    assert (status, said, path.read_bytes()) == (0, "None\n", older)
    assert ended(one, whole % ("external", str(path))) == (0, "remote\n", "")
    assert path.read_bytes() != older


# What somebody may do to a recording that is written, or to its folder, and what plumb says of it in the end.
TAKEN_AWAY = {
    "unlinked": ("os.unlink(path)", None),
    "renamed": ("os.rename(path, path + '.moved')", None),
    "its folder renamed": ("os.rename(folder, folder + '.moved')", None),
    "its folder gone": ("os.unlink(path); os.rmdir(folder)", "cannot write"),
    "a pipe instead": ("os.unlink(path); os.mkfifo(path)", "was made by another program meanwhile"),
    "another one instead": ("with plumb.profile() as other: pass\nos.unlink(path); other.save(path)", "was made by another program meanwhile"),
}
GROWN = """
import os, sys
path = %r
folder = os.path.dirname(path)
p = plumb.start(engine="external", output=path)
while not p.tree()["count"]: busy(100)
"""


@pytest.mark.parametrize("how", TAKEN_AWAY)
def test_what_is_written_from_outside_is_found_whatever_has_its_name(one, tmp_path, how):
    """While it grows, at the end, and after an end that was told as a failure: nobody waits for ever, or has what is somebody else's."""
    folder = tmp_path / "folder"
    folder.mkdir()
    taken, trouble = TAKEN_AWAY[how]
    code = GROWN % str(folder / "x.plumb") + taken + """
before = p.info()["samples"]
while p.info()["samples"] < before + 20: busy(100)
try: p.stop()
except plumb.Error as error: print(error)
else: print("well")
print(p.info()["samples"] >= before + 20, "busy" in p.text())
"""
    status, said, errors = ended(one, code)
    first, rest = said.split("\n", 1)
    assert (status, rest, errors) == (0, "True True\n", "") and (trouble in first if trouble else first == "well"), said


def test_a_pipe_that_gets_the_name_when_plumb_has_ended_is_not_opened(one, tmp_path):
    code = GROWN % str(tmp_path / "x.plumb") + """
import stat
wait = p._session._process.wait
def wait_and_replace():
    status = wait()
    if not stat.S_ISFIFO(os.stat(path).st_mode):
        os.unlink(path)
        os.mkfifo(path)
    return status
p._session._process.wait = wait_and_replace
p.stop()
print("busy" in p.text())
"""
    assert ended(one, code) == (0, "True\n", "")


@pytest.mark.parametrize("output", [None, "x.plumb"])
def test_what_samples_from_outside_ends_when_it_can_write_no_more(one, tmp_path, output):
    """As on a full disk: nobody waits for what cannot come any more."""
    code = """
import os, resource
os.chdir(%r)
usual = resource.getrlimit(resource.RLIMIT_FSIZE)
def begin(size):
    # A plumb that can write files of that size at most.
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, usual[1]))
    try: begun.append(plumb.start(engine="external", output=%r, sources=False))
    finally: resource.setrlimit(resource.RLIMIT_FSIZE, usual)
def trouble(call, *arguments):
    try: call(*arguments)
    except plumb.Error as error: return str(error)
begun = []
said = trouble(begin, 200) or (trouble(begun[0].info) and trouble(begun[0].stop))
begin(2500)
while not begun[-1]._session.status()["ended"]: busy(100)
print("cannot write" in said and "/proc/" not in said, "cannot write" in trouble(begun[-1].stop), begun[-1].info()["samples"] > 0)
"""
    assert ended(one, code % (str(tmp_path), output)) == (0, "True True True\n", "")


def test_what_is_written_from_outside_is_found_again_by_a_program_that_closes_all_descriptors(one, tmp_path):
    """Where its name leads to it still: else that is told, and what has the name is not opened."""
    for taken in "", "os.unlink(path)\nos.mkfifo(path)\n":
        code = GROWN % str(tmp_path / "x.plumb") + "os.closerange(3, 4096)\n" + taken + """
try: p.info()
except plumb.Error as error: print(error)
try: p.stop()
except plumb.Error as error: print("failed")
else: print("busy" in p.text())
"""
        told = "what was recorded is lost: the program has closed its descriptor\nfailed\n" if taken else "True\n"
        assert ended(one, code) == (0, told, "")


NOTHING_TO_SAMPLE = """
import os, threading, warnings
def reads(tid):
    with open("/proc/self/task/%d/syscall" % tid) as file: return file.read().split()[1:2] == [hex(ours)]
ours, theirs = os.pipe()
thread = threading.Thread(target=os.read, args=(ours, 1), daemon=True)
thread.start()
while not reads(thread.native_id): pass
"""


@pytest.mark.parametrize("end", ["p.stop()", "pass"])
@pytest.mark.parametrize("engine", ["inprocess", "external"])
def test_an_older_recording_stays_where_nothing_is_sampled(one, plumb, engine, end):
    """Which is told; a name that was free gets an empty one."""
    path, new = plumb.path(), plumb.path()
    whole = "with plumb.profile(output=%r) as p:\n    while p.info()['samples'] < 10: busy(100)\n" % str(path)
    assert ended(one, whole) == (0, "", "")
    older = path.read_bytes()
    code = """
p = plumb.start(engine=%r, output=%r, threads=thread, mode="cpu")
%s
if "p" in globals() and p._outcome: print(p.info()["samples"])
"""
    told = "0\n" if "(" in end else ""
    for output in (path, new):
        status, said, errors = ended(one, NOTHING_TO_SAMPLE + code % (engine, str(output), end))
        assert (status, said) == (0, told), errors
        stays = "plumb: nothing was sampled, so %s stays as it was" % path
        assert (stays in errors and "RuntimeWarning" in errors) == (output == path) and "Traceback" not in errors, errors
    assert path.read_bytes() == older and plumb.report(new).samples == 0
    assert not list(path.parent.glob("*.new"))


@pytest.mark.parametrize("end", ["p.stop()", "pass"])
def test_the_engine_with_the_gil_writes_its_recording_too(with_gil, plumb, tmp_path, end):
    """At the end, as it is a sum; and replaces as little."""
    path, app = plumb.path(), tmp_path / "app.py"
    whole = "p = plumb.start(engine='gil', output=%r)\nwhile p.info()['samples'] < 10: busy(100)\n%s\n"
    assert ended(with_gil, whole % (str(path), end)) == (0, "", "")
    assert plumb.report(path).samples >= 10
    older = path.read_bytes()
    nothing = "p = plumb.start(interval=9, engine='gil', output=%r, threads=[])\n%s\n"
    status, _, errors = ended(with_gil, nothing % (str(path), end))
    assert status == 0 and "nothing was sampled, so %s stays as it was" % path in errors and path.read_bytes() == older, errors
    app.write_text("precious")
    _, _, errors = ended(with_gil, whole % (str(app), end))
    assert "app.py is there already, and plumb did not write it" in errors and app.read_text() == "precious"
    assert ended(with_gil, (whole % (str(app), end)).replace("output", "force=True, output")) == (0, "", "")
    assert plumb.report(app).samples >= 10


@pytest.mark.parametrize("begin", ["plumb.start()", "plumb.start(engine='external')", "plumb.Profiler(engine='external')", "plumb.Profiler()"])
def test_a_program_that_closes_all_descriptors_keeps_its_own_files(one, begin):
    code = """
import gc, os, tempfile
p = %s
if hasattr(p, "query"):
    for _ in range(2):
        p.start()
        while p.status()["samples"] < 5: busy(100)
        p.pause()
    p.resume()
else:
    while p.info()["samples"] < 5: busy(100)
os.closerange(3, 256)
files = [tempfile.TemporaryFile() for _ in range(60)]
for ask in (p.stop, p.stop):
    try: ask()
    except plumb.Error as error: print(error)
del p, ask
gc.collect()
for file in files:
    assert os.fstat(file.fileno()).st_size == 0
    file.close()
"""
    status, said, errors = ended(one, code % begin)
    assert (status, errors) == (0, ""), (said, errors)
    assert all("the program has closed" in line for line in said.splitlines()) and bool(said) == (begin != "plumb.Profiler()"), said


def test_what_the_external_engine_cannot_write_is_one_sentence(one):
    code = "try: plumb.start(output='/nodir/x', engine='external')\nexcept plumb.Error as error: print(error)\n"
    status, said, errors = ended(one, code)
    sentence = "plumb could not attach: cannot write /nodir/x: No such file or directory (there is no such folder: make it, or name another one)\n"
    assert (status, said, errors) == (0, sentence, "")


def test_what_ends_the_external_engine_is_told(one):
    code = """
import os
p = plumb.start(engine="external")
os.kill(p._session._process.pid, 9)
try: p.stop()
except plumb.Error as error: print(error)
"""
    status, said, errors = ended(one, code)
    assert (status, said, errors) == (0, "plumb, which was attached, failed: signal 9 ended it\n", "")


def test_a_full_folder_for_temporary_files_is_told(one, tmp_path):
    """There plumb could not even say so."""
    code = """
import os, subprocess, tempfile
folder = %r
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", folder], check=True)
tempfile.tempdir = folder
with open(os.path.join(folder, "filler"), "wb", 0) as file:
    try:
        while True: file.write(bytes(4096))
    except OSError: pass
for output in None, folder + ".plumb":
    try: plumb.start(engine="external", output=output)
    except plumb.Error as error: print(error)
"""
    said = "plumb could not attach: cannot write to %s: No space left on device (set TMPDIR to a folder with room)\n" % tmp_path
    status, output, errors = ended(one, code % str(tmp_path), around=functools.partial(alone_as_root, mounts=True))
    assert (status, output, errors) == (0, said * 2, "")


@pytest.mark.parametrize("end", ["p.stop()", "del p"])
def test_a_suspended_plumb_is_woken_to_end(one, end):
    code = """
import os, signal
signal.alarm(60)
p = plumb.start(engine="external")
while p.info()["samples"] < 5: busy(100)
pid = p._session._process.pid
os.kill(pid, signal.SIGSTOP)
os.waitpid(pid, os.WUNTRACED)
%s
try: os.waitpid(pid, os.WNOHANG)
except ChildProcessError: print("it has ended")
"""
    assert ended(one, code % end) == (0, "it has ended\n", "")


REUSED = """
import os
p = plumb.start(engine="external")
while p.info()["samples"] < 5: busy(100)
pid = p._session._process.pid
os.kill(pid, 15)
os.waitpid(pid, 0)
ours, theirs = os.pipe(), os.pipe()
files = [(os.POSIX_SPAWN_DUP2, theirs[0], 0), (os.POSIX_SPAWN_DUP2, ours[1], 1)]
LAST = "/proc/sys/kernel/ns_last_pid"
def child():
    with open(LAST, "w") as file: file.write(str(pid - 1))
    return os.posix_spawn("/bin/cat", ["cat"], {}, file_actions=files)
def stranger():
    reader, writer = os.pipe()
    # What is in the background has nothing to read at 0.
    script = "echo %%d > %%s; exec 8<&0; cat <&8 9>&- & echo $! >&9" %% (pid - 1, LAST)
    os.waitpid(os.posix_spawn("/bin/sh", ["sh", "-c", script], {}, file_actions=[*files, (os.POSIX_SPAWN_DUP2, writer, 9)]), 0)
    os.close(writer)
    with open(reader) as file: return int(file.read())
while True:
    other = %s()
    if other == pid: break
    os.kill(other, 9)
    if child is %s: os.waitpid(other, 0)
os.close(ours[1])
p.stop()
os.write(theirs[1], b"it lives")
print(os.read(ours[0], 100).decode(), p.info()["samples"] >= 5)
os.kill(other, 9)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="choosing the number of a process needs root")
@pytest.mark.parametrize("other", ["child", "stranger"])
def test_what_has_the_number_of_a_plumb_that_ended_is_left_alone(one, other):
    """Whether the program has waited for plumb, as a loop for all of its children does, and starts the other one itself or not."""
    assert ended(one, REUSED % (other, other)) == (0, "it lives True\n", "")


def test_a_program_ends_also_if_the_external_engine_does_not(one, tmp_path):
    program = tmp_path / "plumb"
    program.write_text("#!/bin/sh\ntrap '' TERM\necho sampling\nexec sleep infinity\n")
    program.chmod(0o755)
    code = """
from plumb import _binary, _external
_binary.find = lambda: %r
_external._LAST_SECONDS = 0.1
p = plumb.start(engine="external")
"""
    status, said, errors = ended(one, code % str(program))
    assert (status, said) == (0, "") and "plumb, which was attached, failed" in errors


NATIVE = """
import json, os, time
TEXT = json.dumps([{"a": 1}] * 50)
def hook(things):
    return sum(range(50))
def scanners(path):
    return [f["kind"] for f in plumb.open(path).stats()["functions"] if f["name"] == "scanner_call"]
found, path = [], %r
while not found:
    with plumb.profile(native="callable", output=path, force=True):
        for _ in range(300): json.loads(TEXT, object_hook=hook)
    found = scanners(path)
print(found, plumb.open(path).info()["engine"])
def lines(choice): return leaf.write("collapsed", native=choice, annotate=True).decode().splitlines()
def has(lines): return any(":hook:" in line and "scanner_call" in line for line in lines), any("_[k]" in line for line in lines)
with plumb.profile(native="leaf", kernel=True) as leaf:
    while has(lines("all")) != (True, True):
        for _ in range(300): json.loads(TEXT, object_hook=hook)
        time.sleep(0.001)
print(has(lines(None)), has(lines("callable")), has(lines("off")))
for options in ({"engine": "inprocess"}, {"engine": "gil"}, {"native": "some"}):
    try: plumb.profile(**{"native": True, **options}).__enter__()
    except ValueError as error: print(error)
"""


NATIVE_THREADS = """
import ctypes
c, started = ctypes.CDLL(None), ctypes.c_ulong()
assert c.pthread_create(ctypes.byref(started), None, c.pause, None) == 0
names = []
with plumb.profile(native_threads=True) as p:
    while "pause" not in names:
        names = [f["name"] for f in p.stats()["functions"]]
print(p.info()["engine"], p.stats()["native_threads"])
"""


def test_threads_without_python_are_recorded_from_outside(one):
    assert ended(one, NATIVE_THREADS)[:2] == (0, "remote True\n")


def test_native_frames_are_recorded_from_outside(one, plumb):
    status, said, errors = ended(one, NATIVE % str(plumb.path()))
    lines = said.splitlines()
    assert status == 0 and lines[0] == "['native'] remote", (said, errors)
    assert lines[1] == "(False, True) (True, True) (False, False)", (said, errors)
    assert lines[2].endswith("not 'inprocess'") and lines[3].endswith("not 'gil'") and "'some'" in lines[4], lines


def alone_as_root(*command, mounts=False):
    """The command, with rights over its root directory and, if asked for, mounts of its own."""
    become = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    if not become and not mounts:
        return list(command)
    before = ["unshare", *become, *(["--mount"] if mounts else [])]
    if not shutil.which("unshare") or subprocess.run([*before, "true"], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("no namespaces can be made here")
    return [*before, *command]


# Beside it samples are counted, for as long as it may take at most.
MOVING = """
import os, subprocess, time
def spin_until(done):
    end = time.process_time() + 20
    while not done():
        assert time.process_time() < end, p.status()
        busy(100)
def more(what, n):
    had = p.status()[what]
    spin_until(lambda: p.status()[what] >= had + n)
p = plumb.Profiler()
p.start()
more("samples", 20)
"""


GONE = {
    "chroot": "os.mkdir('jail')\nos.chroot('jail')\nos.chdir('/')\n",
    "mount": "subprocess.run(['mount', '-t', 'tmpfs', 'none', '/proc'], check=True)\n",
}


@pytest.mark.parametrize("how", sorted(GONE))
def test_what_nobody_could_see_is_told(one, tmp_path, how):
    """Where /proc goes away for all threads there are no more samples, and that is not silent. No thread keeps the old root directory."""
    code = MOVING + "os.chdir(%r)\n" % str(tmp_path) + GONE[how] + "more('unreadable', 50)\n"
    code += "p.pause()\nprint(p.snapshot().text())\n"
    status, output, errors = ended(one, code, around=functools.partial(alone_as_root, mounts=how == "mount"))
    assert status == 0 and "/proc was not there any more" in " ".join(output.split()), (output, errors)


DROPPED = "import os\n%s\nos.setgid(1234)\nos.setuid(1234)\n%s\n"
CHILDREN = "try: print(os.waitpid(-1, 0))\nexcept ChildProcessError: print('none is left')\n"


def dropped(python, begin, end):
    """(output, errors) of a program that gives up root's rights between these."""
    if os.geteuid():
        pytest.skip("needs root, to be another user")
    code = DROPPED % (begin, end)
    status, output, errors = ended(python, code)
    assert status == 0, errors
    return output.split("\n"), errors


@pytest.mark.parametrize("begin, wait, end", [
    ("p = plumb.start(engine='external')", "while p.info()['samples'] < 20: busy(100)", "p.stop()"),
    ("a = plumb.Profiler(engine='external'); a.start()", "while a.status()['samples'] < 20: busy(100)", "a.stop(); p = a.snapshot()"),
    ("a = plumb.Profiler(engine='external'); a.start()\nfor _ in range(2):\n had = a.status()['samples']\n"
     " while a.status()['samples'] < had + 20: busy(100)\n a.pause()\n a.resume()",
     "had = a.status()['samples']\nwhile a.status()['samples'] < had + 20: busy(100)", "a.snapshot(); a.stop(); p = a.snapshot()"),
], ids=["start", "profiler", "pauses"])
def test_a_daemon_that_gives_up_its_rights_has_its_recording(one, begin, wait, end):
    """It may not signal plumb any more, which stays root's, nor open by name what it has open itself."""
    output, errors = dropped(one, begin, "%s\n%s\n%sprint('busy' in p.text())" % (wait, end, CHILDREN))
    assert (output[:2], errors) == (["none is left", "True"], "")


@pytest.mark.parametrize("mode", [0o700, 0o755])
def test_a_daemon_that_gives_up_its_rights_has_the_recording_that_it_named(one, mode):
    """Whether it may look into the folder, where the file is root's, or not."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, mode)
        begin = "p = plumb.start(engine='external', output=%r)" % os.path.join(folder, "x.plumb")
        end = "while p.info()['samples'] < 20: busy(100)\np.stop()\nprint('busy' in p.text())"
        assert dropped(one, begin, end) == (["True", ""], "")


@pytest.mark.parametrize("output", ["", ", output='x.plumb'"], ids=["unnamed", "named"])
@pytest.mark.parametrize("mode", [0o777, 0o755])
def test_a_daemon_that_changes_its_root_directory_has_its_recording(one, tmp_path, mode, output):
    """Where there is no /proc a copy is made of what it has open; where it may make none, it is told so."""
    if tmp_path.stat().st_uid:
        pytest.skip("needs root, to be another user")
    jail = tmp_path / "jail"
    jail.mkdir()
    jail.chmod(mode)
    begin = "os.chdir(%r)\np = plumb.start(engine='external'%s)\nwhile p.info()['samples'] < 20: busy(100)\nos.chroot('jail')\nos.chdir('/')" % (str(tmp_path), output)
    end = "try:\n p.stop()\n print('busy' in p.text())\nexcept plumb.Error as error: print(error)"
    said, errors = dropped(one, begin, end)
    assert (said[0] == "True" if mode == 0o777 else "nor a folder with room for a copy" in said[0]) and errors == "", (said, errors)


def test_a_daemon_that_changes_its_root_directory_has_what_was_sampled_with_the_gil(with_gil, tmp_path):
    """To read it again takes a folder for temporary files."""
    (tmp_path / "tmp").mkdir()
    for folder in (tmp_path, tmp_path / "tmp"):
        folder.chmod(0o777)
    begin = "p = plumb.start(engine='gil')\nwhile p.info()['samples'] < 20: busy(100)\nos.chroot(%r)\nos.chdir('/')" % str(tmp_path)
    end = "p.stop()\nprint(p.tree()['count'] >= 20, os.listdir('/tmp'))"
    assert dropped(with_gil, begin, end) == (["True []", ""], "")


def test_lines_that_were_not_recorded_are_those_of_this_process(one, tmp_path):
    """Files that are this process's are named by it, whoever writes them."""
    (tmp_path / "work.py").write_text("def spin():\n    return sum(range(10**5))\n")
    code = """
import sys, plumb
sys.path.insert(0, %r)
import work
p = plumb.start(engine="external", sources=False)
while "spin" not in p.text():
    for _ in range(100): work.spin()
p.stop()
def lines(node): return {node["description"]["line"], *(line for child in node["children"].values() for line in lines(child))}
print("return sum(range(10**5))\\n" in lines(p.tree()))
""" % str(tmp_path)
    assert ended(one, code) == (0, "True\n", "")


def test_what_plumb_wrote_is_written_again_where_there_is_no_proc(one, tmp_path):
    jail = tmp_path / "jail"
    for folder in (jail, jail / "tmp"):
        folder.mkdir()
        folder.chmod(0o777)
    begin = "p = plumb.start()\nwhile p.info()['samples'] < 20: busy(100)\np.stop()\nos.chroot(%r)\nos.chdir('/')" % str(jail)
    end = "for _ in range(2):\n p.save('a.json')\n p.save('a.plumb')\nprint(sorted(os.listdir()))"
    assert dropped(one, begin, end) == (["['a.json', 'a.plumb', 'tmp']", ""], "")


def test_a_daemon_that_has_no_word_with_plumb_any_more_is_told(one):
    """Without its descriptors, too: an error of plumb's, and no other one."""
    end = "os.closerange(3, 4096)\ntry: p.stop()\nexcept plumb.Error as error: print(error)"
    output, errors = dropped(one, "p = plumb.start(engine='external')", end)
    assert output[0].startswith("plumb, which was attached, goes on until this program ends"), (output, errors)


def test_the_end_of_a_daemon_that_has_given_up_its_rights_is_quiet(one):
    output, errors = dropped(one, "p = plumb.start(engine='external')", "while p.info()['samples'] < 20: busy(100)")
    assert (output, errors) == ([""], "")
