# SPDX-License-Identifier: Apache-2.0
"""pytest --plumb, in runs of pytest of its own that find the plug-in as an installed one."""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import textwrap
import types

import pytest

from harness import package
from harness.interpreters import Interpreter
from harness.statistics import NotNow, holds

SAMPLE = '''
import os
import time
import pytest

def spin(seconds):
    begin = time.perf_counter()
    while time.perf_counter() < begin + seconds:
        sum(range(100))  # here
    note(time.perf_counter() - begin)

def turn(seconds):
    begin = time.perf_counter()
    while time.perf_counter() < begin + seconds:
        sum(range(100))
    note(time.perf_counter() - begin)

def note(took):
    with open("took", "a") as file:
        file.write("%.6f %s\\n" % (took, os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0]))

def test_slow():
    spin(0.5)

@pytest.mark.plumb(limit=1)
def test_marked():
    turn(0.25)
    spin(0.05)

def test_fails():
    turn(0.1)
    assert not "as it should"

@pytest.mark.parametrize("value", [pytest.param(0, id=name) for name in ("a]b, c", "y" * 150 + "1", "y" * 150 + "2")])
def test_ids(value):
    spin(0.1)
'''
LINE = SAMPLE.splitlines().index("        sum(range(100))  # here") + 1
FAILED = 1  # exit status of a run with a failed test
USAGE = 4


class Run(types.SimpleNamespace):
    def section(self):
        """What the plug-in told at the end."""
        return re.search(r"=+ plumb =+\n(.*?)\n(?:=+ |\Z)", self.text, re.DOTALL)[1]

    def outcome(self):
        """The last line of pytest without its time."""
        return re.search(r"=+ (.*) in [\d.]+s.* =+\Z", self.text.strip())[1]


