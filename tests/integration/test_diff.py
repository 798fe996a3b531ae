# SPDX-License-Identifier: Apache-2.0
"""`plumb diff` on recordings of real programs: what changed is found, what did not is not, and each form says the same."""
import json
import os
import re
import shutil
import signal
import subprocess

import pytest

from harness.plumb import Plumb, finish, until
from harness.statistics import assert_at_most, undecided
from harness.target import started
from harness.terminal import Terminal

SCHEMA = "plumb.diff/1"
SLOW = 400
KNOWN = 0.06  # half of the interval of a share that can be compared; of 1,200 samples that do not hang together it is 0.03
LONG = 150  # seconds after which a machine is too busy to tell shares
MORE_OF_THE_SAME = """
def loop(rounds):
    for _ in range(rounds * 10000):
        sum(range(1000))
loop(%d)
"""
# Who profiles it stands still for 30 times as long as it does not: of so much 97 % is missed, and counted as soon as its sampling thread
# goes to sleep again. For less than half a second each time, as a second is a pause, which is not missed.
UNSEEN = """
import os, signal, time

def now():
    return time.clock_gettime(time.CLOCK_BOOTTIME)

def naps():
    for tid in os.listdir("/proc/%d/task" % os.getppid()):
        with open("/proc/%d/task/%s/status" % (os.getppid(), tid)) as status:
            text = status.read()
        if "plumb-sampler" in text:
            return int(text.split("\\nvoluntary_ctxt_switches:")[1].split()[0])

def hold():
    os.kill(os.getppid(), signal.SIGSTOP)
    began, before = now(), naps()
    while now() < began + 0.4:
        sum(range(1000))
    held = now() - began
    os.kill(os.getppid(), signal.SIGCONT)
    while naps() == before:
        pass
    return held

with open("/proc/self/stat") as stat:
    born = int(stat.read().rsplit(")", 1)[1].split()[19]) / os.sysconf("SC_CLK_TCK")
while naps() is None:
    pass
total = 0
while total < 30 * (now() - born - total):
    held = hold()
    if held < 0.5:
        total += held
    else:
        born += held  # it may have been a pause
before = naps()
while naps() < before + 10:
    pass
"""


@pytest.fixture(scope="session")
def series(tmp_path_factory, places, ordinary_python):
    """series(count, seconds, slow): recordings of one running program, one after the other, each with as many samples as a machine that
    is half busy takes in that time, and of wall time for as long; made once.

    Of CPU time, unless the test is about wall time: where a machine is busy, a thread that has to wait for its CPU stands in
    one place for many samples, and a second of wall time tells little."""
    plumb = Plumb(tmp_path_factory.mktemp("diff"))
    made = {}

    def get(count, seconds, slow=100, mode="cpu", known=1.0):
        have = made.setdefault((seconds, slow, mode), [])
        if len(have) < count:
            with started(places, ordinary_python, "compared.py", "--slow", str(slow)) as program:

                def enough(profile):
                    lasts = profile.duration_s >= (seconds if mode == "wall" else 0)
                    is_known = profile.samples > 400 * seconds and profile.half_width("parse") <= known
                    return lasts and (is_known or profile.duration_s > LONG)

                while len(have) < count:
                    result, path = plumb.try_sampling(enough, program.pid, "-q", "--mode", mode)
                    assert result.status == 0, result
                    have.append(path)
        return have[:count]

    return get


def compare(plumb, *arguments, status=0):
    result = plumb("diff", "--json", *arguments)
    assert result.status == status, result
    found = json.loads(result.stdout)
    assert found["schema"] == SCHEMA
    return found


@pytest.fixture
def pair(plumb, series):
    """(before, after), `work` taking four times as long after."""
    found = series(1, 3, known=KNOWN)[0], series(1, 3, SLOW, known=KNOWN)[0]
    widths = [plumb.report(path).half_width("parse") for path in found]
    if max(widths) > KNOWN:
        undecided("of %d s the shares are known to %.2f and %.2f" % (LONG, *widths))
    return found


def changes(found):
    return {row["qualname"]: row[figure]["verdict"] for row in found["list"] for figure in ("self", "total")
            if row[figure]["verdict"] != "same"}


def row_of(found, name):
    (row,) = [row for row in found["list"] if row["name"] == name]
    return row


