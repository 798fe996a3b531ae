# SPDX-License-Identifier: Apache-2.0
"""plumb convert and the filters: what goes in comes out, in every format and through every kind of file."""
import gzip
import itertools
import json
import re
import shutil
import subprocess

import pytest

from harness.page import blocks
from harness.plumb import Plumb, finish, until
from harness.terminal import Terminal

BAD_INPUT, OWN_FAILURE = 1, 125
BINARY = ("pprof", "pstats", "otlp", "plumb")


@pytest.fixture(scope="module")
def recording(threads_recording):
    return threads_recording


@pytest.fixture(scope="module")
def whole(recording):
    return Plumb(recording.parent).report(recording)


def formats(plumb, heading):
    """Names in the list of `plumb help formats` under a heading, without what this plumb was built without."""
    text = plumb("help", "formats").stdout
    part = re.split(r"^(?=Output formats|Input formats|The JSON)", text, flags=re.M)
    listed = next(p for p in part if p.startswith(heading))
    return re.findall(r"^  ([a-z][a-z-]*)(?! +this plumb has no)\b", listed, re.M)


def convert(plumb, source, *options, name=".plumb"):
    out = plumb.path(name)
    result = plumb("convert", source, out, *options)
    assert result.status == 0 and result.stdout == "", result
    return out, result.stderr


def counts(profile):
    """{stack with its thread: (samples, weight)}, whatever the numbers of ids."""
    found = {}
    for stack in profile.stacks:
        key = (stack.thread["name"], stack.quality, stack.frames)
        samples, weight = found.get(key, (0, 0))
        found[key] = samples + stack.samples, weight + stack.weight_ns
    return found


def sentence(result, *words, status=BAD_INPUT):
    lines = result.stderr.splitlines()
    assert result.status == status and result.stdout == "", result
    assert lines and lines[0].startswith("plumb: ") and len(lines) <= 2, result
    for word in words:
        assert word in result.stderr, "%r is not mentioned: %s" % (word, result)


# What goes in comes out -----------------------------------------------------------------------------------------------


@pytest.mark.smoke
def test_a_recording_of_a_recording_is_the_same(plumb, recording):
    copy, notes = convert(plumb, recording)
    assert notes == ""
    for form in ("json", "firefox", "collapsed"):
        assert plumb("report", "-f", form, recording).stdout == plumb("report", "-f", form, copy).stdout.replace(
            str(copy), str(recording)), form


@pytest.mark.smoke
def test_every_format_is_written_twice_the_same_and_says_what_it_leaves_out(plumb, recording):
    for form in formats(plumb, "Output"):
        first, second = (plumb("convert", recording, "-", "-f", form, stdout=subprocess.PIPE) for _ in range(2))
        assert first.status == 0 and first.stdout and first.stdout == second.stdout, (form, first.stderr)
        notes = first.stderr.splitlines()
        assert all(re.fullmatch(r"note: %s has no room for [a-z, ]+: left out" % form, line) for line in notes), first.stderr
        assert len(notes) <= 1 and not (notes and form in ("text", "json", "markdown", "plumb")), (form, notes)
        assert "times" in first.stderr if form in ("collapsed", "pprof", "svg", "pstats") else True, (form, notes)


@pytest.mark.parametrize("form", ["collapsed", "pprof", "speedscope", "callgrind", "perf-script"])
def test_what_is_imported_after_exporting_has_all_samples(plumb, recording, whole, form):
    if form not in formats(plumb, "Input"):
        pytest.skip("there is no importer for %s" % form)
    there, _ = convert(plumb, recording, "-f", form, name="." + form)
    back, _ = convert(plumb, there, "--from", form)
    assert plumb.report(back).samples == whole.samples


def test_the_command_is_named_in_the_file(plumb, recording):
    for form in ("speedscope", "callgrind", "jsonl", "firefox"):
        out, _ = convert(plumb, recording, "-f", form, "--threads", "alpha", name="." + form)
        assert re.search(rb"plumb convert .*threads alpha", out.read_bytes()), form


# Through what it goes -------------------------------------------------------------------------------------------------


