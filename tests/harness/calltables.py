# SPDX-License-Identifier: Apache-2.0
"""What the report page must show, added up anew from the stacks of the JSON report. A stack is a tuple of functions, the
outermost first; a function is a tuple (qualified name, file, line)."""
import collections


def stacks_of(profile):
    """[(stack, samples, weight_ns)]"""
    report = profile.json
    functions = [(f["qualname"], f["file"], f["line"]) for f in report["functions"]]
    frames = [functions[location["function"]] for location in report["locations"]]
    return [(tuple(frames[i] for i in s["frames"]), s["samples"], s["weight_ns"]) for s in report["stacks"]]


def table(stacks):
    """[(name, samples in itself, samples with what it called)], sorted, of all functions."""
    own, total = collections.Counter(), collections.Counter()
    for stack, samples, _ in stacks:
        if stack:
            own[stack[-1]] += samples
        for function in set(stack):
            total[function] += samples
    return sorted((function[0], own[function], total[function]) for function in total)


def tree(stacks):
    """{way from the outermost function: [samples, samples in itself]}"""
    nodes = collections.defaultdict(lambda: [0, 0])
    for stack, samples, _ in stacks:
        for depth in range(1, len(stack) + 1):
            nodes[stack[:depth]][0] += samples
        if stack:
            nodes[stack][1] += samples
    return nodes


def _changed(change):
    """A transform of stacks out of one that makes another stack of a stack, or None of one that is left out."""

    def transform(stacks, function):
        changed = [(change(stack, function), samples, weight) for stack, samples, weight in stacks]
        return [(stack, samples, weight) for stack, samples, weight in changed if stack is not None]

    return transform


@_changed
def focused(stack, function):
    return stack[stack.index(function):] if function in stack else None


@_changed
def hidden(stack, function):
    return tuple(frame for frame in stack if frame != function)


@_changed
def dropped(stack, function):
    return None if function in stack else stack


@_changed
def cut_below(stack, function):
    return stack[: stack.index(function) + 1] if function in stack else stack


@_changed
def folded_directly(stack, function):
    return tuple(f for i, f in enumerate(stack) if f != function or i == 0 or stack[i - 1] != function)


@_changed
def folded(stack, function):
    if function not in stack:
        return stack
    last = len(stack) - 1 - stack[::-1].index(function)
    return stack[: stack.index(function) + 1] + stack[last + 1 :]


@_changed
def module_hidden(stack, function):
    return tuple(frame for frame in stack if frame[1] != function[1])


@_changed
def module_collapsed(stack, function):
    """Runs of functions of one file become one frame, whose name the page chooses."""
    frames = [("", function[1], 0) if frame[1] == function[1] else frame for frame in stack]
    return tuple(f for i, f in enumerate(frames) if f[0] or i == 0 or frames[i - 1] != f)