def test_the_same_program_is_not_called_changed(plumb, series, effort, table):
    tries = effort(10, 100)
    recordings = series(tries + 1, effort(1, 30), mode=effort("cpu", "wall"))
    alarms = [names for names in map(lambda pair: changes(compare(plumb, *pair)), zip(recordings, recordings[1:])) if names]
    assert_at_most(0.05, len(alarms), tries, alarms)


def test_a_slower_function_is_found(plumb, series, effort, pair):
    """Four times the time from some seconds; with --soak a tenth more from 30 s."""
    assert changes(compare(plumb, *pair)).get("work") == "more"
    tries = effort(0, 100)
    missed = 0
    for before, after in zip(series(tries, 30, mode="wall"), series(tries, 30, 110, "wall")):
        missed += row_of(compare(plumb, before, after), "work")["self"]["verdict"] != "more"
    if tries:
        assert_at_most(0.05, missed, tries, "a tenth more was not found")


def test_several_recordings_a_side(plumb, series):
    before, after = series(3, 1), series(3, 1, SLOW)
    found = compare(plumb, *before, "--", *after)
    assert found["variance"] == "runs" and found["before"]["runs"] == found["after"]["runs"] == 3
    work = row_of(found, "work")["self"]
    alone = [row_of(compare(plumb, path, path), "work")["self"]["before"] for path in before]
    assert work["before"] == pytest.approx(sum(alone) / 3, abs=1e-6)
    assert work["after"] > work["before"] and work["half_width"] > 0
    # Options may follow; a single run on one side is taken to vary as the other.
    found = compare(plumb, *before, "--", after[0], "--lines")
    assert found["rows"] == "lines" and found["after"]["runs"] == 1


@pytest.mark.parametrize("order, status, word", [("slower", 1, "failed"), ("same", 0, "passed"), ("faster", 0, "passed")])
def test_fail_above_fails_only_for_what_is_slower(plumb, pair, order, status, word):
    before, after = pair
    recordings = {"slower": (before, after), "same": (before, before), "faster": (after, before)}[order]
    # What gains a share makes the others lose some: so by `parse`, which does the same in both.
    result = plumb("diff", *recordings, "--fail-above", "50%", "--normalize", "parse")
    assert result.status == status and word in result.stdout, result


def test_more_of_the_same_work_does_not_pass(plumb, any_python):
    """Its shares are the same. Four times the work takes more than a fifth more CPU time on any machine."""

    def run(rounds):
        path = plumb.path()
        result = plumb("run", "-q", "--mode", "cpu", "-o", path, "--", *any_python.command, "-c", MORE_OF_THE_SAME % rounds)
        assert result.status == 0, result
        return path

    before, after = run(3), run(12)
    result = plumb("diff", before, after, "--fail-above", "20%")
    assert result.status == 1 and "the total grew by" in result.stdout and " total  " in result.stdout, result
    for word in ("total", "time"):  # an older word for the same
        passed = " ".join(plumb("diff", before, after, "--fail-above", "20%", "--normalize", word).stdout.split())
        assert re.search(r"passed: .*; that the total grew by [\d.]+ % does not count with this '--normalize'", passed), passed
    found = compare(plumb, before, after)
    assert found["all"]["after_ns"] > found["all"]["before_ns"] and found["all"]["relative"] > 0.2, found
    assert found["judged_by"] == "time and share" and found["per"] is None
    # Rows are told in time: of that one which took nearly all of it, it is about what all of it took.
    loop = row_of(found, "loop")["total"]["time"]
    assert loop["relative"] > 0.2 and loop["after_ns"] > 0.5 * found["all"]["after_ns"], loop
    # As much for each round.
    each = plumb("diff", before, after, "--per", "round=3,12", "--fail-above", "100%")
    assert each.status == 0 and "per round" in each.stdout and "passed" in each.stdout, each
    # That is no secret: for each of as many it is more.
    each = plumb("diff", before, after, "--per", "round=3,3", "--fail-above", "20%")
    assert each.status == 1 and "the total grew by" in each.stdout, each


