# SPDX-License-Identifier: Apache-2.0
"""Run by an interpreter that finds distributed and plumb: what the functions of both take for the same trees.

    trees.py ROUNDS

Writes {what: {who: seconds of CPU}} and the release of distributed as JSON. A figure is the least of all rounds, in which both take turns;
the cyclic collector is on, as where these functions are used."""
import collections
import gc
import json
import random
import sys
import time

import distributed
import distributed.profile as theirs
import msgpack
import plumb.profile as ours
from plumb._trees import as_bytes, pack, packed
from plumb._trees import merge as merge_packed

DEPTH, REPEATS = 50, 200
NAMES = 400  # functions of the made-up program


def node(name):
    filename, line = "/srv/app/module_%d.py" % (name % 20), 10 * name + 1
    description = {"filename": filename, "name": "function_%d" % name, "line_number": line + 3, "line": "value = work(%d)\n" % name}
    return {"identifier": "function_%d;%s;%d" % (name, filename, line), "description": description, "count": 0, "children": {}}


class Program:
    """A program as a tree of calls; what was sampled of it in a while is a part of that tree, more often the part that runs more often."""

    def __init__(self, seed, size):
        self.random = random.Random(seed)
        self.parent = [-1]
        self.name = [0]
        for i in range(1, size):
            # Half of the calls are from one of the newest functions, so that stacks are deep as well as many.
            self.parent.append(self.random.randrange(max(0, i - 30), i) if self.random.random() < 0.5 else self.random.randrange(i))
            self.name.append(self.random.randrange(NAMES))

    def sampled(self, size):
        """A tree of so many nodes, made of whole stacks."""
        root = theirs.create()
        made = {0: root}
        while len(made) < size:
            stack = []
            at = min(int(self.random.paretovariate(0.5)), len(self.parent) - 1)
            while at > 0:
                stack.append(at)
                at = self.parent[at]
            root["count"] += 1
            for call in reversed(stack):
                self.add(made, call)["count"] += 1
        return root

    def add(self, made, call):
        if call not in made:
            new = node(self.name[call])
            children = made[self.parent[call]]["children"]
            made[call] = children.setdefault(new["identifier"], new)
        return made[call]


def deep_frame(depth, use):
    """use(frame) below so many functions, each another."""
    source = "".join("def f%d(use):\n    return f%d(use)\n" % (i, i + 1) for i in range(depth - 1))
    source += "def f%d(use):\n    return use(sys._getframe())\n" % (depth - 1)
    namespace = {"sys": sys}
    exec(compile(source, "/srv/app/deep.py", "exec"), namespace)
    return namespace["f0"](use)


def least(rounds, calls, repeats=1):
    """{who: seconds of the quickest of its rounds}"""
    best = {}
    for _ in range(rounds):
        for who, call in calls.items():
            gc.collect()
            began = time.thread_time()
            for _ in range(repeats):
                call()
            taken = (time.thread_time() - began) / repeats
            best[who] = min(best.get(who, taken), taken)
    return best


def outside():
    """How many frames the caller's stack has."""
    frame, count = sys._getframe(1), 0
    while frame:
        frame, count = frame.f_back, count + 1
    return count


def process(rounds):
    """A stack that the tree has already."""
    trees = {"plumb": ours.create(), "distributed": theirs.create()}

    def measure(frame):
        calls = {"plumb": lambda: ours.process(frame, None, trees["plumb"]),
                 "distributed": lambda: theirs.process(frame, None, trees["distributed"])}
        return least(5 * rounds, calls, REPEATS)

    taken = deep_frame(DEPTH - outside() - 1, measure)
    assert deepest(trees["plumb"]) == deepest(trees["distributed"]) == DEPTH
    return taken


def deepest(tree):
    depth = 0
    while tree["children"]:
        (tree,) = tree["children"].values()
        depth += 1
    return depth


def merge(rounds):
    program = Program(1, 4000)
    trees = [program.sampled(1000) for _ in range(100)]
    assert ours.merge(*trees) == theirs.merge(*trees)
    return least(rounds, {"plumb": lambda: ours.merge(*trees), "distributed": lambda: theirs.merge(*trees)})


