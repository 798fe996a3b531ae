# SPDX-License-Identifier: Apache-2.0
"""Reading what `plumb dump --json` writes (docs/user/dump.md): many looks at one process, as stacks like those of a profile."""
import json

from harness.callgraph import check
from harness.report import Frame, Stack
from harness.target import wait_until

AT_ONCE = 15  # looks by one plumb: a process can be named as often as one likes
# Seconds in which one process is read: a machine that is busy may take long, and what hangs is told.
PATIENCE = ("--timeout", "300")


class Looks:
    """What has `stacks` can be held against a call graph."""

    def __init__(self, source):
        self._lines = source.read_text(encoding="utf-8").splitlines()
        self._name = "/" + source.name
        self.stacks = []
        self.wrong_lines = []  # frames of the source file shown with another line than it has
        self.count = 0

    def add(self, process):
        self.count += 1
        for thread in process["threads"]:
            if thread["python"] and thread["quality"]:
                self._add(thread)

    def _add(self, thread):
        frames = tuple(Frame(f["name"], f["file"], f["line"], "python") for f in reversed(thread["frames"]))
        facts = {"name": thread["name"], "tid": thread["tid"]}
        self.stacks.append(Stack(frames, facts, 1, 0, thread["quality"]))
        for frame in thread["frames"]:
            mine = frame["file"].endswith(self._name) and "/lib/python" not in frame["file"] and frame["line"] > 0
            if mine and frame["source"] != self._lines[frame["line"] - 1]:
                self.wrong_lines.append("%s:%d is shown as %r" % (frame["name"], frame["line"], frame["source"]))

    @property
    def sure(self):
        return sum(stack.sure for stack in self.stacks)


def look(plumb, pid, graph, source):
    """Dump a process again and again, until everything that it is known to do has been seen."""
    looks = Looks(source)

    def seen():
        result = plumb("dump", *PATIENCE, "--json", *[pid] * AT_ONCE)
        assert result.status == 0 and result.stderr == "", result
        for process in json.loads(result.stdout)["processes"]:
            looks.add(process)
        return looks.stacks and looks.sure and not graph.missing(looks.stacks)

    wait_until(seen, "looks never showed all of %s" % graph.expect)
    return looks


def assert_true(looks, graph):
    verdict = check(graph, looks)
    assert not verdict.impossible, verdict
    assert not looks.wrong_lines, looks.wrong_lines[:5]
