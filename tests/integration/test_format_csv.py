# SPDX-License-Identifier: Apache-2.0
"""`report -f csv` and `-f jsonl`: Python's csv and json read them and find the same figures."""
import csv
import json

import pytest

from harness.figures import Cost, Figures, make, written

SEEDS = [1, 2, 3]
# The full-width signs are taken for the same in a Japanese environment.
FORMULA = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20\u2212\u30fc"


def clean(text):
    """NUL is nothing that readers of CSV bear; an apostrophe stands before what a spreadsheet would compute."""
    text = text.replace("\0", "\ufffd")
    return "'" + text if text[:1] and text[0] in FORMULA else text


def function_key(function, line):
    return clean(function["name"]), clean(function["file"]), str(function["line"])


def line_key(function, line):
    return (*function_key(function, line), str(line))


def without_frameless(figures):
    """Rows are functions and lines: samples without a frame are in no row but those of threads."""
    figures.own.pop(function_key({"name": "<no frame>", "file": "~", "line": 0}, 0), None)
    return {name: (figures.own[name], figures.total[name]) for name in figures.total if name[0] != "<no frame>"}


def costs(row):
    return tuple(Cost(int(row[part + "_samples"]), int(row[part + "_ns"])) for part in ("self", "total"))


def added(rows, names):
    """Rows whose texts are equal, added up; None for the totals of those, which overlap."""
    sums = {}
    for row in rows:
        name = tuple(row[column] for column in names)
        own, total = costs(row)
        sums[name] = (sums[name][0] + own, None) if name in sums else (own, total)
    return sums


def assert_same(rows, wanted):
    assert set(rows) == set(wanted)
    for name, (own, total) in rows.items():
        assert own == wanted[name][0], name
        assert total is None or total == wanted[name][1], name


@pytest.mark.parametrize("seed", SEEDS)
def test_csv_has_every_function_line_and_thread(plumb, seed):
    recording = make(plumb, seed)
    profile = plumb.report(recording)
    path = written(plumb, recording, "csv")
    assert path.read_bytes().endswith(b"\r\n")
    with open(path, newline="", encoding="utf-8") as f:
        rows = list(csv.DictReader(f, strict=True))
    by = {kind: [row for row in rows if row["row"] == kind] for kind in ("function", "line", "thread")}
    assert sum(map(len, by.values())) == len(rows)
    names = ["function", "file", "first_line"]
    assert_same(added(by["function"], names), without_frameless(Figures(profile, function_key)))
    assert_same(added(by["line"], [*names, "line"]), without_frameless(Figures(profile, line_key)))
    threads = sorted((thread["pid"], thread["tid"], thread["samples"], thread["weight_ns"]) for thread in profile.threads)
    assert sorted((int(row["process"]), int(row["thread"]), *costs(row)[0]) for row in by["thread"]) == threads
    for row in rows:
        for cell in row.values():
            assert cell[:1] not in tuple("=+-@\t\r\n"), row
        assert 0 <= float(row["self_share"]) <= float(row["total_share"]) <= 1.000001
    widths = {f["total"]["half_width"] for f in profile.functions}
    assert {float(row["total_half_width"]) for row in by["function"]} == widths


@pytest.mark.parametrize("seed", SEEDS)
def test_jsonl_has_a_header_and_every_line(plumb, seed):
    recording = make(plumb, seed)
    profile = plumb.report(recording, "--lines")
    text = written(plumb, recording, "jsonl").read_text(encoding="utf-8")
    header, *rows = [json.loads(line) for line in text.split("\n")[:-1]]
    assert header["schema"] == "plumb.lines/1" and header["lines"] == len(rows)
    for member in ("samples", "losses"):
        assert len(header[member]) >= 6 and header[member].items() <= profile.json[member].items()
    functions = profile.functions
    wanted = [(functions[r["function"]]["name"], functions[r["function"]]["file"], r["line"], r["self"], r["total"]) for r in profile.json["lines"]]
    assert [(r["name"], r["file"], r["line"], r["self"], r["total"]) for r in rows] == wanted and wanted


def test_no_name_is_taken_for_a_formula(plumb, tmp_path):
    given = tmp_path / "formulas.folded"
    names = ["%cSUM(1)" % sign for sign in FORMULA if not sign.isspace()] + ["SUM=1", "x\uff1d1"]
    given.write_text("".join("%s 1\n" % name for name in names), "utf-8")
    rows = csv.DictReader(plumb("convert", given, "-", "-f", "csv").stdout.splitlines())
    assert {row["function"] for row in rows if row["row"] == "function"} == {clean(name) for name in names}
