# SPDX-License-Identifier: Apache-2.0
"""`-f html`: what the page holds is what `plumb report --json` says, and nothing of the profile is part of the HTML."""
import collections
import json
import os
import subprocess

import pytest

from harness.figures import make
from harness.page import STATES, Page, blocks, page_is_built  # noqa: F401 - a fixture
from harness.plumb import TOP
from harness.target import wait_asleep

KINDS = ["python", "native", "kernel", "task", "marker"]
OWN_FAILURE = 125


@pytest.fixture(scope="module")
def real(threads_recording):
    return threads_recording


def written(plumb, recording, *options):
    """(the page, its text without blocks)"""
    path = plumb.path(".html")
    result = plumb("report", "-o", path, *options, recording)
    assert result.status == 0 and "error" not in result.stderr, result
    found, rest = blocks(path.read_bytes())
    assert [kind for kind, _ in found] == ["profile"]
    return Page(found[0][1]), rest


def functions_of(page, cells):
    return collections.Counter((f["name"], f["qualname"], f["file"], f["line"], KINDS[f["origin"]], *figures)
                               for f, figures in ((page.functions[i], row) for i, row in page.by_function(cells).items()))


def functions_in(report):
    return collections.Counter((f["name"], f["qualname"], f["file"], f["line"], f["kind"], f["self"]["samples"], f["self"]["weight_ns"],
                                f["total"]["samples"], f["total"]["weight_ns"]) for f in report["functions"])


def blame_in(report):
    blame = report.get("gil_blame", {"holders": [], "unseen": {"samples": 0}})
    found = {(holder["name"], holder["file"], holder["line"]): (holder["samples"], holder["weight_ns"]) for holder in blame["holders"]}
    unseen = blame["unseen"]
    return {**found, None: (unseen["samples"], unseen["weight_ns"])} if unseen["samples"] else found


def lock_blame_in(report):
    """As the page has it: what a holder ran, and in which line it stood, is no part of it."""
    found = {}
    for lock in report.get("lock_blame", {"locks": ()})["locks"]:
        held = collections.defaultdict(lambda: (0, 0))
        parts = [((one["tid"], one["thread"], one.get("name")), one) for one in lock["holders"]]
        for who, part in [*parts, (None, lock["passed_on"]), ("", lock["unknown"])]:
            held[who] = held[who][0] + part["samples"], held[who][1] + part["weight_ns"]
        found[lock["pid"], lock["id"], lock["type"]] = {who: both for who, both in held.items() if both[0]}
    return found


def stacks_of(page, cells):
    names = [(f["name"], f["file"], f["line"]) for f in page.functions]
    return collections.Counter((thread, tuple((names[f], *place) for f, *place in frames), *figures)
                               for (thread, frames), figures in page.by_stack(cells).items())


def stacks_in(report):
    names = [(f["name"], f["file"], f["line"]) for f in report["functions"]]
    places = [(names[place["function"]], place["line"], place["end_line"], place["column"], place["end_column"], place.get("opcode", -1) + 1)
              for place in report["locations"]]
    return collections.Counter((stack["thread"], tuple(places[i] for i in stack["frames"]), stack["samples"], stack["weight_ns"])
                               for stack in report["stacks"])


def alike(found, expected):
    """Counters of thousands of rows: pytest would compare their texts for minutes, and print megabytes."""
    told = ["%s %.300r" % (what, row) for what, rows in (("more:", found - expected), ("missing:", expected - found)) for row in list(rows)[:3]]
    if found != expected:
        pytest.fail("%d rows, and %d were expected\n%s" % (len(found), len(expected), "\n".join(told)))


