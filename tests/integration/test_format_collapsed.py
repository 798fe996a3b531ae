# SPDX-License-Identifier: Apache-2.0
"""Collapsed stacks come back as they went out, and those of other profilers with their processes, threads, files and lines."""
import json
import os
import subprocess

import pytest

from harness import collector_runs
from harness.plumb import PATIENCE

MAKER = "tests/tools/make_profile"


def lines(path):
    return path.read_bytes().split(b"\n")


@pytest.mark.parametrize("seed", range(6))
def test_what_was_written_comes_back(plumb, seed):
    maker = os.path.join(os.path.dirname(plumb.binary), *MAKER.split("/"))
    if not os.access(maker, os.X_OK):
        pytest.skip("there is no %s: the binary is not in its build directory" % maker)
    recording, first, again = plumb.path(), plumb.path(".folded"), plumb.path(".folded")
    subprocess.run([maker, str(seed), recording, "2000"], check=True, timeout=PATIENCE)
    assert plumb("convert", "--idle", recording, first).status == 0
    result = plumb("convert", first, again)
    assert result.status == 0, result
    assert sorted(lines(first)) == sorted(lines(again)) and len(lines(first)) > 100


def test_what_cpython_writes_comes_back(plumb):
    made = collector_runs.Runs(5)
    for _ in range(10):
        source, first, again = plumb.path(".json"), plumb.path(".folded"), plumb.path(".folded")
        run = made.run(tasks="any")
        run["samples"].append({"interpreters": [{"id": 0, "threads": [{"id": 1, "status": 3, "frames": [["/a.py", 1, "f", None]]}]}]})
        source.write_text(json.dumps(run))
        assert plumb("convert", "--from", "samples", source, first).status == 0
        assert plumb("convert", first, again).status == 0
        assert lines(first) == lines(again)


DIALECTS = {
    "py-spy": (b'process 12:"python app.py";thread (0x7F3C0001): Main;<module> (app.py:3);run (a b.py);idle_[k] 7\n'
               b"<module> (app.py:3) 2\n",
               [b"pid:12 python app.py;tid:2134638593;app.py:<module>:3;a b.py:run:0;idle_[k] 7", b"pid:0;tid:0;app.py:<module>:3 2"]),
    "austin": (b"# austin: 3.4.1\n# interval: 100\n# mode: wall\n\n"
               b"P42;T0:43;/srv/app.py:<module>:3;/srv/lib.py:f:9 100\n"
               b"P42;T0:43;/srv/app.py:<module>:3;/srv/lib.py:f:9 120\n"
               b"P42;T0:0x2c;/srv/app.py:<module>:3 99,0,-12\n# duration: 1200\n",
               [b"tid:43;app.py:<module>:3;lib.py:f:9 2", b"tid:44;app.py:<module>:3 1"]),
    "flamegraph.pl": (b"main;std::vector<int>::push_back;T1 2.6\r\nP12 1\nmain;do_idle_[k]\t4\n\nno count\n12\n",
                      [b"tid:0;main;do_idle_[k] 4", b"tid:0;main;std::vector<int>::push_back;T1 3", b"tid:0;P12 1"]),
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_each_dialect_is_understood(plumb, dialect):
    text, expected = DIALECTS[dialect]
    source, out = plumb.path(".txt"), plumb.path(".folded")
    source.write_bytes(text)
    result = plumb("convert", source, out)
    assert result.status == 0, result
    assert sorted(lines(out)[:-1]) == sorted(expected)


@pytest.mark.parametrize("text", [b"", b"hello\nworld\n", b"\n\n"])
def test_a_file_without_any_stack_is_refused(plumb, text):
    source = plumb.path(".folded")
    source.write_bytes(text)
    result = plumb("convert", source, plumb.path(".json"))
    assert result.status != 0 and str(source) in result.stderr, result
