# SPDX-License-Identifier: Apache-2.0
"""The outputs of CPython's sampling collectors, from the same samples: flame-graph data equal as data and in its order, collapsed
stacks equal byte for byte. The reference is CPython 3.15's own code; for the flame graphs as they were at first it is
harness/seed_flame.py, written after the numbered statements of docs/internals/contracts.md."""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

from harness import collector_runs, seed_flame
from harness.plumb import PATIENCE

HARNESS = pathlib.Path(__file__).resolve().parents[1] / "harness"
SOURCES = {
    "plain.py": "import os\n\n\ndef f():\n    return 1   \n\n\t\n# seven\nnine = 9\r\nten\n\x0cff\nlast".encode(),
    "bom.py": b"\xef\xbb\xbfone\ntwo\nthree \xc2\xa0\n",
    "latin.py": b"# coding: latin-1\nx = '\xe9'\n",
    "broken.py": b"ok\n\xff\n",
    "utf8.py": "# -*- coding: utf-8 -*-\n\u3000\nd = 'größe'\u2003\n".encode(),
}


@pytest.fixture(scope="module")
def collectors(pythons):
    """collectors(runs, sources) -> what CPython 3.15 makes of them."""
    found = [python for python in pythons if python.minor == (3, 15) and not python.missing]
    if not found:
        pytest.skip("there is no CPython 3.15: " + next(python.missing for python in pythons if python.minor == (3, 15)))

    def run(runs, sources):
        given = {"runs": runs, "sources": {path: base64.b64encode(text).decode() for path, text in sources.items()}}
        script = (HARNESS / "run_collectors.py").read_text()
        result = subprocess.run([*found[0].command, "-I", "-c", script], input=json.dumps(given), capture_output=True, text=True, timeout=PATIENCE)
        assert result.returncode == 0, result.stderr[-4000:]
        return json.loads(result.stdout)

    return run


@pytest.fixture
def sources():
    """Source files under names that are the same for us and for an interpreter with another root."""
    directory = tempfile.mkdtemp(prefix="plumb-sources-")
    os.chmod(directory, 0o755)  # root shows what anybody may read
    paths = {}
    for name, text in SOURCES.items():
        path = os.path.join(directory, name)
        pathlib.Path(path).write_bytes(text)
        paths[path] = text
    yield paths
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture
def convert(plumb):
    def run(run, form, *options):
        source, out = plumb.path(".json"), plumb.path(".out")
        source.write_text(json.dumps(run))
        result = plumb("convert", source, out, "--from", "samples", "-f", form, *options)
        assert result.status == 0, result
        return out.read_bytes()

    return run


def parsed(text):
    """As data that remembers the order of members, but for what specialised opcodes stand for: CPython tells that in the order of a
    module's table, plumb by number. What JSON of ours cannot hold is U+FFFD in both."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 30000))
    return json.loads(text, object_pairs_hook=lambda pairs: tuple((k, sorted(v) if k == "deopt" else v) for k, v in pairs))


def runs_of(count, seed, sources):
    made = collector_runs.Runs(seed, sources)
    runs = [made.run(tasks=[None, None, "ordered"][i % 3]) for i in range(count)]
    return runs + [collector_runs.sole(seed + i) for i in range(count // 8)]


def test_flame_graphs_and_collapsed_stacks_are_those_of_cpython(collectors, convert, sources, effort):
    runs = runs_of(effort(90, 3000), 20261122, sources)
    answers = collectors(runs, sources)
    for i, (run, answer) in enumerate(zip(runs, answers)):
        assert convert(run, "collapsed", "--no-escape") == base64.b64decode(answer["collapsed"]), "run %d" % i
        assert parsed(convert(run, "flamegraph-json")) == parsed(answer["flame"]), "run %d" % i
    assert sum("Program Root: " in answer["flame"] for answer in answers) > 5
    assert sum("No Data" in answer["flame"] for answer in answers) > 5
    assert sum("thread_opcodes" in answer["flame"] for answer in answers) > 20
    assert sum("\\u2192" in answer["flame"] for answer in answers) > 20


def test_tasks_with_any_ids_give_the_collapsed_stacks_of_cpython(collectors, convert):
    made = collector_runs.Runs(77)
    runs = [made.run(tasks="any") for _ in range(30)]
    for run, answer in zip(runs, collectors(runs, {})):
        assert convert(run, "collapsed", "--no-escape") == base64.b64decode(answer["collapsed"])


def test_flame_graphs_as_they_were_at_first(convert, sources):
    opcodes = parsed(convert(collector_runs.sole(1), "flamegraph-json"))[-1]
    differ = 0
    for run in runs_of(60, 4711, sources):
        got = parsed(convert(run, "flamegraph-json", "--flavour", "seed"))
        expected = parsed(json.dumps(seed_flame.flame_graph(run)))
        if dict(got).get("opcode_mapping"):
            assert got[-1] == opcodes
            got = got[:-1]
        assert got == expected
        differ += dict(parsed(convert(run, "flamegraph-json"))) != dict(got)
    assert differ > 30


def test_without_statistics_all_that_is_said_is_in_the_samples(convert):
    run = {"sample_interval_usec": 1000, "samples": [{"interpreters": [{"id": 0, "threads": [{"id": 1, "status": 0, "frames": []}]}]}]}
    assert dict(parsed(convert(run, "flamegraph-json")))["value"] == 0
    assert convert(run, "collapsed") == b""


def test_a_recording_keeps_what_the_collector_was_told(plumb, convert, sources):
    kept, out = plumb.path(".plumb"), plumb.path(".out")
    for run in runs_of(8, 11, sources):
        run["sample_interval_usec"] = max(run["sample_interval_usec"], 10)  # a recording's times are rounded to 1,024 ns or an eighth of it
        kept.write_bytes(convert(run, "plumb"))
        for form in ("flamegraph-json", "collapsed"):
            result = plumb("convert", kept, out, "-f", form)
            assert result.status == 0, result
            assert out.read_bytes() == convert(run, form), (form, run)


@pytest.mark.parametrize("broken", ['{"samples": 1}', '{"samples": [{"weight": -1}]}', '{"samples": [{"interpreters": [{"threads": [{}]}]}]}',
                                    '{"samples": [', '{}', '{"samples": [{"interpreters": [{"threads": [{"id": 1, "frames": [["a"]]}]}]}]}'])
def test_what_is_no_run_of_a_collector_is_refused(plumb, broken):
    source = plumb.path(".json")
    source.write_text(broken)
    result = plumb("convert", source, plumb.path(".out"), "--from", "samples", "-f", "collapsed")
    assert result.status != 0 and str(source) in result.stderr, result
