# SPDX-License-Identifier: Apache-2.0
"""`plumb merge`: nothing lost, nothing mixed up, in whatever order."""
import itertools
import json
import os
import resource
import subprocess

import pytest

from harness.plumb import Plumb, until
from harness.recording import chunks_with_samples
from harness.target import started


@pytest.fixture(scope="module")
def recordings(tmp_path_factory, places, ordinary_python):
    """Three of different programs: one of threads, one of processes, one that was cut short."""
    plumb = Plumb(tmp_path_factory.mktemp("merge"))
    made = []
    for script in ("threads.py", "mixed.py", "compared.py"):
        with started(places, ordinary_python, script) as program:

            def attach(seconds):
                path = plumb.path()
                assert plumb("attach", "-q", "-d", seconds, "-o", path, program.pid).status == 0
                return path

            made.append(until(attach, lambda path: len(chunks_with_samples(path)) > 1, 1.2))
    return made


def merged(plumb, *paths):
    out = plumb.path()
    result = plumb("merge", "-q", *paths, "-o", out)
    assert result.status == 0 and result.stderr == "", result
    return out


def report(plumb, path):
    return plumb("report", "--json", "--idle", path).stdout


def test_order_and_grouping_do_not_matter(plumb, recordings):
    everything = {merged(plumb, *order).read_bytes() for order in itertools.permutations(recordings)}
    a, b, c = recordings
    for first, second, third in ((a, b, c), (b, c, a), (c, a, b)):
        everything.add(merged(plumb, merged(plumb, first, second), third).read_bytes())
        everything.add(merged(plumb, third, merged(plumb, second, first)).read_bytes())
    assert len(everything) == 1
    assert len({report(plumb, merged(plumb, *order)) for order in itertools.permutations(recordings)}) == 1


def test_nothing_is_lost(plumb, recordings):
    parts = [json.loads(report(plumb, path)) for path in recordings]
    whole = json.loads(report(plumb, merged(plumb, *recordings)))
    assert len(whole["processes"]) == sum(len(part["processes"]) for part in parts)
    assert len(whole["threads"]) == sum(len(part["threads"]) for part in parts)
    for member in ("total", "weight_ns", "exact", "stopped", "doubtful", "partial"):
        assert whole["samples"][member] == sum(part["samples"][member] for part in parts)
    assert whole["ticks"] == sum(part["ticks"] for part in parts)

    def self_times(profile):
        return {(f["qualname"], f["file"], f["line"]): (f["self"]["samples"], f["total"]["samples"]) for f in profile["functions"]}

    sums = {}
    for part in parts:
        for function, (own, total) in self_times(part).items():
            before = sums.get(function, (0, 0))
            sums[function] = before[0] + own, before[1] + total
    assert self_times(whole) == sums


def test_its_time_is_that_in_which_something_was_recorded(plumb, recordings):
    parts = [json.loads(report(plumb, path)) for path in recordings]
    both = merged(plumb, *recordings)
    whole = json.loads(report(plumb, both))
    durations = [part["duration_ns"] for part in parts]
    assert max(durations) < whole["duration_ns"] <= sum(durations)
    first = json.loads(plumb("report", "--json", "--idle", "--time", "0..0.3", both).stdout)
    assert 0 < first["samples"]["total"] < whole["samples"]["total"]
    assert 0 < first["duration_ns"] < whole["duration_ns"]
    assert first["start"] == whole["start"] == min(part["start"] for part in parts)


def test_one_recording_alone_stays_what_it_is(plumb, recordings):
    for path in recordings:
        alone, before = json.loads(report(plumb, merged(plumb, path))), json.loads(report(plumb, path))
        for member in ("samples", "states", "functions", "losses", "ticks", "duration_ns", "command", "host"):
            assert alone[member] == before[member], member
    said = plumb("merge", recordings[0], "-o", plumb.path()).stderr
    assert said.startswith("plumb: 1 recording: "), said


def test_what_was_merged_can_be_merged_compared_and_collapsed(plumb, recordings):
    both = merged(plumb, *recordings[:2])
    result = plumb("diff", both, merged(plumb, recordings[0], recordings[2]))
    assert result.status == 0, result
    folded = plumb("report", both, "-f", "collapsed").stdout
    assert sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines()) == json.loads(report(plumb, both))["samples"]["total"]


def test_the_same_recording_twice_is_told(plumb, recordings, tmp_path):
    copy = tmp_path / "copy.plumb"
    copy.write_bytes(recordings[0].read_bytes())
    result = plumb("merge", recordings[0], recordings[1], copy, "-o", plumb.path())
    assert result.status == 0 and "copy.plumb holds the same samples" in result.stderr, result