@pytest.fixture
def run(tmp_path):
    """run("--plumb", ...) is a run of pytest over SAMPLE, or over other texts."""
    because = package.why_not(Interpreter("own", sys.version_info[:3], (sys.executable,)))
    if because:
        pytest.skip(because)
    work = tmp_path / "work"
    work.mkdir()

    def start(*arguments, code=SAMPLE, before=""):
        (work / "test_sample.py").write_text(code)
        begin = "import pytest, sys\n%s\nsys.exit(pytest.main(sys.argv[1:]))" % before
        command = [sys.executable, "-c", begin, "-p", "no:cacheprovider", *arguments]
        environment = {**os.environ, "PYTHONPATH": str(package.built()), "COLUMNS": "200"}
        done = subprocess.run(command, cwd=work, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        return Run(status=done.returncode, text=done.stdout, work=work)

    start.work = work
    return start


def seconds_of(section):
    """{test: seconds} of the slowest tests."""
    return {name: float(seconds) for seconds, name in re.findall(r"^ +([\d.]+) s  .*?::(\S+?)(?:\[.*)?: [\d.]+ % in ", section, re.M)}


def recorded(report):
    """{test: {function that was innermost: seconds}} of a recording; cases of one test are added up."""
    found = collections.defaultdict(collections.Counter)
    for stack in report.stacks:
        test = re.search(r"\[test=.*?::(\w+)", stack.frames[0].name)
        if test and stack.python:
            found[test[1]][stack.python[-1].name] += stack.weight_ns / 1e9
    return found


def cases(report):
    """What bears the name of a test that was seen in its own code."""
    return {stack.frames[0].name for stack in report.stacks if "[test=" in stack.frames[0].name and stack.has("spin") | stack.has("turn")}


def hottest(seconds):
    return max(seconds, key=seconds.get)


def tells_what_is_recorded(section, seen):
    """Which took longest is the machine's to decide; that the summary says so, and of the right test, is not."""
    assert set(seen["test_slow"]) >= {"spin"} and "turn" not in seen["test_slow"] | seen["test_ids"], seen
    assert "turn" in seen["test_fails"] and "spin" not in seen["test_fails"], seen
    whole = sum(seen.values(), collections.Counter())
    table = re.search(r"hottest functions:\n.*\n((?: +[\d.]+ % .*\n)+)", section)[1]
    rows = [(float(own), name) for own, name in re.findall(r"^ +([\d.]+) % +[\d.]+ %  (?:\S+\.)?(\S+) \(", table, re.M)]
    assert rows == sorted(rows, key=lambda row: -row[0]) and rows[0][1] == hottest(whole), (rows, whole)
    assert {"spin", "turn"} <= {name for _, name in rows}, (rows, whole)
    told = seconds_of(section)
    for test in ("test_slow", "test_marked", "test_fails"):
        assert abs(told[test] - sum(seen[test].values())) < 0.001, (test, told, seen)
    marked = re.search(r"::test_marked: ([\d.]+) s, \d+ samples\n.*\n( +[\d.]+ % .*)\n(?! )", section)
    assert marked and " %s ("% hottest(seen["test_marked"]) in marked[2], (section, seen)


def true_seconds(work):
    found = collections.Counter()
    for line in (work / "took").read_text().splitlines():
        seconds, _, test = line.partition(" ")
        found[re.search(r"::(\w+)", test)[1]] += float(seconds)
    return found


def test_the_summary_tells_tests_and_functions_apart(run, plumb):
    """What it says is what is recorded, always. And no test has more than what its functions say that they took: of those a sample at each
    end can be of another moment, and late on a busy machine. It can have less: that has no sample."""

    def off():
        (run.work / "took").unlink(missing_ok=True)
        done = run("--plumb", "--plumb-output", "apart.plumb", "test_sample.py")
        assert done.status == FAILED and done.outcome() == "1 failed, 5 passed", done.text
        section = done.section()
        report = plumb.report(run.work / "apart.plumb")
        seen, true = recorded(report), true_seconds(run.work)
        told = {test: functions["spin"] + functions["turn"] for test, functions in seen.items()}
        missed = sum(true.values()) - sum(told.values())
        if missed > 0.5 * sum(true.values()) or not all(map(told.get, true)) or len(cases(report)) < 6:
            raise NotNow("%.3f s of %s have no sample: %s" % (missed, dict(true), told))
        tells_what_is_recorded(section, seen)
        assert re.search(r"::test_slow: [\d.]+ %% in spin \(test_sample\.py:%d\)" % LINE, section), section
        # Long ids and such that look like tags are whole.
        assert "::test_ids[a]b, c]: " in section and "y" * 150 + "1]: " in section and "y" * 150 + "2]: " in section, section
        return any(told.get(test, 0) > true[test] + 0.02 for test in true) and "%s, and it was %s" % (told, dict(true))

    holds(off, most=8)


def test_the_page_and_the_recording_are_written(run, plumb):
    done = run("--plumb=html", "--plumb-output", "kept.plumb", "--plumb-interval", "0.002", "-k", "slow")
    assert done.status == 0, done.text
    assert (done.work / "plumb-report.html").read_text().startswith("<!doctype html>")
    report = plumb("report", "--json", done.work / "kept.plumb")
    assert report.status == 0 and '"period_ns":2000000' in report.stdout
    assert "[test=test_sample.py::test_slow]" in report.stdout
    for name in ("plumb-report.html", "kept.plumb"):
        assert "the profile is in " + name in done.section()


EACH_IS_SAMPLED = '''
import os
import subprocess
import pytest

@pytest.fixture
def sampled(request):
    """Work until there is a sample of the test, however seldom the machine has a processor for it."""
    name, recording = request.node.nodeid, request.config.workerinput["plumb"]
    size = shown = None
    while not (shown and "[test=%s]" % name in shown):
        if size != os.path.getsize(recording):
            size = os.path.getsize(recording)
            shown = subprocess.run([os.environ["PLUMB"], "report", "--json", recording], capture_output=True, text=True).stdout
        sum(range(1000))

@pytest.mark.plumb(limit=1)
def test_marked(sampled):
    pass

def test_fails(sampled):
    assert not "as it should"

@pytest.mark.parametrize("value", [1, 2])
def test_ids(sampled, value):
    pass
'''


def test_workers_of_xdist_are_added_up(run, plumb, monkeypatch):
    """Each has two of the tests."""
    pytest.importorskip("xdist")
    monkeypatch.setenv("PLUMB", str(plumb.binary))
    done = run("--plumb", "-n", "2", "--plumb-output", "all.plumb", code=EACH_IS_SAMPLED)
    assert done.status == FAILED and "1 failed, 3 passed" in done.outcome(), done.text
    section = done.section()
    assert set(seconds_of(section)) == {"test_marked", "test_fails", "test_ids"}, done.text
    assert "::test_ids[1]: " in section and "::test_ids[2]: " in section, section
    assert re.search(r"::test_marked: ([\d.]+) s, \d+ samples\n", section), section
    info = plumb("report", "--json", done.work / "all.plumb").stdout
    assert len(set(re.findall(r'"pid":(\d+),"parent"', info))) == 2


CRASHES = '''
import os

def test_one():
    sum(i * i for i in range(4000000))

def test_dies(request):
    recording = request.config.workerinput["plumb"]
    size = os.path.getsize(recording)
    while os.path.getsize(recording) == size:  # until the samples of the first one are there
        sum(range(1000))
    os.kill(os.getpid(), 9)
'''


def test_a_worker_that_is_killed_leaves_what_it_recorded(run):
    pytest.importorskip("xdist")
    for warns in ("default", "error"):
        done = run("--plumb", "-n", "1", "--max-worker-restart", "0", "-W", warns, code=CRASHES)
        assert done.status == FAILED and "1 failed, 1 passed" in done.outcome(), done.text
        assert "test_one" in seconds_of(done.section()) and "gw0.plumb: it is incomplete" in done.section(), done.text
        assert done.text.count("it is incomplete") == 1 and "RuntimeWarning" not in done.text, done.text


DIES_YOUNG = '''
import os, time

def test_dies():
    os.kill(os.getpid(), 9)

def spin():
    end = time.process_time() + 1
    while time.process_time() < end: pass

def test_one():
    spin()

def test_two():
    spin()
'''


def test_a_worker_that_is_killed_in_its_first_second_costs_the_others_nothing(run):
    pytest.importorskip("xdist")
    done = run("--plumb", "-n", "2", code=DIES_YOUNG)
    assert done.status == FAILED and "1 failed, 2 passed" in done.outcome(), done.text
    assert {"test_one", "test_two"} <= set(seconds_of(done.section())), done.text
    assert all("it is incomplete" in line for line in done.section().splitlines() if line.startswith("plumb: ")), done.text


def test_without_the_option_nothing_is_sampled(run):
    count = "import atexit, os; atexit.register(lambda: print('threads:', len(os.listdir('/proc/self/task'))))"
    done = run("-p", "no:rerunfailures", before=count)
    assert done.status == FAILED and " plumb " not in done.text and "threads: 1" in done.text, done.text
    assert "plumb(limit=10): with --plumb" in run("--markers").text
    assert run("-p", "no:plumb", "--plumb").status == USAGE


@pytest.mark.parametrize("arguments, sentence", [
    (["--plumb=pdf"], "argument --plumb"),
    (["--plumb", "--plumb-interval", "soon"], "the interval is a number of seconds from 0.00001 to 10, not 'soon'"),
    (["--plumb", "--plumb-interval=0"], "the interval is a number of seconds"),
    (["--plumb", "--plumb-output", "missing/all.plumb"], "--plumb-output: cannot write missing/all.plumb: No such file or directory (there is no such folder: "),
    (["--plumb", "--plumb-output", "/proc/all.plumb"], "--plumb-output: cannot write /proc/all.plumb: "),
    (["--plumb", "--plumb-output", "all.foo"], "--plumb-output all.foo: no format ends in .foo: there are .txt, "),
    (["--plumb", "--plumb-output", "."], "--plumb-output: cannot write .: Is a directory"),
    (["--plumb-output", "all.plumb"], "--plumb-output does nothing without --plumb"),
])  # fmt: skip
def test_what_is_wrong_is_said_in_a_sentence(run, arguments, sentence):
    done = run(*arguments)
    assert done.status == USAGE and sentence in done.text and "Traceback" not in done.text, done.text


CONTROLS = """
import pytest, time
@pytest.mark.parametrize("value", [pytest.param(0, id=name) for name in ("\\x1b[2J", "\\x1b\\n", "\\u202e", "\\x1b" * 200)])
def test_ids(value):
    end = time.perf_counter() + 0.3
    while time.perf_counter() < end: pass
"""


def test_ids_may_have_what_no_tag_has(run):
    """Each is told apart from the others."""
    (run.work / "pytest.ini").write_text("[pytest]\ndisable_test_id_escaping_and_forfeit_all_rights_to_community_support = true\n")
    done = run("--plumb", code=CONTROLS)
    assert done.status == 0, done.text
    for name in (r"\x1b[2J", r"\x1b\n", r"\u202e", r"\x1b" * 200):
        assert done.section().count("::test_ids[%s]: " % name) == 1, done.text


@pytest.mark.parametrize("more", [[], ["-n", "1"]])
def test_that_there_is_no_folder_for_temporary_files_is_said_before_the_tests_run(run, more):
    if more:
        pytest.importorskip("xdist")
    done = run("--plumb", "-s", *more, before="import tempfile\ntempfile._candidate_tempdir_list = lambda: ['/proc/missing']")
    assert done.status == USAGE and "INTERNALERROR" not in done.text and not (run.work / "took").exists(), done.text
    assert "--plumb records into a folder for temporary files, and there is none: [Errno 2] No usable temporary directory" in done.text, done.text


def test_a_marker_that_says_something_else_is_refused(run):
    done = run("--plumb", code="import pytest\n@pytest.mark.plumb(limits=3)\ndef test_it(): pass\n")
    assert done.status == USAGE and "test_sample.py::test_it: the marker plumb has one option: limit=NUMBER" in done.text, done.text


def test_names_of_the_program_move_no_cursor(run):
    """A file called by what sets a terminal's title, a function by what clears it."""
    code = """
        import time
        space = {"time": time}
        source = "def spin():\\n    end = time.perf_counter() + 0.3\\n    while time.perf_counter() < end: pass"
        exec(compile(source, "\\x1b]0;title\\x07.py", "exec"), space)
        space["spin"].__code__ = space["spin"].__code__.replace(co_name="\\x1b[2J", **QUALNAME)
        def test_it():
            space["spin"]()
    """
    code = textwrap.dedent(code).replace("**QUALNAME", 'co_qualname="\\x1b[2J"' if sys.version_info >= (3, 11) else "")
    done = run("--plumb", code=code)
    assert done.status == 0 and r"\x1b[2J (\x1b]0;title\x07.py:" in done.section(), done.text
    assert "\x1b" not in done.text and "\x07" not in done.text, done.text


TAKES_THE_PLACE = """
import os
def test_it():
    end = os.times().elapsed + 0.3
    while os.times().elapsed < end: pass
    os.rmdir("folder")
"""


@pytest.mark.parametrize("more", [[], ["-n", "1"]])
def test_what_cannot_be_written_in_the_end_costs_nothing_that_was_recorded(run, plumb, tmp_path, monkeypatch, more):
    """And fails no test, and the page is written."""
    if more:
        pytest.importorskip("xdist")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    (run.work / "folder").mkdir()
    done = run("--plumb=html", "--plumb-output", "folder/all.plumb", *more, code=TAKES_THE_PLACE)
    section = done.section()
    assert done.status == 0 and "plumb: cannot write folder/all.plumb: No such file or directory" in section, done.text
    left = re.search(r"what was recorded stays: plumb report (\S+)", section)[1]
    assert "test_it" in plumb("report", left).stdout
    assert "the profile is in plumb-report.html" in section, done.text


def test_what_several_recorded_stays_together(run, plumb, tmp_path, monkeypatch):
    pytest.importorskip("xdist")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    (run.work / "folder").mkdir()
    done = run("--plumb", "--plumb-output", "folder/all.plumb", "-n", "2", code=TAKES_THE_PLACE + "def test_two(): pass\n")
    left, all_of_it = re.search(r"what was recorded stays: plumb merge (\S+)/\*.plumb -o (\S+)", done.section()).groups()
    merged = plumb("merge", *sorted(pathlib.Path(left).glob("*.plumb")), "-o", tmp_path / all_of_it)
    assert merged.status == 0 and "test_it" in plumb("report", tmp_path / all_of_it).stdout, merged


def test_without_trouble_no_recording_stays(run, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    done = run("--plumb", "--plumb-output", "all.json", "-k", "slow")
    assert "the profile is in all.json" in done.section() and not list(tmp_path.glob("plumb-*")), done.text


IS_SAMPLED = """
import glob, os, resource, shutil, subprocess, tempfile

def recording():
    return glob.glob(tempfile.gettempdir() + "/plumb-pytest-*/*.plumb")[0]

def is_sampled():
    return b"test_it" in subprocess.run([os.environ["PLUMB"], "report", "--json", recording()], stdout=subprocess.PIPE).stdout

def spin():
    while not is_sampled():
        size = os.path.getsize(recording())
        while os.path.getsize(recording()) == size:
            sum(range(1000))

def test_fails():
    assert not "the cause"

def test_it():
    spin()
"""
LIMITS_FILES = IS_SAMPLED + "    resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(recording()), resource.RLIM_INFINITY))\n"
EMPTIES = IS_SAMPLED + "    shutil.rmtree(os.path.dirname(recording()))\n"
FORKS = IS_SAMPLED + """
    child = os.fork()
    if not child:
        raise SystemExit
    os.waitpid(child, 0)
"""


@pytest.fixture
def temporary(tmp_path, monkeypatch, plumb):
    """The folder for temporary files, with nothing in it."""
    monkeypatch.setenv("PLUMB", str(plumb.binary))
    path = tmp_path / "temporary"
    path.mkdir()
    monkeypatch.setenv("TMPDIR", str(path))
    return path


def is_untouched(done):
    """The result of the tests of IS_SAMPLED."""
    assert done.status == FAILED and done.outcome() == "1 failed, 1 passed" and 'not "the cause"' in done.text, done.text
    assert "INTERNALERROR" not in done.text and "Traceback (most recent" not in done.text, done.text


@pytest.mark.parametrize("more", [[], ["-n", "1"]])
def test_a_recording_that_cannot_be_finished_is_told_and_stays(run, plumb, temporary, more):
    if more:
        pytest.importorskip("xdist")
    done = run("--plumb", *more, code=LIMITS_FILES)
    is_untouched(done)
    assert re.search(r"plumb: cannot write \S+\.plumb: File too large", done.section()), done.text
    left = re.search(r"what was recorded stays: plumb report (\S+)", done.section())[1]
    assert "test_it" in plumb("report", "--json", left).stdout


@pytest.mark.parametrize("more", [[], ["-n", "1"]])
def test_a_recording_that_a_test_has_removed_is_told(run, temporary, more):
    if more:
        pytest.importorskip("xdist")
    done = run("--plumb", *more, code=EMPTIES)
    is_untouched(done)
    assert re.search(r"plumb: cannot write \S+\.plumb: No such file", done.section()) and "stays" not in done.section(), done.text
    assert not list(temporary.glob("plumb-*"))


def test_the_child_of_a_fork_has_no_part_in_the_session(run, temporary):
    """pytest takes its end for that of a test, and goes on in it."""
    done = run("--plumb", "-p", "no:rerunfailures", code=FORKS)
    is_untouched(done)
    assert len(re.findall("=+ plumb =+", done.text)) == 1 and "test_it" in seconds_of(done.section()), done.text
    assert "plumb: " not in done.section() and not list(temporary.glob("plumb-*")), done.text


STOPS_AND = "import os, plumb\nstop = plumb.Recording.stop\nplumb.Recording.stop = lambda self: (stop(self), %s)\n"
GIVES_UP_RIGHTS = STOPS_AND % "os.chmod(os.path.dirname(self.output), 0) if os.geteuid() else os.seteuid(65534)"
LEAVES = STOPS_AND % "os.rename(self.output, self.output + '.out')"  # as it is after os.chroot()


def test_a_recording_that_may_not_be_read_any_more_is_told(run, plumb, temporary):
    done = run("--plumb", code=IS_SAMPLED, before=GIVES_UP_RIGHTS)
    (folder,) = temporary.glob("plumb-pytest-*")
    folder.chmod(0o700)
    is_untouched(done)
    assert "tests.plumb: it cannot be opened: Permission denied" in done.section(), done.text
    left = re.search(r"what was recorded stays: plumb report (\S+)", done.section())[1]
    assert "test_it" in plumb("report", "--json", left).stdout


def test_a_recording_that_is_out_of_reach_is_told(run, temporary):
    done = run("--plumb", code=IS_SAMPLED, before=LEAVES)
    is_untouched(done)
    assert "plumb: there is no recording any more in %s/plumb-pytest-" % temporary in done.section(), done.text


FAILS = "import plumb, warnings\ndef fail(*_, **__): raise RuntimeError('the trouble')\n"


@pytest.mark.parametrize("before, sentence", [
    (FAILS + "plumb.start = fail", "RuntimeError: the trouble"),
    (FAILS + "plumb.tag = fail", "RuntimeError: the trouble"),
    (FAILS + "plumb.Recording.stop = fail", "RuntimeError: the trouble"),
    (FAILS + "plumb.open = fail", "RuntimeError: the trouble"),
    (FAILS + "sys.modules['plumb._pytest_summary'] = None", "ModuleNotFoundError: import of plumb._pytest_summary halted"),
    ("import plumb, warnings\nwarnings.filterwarnings('error', 'plumb')\nbegin = plumb.start\n"
     "plumb.start = lambda **o: warnings.warn('plumb samples less', RuntimeWarning) or begin(**o)", "samples less"),
])  # fmt: skip
def test_whatever_fails_is_told_and_ends_nothing(run, temporary, before, sentence):
    done = run("--plumb", before=before, code="def test_fails():\n    assert not 'the cause'\ndef test_it(): pass\n")
    assert done.status == FAILED and done.outcome() == "1 failed, 1 passed", done.text
    assert done.section().count("plumb: " + sentence) == 1 and "Traceback (most recent" not in done.text, done.text


def refused(done):
    """Before a test has run."""
    assert done.status == USAGE and "Traceback" not in done.text and not (done.work / "took").exists(), done.text
    assert "name another one with '--plumb-output', or replace the file with '--plumb-force'" in done.text, done.text
    return done.text


@pytest.mark.parametrize("more", [[], ["-n", "1"]])
def test_what_plumb_did_not_write_stays_and_that_is_told_before_the_tests_run(run, more):
    if more:
        pytest.importorskip("xdist")
    precious, page = run.work / "precious.json", run.work / "plumb-report.html"
    precious.write_text("precious")
    page.symlink_to(precious)
    assert "plumb-report.html is there already" in refused(run("--plumb=html", *more))
    assert "precious.json is there already" in refused(run("--plumb", "--plumb-output", "precious.json", *more))
    assert precious.read_text() == "precious"


def test_what_plumb_did_not_write_stays_unless_one_insists(run):
    """A page of the last run is replaced."""
    page, precious = run.work / "plumb-report.html", run.work / "precious"
    run("--plumb=html", "-k", "slow")
    again = run("--plumb=html", "-k", "slow")
    assert "the profile is in plumb-report.html" in again.section() and page.stat().st_mode & 0o777 == 0o600
    precious.write_text("precious")
    assert "the profile is in precious" in run("--plumb", "--plumb-output", "precious", "--plumb-force", "-k", "slow").section()
    assert precious.read_bytes().startswith(b"plumb")


def test_what_another_program_writes_meanwhile_stays(run, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    done = run("--plumb", "--plumb-output", "all.json", code="def test_it(): open('all.json', 'w').write('theirs')\n")
    assert "all.json is there already" in done.section() and "'--plumb-force'" in done.section(), done.text
    assert "'--force'" not in done.text and "what was recorded stays: plumb report " in done.section(), done.text
    assert (run.work / "all.json").read_text() == "theirs"


def test_who_reads_a_pipe_gets_the_profile_alone(run):
    """It is not opened to find out whether it could be."""
    os.mkfifo(run.work / "pipe.json")
    with subprocess.Popen(["cat", run.work / "pipe.json"], stdout=subprocess.PIPE) as reader:
        done = run("--plumb", "--plumb-output", "pipe.json", "-k", "slow")
        if "the profile is in pipe.json" not in done.section():
            reader.kill()
        assert json.loads(reader.communicate()[0]), done.text


def test_releases_of_pytest(run):
    assert "--plumb needs pytest 6.0 or later" in run("--plumb", before="pytest.__version__ = '5.4.3'").text
    assert run("--plumb", "-k", "slow", before="pytest.__version__ = 'unknown'").status == 0
