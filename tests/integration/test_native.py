# SPDX-License-Identifier: Apache-2.0
"""plumb run and attach --native: frames of C between those of Python in each sample, of threads that run and of threads that are
blocked, on programs whose nesting is known (targets/native_calls.py, native.py, native_busy.py)."""
import collections
import json
import os

import pytest

from harness.compiled import shared_library
from harness.consumers import interpreter
from harness.interpreters import TARGETS
from harness.native import PLUMBING, holds_in_order, is_stripped
from harness.plumb import until
from harness.scarce import sentence
from harness.target import wait_asleep

# (caller, called) -> functions of C between them, from the outermost on; others may stand between. They differ by release.
CALLS = {
    ("raw_decode", "hook"): ["scanner_call", "_?scan_once_unicode"],
    ("sub", "replacement"): ["(_sre_)?(SRE_)?[Pp]attern_sub.*", "pattern_subx"],
    ("replacement", "key"): ["builtin_sorted", "list_?sort.*"],
    ("key", "via_partial"): ["map_next", "partial_(vectorcall|call)"],
    ("via_partial", "leaf"): [],
    ("main", "parse"): [],
}


# Where files have no symbols some have the names that Python has for them; others have none. re's may be gone: what it ends with
# is a call.
STRIPPED = {
    ("raw_decode", "hook"): [r"scanner_call|_json\.Scanner\.__call__"],
    ("replacement", "key"): [r"builtin_sorted|sorted"],
    ("key", "via_partial"): [r"map_next|map\.__next__"],
    ("via_partial", "leaf"): [],
    ("main", "parse"): [],
}


def needs(python):
    if python.minor < (3, 6):
        pytest.skip("the program of this test needs Python 3.6")


def gaps(stack):
    """{(caller, called): names of the native frames between them}; with the innermost function as a caller of None."""
    found, caller, between = {}, None, []
    for frame in stack.frames:
        if frame.kind == "native":
            between.append(frame.name)
        elif frame.kind == "python":
            found.setdefault((caller, frame.name), between)
            caller, between = frame.name, []
    found[(caller, None)] = between
    return found


def seen(profile):
    """How often each pair of CALLS was seen, in stacks with native frames."""
    counts = dict.fromkeys(CALLS, 0)
    for stack in profile.stacks:
        if any(frame.kind == "native" for frame in stack.frames):
            for pair in counts.keys() & gaps(stack).keys():
                counts[pair] += stack.samples
    return counts


def problems(python, profile):
    """What is not as the program has it."""
    found, calls = [], STRIPPED if is_stripped(python) else CALLS
    for stack in profile.stacks:
        if not any(frame.kind == "native" for frame in stack.frames):
            continue
        between = gaps(stack)
        for pair in calls.keys() & between.keys():
            if not holds_in_order(between[pair][::-1], calls[pair]):
                found.append("%d x %s: %s in %s" % (stack.samples, pair, between[pair], stack))
    return found


def test_functions_of_c_stand_between_those_of_python_that_they_link(plumb, target, python, table):
    needs(python)
    with target(python, "native_calls.py", count=True) as program:
        _, profile = plumb.sampled(lambda profile: min(seen(profile).values()) >= 5, program.pid, "--native=all", "-r", "500")
        program.wait_progress()
    assert not problems(python, profile)
    without = sum(s.samples for s in profile.stacks if not any(frame.kind == "native" for frame in s.frames))
    assert without == profile.losses["native"], profile.losses
    table(python, "--native", "%.1f %% without" % (100.0 * without / profile.samples))


def test_what_only_passes_calls_on_is_left_out(plumb, target, minor):
    needs(minor)

    def enough(profile):
        counts = seen(profile)
        return min(counts[pair] for pair in CALLS if CALLS[pair]) >= 5

    with target(minor, "native_calls.py", count=True) as program:
        result, recording = plumb.try_sampling(enough, program.pid, "--native", "-r", "500")
        assert result.status == 0, result
        program.wait_progress()
    profile = plumb.report(recording)
    assert not problems(minor, profile)
    assert not [name for name in natives(profile) if PLUMBING.match(name)], natives(profile)
    for stack in profile.stacks:
        between = gaps(stack)
        assert not between.get(("via_partial", "leaf")) and not between.get(("main", "parse")), stack
    shown_as_it_is_chosen(plumb, minor, recording, profile)


def natives(profile):
    return {frame.name for stack in profile.stacks for frame in stack.frames if frame.kind == "native"}