def same(page, report, keep=False):
    """Every figure of the report, out of the page's cells."""
    cells = page.passing(keep)
    totals = page.totals(cells)
    assert totals["samples"] == report["samples"]
    assert totals["states"] == {name: report["states"][name]["samples"] for name in STATES}
    for member in ("threads", "processes", "losses", "overhead", "command", "start", "duration_ns", "period_ns", "seed", "ticks", "complete"):
        assert page.meta[member] == report[member], member
    assert keep or page.meta["findings"] == report["findings"]  # of what the page begins with
    alike(functions_of(page, cells), functions_in(report))
    assert page.blame(keep) == blame_in(report)
    assert page.lock_blame() == lock_blame_in(report)
    alike(stacks_of(page, cells), stacks_in(report))
    per_thread = collections.Counter()
    for _, thread, _, _, _, samples, _ in page.cells:
        per_thread[thread] += samples
    strip = {t: sum(map(sum, runs.values())) for t, runs in enumerate(page.strip)}
    assert strip == per_thread == {t: thread["samples"] for t, thread in enumerate(report["threads"])}


def report_of(plumb, recording, *options):
    """Without idle threads; plumb.report() keeps them."""
    result = plumb("report", "--json", *options, recording)
    assert result.status == 0, result
    return json.loads(result.stdout)


@pytest.mark.parametrize("seed", range(1, 7))
def test_random_profiles_have_the_figures_of_the_report(plumb, seed):
    recording = make(plumb, seed, 3000)
    page, _ = written(plumb, recording)
    same(page, report_of(plumb, recording))
    same(page, report_of(plumb, recording, "--idle"), keep=True)


def test_a_real_recording_has_the_figures_of_the_report(plumb, real):
    page, _ = written(plumb, real)
    same(page, report_of(plumb, real))
    assert not page.meta["untimed"] and page.meta["bins"] > 100
    assert page.meta["batch_ns"] % page.meta["bin_ns"] == 0 and page.shift == 0


def test_who_held_the_lock_is_what_the_report_says(plumb, target, ordinary_python):
    with target(ordinary_python, "locks.py", "--case", "crowd") as program:
        wait_asleep(program.pid)
        held = lambda profile: sum(len(lock["holders"]) for lock in profile.json.get("lock_blame", {"locks": ()})["locks"])  # noqa: E731
        _, recording = plumb.try_sampling(held, program.pid)
    page, _ = written(plumb, recording)
    report = report_of(plumb, recording)
    assert any(isinstance(who, tuple) for lock in page.lock_blame().values() for who in lock)
    same(page, report)


FILTERS = [["--time", "1..1.5"], ["--threads", "MainThread"], ["--process", "4100"], ["--state", "on-cpu,wants-gil"], ["--kind", "python,marker"],
           ["--module", "json"], ["--focus", "plain"], ["--ignore", "plain"], ["--functions"], ["--min-share", "1"]]


@pytest.mark.parametrize("options", FILTERS, ids=lambda options: options[0])
def test_what_is_filtered_has_the_figures_of_the_report(plumb, options):
    recording = make(plumb, 4, 3000)
    page, _ = written(plumb, recording, *options, "--idle")
    report = report_of(plumb, recording, *options, "--idle")
    assert 0 < report["samples"]["total"] <= 3000
    assert options[0] in page.meta["filter"]
    keep = page.passing(keep=True)
    assert page.totals(keep)["samples"] == report["samples"]
    alike(functions_of(page, keep), functions_in(report))


