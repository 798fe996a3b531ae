# SPDX-License-Identifier: Apache-2.0
"""Reads the blocks of a report page back: docs/design/006-report-page.md."""
import base64
import collections
import gzip
import json
import re

import pytest

from harness.plumb import Plumb

MASK = (1 << 64) - 1
STATES = {"on_cpu": 1, "has_gil": 2, "wants_gil": 4, "in_gc": 8, "exception": 16, "unknown": 32, "jit": 64}
QUALITIES = ["exact", "stopped", "doubtful", "partial"]
BLOCK = re.compile(rb'<script type="text/plain" class="plumb-block" data-kind="([^"]*)">([A-Za-z0-9+/=]*)</script>\n')


@pytest.fixture(scope="module", autouse=True)
def page_is_built(tmp_path_factory):
    """For modules about the page: they are not run with a plumb that has none."""
    listed = Plumb(tmp_path_factory.mktemp("probe"))("help", "formats").stdout
    if "this plumb has no report page" in " ".join(listed.split()):
        pytest.skip("plumb was built without the report page: there was no Node, or no webui/node_modules")


def blocks(page):
    """[(kind, content)], and what is left of the page without them."""
    found = [(m[1].decode(), gzip.decompress(base64.b64decode(m[2], validate=True))) for m in BLOCK.finditer(page)]
    return found, BLOCK.sub(b"", page)


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def u64(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                assert value <= MASK
                return value

    def i64(self):
        value = self.u64()
        return (value >> 1) ^ -(value & 1)

    def take(self, length):
        assert self.at + length <= len(self.data)
        self.at += length
        return self.data[self.at - length:self.at]

    def column(self, count):
        return [self.u64() for _ in range(count)]

    def signed(self, count):
        return [self.i64() for _ in range(count)]

    def deltas(self, count, last=0):
        values = []
        for _ in range(count):
            last += self.i64()
            values.append(last)
        return values

    def end(self):
        assert self.at == len(self.data)


def sections(data):
    reader, found = Reader(data), {}
    while reader.at < len(data):
        tag = reader.u64()
        assert tag not in found
        found[tag] = reader.take(reader.u64())
    return found


class Page:
    """A profile. Nodes by function: depth, function, parent; nodes by line (1 + L id; 0 is the empty stack): frame (function, location),
    caller. Cells: (node, thread, state, quality, bin, samples, weight)."""

    def __init__(self, data):
        parts = sections(data)
        self.meta = json.loads(parts[1])
        self.read_strings(Reader(parts[2]))
        self.read_functions(Reader(parts[3]))
        self.read_locations(Reader(parts[4]))
        self.read_tree(Reader(parts[5]))
        self.read_cells(Reader(parts[6]))
        self.read_strip(Reader(parts[7]))
        self.read_sources(Reader(parts[8]))

    def read_strings(self, r):
        self.strings = [r.take(length).decode() for length in r.column(r.u64())]
        assert self.strings[0] == ""
        r.end()

    def read_functions(self, r):
        count = r.u64()
        texts = [[self.strings[i] for i in r.deltas(count)] for _ in range(4)]
        columns = [*texts, r.deltas(count), r.column(count), r.column(count)]
        names = ["name", "qualname", "file", "module", "line", "category", "origin"]
        self.functions = [dict(zip(names, row)) for row in zip(*columns)]
        r.end()

    def read_locations(self, r):
        counts = r.column(len(self.functions))
        lines = [line for f, count in zip(self.functions, counts) for line in r.deltas(count, f["line"])]
        ends, columns, end_columns, opcodes = (read(len(lines)) for read in (r.signed, r.signed, r.signed, r.column))
        self.inlined = r.column(len(lines)) if r.at < len(r.data) else [0] * len(lines)
        self.locations, at = [], 0
        for count in counts:
            self.locations.append([(lines[i], lines[i] + ends[i], columns[i], columns[i] + end_columns[i], opcodes[i])
                                   for i in range(at, at + count)])
            assert len(set(zip(self.locations[-1], self.inlined[at:at + count]))) == count
            at += count
        r.end()

    def read_tree(self, r):
        count, line_count = r.u64(), r.u64()
        lists = [r.column(length) for length in r.column(len(self.functions) + 1)]
        pops, ranks, places = r.column(count), r.column(count), [1 + n for n in r.column(count)]
        self.node_function = []
        locations = r.column(line_count)
        self.node_depth, self.node_parent, self.node_of_line = [], [], [None]
        self.frame, self.caller = [None], [None]
        first, path, at = [], [], 0
        for i in range(count):
            depth = (self.node_depth[-1] if i else -1) + 1 - pops[i]
            assert 0 <= depth <= len(path)
            del path[depth:]
            above = path[-1] if path else None
            path.append(i)
            first.append(len(self.frame))
            self.node_function.append(lists[0 if above is None else 1 + self.node_function[above]][ranks[i]])
            self.node_depth.append(depth)
            self.node_parent.append(above)
            last = None
            for k in range(places[i]):
                location = locations[at + k] + (last[0] if k else 0)
                caller = 0
                if above is not None and places[above] > 1:
                    caller = r.u64() + (last[1] + 1 if k and location == last[0] else 0)
                last = location, caller
                self.frame.append((self.node_function[i], location))
                self.caller.append(0 if above is None else first[above] + caller)
                self.node_of_line.append(i)
                assert above is None or caller < places[above]
            at += places[i]
        assert at == line_count
        r.end()

    def read_cells(self, r):
        self.shift, flags, count = r.u64(), r.u64(), r.u64()
        nodes, last = [], 0
        for delta in r.column(count):
            last += delta
            nodes.append(last)
        threads, whats, bins, samples = r.column(count), r.column(count), r.deltas(count), r.column(count)
        more = r.signed(count) if flags & 1 else [0] * count
        self.held_by = r.column(count) if flags & 2 else [0] * count
        self.lock = r.column(count) if flags & 4 else [0] * count
        period = self.meta["period_ns"]
        self.cells = [(n, t, w >> 2, w & 3, b, s, (s * period + m) & MASK) for n, t, w, b, s, m in zip(nodes, threads, whats, bins, samples, more)]
        keys = [(*cell[:5], holder, lock) for cell, holder, lock in zip(self.cells, self.held_by, self.lock)]
        assert all(a < b for a, b in zip(keys, keys[1:]))
        assert all(holder < 2 + len(self.functions) and (not holder or what >> 2 & STATES["wants_gil"]) for holder, what in zip(self.held_by, whats))
        assert all(lock < 2 + len(self.meta.get("lock_states", ())) for lock in self.lock)
        r.end()

    def read_strip(self, r):
        self.bins, threads = r.u64(), r.u64()
        self.strip = []
        for _ in range(threads):
            count, runs, at = r.u64(), {}, -1
            bins = []
            for skipped in r.column(count):
                at += 1 + skipped
                bins.append(at)
            doings = [r.column(count) for _ in range(6)]
            for i, at in enumerate(bins):
                runs[at] = [column[i] for column in doings]
            self.strip.append(runs)
        r.end()

    def read_sources(self, r):
        self.sources = {}  # file: (changed, {line: its text})
        for _ in range(r.u64()):
            name, flags, lines = self.strings[r.u64()], r.u64(), {}
            for _ in range(r.u64()):
                first, text = r.u64(), r.take(r.u64()).decode()
                for at, line in enumerate(text.split("\n")[:-1]):
                    assert first + at not in lines
                    lines[first + at] = line
            self.sources[name] = bool(flags & 1), lines
        r.end()

    def stack(self, node):
        """Frames (function, location), the outermost first."""
        frames = []
        while node:
            frames.append(self.frame[node])
            node = self.caller[node]
        return frames[::-1]

    def passing(self, keep=False):
        """Cells that a report shows: without those of idle threads, unless they are asked for."""
        idle = [t["idle"] for t in self.meta["threads"]]
        return [c for c in self.cells if keep or not idle[c[1]]]

    def blame(self, keep=False):
        """{(name, file, line) of who held the GIL, None where nobody was seen to: (samples, weight)} of those that waited for it."""
        sums = collections.defaultdict(lambda: [0, 0])
        for cell, holder in zip(self.cells, self.held_by):
            if not holder or not (keep or not self.meta["threads"][cell[1]]["idle"]):
                continue
            function = self.functions[holder - 2] if holder > 1 else None
            key = function and (function["qualname"] or function["name"], function["file"], function["line"])
            sums[key][0] += cell[5]
            sums[key][1] += cell[6]
        return {key: tuple(both) for key, both in sums.items()}

    def lock_blame(self):
        """{(pid, id, type): {who held it, (tid, thread, name), None where it was passed on, "" where it is not known: (samples, weight)}}
        of those that waited for a lock; whoever does is not idle."""
        found = collections.defaultdict(lambda: collections.defaultdict(lambda: (0, 0)))
        for cell, number in zip(self.cells, self.lock):
            if number < 2:
                continue
            state = self.meta["lock_states"][number - 2]
            lock = self.meta["locks"][state["lock"]]
            who = {"passed_on": None, "unknown": ""}.get(state["holder"], (state.get("tid"), state.get("thread"), state.get("name")))
            held = found[lock["pid"], lock["id"], lock["type"]]
            held[who] = held[who][0] + cell[5], held[who][1] + cell[6]
        return {lock: dict(held) for lock, held in found.items()}

    def totals(self, cells):
        found = {"samples": {"total": sum(c[5] for c in cells), "weight_ns": sum(c[6] for c in cells)},
                 "states": {name: sum(c[5] for c in cells if c[2] & bit) for name, bit in STATES.items()}}
        for quality, name in enumerate(QUALITIES):
            found["samples"][name] = sum(c[5] for c in cells if c[3] == quality)
        return found

    def by_function(self, cells):
        """{function: [self samples, self weight, total samples, total weight]}"""
        figures = {}
        for node, _, _, _, _, samples, weight in cells:
            frames = self.stack(node)
            for function in {f for f, _ in frames}:
                row = figures.setdefault(function, [0, 0, 0, 0])
                row[2] += samples
                row[3] += weight
            if frames:
                row = figures[frames[-1][0]]
                row[0] += samples
                row[1] += weight
        return figures

    def by_stack(self, cells):
        """{(thread, its frames): [samples, weight]}, frames as (index of the function, line, end line, column, end column, opcode)"""
        figures = {}
        for node, thread, _, _, _, samples, weight in cells:
            key = thread, tuple((f, *self.locations[f][i]) for f, i in self.stack(node))
            row = figures.setdefault(key, [0, 0])
            row[0] += samples
            row[1] += weight
        return figures