@pytest.mark.smoke
def test_standard_input_a_pipe_and_gzip_are_the_file(plumb, recording):
    folded, _ = convert(plumb, recording, name=".folded")
    expected = plumb("report", "--json", folded).stdout
    packed = plumb.path(".folded.gz")
    packed.write_bytes(gzip.compress(folded.read_bytes()[:100]) + gzip.compress(folded.read_bytes()[100:]))
    assert plumb("report", "--json", packed).stdout == expected
    with open(folded, "rb") as file:
        assert plumb("report", "--json", "-", stdin=file).stdout == expected
    cat = subprocess.Popen(["cat", packed], stdout=subprocess.PIPE)
    assert plumb("report", "--json", "-", stdin=cat.stdout).stdout == expected
    cat.wait()
    # A recording, whose samples are read a second time.
    with open(recording, "rb") as file:
        cat = subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE)
        from_pipe = plumb("convert", "-", "-", "-f", "firefox", stdin=cat.stdout)
        cat.wait()
    assert from_pipe.status == 0
    assert json.loads(from_pipe.stdout)["threads"] == json.loads(plumb("convert", recording, "-", "-f", "firefox").stdout)["threads"]


def test_binary_formats_are_not_for_terminals(plumb, recording):
    for form in BINARY:
        with Terminal([plumb.binary, "convert", recording, "-", "-f", form]) as terminal:
            assert terminal.wait() == OWN_FAILURE
            assert "%s is not for a terminal" % form in terminal.plain, terminal.plain
    with Terminal([plumb.binary, "convert", recording, "-", "-f", "collapsed"]) as terminal:
        assert terminal.wait() == 0


def test_run_writes_any_format_beside_the_recording(plumb, any_python):
    code = "import sys, time; end = time.time() + float(sys.argv[1])\nwhile time.time() < end: sum(range(99))"
    out, kept = plumb.path(".firefox.json"), plumb.directory

    def run(seconds):
        """The times of samples in a part of it, in milliseconds from its start."""
        for old in kept.glob("plumb.*.plumb"):
            old.unlink()
        window = "%g..%g" % (seconds / 5, seconds * 3 / 5)
        result = plumb("run", "-o", out, "--time", window, "--", *any_python.command, "-c", code, str(seconds))
        assert result.status == 0, result
        samples = [thread["samples"] for thread in json.loads(out.read_text())["threads"]]
        times = [time for of in samples for time in of.get("time", itertools.accumulate(of.get("timeDeltas", [])))]
        assert all(0 <= time <= seconds * 400 + 1 for time in times), times
        return times

    times = until(run, lambda times: len(times) > 20, 0.5)
    (recorded,) = kept.glob("plumb.*.plumb")
    assert plumb.report(recorded).samples > len(times)
    own = plumb.path(".plumb")
    assert plumb("run", "-q", "-o", own, "--", *any_python.command, "-c", code, "0.1").status == 0
    assert plumb.report(own).complete


# Filters --------------------------------------------------------------------------------------------------------------


@pytest.mark.smoke
def test_parts_add_up_to_the_whole(plumb, recording, whole):
    tids = [str(thread["tid"]) for thread in whole.threads]
    for parts in ([["--time", "..0.4"], ["--time", "0.4..0.7"], ["--time", "0.7.."]],
                  [["--focus", "alpha|spin"], ["--ignore", "alpha|spin"]],
                  [["--threads", tids[0]], ["--threads", ",".join(tids[1:])]]):
        profiles = [plumb.report(convert(plumb, recording, *options)[0]) for options in parts]
        assert sum(profile.samples for profile in profiles) == whole.samples, parts
        total = {}
        for profile in profiles:
            for key, (samples, weight) in counts(profile).items():
                before = total.get(key, (0, 0))
                total[key] = before[0] + samples, before[1] + weight
        assert {key: n for key, (n, _) in total.items()} == {key: n for key, (n, _) in counts(whole).items()}, parts