def python_stacks(profile):
    """How many samples each stack of Python has."""
    counts = collections.Counter()
    for stack in profile.stacks:
        counts[tuple(frame.name for frame in stack.python)] += stack.samples
    return counts


def shown_as_it_is_chosen(plumb, python, recording, profile):
    """The recording has all: a report chooses what is shown of it, and what is saved without a choice keeps it."""
    copy = recording.parent / "copy.plumb"
    assert plumb("convert", recording, copy, "--force").status == 0
    everything = plumb.report(copy, "--native", "all")
    assert not problems(python, everything) and python_stacks(everything) == python_stacks(profile)
    assert natives(everything) > natives(profile)
    assert [name for name in natives(everything) if PLUMBING.match(name)] or is_stripped(python), natives(everything)
    assert plumb.report(copy, "--native=callable").json["functions"] == profile.json["functions"]

    leaf = plumb.report(copy, "--native", "leaf")
    assert python_stacks(leaf) == python_stacks(profile) and natives(leaf)
    for stack in leaf.stacks:
        kinds = [frame.kind for frame in stack.frames]
        assert "python" not in kinds[kinds.index("native") :] if "native" in kinds and "python" in kinds else True, stack

    assert plumb("convert", recording, copy, "--native", "off", "--force").status == 0
    without = plumb.report(copy, "--native", "all")
    assert python_stacks(without) == python_stacks(profile) and not natives(without)


def test_a_thread_that_computes_without_the_gil_is_seen_in_its_library(plumb, places, few):
    """The library is loaded while the program is sampled."""
    needs(few)

    def stacks(profile, thread):
        return [s for s in profile.stacks if thread in [f.name for f in s.python]]

    def in_libz(stack):
        return any(f.kind == "native" and "libz" in f.file for f in stack.frames)

    def enough(profile):
        return sum(s.samples for s in stacks(profile, "in_zlib") if in_libz(s)) >= 20

    def run(seconds):
        recording, environment = plumb.path(), dict(os.environ, PLUMB_TEST_SECONDS=str(seconds))
        result = plumb("run", "--native", "-o", recording, "--", *few.command, script, env=environment)
        assert result.status == 0, result
        return plumb.report(recording)

    script = places.directory(few.root)[1] + "/native_busy.py"
    profile = until(run, enough, 0.5)
    assert enough(profile)
    assert not [s for s in stacks(profile, "in_python") if in_libz(s)]


def test_blocked_threads_are_not_stopped(plumb, target, any_python):
    with target(any_python, "native.py") as program:
        wait_asleep(program.pid)
        wanted = set(program.told["threads"])

        def shown(profile):
            return {s.thread["name"] for s in profile.stacks if any(f.kind == "native" for f in s.frames)}

        _, profile = plumb.sampled(lambda profile: shown(profile) >= wanted, program.pid, "--native")
        wait_asleep(program.pid)
    assert profile.json["overhead"]["stops"] == 0
    assert profile.losses["native"] == 0
    for stack in profile.stacks:
        if stack.thread["name"] == "in_callbacks":
            assert holds_in_order(gaps(stack)[("replacement", "key")][::-1], ["builtin_sorted", "list_?sort.*"]), stack


def in_kernel(stack):
    """The innermost frames, of the kernel; the outermost first."""
    inner = []
    for frame in reversed(stack.frames):
        if frame.kind != "kernel":
            break
        inner.insert(0, frame.name)
    return inner


def test_threads_that_wait_are_shown_where_in_the_kernel_they_are(plumb, target, any_python):
    with target(any_python, "native.py") as program:
        wait_asleep(program.pid)
        wanted = set(program.told["threads"])

        def shown(profile):
            return {s.thread["name"] for s in profile.stacks if in_kernel(s)}

        _, recording = plumb.try_sampling(lambda profile: shown(profile) >= wanted, program.pid, "--kernel")
        wait_asleep(program.pid)
    profile = plumb.report(recording)
    assert profile.json["overhead"]["stops"] == 0
    for stack in profile.stacks:
        if stack.thread["name"] in wanted:
            assert "read" in in_kernel(stack)[0] and stack.frames[-1].file == "[kernel]", stack
            assert stack.frames[-1 - len(in_kernel(stack))].kind == "native", stack
    without = plumb.report(recording, "--kind", "python,native")
    assert without.samples == profile.samples and not any(in_kernel(s) for s in without.stacks)
    # What other tools are told of it comes back.
    for name in ("k.pb.gz", "k.otlp"):
        path = recording.parent / name
        assert plumb("convert", recording, path).status == 0
        if name.endswith(".gz"):
            assert {s.thread["name"] for s in plumb.report(path).stacks if in_kernel(s)} >= wanted
    for options in ([], ["--annotate"]):
        path = recording.parent / "k.folded"
        assert plumb("convert", recording, path, "--idle", "--force", *options).status == 0
        text = path.read_text()
        assert ";[kernel]:" in text and (":0_[k] " in text) == bool(options)
        names = {tuple(in_kernel(s)) for s in plumb.report(path).stacks if in_kernel(s)}
        assert names == {tuple(in_kernel(s)) for s in profile.stacks if in_kernel(s)}


