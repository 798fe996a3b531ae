# SPDX-License-Identifier: Apache-2.0
"""Native frames between those of Python: what they are to be, and as elfutils sees them (eu-stack)."""
import re
import shutil
import subprocess

from harness.interpreters import HANGS

EU_STACK = shutil.which("eu-stack")
# Hidden by default, as they only pass calls on.
PLUMBING = re.compile(r"_?PyEval_|_PyFunction_|_PyObject_(Call|Vectorcall|MakeTpCall)|slot_tp_|slot_nb_|.*_vectorcall_")


def true_stacks(pid):
    """For each thread the addresses of its native frames, the innermost first."""
    told = subprocess.run([EU_STACK, "-q", "-n", "0", "-p", str(pid)], capture_output=True, text=True, timeout=HANGS)
    stacks, frames = {}, None
    for line in told.stdout.splitlines():
        thread, frame = re.match(r"TID (\d+):", line), re.match(r"#\d+ +0x([0-9a-f]+)", line)
        if thread:
            frames = stacks.setdefault(int(thread[1]), [])
        elif frame:
            frames.append(int(frame[1], 16))
    assert stacks, told
    return stacks


def addresses(thread):
    """Of calls: what was compiled into its caller has none."""
    return [frame["address"] for frame in thread["frames"] if frame["kind"] == "native" and not frame["inlined"]]


def gaps(thread):
    """[(Python function, names of the native frames inside of it), ...], the innermost first; the first one's function is
    None."""
    found = [(None, [])]
    for frame in thread["frames"]:
        if frame["kind"] == "python":
            found.append((frame["name"], []))
        elif frame["kind"] == "native":
            found[-1][1].append(frame["name"])
    # What stands before a Python function in the list was called by it.
    return [(after[0], before[1]) for before, after in zip(found, found[1:])] + [(None, found[-1][1])]


def holds_in_order(names, wanted):
    """The innermost first in names, the outermost first in what is wanted."""
    left = list(wanted)
    for name in reversed(names):
        if left and name and re.fullmatch(left[0] + r"(\.\w+)*", name):
            left.pop(0)
    return not left


def is_stripped(python):
    """Its functions, or those of its extensions, have no names: those of distributions."""
    return python.root or python.build == "d" or "debian" in python.name or "shared" in python.name