def test_the_second_of_two_files_is_no_output(plumb, recording):
    """The shell makes two names of '*.plumb', or of '*.folded'. What was made of a recording can be made again, and is replaced."""
    one, other, text = plumb.path(".plumb"), plumb.path(".plumb"), plumb.path(".folded")
    for copy in (one, other):
        shutil.copy(recording, copy)
    before = other.read_bytes()
    result = plumb("convert", one, other, "--time", "..0.2")
    assert result.status == OWN_FAILURE and "%s is there already" % other in result.stderr and "--force" in result.stderr, result
    assert other.read_bytes() == before and not list(plumb.directory.glob("*.new"))
    for out, options in ((text, []), (text, ["--time", "..0.2"]), (other, ["--time", "..0.2", "--force"])):
        result = plumb("convert", one, out, *options)
        assert result.status == 0, result
    assert other.read_bytes() != before
    for given in (["-f", "plumb", one, other], [text, other]):
        result = plumb("convert", *given)
        assert result.status == OWN_FAILURE and "%s is there already" % other in result.stderr, result
    again = plumb.path(".folded")
    assert plumb("convert", other, again).status == 0
    before = text.read_bytes()
    result = plumb("convert", again, text)
    assert result.status == OWN_FAILURE and "%s is there already" % text in result.stderr and text.read_bytes() == before, result


def test_what_a_report_filters_convert_filters(plumb, recording):
    for options in (["--time", "0.2..0.5"], ["--state", "on-cpu,gil"], ["--module", "threads"], ["--kind", "python"],
                    ["--min-share", "10"], ["--state", "waiting", "--focus", "wait", "--time", "100ms.."]):
        out, _ = convert(plumb, recording, *options)
        assert counts(plumb.report(out)) == counts(plumb.report(recording, *options)), options


def test_each_filter_leaves_what_it_says(plumb, recording, whole):
    window = plumb.report(recording, "--time", "0.2..0.5")
    assert abs(window.duration_s - 0.3) < 1e-6 and 0 < window.samples < whole.samples
    assert window.json["samples"]["weight_ns"] < 0.4e9 * len(whole.threads)
    focused = plumb.report(recording, "--focus", "^[^ ]*threading|threading.py$")
    assert all(any("threading" in str(f.file) for f in s.frames) for s in focused.stacks) and focused.samples
    lines = [l for s in plumb.report(recording, "--functions").stacks for l in s.frames]
    assert lines and all(frame.line == 0 for frame in lines)
    pruned = plumb.report(recording, "--min-share", "20")
    assert pruned.samples == whole.samples and len(pruned.stacks) < len(whole.stacks)
    process = plumb.report(recording, "--process", str(whole.json["processes"][0]["pid"]))
    assert process.samples == whole.samples


def test_filters_reach_every_format(plumb, recording):
    for form in formats(plumb, "Output"):
        options = ["-f", form, "--focus", "no such function"]
        nothing = plumb("convert", recording, "-", *options)
        assert nothing.status == 0 and "note: no sample passes the filters" in nothing.stderr, (form, nothing)
        said = str(blocks(nothing.stdout.encode())[0]) if form == "html" else nothing.stdout  # a page has words of its own
        assert "alpha" not in said.replace("--focus", ""), form


# What is wrong --------------------------------------------------------------------------------------------------------


@pytest.mark.smoke
@pytest.mark.parametrize("content, words", [
    (b"", "empty"),
    (b"GIF89a" + bytes(1000), "neither a plumb recording nor"),
    (bytes(5000), "neither a plumb recording nor"),
    (lambda: gzip.compress(bytes(300 << 20)), "neither a plumb recording nor"),
    (gzip.compress(b"a;b 1\n" * 1000)[:30], "gzip data is damaged or cut short"),
    (gzip.compress(b"a;b 1\n" * 1000) + b"more", "gzip data is damaged or cut short"),
    (b"\x1f\x8b\x08" + bytes(100), "gzip data is damaged or cut short"),
    (b"plumb\0\n" + bytes(200), "copied as text"),
    (b"plumb\0\r\r\n" + bytes(200), "copied as text"),
    (b"{" * 100000, ""),
    (b"[" * 100000, ""),
], ids=["empty", "gif", "zeros", "bomb", "cut", "tail", "no-gzip", "unix", "dos", "braces", "brackets"])
def test_what_cannot_be_read_is_told(plumb, content, words):
    path = plumb.path(".data")
    path.write_bytes(content() if callable(content) else content)
    sentence(plumb("convert", path, "-", "-f", "json"), str(path), words)