def test_of_a_side_that_missed_nearly_all_no_limit_is_kept(plumb, ordinary_python):
    """Its times are too small by nobody knows how much, on either side; shares alone can be judged."""

    def run(code):
        path = plumb.path()
        result = plumb("run", "-q", "--never-stop", "-o", path, "--", *ordinary_python.command, "-c", code)
        assert result.status == 0, result
        return path

    seen, unseen = run(MORE_OF_THE_SAME % 3), run(UNSEEN)
    # Nothing changes from a recording to itself.
    same = plumb("diff", unseen, unseen, "--fail-above", "5%", "--width", "1000")
    assert same.status == 1 and "limit       failed: 'before' missed 9" in same.stdout and "of it  " not in same.stdout, same
    assert "is not known: what is compared are shares of the rest" in same.stdout, same
    found = compare(plumb, unseen, unseen, "--fail-above", "5%", status=1)
    assert found["limit"] == {"above": 0.05, "slower": 0, "grew": False, "time_unknown": True} and found["all"] is None, found
    assert found["judged_by"] == "share" and {row["self"]["time"] for row in found["list"]} == {None}
    assert "passed" in plumb("diff", unseen, unseen, "--fail-above", "5%", "--normalize", "total").stdout
    for pair in ((seen, unseen), (unseen, seen)):
        assert compare(plumb, *pair, "--fail-above", "5%", status=1)["limit"]["time_unknown"]
        asked = plumb("diff", *pair, "--normalize", "none")
        assert asked.status == 125 and "' missed 9" in asked.stderr and "--normalize total" in asked.stderr, asked


def test_time_for_a_unit_of_work(plumb, pair):
    """Of programs that went on: twice the work in the same time is half of the time for each."""
    found = compare(plumb, *pair, "--per", "step=1000,2000")
    assert found["per"] == {"unit": "step", "before": 1000, "after": 2000} and found["judged_by"] == "time"
    assert found["smallest_change"] == 0.05
    for row in found["list"]:
        for figure in (row["self"], row["total"]):
            for side, units in (("before", 1000), ("after", 2000)):
                took = figure[side] * found[side]["weight_ns"] / units
                assert figure["time"][side + "_ns"] == pytest.approx(took, rel=1e-6, abs=0.01), row
    main = row_of(found, "main")["total"]["time"]
    assert found["all"]["before_ns"] == pytest.approx(main["before_ns"], rel=0.05)
    text = plumb("diff", *pair, "--per", "step=1000,2000").stdout
    assert "per step" in text and "each of 1000 before and 2000 after" in text, text


def test_units_of_several_recordings(plumb, series):
    """Two numbers are the sums of the sides; else there is one for each recording."""
    recordings = series(3, 1)
    sides = [*recordings[:2], "--", recordings[2]]
    sums = compare(plumb, *sides, "--per", "x=20,10")
    each = compare(plumb, *sides, "--per", "x=10,10,10")
    assert sums["list"] == each["list"] and sums["per"] == each["per"] == {"unit": "x", "before": 20, "after": 10}
    other = compare(plumb, *sides, "--per", "x=5,15,10")
    assert other["per"] == sums["per"] and other["all"] != sums["all"]


def test_too_few_recordings_are_said_to_be(plumb, series):
    """Two a side: no figure of what could have been seen, which would be of no use."""
    before = series(3, 1)
    few = plumb("diff", *before[:2], "--", *before[:2]).stdout
    assert "use 3 or more" in few.replace("\n            ", "") and "unseen" not in few, few
    enough = plumb("diff", *before, "--", *before).stdout
    assert "or more" not in enough and "unseen" in enough, enough


def test_times_as_they_are_can_be_asked_for(plumb, pair):
    """Of programs that did not end, the user knows whether their work is the same."""
    found = compare(plumb, *pair, "--normalize", "none")
    assert found["judged_by"] == "time" and found["all"]["before_ns"] > 0
    assert compare(plumb, *pair)["judged_by"] == compare(plumb, *pair, "--normalize", "total")["judged_by"] == "share"
    assert compare(plumb, *pair)["all"] is None


def test_a_named_function_is_the_measure(plumb, pair):
    found = compare(plumb, *pair, "--normalize", "parse")
    assert found["normalized_by"] == {"scale": "function", "function": "parse"}
    parse = row_of(found, "parse")
    assert abs(parse["total"]["after"] - 1) < 1e-6 and abs(parse["self"]["after"] - 1) < 0.05, parse  # less what it was caught calling
    work, shares = row_of(found, "work")["self"], compare(plumb, *pair)
    for side in ("before", "after"):
        assert work[side] == pytest.approx(row_of(shares, "work")["self"][side] / row_of(shares, "parse")["total"][side], rel=1e-4)
    assert work["after"] > work["before"], work