def test_all_formats_show_them(plumb, target, any_python):
    with target(any_python, "native_calls.py", count=True) as program:
        _, recording = plumb.try_sampling(lambda profile: min(seen(profile).values()) >= 5, program.pid, "--native", "-r", "500")
    collapsed = plumb("report", "-f", "collapsed", recording).stdout
    line = next(line for line in collapsed.splitlines() if "scanner_call" in line and "hook" in line)
    assert line.index("raw_decode") < line.index("scanner_call") < line.index("hook")
    tree = plumb("report", "-f", "tree", recording).stdout
    assert "scanner_call" in tree
    functions = json.loads(plumb("report", "--json", recording).stdout)["functions"]
    (scanner,) = [f for f in functions if f["name"] == "scanner_call"]
    assert scanner["kind"] == "native" and "_json" in scanner["file"], scanner


def test_code_of_a_jit_compiler_has_its_names_and_its_callers(plumb, target, few):
    """What the compiler tells of it: the outer function's unwind table, and where the inner one begins, which has none. Of a
    thread that is about to get a processor no registers are known: then frames may be missing, and none is a wrong one."""

    def around(stack):
        """The native frames about the innermost function of the compiler, from the last Python frame on."""
        names = [frame.name for frame in stack.frames]
        if "compiled_inner" not in names:
            return None
        return names[len(names) - names[::-1].index("calls") :]

    def whole(profile):
        return sum(s.samples for s in profile.stacks if (around(s) or [])[-2:] == ["outer::compiled(long)", "compiled_inner"])

    with target(few, "jit_code.py") as program:
        _, profile = plumb.sampled(lambda profile: whole(profile) >= 30, program.pid, "--native", "-r", "200")
    for stack in profile.stacks:
        inside = around(stack)
        if inside is None:
            continue
        assert [f.file for f in stack.frames if f.name == "compiled_inner"] == ["[jit]"], stack
        if inside[0] != "<missing frames>":
            assert inside.count("compiled_inner") == inside.count("outer::compiled(long)") == 1, stack
            assert any("ffi_call" in name or "libffi" in name for name in inside[:-2]), stack
        assert "<missing frames>" not in inside[1:], stack


def test_code_that_is_in_no_file_has_its_names_by_its_perf_map(plumb, target, any_python):
    """It has no unwind tables: where frames are missing, that is said. What the map said of the place before is no name of it."""

    def names(stack):
        return [(frame.name, frame.file) for frame in stack.frames]

    def found(profile):
        return sum(stack.samples for stack in profile.stacks if ("compiled_inner", "[jit]") in names(stack))

    with target(any_python, "jit_code.py", "--told", "perf") as program:
        try:
            _, profile = plumb.sampled(lambda profile: found(profile) >= 20, program.pid, "--native", "-r", "200")
        finally:
            os.unlink("/tmp/perf-%d.map" % program.pid)
    assert not [stack for stack in profile.stacks if "of_before" in str(names(stack))]


def test_a_greenlet_has_the_stack_that_is_its_own(plumb, target):
    """What others have left on the C stack behind it is not shown, and not called missing."""

    def computing(profile, function):
        stacks = [s for s in profile.stacks if any(f.kind == "native" for f in s.frames)]
        called = [s for s in stacks if s.python]  # while greenlets are switched there is none
        return [s for s in called if function == s.python[0].name and "leaf" in [f.name for f in s.python]]

    def enough(profile):
        return all(sum(s.samples for s in computing(profile, name)) >= 10 for name in ("shallow", "deep", "<module>"))

    with target(interpreter("venv-browser", "greenlet"), "greenlets.py") as program:
        _, profile = plumb.sampled(enough, program.pid, "--native=all", "-r", "500")
    for name in ("shallow", "deep", "<module>"):
        for stack in computing(profile, name):
            assert stack.frames[0].kind == "native" and "<missing frames>" not in [f.name for f in stack.frames], stack
            assert ("greenlet" in os.path.basename(stack.frames[0].file)) == (name != "<module>"), stack