def histories(rounds):
    """The sum of all entries of a history, and then, as a dashboard does that looks again, after one more entry has come."""
    program = Program(2, 800)
    entries = [(float(i), program.sampled(200)) for i in range(1000)]
    plain, summed = collections.deque(entries, 1000), ours.History(entries, 1000)
    assert ours.get_profile(summed) == theirs.get_profile(plain)
    results = {"get_profile, 1,000 entries of 200 nodes, plain list": least(rounds, {
        "plumb": lambda: ours.get_profile(plain), "distributed": lambda: theirs.get_profile(plain)})}
    results["get_profile, 1,000 entries of 200 nodes, asked the first time"] = least(rounds, {
        "plumb": lambda: ours.get_profile(ours.History(entries, 1000)), "distributed": lambda: theirs.get_profile(plain)})
    packed = ours.History([(end, pack(tree)) for end, tree in entries], 1000)
    assert ours.get_profile(packed) == theirs.get_profile(plain)
    results["get_profile, 1,000 entries of 200 nodes, as plumb.dask keeps them"] = least(5 * rounds, {
        "plumb": lambda: ours.get_profile(packed), "distributed": lambda: theirs.get_profile(plain)})
    results["get_profile, 1,000 entries of 200 nodes, packed, without sums"] = least(5 * rounds, {
        "plumb": lambda: ours.merge(*(one for _, one in packed)), "distributed": lambda: theirs.get_profile(plain)})
    times = iter(range(1000, 1000000))

    def again():
        summed.append((float(next(times)), entries[0][1]))
        return ours.get_profile(summed)

    def anew():
        plain.append((float(next(times)), entries[0][1]))
        return theirs.get_profile(plain)

    calls = {"plumb": again, "distributed": anew}
    results["get_profile, 1,000 entries of 200 nodes, asked again after each new one"] = least(5 * rounds, calls)
    return results


def answers(rounds):
    """A scheduler adds up what twenty workers have sent: messages, as Dask sends them."""
    program = Program(4, 4000)
    trees = [program.sampled(1000) for _ in range(20)]
    plain, short = ([msgpack.packb(sent) for sent in some] for some in (trees, [as_bytes(tree) for tree in trees]))

    def read(messages):
        return [msgpack.unpackb(message, use_list=False, strict_map_key=False) for message in messages]

    def of_plumb():
        known = {}
        return merge_packed(*(packed(sent, known) for sent in read(short)))

    assert of_plumb() == theirs.merge(*read(plain))
    return least(3 * rounds, {"plumb": of_plumb, "distributed": lambda: theirs.merge(*read(plain))})


def plot(rounds):
    tree = wide_tree(100000)
    assert len(ours.plot_data(tree)["left"]) == len(theirs.plot_data(tree)["left"]) == 100000
    return least(rounds, {"plumb": lambda: ours.plot_data(tree), "distributed": lambda: theirs.plot_data(tree)})


def wide_tree(size):
    """Of so many nodes and less than 100 levels, all of them counted."""
    chooser, root = random.Random(3), theirs.create()
    there = [(root, 0)]
    while len(there) < size:
        parent, depth = there[chooser.randrange(len(there))]
        new = node(chooser.randrange(NAMES))
        if depth < 90 and new["identifier"] not in parent["children"]:
            parent["children"][new["identifier"]] = new
            there.append((new, depth + 1))
    for tree, _ in reversed(there):
        tree["count"] = 1 + sum(child["count"] for child in tree["children"].values())
    return root


def main():
    rounds = int(sys.argv[1])
    results = {"process, depth %d" % DEPTH: process(rounds), "merge, 100 trees of 1,000 nodes": merge(rounds)}
    results.update(histories(rounds))
    if msgpack.Unpacker.__module__ != "msgpack.fallback":  # that one is Python, and nearly all that would be measured
        results["merge, answers of 20 workers, 1,000 nodes each"] = answers(rounds)
    results["plot_data, 100,000 nodes"] = plot(rounds)
    json.dump({"release": distributed.__version__, "seconds": results}, sys.stdout)


main()