def test_figures_are_those_of_the_reports(plumb, pair):
    reports = [plumb("report", "--json", path).stdout for path in pair]
    shares = [{f["qualname"]: (f["self"]["share"], f["total"]["share"]) for f in json.loads(text)["functions"]} for text in reports]
    for row in compare(plumb, *pair)["list"]:
        for side, known in zip(("before", "after"), shares):
            mine = row["self"][side], row["total"][side]
            assert mine == pytest.approx(known.get(row["qualname"], (0, 0)), abs=1e-6), row


def test_paths_name_their_callers(plumb, pair):
    found = compare(plumb, *pair, "--paths")
    rows = found["list"]
    (work,) = [row for row in rows if row["name"] == "work"]
    assert work["self"]["verdict"] == "more"
    assert rows[work["caller"]]["name"] == "step" and rows[rows[work["caller"]]["caller"]]["name"] == "main"
    (counted,) = [row for row in rows if row["name"] == "count"]
    assert rows[counted["caller"]]["name"] == "render"


def test_text_is_short_and_says_what_changed(plumb, pair):
    result = plumb("diff", *pair)
    lines = result.stdout.splitlines()
    assert result.status == 0 and len(lines) <= 25, result
    assert any(line.split()[:1] == ["more"] and "work" in line for line in lines), result
    assert "shares of all time" in result.stdout
    same = plumb("diff", pair[0], pair[0]).stdout
    assert "no change" in same and " unseen      changes of " in same, same


@pytest.mark.parametrize("columns", [20, 40, 60, 80, 200])
@pytest.mark.parametrize("rows", ["--functions", "--paths"])
def test_no_line_is_wider_than_the_terminal(plumb, pair, columns, rows):
    with Terminal([plumb.binary, "diff", *pair, rows], columns=columns) as terminal:
        assert terminal.wait() == 0, terminal.text
    lines = terminal.plain.splitlines()
    assert max(map(len, lines)) <= columns and len(lines) <= 25, terminal.plain
    assert "more" in terminal.plain and (columns == 20 or "work" in terminal.plain)


def test_colours_follow_the_terminal(plumb, pair):
    with Terminal([plumb.binary, "diff", *pair]) as terminal:
        assert terminal.wait() == 0 and terminal.coloured
    with Terminal([plumb.binary, "diff", *pair], environment={"NO_COLOR": "1"}) as terminal:
        assert terminal.wait() == 0 and not terminal.coloured
    assert "\x1b" not in plumb("diff", *pair).stdout
    assert plumb("diff", *pair, env=dict(os.environ, LC_ALL="C", LANG="C")).stdout.isascii()


def test_markdown_has_a_table(plumb, pair, tmp_path):
    out = tmp_path / "comment.md"
    assert plumb("diff", *pair, "-o", out).status == 0
    text = out.read_text()
    assert text.startswith("### plumb diff") and "<details>" in text
    rows = [line for line in text.splitlines() if line.startswith("| more |")]
    assert any("`work`" in row for row in rows), text
    assert all(row.count("|") == 8 for row in rows), rows


def test_collapsed_has_both_counts(plumb, pair):
    before, after = pair
    result = plumb("diff", before, after, "-f", "collapsed")
    counts = {}
    for line in result.stdout.splitlines():
        stack, first, second = line.rsplit(" ", 2)
        counts[stack] = int(first), int(second)
    report = json.loads(plumb("report", "--json", after).stdout)
    assert sum(second for _, second in counts.values()) == report["samples"]["total"]
    # Those before are brought to the same sum.
    assert sum(first for first, _ in counts.values()) == pytest.approx(report["samples"]["total"], rel=0.02)
    (work,) = [count for stack, count in counts.items() if stack.endswith(":work")]
    assert work[1] > 1.3 * work[0]


def test_the_same_command_writes_the_same_bytes(plumb, pair):
    for form in ("text", "json", "markdown", "collapsed"):
        assert plumb("diff", *pair, "-f", form).stdout == plumb("diff", *pair, "-f", form).stdout