@pytest.fixture
def libraries(tmp_path):
    """Two that differ in the name of one function: whichever is loaded comes to the place where the other one was."""
    source, options = TARGETS / "native_odd.cc", ("-O1", "-fomit-frame-pointer")
    return [str(shared_library(tmp_path / (name + ".so"), source, *options, "-DWORKS=works_" + name)) for name in ("one", "other")]


# Python function -> functions of C that it calls, from the outermost on; with some it is of interest whether they are there.
ODD = {
    "exceptions": ["catches", *["refuses"] * 5, "__cxa_throw"],
    "signals": ["interrupted", "handles"],
    "signals_on_a_stack_of_their_own": ["works_one", "handles"],
    "callbacks": ["qsort(_r)?", "closure_fcn"],
    "works_one": ["works_one"],
    "works_other": ["works_other"],
}


def odd(profile):
    """{function of ODD: its stacks that have native frames, as (native frames within it, stack)}"""
    found = {name: [] for name in ODD}
    for stack in profile.stacks:
        names = [f.name for f in stack.frames]
        for name in ODD.keys() & set(names):
            inside = [f for f in stack.frames[names.index(name) :] if f.kind == "native"]
            if inside:
                found[name].append((inside, stack))
    return found


def test_exceptions_signals_callbacks_and_libraries_that_are_closed(plumb, target, any_python, libraries):
    """Of a thread that waits for a processor no registers are known: then frames may be missing, and are said to be. Whole stacks
    have them all. A sample that is unwound when its library was closed already has the names of the next one at its place, or
    none: those are few."""
    def right(profile, name):
        return sum(stack.samples for inside, stack in odd(profile)[name] if holds_in_order([f.name for f in inside[::-1]], ODD[name]))

    def enough(profile):
        return min(right(profile, name) for name in ODD if name != "signals_on_a_stack_of_their_own") >= 5

    with target(any_python, "native_odd.py", "--one", libraries[0], "--other", libraries[1], count=True) as program:
        _, profile = plumb.sampled(enough, program.pid, "--native=all", "-r", "200", "--max-overhead", "none")
        program.wait_progress()
    for name in ("exceptions", "signals", "callbacks"):
        for _, stack in odd(profile)[name]:
            names = [f.name for f in stack.frames]
            if "<missing frames>" not in names:
                assert stack.frames[0].kind == "native" and names.index("<module>") < names.index(name), stack
                for inner, outer in (("refuses", "catches"), ("handles", "interrupted")):
                    assert inner not in names or outer in names[: names.index(inner)], stack
    for name, other in (("works_one", "works_other"), ("works_other", "works_one")):
        wrong = sum(stack.samples for inside, stack in odd(profile)[name] if other in [f.name for f in inside])
        assert wrong < right(profile, name), profile


def test_a_handler_on_a_stack_of_its_own_says_that_frames_are_missing(plumb, target, either, libraries):
    """Of what the signal has interrupted the registers tell the innermost function; the rest lies on the other stack, of which no copy is
    taken. Python's frames are all there, in their order."""
    name, outer = "signals_on_a_stack_of_their_own", ["main", "with_library", "signals_on_a_stack_of_their_own"]
    if either.minor < (3, 12):
        pytest.skip("before 3.12 such samples have no native frames")

    def handling(profile):
        return [(inside, stack) for inside, stack in odd(profile)[name] if any(f.name == "handles" for f in inside)]

    def enough(profile):
        return sum(stack.samples for _, stack in handling(profile)) >= 20

    with target(either, "native_odd.py", "--one", libraries[0], "--other", libraries[1], count=True) as program:
        _, profile = plumb.sampled(enough, program.pid, "--native=all", "-r", "200", "--max-overhead", "none")
        program.wait_progress()
    for _, stack in odd(profile)[name]:
        assert [f.name for f in stack.frames if f.kind == "python"][1:] == outer, stack
    interrupted = 0
    for inside, stack in handling(profile):
        names = [f.name for f in inside]
        assert "<missing frames>" in names[: names.index("handles")], stack
        interrupted += stack.samples * holds_in_order(names[::-1], ODD[name])
    assert interrupted


@pytest.mark.parametrize("options, words", [
    (("--native", "--never-stop"), "cannot be read without stopping"),
    (("--native=some",), "option '--native' takes no value"),
])
def test_what_does_not_go_together_is_refused(plumb, any_python, options, words):
    sentence(plumb("run", *options, "--", *any_python.command, "-c", "pass"), words)
