# SPDX-License-Identifier: Apache-2.0
"""`report -f pstats`: every Python's own pstats reads it and finds the same figures."""
import base64
import json
import subprocess

import pytest

from harness.figures import Figures, make, written
from harness.plumb import PATIENCE

SEEDS = [1, 2]

# On the interpreter's side, 2.7 included. The file comes through the pipe: an interpreter can have another root directory.
READER = """
import base64, json, os, pstats, sys, tempfile
def text(s): return s if isinstance(s, type(u"")) else s.decode("utf-8")
def key(k): return [text(k[0]), k[1], text(k[2])]
answer = []
for line in sys.stdin:
    place, path = tempfile.mkstemp()
    os.write(place, base64.b64decode(line.strip()))
    os.close(place)
    stats = pstats.Stats(path)
    os.remove(path)
    rows = [[key(k), list(v[:4]), [[key(c), list(f)] for c, f in v[4].items()]] for k, v in stats.stats.items()]
    answer.append([stats.total_calls, stats.total_tt, rows])
    stats.strip_dirs().sort_stats("cumulative").calc_callees()
print(json.dumps(answer))
"""


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    """[(what the report says, the file)] for each seed: made once, read by all interpreters."""
    from harness.plumb import Plumb

    plumb = Plumb(tmp_path_factory.mktemp("pstats"))
    made = []
    for seed in SEEDS:
        recording = make(plumb, seed, 200)
        made.append((Figures(plumb.report(recording), key), written(plumb, recording, "pstats").read_bytes()))
    return made


def key(function, line):
    def clean(text):
        return text.replace("\0", "\ufffd")

    return clean(function["file"]) or "~", function["line"], clean(function["name"])


def test_every_python_reads_the_same_figures(recordings, minor):
    lines = b"\n".join(base64.b64encode(written) for _, written in recordings)
    reader = subprocess.run([*minor.command, "-c", READER], input=lines, capture_output=True, timeout=PATIENCE)
    assert reader.returncode == 0, reader.stderr.decode()
    for (wanted, _), (calls, seconds, rows) in zip(recordings, json.loads(reader.stdout), strict=True):
        assert seconds == pytest.approx(wanted.all.weight_ns / 1e9)
        assert calls == sum(cost.samples for cost in wanted.total.values())
        assert {tuple(row[0]) for row in rows} == set(wanted.total) and len(rows) == len(wanted.total)
        for name, (cc, nc, tt, ct), callers in rows:
            name = tuple(name)
            assert cc == nc == wanted.total[name].samples, name
            assert tt == pytest.approx(wanted.own[name].weight_ns / 1e9), name
            assert ct == pytest.approx(wanted.total[name].weight_ns / 1e9), name
            for caller, figures in callers:
                assert figures[1] == wanted.called[tuple(caller), name].samples, (caller, name)
        pairs = {(tuple(caller), tuple(row[0])) for row in rows for caller, _ in row[2]}
        assert pairs == set(wanted.called)


def test_the_tool_of_the_standard_library_prints_it(plumb, any_python, recordings, tmp_path):
    path = tmp_path / "odd.pstats"
    path.write_bytes(recordings[0][1])
    shown = subprocess.run([*any_python.command, "-m", "pstats", str(path)], input=b"sort tottime\nstats 5\n", capture_output=True, timeout=PATIENCE)
    assert shown.returncode == 0 and b"function calls" in shown.stdout and b"Traceback" not in shown.stdout + shown.stderr, shown


# Without recursion: then inclusive times can be told, too.
PROGRAM = """
import base64, cProfile, json, os, pstats, tempfile
def leaf(n): return sum(range(n))
def left(): return leaf(20000) + leaf(10)
def right(): return [leaf(1000) for i in (1, 2, 3)], sorted("cba")
def main(): left(); right(); right()
p = cProfile.Profile()
p.runcall(main)
path = os.path.join(tempfile.mkdtemp(), "a")
p.dump_stats(path)
rows = [[list(k), v[2], v[3]] for k, v in pstats.Stats(path).stats.items()]
print(json.dumps([base64.b64encode(open(path, "rb").read()).decode("ascii"), rows]))
os.remove(path)
os.rmdir(os.path.dirname(path))
"""


def test_what_cprofile_wrote_comes_in(plumb, minor):
    run = subprocess.run([*minor.command, "-c", PROGRAM], capture_output=True, timeout=PATIENCE)
    assert run.returncode == 0, run.stderr.decode()
    data, rows = json.loads(run.stdout)
    path = plumb.path(".pstats")
    path.write_bytes(base64.b64decode(data))
    profile = plumb.report(path)
    functions = {(f["file"], f["line"], f["name"]): f for f in profile.functions}
    assert len(rows) > 5 and set(functions) <= {tuple(name) for name, _, _ in rows}
    for name, own, total in rows:
        if own * 1e9 >= 1:
            assert functions[tuple(name)]["self"]["weight_ns"] == pytest.approx(own * 1e9, abs=1), name
            assert functions[tuple(name)]["total"]["weight_ns"] == pytest.approx(total * 1e9, abs=len(rows) + 1000, rel=0.001), name
    assert len(profile.stacks) > 5 and all(len(set(stack.frames)) == len(stack.frames) for stack in profile.stacks)


def test_our_own_files_come_back(plumb):
    recording = make(plumb, 1, 200)
    wanted = Figures(plumb.report(recording), key)
    back = Figures(plumb.report(written(plumb, recording, "pstats")), key)
    assert {name: cost.weight_ns for name, cost in back.own.items()} == pytest.approx({name: cost.weight_ns for name, cost in wanted.own.items() if cost.weight_ns}, abs=1)


@pytest.mark.parametrize("damage", ["{(\3\0\0\0", "{(\3\0\0\0X\0\0", "{(\3\0\0\0t\377\377\0\0a"])
def test_what_is_broken_is_refused(plumb, damage):
    path = plumb.path(".pstats")
    path.write_text(damage)
    result = plumb("report", "--json", path)
    assert result.status == 1 and str(path) in result.stderr, result
