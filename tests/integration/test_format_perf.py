# SPDX-License-Identifier: Apache-2.0
"""`report -f perf-script`: readers of perf's text find every sample with its weight."""
import collections
import re

import pytest

from harness import viewers
from harness.figures import make, written

BLANKS = re.compile("[\0- \x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]")


def name_of(function):
    name = BLANKS.sub(" ", function["qualname"]).strip(" ")
    name = re.sub(r"^\(", "[", name)
    return name or "<unnamed>"


def comm_of(report, thread):
    return BLANKS.sub("_", thread["name"] or report.json["processes"][thread["process"]]["name"]) or "python"


def folded(text):
    """As FlameGraph's stackcollapse-perf.pl reads it: comm and frames from the outermost, and the period."""
    stacks, comm, period, frames = collections.Counter(), None, 0, []
    for line in text.split("\n"):
        if line.startswith("#"):
            continue
        if not line.strip():
            if comm is not None:
                stacks[(comm, *reversed(frames))] += period
            comm, frames = None, []
            continue
        head = re.match(r"(\S.+?)\s+(\d+)/*(\d+)*\s+", line.lstrip())
        event = re.search(r":\s*(\d+)*\s+(\S+):\s*$", line)
        frame = re.match(r"\s*(\w+)\s*(.+) \((.*)\)", line)
        if head and event and not line.startswith("\t"):
            comm, period = head[1], int(event[1])
        else:
            assert comm is not None and frame, "neither an event nor a frame: %r" % line
            assert not frame[2].startswith("("), line  # it leaves such frames out
            frames.append(re.sub(r"\+0x[\da-f]+$", "", frame[2]))
    return stacks


def wanted(report):
    stacks = collections.Counter()
    functions, locations = report.json["functions"], report.json["locations"]
    for stack in report.json["stacks"]:
        names = [name_of(functions[locations[index]["function"]]) for index in stack["frames"]]
        stacks[(comm_of(report, report.threads[stack["thread"]]), *names)] += stack["weight_ns"]
    return {stack: weight for stack, weight in stacks.items() if weight}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_stackcollapse_finds_every_sample(plumb, seed):
    recording = make(plumb, seed)
    report = plumb.report(recording)
    text = written(plumb, recording, "perf-script").read_text(errors="replace")
    found = {tuple(name.replace("\ufffd\ufffd\ufffd", "\ufffd") for name in stack): weight
             for stack, weight in folded(text).items() if weight}
    events = re.findall(r"^\S+ +\d+/\d+ +\[000\] \d+\.\d{9}: +\d+ \S+: $", text, re.MULTILINE)
    assert len(events) == report.samples
    assert sum(found.values()) == sum(stack["weight_ns"] for stack in report.json["stacks"])
    assert collections.Counter(found.values()) == collections.Counter(wanted(report).values())
    ascii_only = {stack: weight for stack, weight in wanted(report).items() if all(name.isascii() for name in stack)}
    assert ascii_only and ascii_only.items() <= found.items()


@pytest.mark.parametrize("seed", [4, 5])
def test_inferno_folds_the_same_stacks(plumb, seed):
    """With tame names only: inferno 0.12 ends at some that are not ASCII."""
    recording = viewers.plain(plumb, seed)
    report = plumb.report(recording)
    found = viewers.inferno(written(plumb, recording, "perf-script"))
    assert found == {";".join(stack): weight for stack, weight in wanted(report).items() if len(stack) > 1}


def test_profiler_cli_reads_every_sample(plumb):
    recording = viewers.plain(plumb, 6)
    report = plumb.report(recording)
    samples = collections.Counter()  # those with frames: it leaves out the others
    for stack in report.json["stacks"]:
        if stack["frames"]:
            samples[report.threads[stack["thread"]]["tid"]] += stack["samples"]
    with viewers.profiler_cli(written(plumb, recording, "perf-script")) as cli:
        threads = cli("thread", "list")["threads"]
        assert len(threads) == len(report.threads)
        once = [thread for thread in threads if thread["pid"] == "4200"]  # the number of another process was used again
        assert len(once) == 4
        for thread in once[:2]:
            found = cli("thread", "samples", "--thread", thread["threadHandle"])["categoryBreakdown"]["totalSamples"]
            assert found == samples[thread["tid"]], thread
