# SPDX-License-Identifier: Apache-2.0
"""`-f pprof`: Go's pprof reads it and finds the same figures under the same names."""
import gzip
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from harness.consumers import CACHE, go_program
from harness.figures import Figures, make, written
from harness.plumb import PATIENCE

SEEDS = [1, 2, 3]
ALL = ["-nodecount=1000000", "-nodefraction=0", "-edgefraction=0"]
ROW = re.compile(r"^ *([\d.e+]+)(?:ns)? +[\d.]+% +[\d.]+% +([\d.e+]+)(?:ns)? +[\d.]+%  ", re.MULTILINE)


def pprof(*arguments, home):
    environment = {**os.environ, "PPROF_TMPDIR": str(home), "HOME": str(home)}
    done = subprocess.run([go_program("pprof"), *map(str, arguments)], capture_output=True, timeout=PATIENCE, env=environment)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done.stdout.decode()


def rows(text):
    """{name: (flat, cumulative)} of `pprof -top`; names may have line breaks."""
    found = list(ROW.finditer(text))
    ends = [match.start() - 1 for match in found[1:]] + [len(text) - 1]
    return {text[match.end():end]: (int(float(match[1])), int(float(match[2]))) for match, end in zip(found, ends)}


def expected(figures, which):
    """The same of the report. Samples without a frame are in the total alone."""
    return {name: (getattr(figures.own[name], which), getattr(total, which)) for name, total in figures.total.items() if name}


def function_key(function, line):
    if function["name"] == "<no frame>":
        return None
    return " ".join(part for part in (function["qualname"], function["file"]) if part) or "[plain]"  # the first process


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("which, index", [("samples", 0), ("weight_ns", 1)])
def test_pprof_finds_the_same_figures(plumb, tmp_path, seed, which, index):
    recording = make(plumb, seed)
    figures = Figures(plumb.report(recording), function_key)
    path = written(plumb, recording, "pprof")
    top = pprof("-top", "-filefunctions", "-unit=ns", "-sample_index=%d" % index, *ALL, path, home=tmp_path)
    assert rows(top) == expected(figures, which)
    total = re.search(r"of ([\d.e+]+)(?:ns)? total$", top, re.MULTILINE)
    assert int(float(total[1])) == getattr(figures.all, which)


def test_pprof_tells_labels_losses_and_types(plumb, tmp_path):
    recording = make(plumb, 1)
    path = written(plumb, recording, "pprof")
    raw = pprof("-raw", path, home=tmp_path)
    report = plumb.report(recording).json
    assert "samples/count %s/nanoseconds[dflt]" % report["mode"] in raw
    assert "Comment: command: %s" % report["command"] in raw
    for name, count in report["losses"].items():
        if not name.endswith("_ns"):  # of those that are counted
            assert ("Comment: lost %s: %d\n" % (name, count) in raw) == (count > 0)
    for thread in report["threads"]:
        if thread["samples"]:
            assert "tid:[%d]" % thread["tid"] in raw
    # Its demangler would cut these.
    assert re.search(r"M=\d <lambda> ", raw) and re.search(r"M=\d <module> ", raw)


def test_the_public_definition_knows_every_field(plumb):
    protoc, definition = shutil.which("protoc"), pathlib.Path(CACHE) / "go" / "profile.proto"
    if not protoc or not definition.exists():
        pytest.skip("there is no %s" % ("protoc (Debian: protobuf-compiler)" if not protoc else "profile.proto: ./dev setup fetches it"))
    body = gzip.decompress(written(plumb, make(plumb, 3), "pprof").read_bytes())
    done = subprocess.run([protoc, "--decode", "perftools.profiles.Profile", "-I", str(definition.parent), definition.name],
                          input=body, capture_output=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.decode().splitlines()
    assert not [line for line in lines if re.match(r" *\d+[:{ ]", line)], "fields without a name"
    assert lines.count("sample {") and lines[0] == "sample_type {"
    # What a text says stands in its table alone, and the first is empty.
    assert [line for line in lines if line.startswith("string_table")][0] == 'string_table: ""'


def test_equal_recordings_give_equal_bytes(plumb):
    recording = make(plumb, 2)
    assert written(plumb, recording, "pprof").read_bytes() == written(plumb, recording, "pprof").read_bytes()