def test_a_program_that_moved_is_the_same(plumb, ordinary_python, tmp_path):
    """Another folder, and a line more above everything."""
    source = open(os.path.join(os.path.dirname(__file__), "..", "targets", "compared.py")).read()
    parley = os.path.join(os.path.dirname(__file__), "..", "targets", "parley.py")
    recordings = []
    for folder, text in (("old", source), ("new", source.replace("import parley", "# A line more.\nimport parley"))):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "compared.py").write_text(text)
        shutil.copy(parley, tmp_path / folder)

        def run(seconds):
            path, program = plumb.path(), tmp_path / folder / "compared.py"
            assert plumb("run", "-q", "-o", path, "--", *ordinary_python.command, program, "--seconds", seconds).status == 0
            return path

        recordings.append(until(run, lambda path: plumb.report(path).samples > 300, 0.7))
    found = compare(plumb, *recordings, "--lines")
    assert found["moved"] >= 4
    moved = [row for row in found["list"] if row["name"] == "work"]
    assert all(row["self"]["verdict"] not in ("new", "gone") for row in moved), moved
    assert any(row["self"]["before_samples"] and row["self"]["after_samples"] for row in moved), moved


@pytest.mark.parametrize("arguments, words", [
    (["A", "A", "A"], ["'--'"]),
    (["--", "A", "A"], ["before '--'"]),
    (["A", "A", "--"], ["after '--'"]),
    (["A", "no-such-file"], ["no-such-file"]),
    (["A", "A", "-f", "svgz"], ["svgz"]),
    (["A", "A", "-o", "x.unknown"], ["x.unknown"]),
    (["A", "A", "--fail-above", "lots"], ["lots"]),
    (["A", "A", "--normalize", "nobody_is_called_so"], ["nobody_is_called_so"]),
    (["FOLDED", "FOLDED", "--normalize", "none"], ["no time", "--normalize total"]),
    (["A", "A", "--per", "request"], ["'request'", "request=1200,1250"]),
    (["A", "A", "--per", "request=1,0"], ["'request=1,0'"]),
    (["A", "A", "--per", "request=1,1e-300"], ["1e-09", "1e-300"]),
    (["A", "A", "--per", "request=1,2,3"], ["3 amounts", "2 recordings"]),
    (["A", "A", "--per", "request=1,2", "--normalize", "total"], ["two measures"]),
    (["A", "A", "--per", "request=1,2", "--normalize", "work"], ["two measures"]),
    (["A"], ["two recordings"]),
    (["A", "WALL"], ["modes"]),
    (["A", "A", "-f", "json", "-o", "A"], ["recording itself"]),
])
def test_what_cannot_be_compared_is_refused_in_one_sentence(plumb, series, target, any_python, arguments, words):
    recording = series(1, 1)[0]
    names = {"A": recording, "WALL": recording.with_suffix(".wall.plumb"), "FOLDED": plumb.path(".folded")}
    names["FOLDED"].write_text("main;work 10\n")
    if "WALL" in arguments:
        with target(any_python, "compared.py") as busy:
            assert plumb("attach", "-q", "-d", "0.3", "-o", names["WALL"], busy.pid).status == 0
    result = plumb("diff", *[names.get(word, word) for word in arguments])
    errors = [line for line in result.stderr.splitlines() if not line.startswith("hint: ")]
    assert result.status == 125 and not result.stdout and len(errors) == 1, result
    assert all(word in result.stderr for word in words), result


def test_a_reader_that_goes_away_is_no_news(plumb, series):
    process = plumb.start("diff", "--json", "--lines", *series(2, 1), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    process.stdout = None
    assert finish(process).stderr == ""


def test_ctrl_c_ends_it(plumb, series, tmp_path):
    """While it waits for a recording that comes through a pipe nobody writes to."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    process = plumb.start("diff", series(1, 1)[0], fifo, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with open(fifo, "wb"):
        process.send_signal(signal.SIGINT)
        assert finish(process).status == -signal.SIGINT


def test_a_recording_that_was_cut_is_compared_and_told(plumb, series, tmp_path):
    whole = series(2, 1)
    cut = tmp_path / "cut.plumb"
    cut.write_bytes(whole[1].read_bytes()[:-20])
    result = plumb("diff", whole[0], cut)
    assert result.status == 0 and "cut.plumb is incomplete" in result.stderr, result
