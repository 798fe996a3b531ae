# SPDX-License-Identifier: Apache-2.0
"""plumb dump --native: C frames between those of Python, on programs whose nesting is known, and as elfutils sees them."""
import json
import os
import pathlib
import re
import subprocess

import pytest

from harness.compiled import needed, put_in_common, shared_library
from harness.dump import PATIENCE as IN_TIME
from harness.native import EU_STACK, PLUMBING, addresses, gaps, holds_in_order, is_stripped, true_stacks
from harness.sites import tool
from harness.target import wait_asleep, wait_until

# Python function -> what it has called, on the way to the next Python function: in this order, others may stand between.
# Names differ by release; an interpreter whose file is stripped has none.
CALLS = {
    "in_callbacks": {
        "leaf": ["os_read", "_Py_read"],
        "via_partial": [],
        "key": ["map_next", "partial_(vectorcall|call)"],
        "replacement": ["builtin_sorted", "list_?sort.*"],
        "hook": [],
        "sub": ["(_sre_)?(SRE_)?[Pp]attern_sub.*", "pattern_subx"],
        "raw_decode": ["scanner_call", "_?scan_once_unicode"],
        "decode": [],
        "loads": [],
        "in_callbacks": [],
    },
    "in_qsort": {
        "leaf": ["os_read", "_Py_read"],
        "compare": [],
        "in_qsort": ["PyCFuncPtr_call", "_ctypes_callproc", "ffi_call", "qsort_r|qsort", "closure_fcn"],
    },
    "in_sqlite": {
        "leaf": ["os_read", "_Py_read"],
        "of_sql": [],
        "in_sqlite": ["_?pysqlite_.*", "sqlite3_step", "_?pysqlite_func_callback|func_callback"],
    },
    "in_del": {"leaf": ["os_read", "_Py_read"], "__del__": [], "in_del": ["subtype_dealloc", "slot_tp_finalize"]},
    "in_gc": {"leaf": ["os_read", "_Py_read"], "__del__": [], "in_gc": [".*([Gg][Cc]_|_)?[Cc]ollect.*", "slot_tp_finalize"]},
    "in_settrace": {"leaf": ["os_read", "_Py_read"], "tracer": [], "traced": ["(call|trace)_(trampoline|trace).*"], "in_settrace": []},
    "in_asyncio": {"leaf": ["os_read", "_Py_read"], "coroutine": [], "_run": ["(task_step|TaskStepMethWrapper).*"], "_run_once": []},
    "in_generator": {
        "leaf": ["os_read", "_Py_read"],
        "__add__": [],
        "generates": ["PyNumber_Add", "slot_nb_add"],
        "in_generator": ["builtin_sum", "(gen_iternext|gen_send_ex|PyIter_Next).*"],
    },
}


def dump(plumb, pid, *options):
    result = plumb("dump", *IN_TIME, "--json", "--no-source", *options, pid)
    assert result.status == 0 and result.stderr == "", result
    (process,) = json.loads(result.stdout)["processes"]
    return {thread["name"]: thread for thread in process["threads"]}


def python_frames(thread):
    return [(f["name"], f["file"], f["line"]) for f in thread["frames"] if f["kind"] == "python"]


@pytest.fixture
def nested(target):
    """nested(python): all threads of native.py wait in their innermost functions."""

    def start(python):
        if python.minor < (3, 6):
            pytest.skip("the program of this test needs Python 3.6")
        return target(python, "native.py")

    return start


