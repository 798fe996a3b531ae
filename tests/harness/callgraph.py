# SPDX-License-Identifier: Apache-2.0
"""Which calls a target can make, read from the comments in its source, and whether a sampled stack could have existed.

`# -> f, g` on a line names (with wildcards) all that the line may call; a line without it calls no Python function.
`# root` on a def line: called by library code. EXPECT: chains of functions that a profile must contain. FOREIGN = True:
library functions may run below any line. EXTRA: functions that no source line shows. The callback of the library's weak
sets runs below any line: where the last reference to an element goes, as on the way back from a function that made a thread.
"""
import ast
import fnmatch
import pathlib
import re

_CALLS = re.compile(r"#.*->\s*(.+?)\s*$")
_NAMELESS = ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>", "<lambda>", "<module>")


class CallGraph:
    def __init__(self, path):
        source = pathlib.Path(path).read_text(encoding="utf-8")
        self.file = pathlib.Path(path).name
        self.calls = {}  # line -> patterns
        self.functions = {}  # name -> [(first line, last line)]
        self.roots = {"<module>"}
        self.expect, self.foreign, self.threads = [], False, {}
        lines = source.splitlines()
        for number, line in enumerate(lines, 1):
            found = _CALLS.search(line)
            if found:
                self.calls[number] = [name.strip() for name in found.group(1).split(",")]
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                first = min([node.lineno] + [d.lineno for d in node.decorator_list])
                self.functions.setdefault(node.name, []).append((first, node.end_lineno))
                if re.search(r"#.*\broot\b", lines[node.lineno - 1]):
                    self.roots.add(node.name)
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self._constant(node.targets[0].id, node.value)

    def _constant(self, name, value):
        if name == "EXPECT":
            self.expect = ast.literal_eval(value)
        elif name == "FOREIGN":
            self.foreign = ast.literal_eval(value)
        elif name == "THREADS":
            self.threads = ast.literal_eval(value)
        elif name == "EXTRA":
            for function, facts in ast.literal_eval(value).items():
                self.functions.setdefault(function, []).append(tuple(facts["lines"]))
                self.calls.update(facts["calls"])

    def ours(self, frame):
        # The standard library has files of the same names, as asyncio/coroutines.py.
        return frame.file.rsplit("/", 1)[-1] == self.file and "/lib/python" not in frame.file

    def _line_problem(self, frame, leaf):
        # From 3.10 on some instructions belong to no line: the entry of a generator, the handling of an exception. Python
        # itself says "no line" for them, so a leaf may be there. No call is made from one.
        if frame.name in _NAMELESS or (leaf and frame.line == 0):
            return None
        ranges = self.functions.get(frame.name)
        if ranges is None:
            return "there is no function %s" % frame.name
        if not any(first <= frame.line <= last for first, last in ranges):
            return "line %d is not in %s" % (frame.line, frame.name)
        return None

    def _call_problem(self, caller, callee):
        allowed = self.calls.get(caller.line, ())
        if any(fnmatch.fnmatchcase(callee.name, pattern) for pattern in allowed):
            return None
        if not self.ours(callee) and (self.foreign or callee.file.endswith("/_weakrefset.py")):
            return None
        return "%s, line %d, cannot call %s" % (caller.name, caller.line, callee.name)

    def problem(self, frames):
        """Why this stack (root first, Python frames only) could never have existed; None if it could."""
        caller = None
        for index, frame in enumerate(frames):
            mine = self.ours(frame)
            found = None
            if mine:
                found = self._line_problem(frame, index == len(frames) - 1)
                if not found and (caller is None or not self.ours(caller)) and frame.name not in self.roots:
                    found = "%s is not called by %s" % (frame.name, caller.name if caller else "nobody")
            if not found and caller is not None and self.ours(caller):
                found = self._call_problem(caller, frame)
            if found:
                return found
            caller = frame
        return None

    def missing(self, stacks):
        """Chains of EXPECT that no stack contains."""
        names = ["\0".join(["", *(frame.name for frame in stack.python), ""]) for stack in stacks]
        return [chain for chain in self.expect if not any("\0".join(["", *chain, ""]) in one for one in names)]


class Verdict:
    """Counts of a check over many stacks."""

    def __init__(self):
        self.checked = 0
        self.impossible = 0
        self.partial = 0
        self.partial_impossible = 0
        self.outer_impossible = 0  # of those that are the outer part of a stack that moved
        self.examples = []

    def add(self, stack, problem):
        sure = stack.sure
        self.checked += stack.samples if sure else 0
        self.partial += 0 if sure else stack.samples
        if problem and sure:
            self.impossible += stack.samples
        elif problem:
            self.partial_impossible += stack.samples
            self.outer_impossible += stack.samples if stack.quality == "partial" else 0
        if problem and len(self.examples) < 5:
            self.examples.append("%d x %s%s: %s" % (stack.samples, "" if sure else "(not sure) ", problem, stack))

    def __str__(self):
        return "%d sure samples, %d impossible; %d others, %d impossible, of these %d outer parts\n%s" % (
            self.checked, self.impossible, self.partial, self.partial_impossible, self.outer_impossible, "\n".join(self.examples))

    __repr__ = __str__


def whole(graph, profile, samples):
    """Whether there are more than so many samples, and every chain and every thread that the program must show."""
    verdict = check(graph, profile)
    threads = all(any(s.thread["name"] == name and s.has(function) for s in profile.stacks) for name, function in graph.threads.items())
    return verdict.checked + verdict.partial > samples and threads and not graph.missing(profile.stacks)


def check(graph, profile, verdict=None):
    """Hold every stack that contains a function of the target against the graph."""
    verdict = verdict or Verdict()
    for stack in profile.stacks:
        if any(graph.ours(frame) for frame in stack.python):
            verdict.add(stack, graph.problem(stack.python))
    return verdict