def test_half_a_file_of_any_format_is_no_crash(plumb, recording):
    for form in set(formats(plumb, "Output")) & set(formats(plumb, "Input")):
        out, _ = convert(plumb, recording, "-f", form, name=".data")
        data = out.read_bytes()
        for length in (len(data) // 2, len(data) - 3):
            out.write_bytes(data[:length])
            result = plumb("convert", out, "-", "-f", "csv", "--from", form)
            assert result.status in (0, BAD_INPUT), (form, result)
            if result.status:
                sentence(result, str(out))


@pytest.mark.smoke
@pytest.mark.parametrize("options, words", [
    (["--time", "5"], "'5' is not a range of time"),
    (["--time", "5..3"], "'5..3' is not a range of time"),
    (["--time", ".."], "'..' is not a range of time"),
    (["--state", "asleep"], "'asleep' is no state"),
    (["--kind", "java"], "'java' is no kind of frames"),
    (["--focus", "("], "'(' is no regular expression"),
    (["--min-share", "200"], "'200' is not a percentage"),
    (["--from", "nothing"], "there is no input format 'nothing'"),
    (["-f", "nothing"], "there is no output format 'nothing'"),
])
def test_what_is_no_filter_is_told(plumb, recording, options, words):
    sentence(plumb("convert", recording, "-", *(["-f", "json"] if "-f" not in options else []), *options), words,
             status=OWN_FAILURE)


@pytest.mark.parametrize("arguments", [
    ["report", "-", "--json", "-o", "SAME"],
    ["convert", "-", "SAME", "-f", "json"],
    ["convert", "-", "SAME", "-f", "json", "--force"],
    ["diff", "-", "SAME", "--json", "-o", "SAME"],
    ["merge", "-", "-o", "SAME"],
])
def test_a_recording_of_standard_input_is_not_written_over(plumb, recording, arguments):
    same = plumb.path()
    shutil.copy(recording, same)
    before = same.read_bytes()
    with open(same, "rb") as opened:
        result = plumb(*[same if word == "SAME" else word for word in arguments], stdin=opened)
    assert result.status == OWN_FAILURE and not result.stdout and "recording" in result.stderr, result
    assert same.read_bytes() == before


def test_a_recording_is_not_written_over_from_standard_output_either(plumb, recording):
    same = plumb.path()
    shutil.copy(recording, same)
    for arguments in (["report", same, "--json"], ["convert", same, "-", "-f", "json"], ["diff", same, recording, "--json"],
                      ["merge", same, "-o", "-"], ["symbolize", same, "-o", "-"]):
        with open(same, "ab") as opened:
            result = finish(plumb.start(*arguments, stdout=opened, stderr=subprocess.PIPE))
        assert result.status == OWN_FAILURE and same.read_bytes() == recording.read_bytes(), (arguments, result)


def test_places_that_cannot_be(plumb, recording):
    sentence(plumb("convert", recording, recording), "is the recording itself", status=OWN_FAILURE)
    sentence(plumb("convert", recording, plumb.path(".strange")), "does not say which format", status=OWN_FAILURE)
    sentence(plumb("convert", recording, "-"), "no format is given", status=OWN_FAILURE)
    sentence(plumb("convert", plumb.path(), "-", "-f", "json"), "there is no file")
    with open("/dev/full", "wb") as full:
        for form in formats(plumb, "Output"):
            result = finish(plumb.start("convert", recording, "-", "-f", form, stdout=full, stderr=subprocess.PIPE))
            assert result.status == OWN_FAILURE and "space" in result.stderr, (form, result)
    folded, _ = convert(plumb, recording, name=".folded")
    sentence(plumb("convert", folded, "-", "-f", "json", "--time", "1..2"), "no time can be chosen", status=OWN_FAILURE)