def test_a_recording_that_was_cut_is_merged_and_told(plumb, recordings, tmp_path):
    cut = tmp_path / "cut.plumb"
    cut.write_bytes(recordings[1].read_bytes()[:-25])
    out = plumb.path()
    result = plumb("merge", recordings[0], cut, "-o", out)
    assert result.status == 0 and "cut.plumb is incomplete" in result.stderr, result
    samples = [json.loads(report(plumb, path))["samples"]["total"] for path in (recordings[0], cut, out)]
    assert samples[2] == samples[0] + samples[1]


def test_what_is_made_of_a_recording_that_was_cut_says_so(plumb, recordings, tmp_path):
    cut, out = tmp_path / "cut.plumb", tmp_path / "out.plumb"
    cut.write_bytes(recordings[1].read_bytes()[:-25])
    for made in (["merge", recordings[0], cut, "-o", out], ["symbolize", cut, "-o", out], ["report", cut, "--time", "0..", "-o", out]):
        assert plumb(*made, "--force").status == 0, made
        assert not json.loads(report(plumb, out))["complete"], made
        assert "! incomplete: " in plumb("report", out).stdout, made
    assert plumb("merge", *recordings, "-o", out, "--force").status == 0
    assert json.loads(report(plumb, out))["complete"]


def test_what_is_no_sample_is_told_by_merge_and_diff_too(plumb, tmp_path):
    some, other = tmp_path / "some.folded", tmp_path / "other.folded"
    some.write_text("a;b 5\na;c -7\n")
    other.write_text("a;b 5\n")
    for command in (["merge", some, other, "-o", plumb.path()], ["diff", other, some]):
        result = plumb(*command)
        assert result.status == 0 and "some.folded: 1 line or record held no sample: left out" in result.stderr, result


def test_a_recording_of_the_first_plumb_is_merged(plumb, recordings):
    old = os.path.join(os.path.dirname(__file__), "..", "golden", "recording")
    olds = sorted(name for name in os.listdir(old) if not name.endswith((".txt", ".json", ".md")))
    assert olds
    out = plumb.path()
    result = plumb("merge", "-q", os.path.join(old, olds[0]), recordings[0], "-o", out)
    assert result.status == 0, result
    assert plumb("report", out).status == 0


def test_modes_do_not_mix(plumb, recordings, target, any_python):
    cpu = plumb.path()
    with target(any_python, "compared.py") as busy:
        assert plumb("attach", "-q", "-d", "0.3", "--mode", "cpu", "-o", cpu, busy.pid).status == 0
    out = plumb.path()
    result = plumb("merge", recordings[0], cpu, "-o", out)
    errors = [line for line in result.stderr.splitlines() if not line.startswith("hint: ")]
    assert result.status == 125 and len(errors) == 1 and "CPU time" in errors[0] and cpu.name in errors[0], result
    assert not out.exists()


@pytest.mark.parametrize("arguments, status, words", [
    (["A", "B"], 125, ["-o"]),
    (["-o", "OUT"], 125, ["recordings"]),
    (["A", "no-such-file", "-o", "OUT"], 1, ["no-such-file"]),
    (["A", "TEXT", "-o", "OUT"], 1, ["text.txt"]),
    (["A", "B", "-o", "A"], 125, ["one of the recordings"]),
    (["A", "B", "-o", "/no/such/folder/out"], 125, ["/no/such/folder/out"]),
])
def test_what_cannot_be_merged_is_refused_in_one_sentence(plumb, recordings, tmp_path, arguments, status, words):
    text = tmp_path / "text.txt"
    text.write_text("no recording\n" * 100)
    names = {"A": recordings[0], "B": recordings[1], "TEXT": text, "OUT": tmp_path / "out.plumb"}
    result = plumb("merge", *[names.get(word, word) for word in arguments])
    errors = [line for line in result.stderr.splitlines() if not line.startswith("hint: ")]
    assert result.status == status and len(errors) == 1 and not result.stdout, result
    assert all(word in result.stderr for word in words), result
    assert not names["OUT"].exists()


def test_standard_output_is_a_place_to_write_to(plumb, recordings, tmp_path):
    """As for other commands; there was a file that was called so."""
    for name, arguments in (("merged", ["merge", *recordings]), ("symbolized", ["symbolize", recordings[0]])):
        with open(tmp_path / name, "wb") as file:
            assert plumb(*arguments, "-o", "-", stdout=file).status == 0
        assert plumb.report(tmp_path / name).samples
        with plumb.start(*arguments, "-o", "-", stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            written, said = process.communicate(timeout=60)
        assert process.returncode == 0 and written == (tmp_path / name).read_bytes(), said
    assert not (plumb.directory / "-").exists()


def test_a_full_disk_leaves_no_half_recording(plumb, recordings, tmp_path):
    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    import signal
    out = tmp_path / "out.plumb"
    result = plumb("merge", *recordings, "-o", out, preexec_fn=lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN), small_files()))
    assert result.status == 125 and "out.plumb" in result.stderr, result
    assert not out.exists()
