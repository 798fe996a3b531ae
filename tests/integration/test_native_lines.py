# SPDX-License-Identifier: Apache-2.0
"""plumb attach --native: lines of C, and functions that were compiled into others, where a library has debug information
(targets/native_lines.c). The lines are those of addr2line; how much each loop took is what the program itself measures."""
import collections
import json
import math
import os
import re
import subprocess

import pytest

from harness.compiled import needed, shared_library
from harness.interpreters import TARGETS
from harness.page import Page, blocks
from harness.pages import page_of

LIMIT = 5  # standard errors: one comparison in a million is further off
BUILD_ID = "c0ffee" + 34 * "2"
LOOPS = {"first": "/* first loop */", "second": "/* second loop */", "inlined": "/* inlined loop */"}


@pytest.fixture
def built(tmp_path):
    """built(kept): the library, its source and the environment of whoever is to find its debug information."""
    (objcopy,) = needed("objcopy")

    def build(kept):
        source = tmp_path / "native_lines.c"
        source.write_text((TARGETS / "native_lines.c").read_text())
        library = shared_library(tmp_path / "lines.so", source, "-g", "-O1", "-Wl,--build-id=0x" + BUILD_ID)
        if kept == "in the file":
            return library, source, dict(os.environ)
        debug = tmp_path / "debug" / ".build-id" / BUILD_ID[:2] / (BUILD_ID[2:] + ".debug")
        debug.parent.mkdir(parents=True)
        subprocess.run([objcopy, "--only-keep-debug", library, debug], check=True)
        subprocess.run([objcopy, "--strip-debug", library], check=True)
        if kept == "nowhere":
            debug.unlink()
        return library, source, {**os.environ, "PLUMB_DEBUG_PATH": str(tmp_path / "debug")}

    return build


def frames_of(profile, stack):
    """[(function, location)] from the root on."""
    locations = [profile.json["locations"][i] for i in stack["frames"]]
    return [(profile.json["functions"][location["function"]], location) for location in locations]


def innermost(profile, library):
    """{(function, line): samples} of the innermost frames, those of this library."""
    found = collections.Counter()
    for stack in profile.json["stacks"]:
        function, location = frames_of(profile, stack)[-1] if stack["frames"] else ({"file": None}, None)
        if function["file"] == str(library):
            found[function["name"], location["line"]] += stack["samples"]
    return found


def of_loops(profile, library, source):
    """How many samples each loop has: the line with its body, and the one with its head above that."""
    lines, found = source.read_text().splitlines(), innermost(profile, library)
    at = {loop: next(i for i, line in enumerate(lines, 1) if words in line) for loop, words in LOOPS.items()}
    return {loop: sum(found[name, line] for line in (at[loop] - 1, at[loop]) for name in ("loops", "turned")) for loop in LOOPS}


def measured(plumb, target, python, built, samples=400):
    library, source, environment = built
    with target(python, "native_lines.py", "--library", library) as program:
        began = program.lines.next("began")
        result, recording = plumb.try_sampling(
            lambda profile: sum(innermost(profile, library).values()) >= samples, program.pid, "--native", "-r", "200",
            "--max-overhead", "none", env=environment)
        assert result.status == 0, result
        program.stop()
        ended = program.lines.next("ended")
    return recording, {loop: ended[loop] - began[loop] for loop in LOOPS}


@pytest.mark.parametrize("kept", ["in the file", "beside it"])
def test_loops_of_c_have_their_shares_at_their_lines(plumb, target, any_python, built, kept):
    library, source, environment = of = built(kept)
    recording, times = measured(plumb, target, any_python, of)
    profile = plumb.report(recording)
    counts = of_loops(profile, library, source)
    total = sum(counts.values())
    for loop, time in times.items():
        truth = time / sum(times.values())
        error = LIMIT * math.sqrt(truth * (1 - truth) / total)
        assert abs(counts[loop] / total - truth) <= error, (loop, truth, counts)
    shown_in_all_formats(plumb, recording, library, source)
    inlined_ones_stand_below_their_callers(profile, library, source)


def inlined_ones_stand_below_their_callers(profile, library, source):
    lines, seen = source.read_text().splitlines(), 0
    for stack in profile.json["stacks"]:
        frames = frames_of(profile, stack)
        for (caller, call), (function, location) in zip(frames, frames[1:]):
            if function["file"] != str(library):
                continue
            assert location.get("inlined", False) == (function["name"] == "turned"), (function, location)
            if function["name"] == "turned":
                seen += 1
                assert caller["name"] == "works" and "call of the inlined one" in lines[call["line"] - 1], (caller, call)
    assert seen and profile.function("turned")["source"] == profile.function("loops")["source"] == str(source)


def shown_in_all_formats(plumb, recording, library, source):
    def written(form):
        result = plumb("report", "-f", form, recording)
        assert result.status == 0, result
        return result.stdout

    assert re.search(r"\bloops +\S*native_lines\.c:\d+", plumb("report", "--lines", recording).stdout)
    assert re.search(r"native_lines\.c:loops:\d+;?", written("collapsed"))
    frames = json.loads(written("speedscope"))["shared"]["frames"]
    assert [f for f in frames if f["name"] == "loops" and f["file"] == str(source) and f["line"] > 0], frames
    firefox = json.loads(written("firefox"))["shared"]
    assert str(source) in [firefox["stringArray"][i] for i in firefox["sources"]["filename"]], firefox["sources"]
    callgrind = written("callgrind")
    assert re.search(r"^c?fil?=\(\d+\) %s$|^fl=\(\d+\) %s$" % (source, source), callgrind, re.M), callgrind
    assert re.search(r"^c?ob=\(\d+\) %s$" % library, callgrind, re.M), callgrind