def test_c_frames_stand_between_those_of_python(plumb, nested, python):
    with nested(python) as program:
        wait_asleep(program.pid)
        plain, all_of_it = dump(plumb, program.pid), dump(plumb, program.pid, "--native=all")
        shown = dump(plumb, program.pid, "--native")
    for name in CALLS.keys() & set(program.told["threads"]):
        thread = all_of_it[name]
        assert python_frames(thread) == python_frames(shown[name]) == python_frames(plain[name])
        assert plain[name]["native"] is None and all(f["kind"] == "python" for f in plain[name]["frames"])
        assert thread["native"] == "whole", (name, [f["name"] for f in thread["frames"]])
        assert all(f["kind"] != "missing" for f in thread["frames"])
        if is_stripped(python):
            continue
        for function, called in gaps(thread):
            wanted = CALLS[name].get(function, [])
            assert holds_in_order(called, wanted), (name, function, wanted, called)
        inner = [f["name"] for f in shown[name]["frames"] if f["kind"] == "native" and f["name"]]
        assert not [f for f in inner if PLUMBING.match(f)], inner
        for function, called in gaps(shown[name]):
            wanted = [w for w in CALLS[name].get(function, []) if not PLUMBING.match(w)]
            assert holds_in_order(called, wanted), (name, function, wanted, called)
        assert gaps(shown[name])[-1][1] == [], "what starts a thread is hidden"


def test_a_blocked_thread_is_shown_where_in_the_kernel_it_is(plumb, nested, any_python):
    with nested(any_python) as program:
        wait_asleep(program.pid)
        plain, shown = dump(plumb, program.pid, "--native"), dump(plumb, program.pid, "--kernel")
        text = plumb("dump", *IN_TIME, "--kernel", program.pid)
    for name in program.told["threads"]:
        frames = shown[name]["frames"]
        kernel = [f["name"] for f in frames if f["kind"] == "kernel"]
        assert kernel and "read" in kernel[-1] and frames[len(kernel) :] == plain[name]["frames"], frames
    assert text.status == 0 and kernel[0] + " [kernel]" in text.stdout, text


def test_every_native_frame_is_as_elfutils_has_it(plumb, nested, python):
    if not EU_STACK:
        pytest.skip("there is no eu-stack (Debian: elfutils)")
    if python.root:
        pytest.skip("eu-stack opens the files of a chroot in our own root directory")
    with nested(python) as program:
        wait_asleep(program.pid)
        truth, threads = true_stacks(program.pid), dump(plumb, program.pid, "--native=all")
        wait_asleep(program.pid)
        again = dump(plumb, program.pid, "--native=all")
    assert len(threads) == len(truth)
    for name, thread in threads.items():
        if name.startswith("in_jit"):
            continue  # it ends there
        assert addresses(thread) == truth[thread["tid"]], name
        assert addresses(thread) == addresses(again[name]), name
        for frame in thread["frames"]:
            if frame["kind"] == "native":
                assert frame["module"] and not frame["guessed"] and not frame["signal"]
                assert 0 < frame["function"] <= frame["offset"]


def test_code_without_unwind_tables(plumb, nested, python):
    """From 3.11 on the stack goes on at the next call of the eval loop, or by a frame pointer that is proved to be one."""
    with nested(python) as program:
        if "in_jit" not in program.told["threads"]:
            pytest.skip("this build has no ctypes")
        wait_asleep(program.pid)
        plain, threads = dump(plumb, program.pid), dump(plumb, program.pid, "--native=all")
    for name in ("in_jit", "in_jit_with_frame_pointer", "in_jit_that_returns"):
        assert python_frames(threads[name]) == python_frames(plain[name])
    returns = threads["in_jit_that_returns"]
    assert returns["native"] == "whole"
    assert any(f["kind"] == "native" and f["module"] is None for f in returns["frames"])
    kinds = [(f["kind"], f["name"] if f["kind"] == "python" else f["kind"]) for f in threads["in_jit"]["frames"]]
    shown = [name for _, name in kinds]
    assert threads["in_jit"]["native"] == "part"
    assert shown.index("called") < len(shown) - 1 - shown[::-1].index("missing") < shown.index("in_jit")
    assert "native" in shown[shown.index("called") : shown.index("run")], "those inside of it are there"
    outer = shown[shown.index("in_jit") :]
    assert ("native" in outer) == (python.minor >= (3, 11)), "those outside of it are there"
    if python.minor >= (3, 11):
        assert "missing" not in outer
        thread = threads["in_jit_with_frame_pointer"]
        assert thread["native"] == "whole" and "missing" not in [f["kind"] for f in thread["frames"]]
        assert any(f["guessed"] for f in thread["frames"] if f["kind"] == "native")
        assert any(f["kind"] == "native" and f["module"] is None for f in thread["frames"])