def test_samples_keep_their_time(plumb):
    """The samples of bins that are whole batches are those that `--time` finds."""
    recording = make(plumb, 2, 3000)
    page, _ = written(plumb, recording)
    batch, bin_ns = page.meta["batch_ns"], page.meta["bin_ns"]
    assert page.shift == 0
    for first, last in ((0, 1), (1, 5), (3, 20)):
        expected = report_of(plumb, recording, "--idle", "--time", "%.9g..%.9g" % (first * batch / 1e9, last * batch / 1e9))
        cells = [c for c in page.cells if first * batch <= c[4] * bin_ns < last * batch]
        assert page.totals(cells)["samples"] == expected["samples"]
        in_strip = sum(sum(runs.get(b, ())) for runs in page.strip for b in range(first * batch // bin_ns, last * batch // bin_ns))
        assert in_strip == expected["samples"]["total"]


def test_nothing_of_the_profile_is_part_of_the_html(plumb):
    page, rest = written(plumb, make(plumb, 1, 3000))
    assert any("</script><script>alert(1)" in s for s in page.strings)
    assert any(len(s) >= 65536 for s in page.strings) and any("\u2028" in s for s in page.strings)
    assert any("\ufffd" in s for s in page.strings)
    other, rest_of_other = written(plumb, make(plumb, 2, 30))
    assert rest == rest_of_other and page.strings != other.strings


def test_the_same_command_writes_the_same_bytes(plumb, real):
    first, second = plumb.path(".html"), plumb.path(".html")
    for path in (first, second):
        assert plumb("report", "-o", path, real).status == 0
    assert first.read_bytes() == second.read_bytes()


def test_a_sum_has_a_timeline_of_batches(plumb):
    recording = plumb.path()
    assert plumb("merge", "-o", recording, make(plumb, 3, 2000), make(plumb, 6, 2000)).status == 0
    page, _ = written(plumb, recording)
    same(page, report_of(plumb, recording))
    assert page.meta["bin_ns"] == page.meta["batch_ns"] and page.meta["bins"] > 1
    assert not page.meta["untimed"] and page.meta["pauses"] == 0


@pytest.mark.parametrize("form", ["collapsed", "pprof", "speedscope", "callgrind"])
def test_what_other_tools_wrote_has_a_page(plumb, form):
    source = plumb.path("." + form)
    assert plumb("convert", make(plumb, 5, 500), source, "-f", form).status == 0
    page, _ = written(plumb, source, "--from", form)
    same(page, report_of(plumb, source, "--from", form))
    assert page.meta["imported"]


def test_many_samples_of_few_stacks_take_little(plumb):
    """Size follows distinct stacks: ten times as long a recording is not ten times as large."""
    program = os.path.join(os.path.dirname(plumb.binary), "tests/tools/make_profile")
    sizes, pages = [], []
    for samples in (100_000, 1_000_000):
        recording, path = plumb.path(), plumb.path(".html")
        subprocess.run([program, "1", str(recording), str(samples), "2000"], check=True)
        assert plumb("report", "-o", path, recording).status == 0
        found, _ = blocks(path.read_bytes())
        sizes.append(path.stat().st_size)
        pages.append(Page(found[0][1]))
    assert sizes[1] < 3 * sizes[0] and sizes[1] < 1_500_000, sizes
    assert sum(c[5] for c in pages[1].cells) == 1_000_000


def test_an_output_that_is_full_is_told(plumb, real):
    result = plumb("report", "-f", "html", "-o", "/dev/full", real)
    assert result.status == OWN_FAILURE and "No space left" in result.stderr and result.stderr.startswith("plumb: ")


def test_the_lines_around_what_was_sampled_are_there(plumb, real):
    page, _ = written(plumb, real)
    sampled = {}
    for f, places_of in zip(page.functions, page.locations):
        sampled.setdefault(f["file"], set()).update(line for line, *_ in places_of if line > 0)
    (target,) = [name for name in page.sources if name.endswith("threads.py")]
    _, lines = page.sources[target]
    text = (TOP / "tests/targets/threads.py").read_text().split("\n")
    assert sampled[target] <= set(lines)
    assert all(text[at - 1] == line for at, line in lines.items())
    assert page.meta["sources_left_out"] == 0


def test_a_recording_without_sources_has_a_page_without(plumb, any_python):
    out = plumb.path(".html")
    code = "import time; end = time.time() + 0.3\nwhile time.time() < end: sum(range(99))"
    assert plumb("run", "-q", "--no-sources", "-o", out, "--", *any_python.command, "-c", code).status == 0
    assert Page(blocks(out.read_bytes())[0][0][1]).sources == {}


def test_nodes_take_three_bytes_each(plumb):
    """Of a program whose functions call a few others from a few lines; what is random cannot be small."""
    program = os.path.join(os.path.dirname(plumb.binary), "tests/tools/make_profile")
    recording, path = plumb.path(), plumb.path(".html")
    nodes = 100_000
    subprocess.run([program, "1", str(recording), str(3 * nodes), str(nodes), "program"], check=True)
    assert plumb("report", "-o", path, recording).status == 0
    found, rest = blocks(path.read_bytes())
    assert len(Page(found[0][1]).frame) - 1 == nodes
    assert path.stat().st_size - len(rest) < 3 * nodes + 700_000  # half a megabyte of times, in base64