def test_the_page_has_the_lines_with_their_text(plumb, target, any_python, built):
    library, source, _ = of = built("in the file")
    recording, _ = measured(plumb, target, any_python, of, samples=50)
    found, _ = blocks(page_of(plumb, recording).read_bytes())
    page = Page(found[0][1])
    changed, text = page.sources[str(source)]
    lines = source.read_text().splitlines()
    assert not changed and all(lines[at - 1] == line for at, line in text.items())
    for function, locations in zip(page.functions, page.locations):
        if function["name"] in ("loops", "turned", "works"):
            assert function["file"] == str(source) and function["module"].endswith(library.name), function
            assert {location[0] for location in locations} <= set(text) and locations, function
    named = [function["name"] for function, locations in zip(page.functions, page.locations) for _ in locations]
    inlined = {name for name, flag in zip(named, page.inlined, strict=True) if flag}
    assert inlined & {"loops", "turned", "works"} == {"turned"}, inlined


def test_the_lines_are_those_of_addr2line(plumb, target, any_python, built):
    library, source, _ = of = built("in the file")
    recording, _ = measured(plumb, target, any_python, of, samples=100)
    addr2line, objdump = needed("addr2line", "objdump")
    code = subprocess.run([objdump, "-d", "--no-show-raw-insn", library], check=True, capture_output=True, text=True).stdout
    addresses = re.findall(r"^ +([0-9a-f]+):\t", code, re.M)
    told = subprocess.run([addr2line, "-i", "-f", "-e", library, *addresses], check=True, capture_output=True, text=True).stdout.splitlines()
    known = {(told[i], int(m[1])) for i in range(0, len(told), 2) if (m := re.match(re.escape(str(source)) + r":(\d+)", told[i + 1]))}
    assert set(innermost(plumb.report(recording), library)) <= known


def test_lines_that_come_later_are_those_that_were_there_at_once(plumb, target, any_python, built, tmp_path):
    """The same program, sampled by who finds its debug information and by who does not."""
    library, source, environment = built("beside it")
    kept = tmp_path / "debug"
    nowhere = {**environment, "PLUMB_DEBUG_PATH": str(tmp_path / "nothing")}
    at_once, _ = measured(plumb, target, any_python, (library, source, environment))
    without, _ = measured(plumb, target, any_python, (library, source, nowhere))
    elsewhere, later = plumb.path(), plumb.path()
    assert {line for _, line in innermost(plumb.report(without), library)} == {0}
    result = plumb("symbolize", without, "-o", elsewhere, env=nowhere)
    assert result.status == 0 and re.search(r"lines of \d+ of \d+ places without one", result.stderr), result
    for recording in (without, elsewhere):  # the second was written by one that found nothing
        result = plumb("symbolize", recording, "-o", later, env={**environment, "PLUMB_DEBUG_PATH": str(kept)})
        assert result.status == 0, result
        profile = plumb.report(later)
        assert all(of_loops(profile, library, source).values())
        inlined_ones_stand_below_their_callers(profile, library, source)
        shown_in_all_formats(plumb, later, library, source)
    first, second = (frames_seen(plumb.report(recording), library) for recording in (at_once, later))
    assert {frame for frame, share in first.items() if share > 0.1} <= set(second)
    assert {frame for frame, share in second.items() if share > 0.1} <= set(first)
    before, after = plumb.report(without), plumb.report(later)
    for profile in (before, after):  # nobody sees places apart whose lines are not known
        locations = [tuple(sorted(location.items())) for location in profile.json["locations"]]
        assert len(set(locations)) == len(locations)
    assert (before.samples, before.json["start"]) == (after.samples, after.json["start"])
    assert sum(innermost(before, library).values()) == sum(innermost(after, library).values())


def frames_seen(profile, library):
    """{frame of the library, as JSON tells of it: share of its samples}. What a tenth of 400 samples has has a twenty-fifth of the
    time at least, all but surely, and then one of 400 other samples has it (but for 8 of 10^8 cases)."""
    seen, total = collections.Counter(), 0
    for stack in profile.json["stacks"]:
        frames = [(f["name"], f["file"], f.get("source"), location["line"], location.get("inlined", False))
                  for f, location in frames_of(profile, stack) if f["file"] == str(library)]
        seen.update({frame: stack["samples"] for frame in set(frames)})
        total += stack["samples"] if frames else 0
    return {frame: samples / total for frame, samples in seen.items()}


def test_without_debug_information_nothing_is_told(plumb, target, any_python, built):
    library, _, _ = of = built("nowhere")
    recording, _ = measured(plumb, target, any_python, of, samples=50)
    profile = plumb.report(recording)
    assert {line for _, line in innermost(profile, library)} == {0}
    assert not [f for f in profile.json["functions"] if f["file"] == str(library) and "source" in f]