# The table of the function says nothing, 900,000 times.
LONG_TABLE = """
#include <unistd.h>
static long deeper(long left)
{
	__asm__ volatile(".rept 90000\\n.cfi_escape 0, 0, 0, 0, 0, 0, 0, 0, 0, 0\\n.endr");
	left = left ? deeper(left - 1) : pause();
	__asm__ volatile("" : "+r"(left)); /* it is a call, and no loop */
	return left + 1;
}
long go(long left) { return deeper(left); }
"""


def test_tables_that_are_long_for_nothing_do_not_hide_the_stack(plumb, target, any_python, tmp_path):
    library = shared_library(tmp_path / "deep.so", LONG_TABLE, "-O1", "-fomit-frame-pointer")
    with target(any_python, "native_deep.py", "--library", library) as program:
        wait_asleep(program.pid)
        plain, result = dump(plumb, program.pid), plumb("dump", "--timeout", 60, "--json", "--no-source", "--native", program.pid)
    assert result.status == 0 and result.stderr == "", result
    (process,) = json.loads(result.stdout)["processes"]
    for thread in process["threads"]:
        assert python_frames(thread) == python_frames(plain[thread["name"]])
        if not thread["main"]:
            assert thread["native"] in ("part", "apart") and "deeper" in [f["name"] for f in thread["frames"]], thread["native"]


CPP = """
#include <unistd.h>
#include <vector>
namespace shop { struct Till { static long count(std::vector<long> const &coins, long left); }; }
__attribute__((noinline)) long shop::Till::count(std::vector<long> const &coins, long left) { return pause() + coins.size() + left; }
extern "C" long go(long left) { std::vector<long> coins(3); return shop::Till::count(coins, left) + 1; }
"""


def test_names_of_cpp_are_as_people_write_them(plumb, target, any_python, tmp_path):
    """In a dump and in samples; a plumb without libiberty has them as the file has."""
    source = tmp_path / "shop.cc"
    source.write_text(CPP)
    library = shared_library(tmp_path / "shop.so", source, "-O1")
    with target(any_python, "native_deep.py", "--library", library, "--threads", "1") as program:
        wait_asleep(program.pid)
        dumped = {f["name"] for thread in dump(plumb, program.pid, "--native").values() for f in thread["frames"]}
        _, profile = plumb.sampled(lambda profile: any(named(profile)), program.pid, "--native")
    demangles = b"rust_demangle_callback" in pathlib.Path(plumb.binary).read_bytes()
    name = "shop::Till::count(std::vector<long> const&, long)" if demangles else "_ZN4shop4Till5countERKSt6vectorIlSaIlEEl"
    assert name in dumped and name in named(profile), (dumped, named(profile))


def named(profile):
    return [f["name"] for f in profile.json["functions"] if "Till" in f["name"]]


def test_threads_that_run_in_c_and_in_python(plumb, target, minor):
    """They are stopped for their registers; in zlib without the GIL."""
    if minor.minor < (3, 6):
        pytest.skip("the program of this test needs Python 3.6")
    with target(minor, "native_busy.py", count=True) as program:
        program.wait_progress()

        def in_zlib():
            threads = dump(plumb, program.pid, "--native=all")
            for name in ("in_zlib", "in_python"):
                thread = threads.get(name)
                if not thread or thread["native"] != "whole":
                    continue
                outermost = [f["name"] for f in thread["frames"] if f["kind"] == "python"]
                assert outermost[-3:] == ["run", "_bootstrap_inner", "_bootstrap"]
                seen.add(name)
                modules.update(f["module"].split("/")[-1] for f in thread["frames"] if f["kind"] == "native")
            return seen == {"in_zlib", "in_python"} and any(m.startswith("libz.so") for m in modules)

        seen, modules = set(), set()
        wait_until(in_zlib, "no dump shows both, one in libz: %s, %s" % (seen, modules))
        program.wait_progress()


def test_the_text(plumb, nested, any_python):
    with nested(any_python) as program:
        wait_asleep(program.pid)
        told = plumb("dump", *IN_TIME, "--no-source", "--native", program.pid).stdout
    libc = re.search(r"^  \S+(?: \(\S+:\d+\))? \[libc[-.]\S+\](?: \(inlined\))?$", told, re.M)
    assert libc and re.search(r"^  leaf \(.*native\.py:\d+\)$", told, re.M), told


def test_native_frames_are_of_processes(plumb, tmp_path):
    result = plumb("dump", "--native", "--core", tmp_path / "core")
    assert result.status == 125 and "'--native' is for running processes" in result.stderr, result
    result = plumb("dump", "--native=some", 1)
    assert result.status == 125 and "option '--native' takes no value" in result.stderr, result


def test_never_stop_leaves_running_threads_alone(plumb, target, any_python):
    with target(any_python, "native_busy.py", count=True) as program:
        program.wait_progress()

        def unread():
            threads = dump(plumb, program.pid, "--native", "--never-stop")
            assert all(t["native"] != "apart" for t in threads.values())
            return threads["in_python"]["native"] == "unread" and threads["MainThread"]["native"] == "whole"

        wait_until(unread, "it was stopped, or never seen running")


LINES = """
#include <unistd.h>
static inline __attribute__((always_inline)) long rests(long n) { long r = pause(); return r + n; }
static inline __attribute__((always_inline)) long counts(long n)
{
	long r = rests(n);
	return r * 3;
}
__attribute__((noinline)) long works(long n)
{
	return counts(n) + 1;
}
long go(long n) { return works(n) + 1; }
"""


@pytest.mark.parametrize("kept", ["in the file", "beside it", "in common"])
def test_lines_and_inlined_functions(plumb, target, any_python, tmp_path, kept):
    """By debug information: that of the file itself, or what was stripped from it and is kept by its build-id; also what
    several files have in common."""
    (objcopy,) = needed("objcopy")
    needed(*(("dwz", "readelf") if kept == "in common" else ()))
    build_id = "c0ffee" + 34 * "1"
    source, environment = tmp_path / "lines.c", dict(os.environ)
    library = shared_library(tmp_path / "lines.so", LINES, "-g", "-O2", "-Wl,--build-id=0x" + build_id)
    if kept != "in the file":
        debug = tmp_path / "debug" / ".build-id" / build_id[:2] / (build_id[2:] + ".debug")
        debug.parent.mkdir(parents=True)
        subprocess.run([objcopy, "--only-keep-debug", library, debug], check=True)
        subprocess.run([objcopy, "--strip-debug", library], check=True)
        if kept == "in common":
            put_in_common(debug, tmp_path)
        environment["PLUMB_DEBUG_PATH"] = str(tmp_path / "debug")
    with target(any_python, "native_deep.py", "--library", library, "--threads", "1") as program:
        wait_asleep(program.pid)
        result = plumb("dump", *IN_TIME, "--json", "--native", program.pid, env=environment)
        text = plumb("dump", *IN_TIME, "--native", program.pid, env=environment).stdout
    assert result.status == 0 and result.stderr == "", result
    frames = [f for t in json.loads(result.stdout)["processes"][0]["threads"] for f in t["frames"] if f["kind"] == "native"]
    of_library = [f for f in frames if f["module"] == str(library)]
    wanted = [("rests", "pause()", True), ("counts", "rests(n)", True), ("works", "counts(n)", False), ("go", "works(n)", False)]
    lines = LINES.splitlines()
    for frame, (name, call, inlined) in zip(of_library, wanted, strict=True):
        assert (frame["name"], frame["inlined"], frame["file"]) == (name, inlined, str(source)), of_library
        assert call in lines[frame["line"] - 1] and frame["source"] == lines[frame["line"] - 1], (frame, lines)
    assert len({(f["address"], f["function"]) for f in of_library[:3]}) == 1, of_library
    assert re.search(r"^  counts \(\S*lines\.c:6\) \[lines\.so\] \(inlined\)\n +long r = rests\(n\);$", text, re.M), text
