# SPDX-License-Identifier: Apache-2.0
"""Run by an interpreter that finds distributed and plumb: both do the same work, and the results must be the same.

    original.py SEED CASES

Says in a line of JSON how many cases of each kind were equal; the first that is not ends it with an exception."""
import copy
import itertools
import json
import linecache
import os
import random
import re
import sys
import types

import distributed
import distributed.profile as theirs
import plumb.profile as ours

OLD = distributed.__version__ == "2022.12.1"
STRICT = "2022.12.1" if OLD else True
HERE = os.path.abspath(__file__)
FILES = [HERE, "/srv/app.py", "/srv/mob.py", "b.py", "<string>", "", "/srv/a;b.py", "/srv/\u03bb.py", "made-up.py", json.__file__]
NAMES = ["f", "g", "<lambda>", "<module>", "a;b", "\u03bb", "x" * 300, "method"]
SUFFIXES = ["app.py", ".py", "b.py", "nowhere", HERE, "", "\u03bb.py"]


def exact(value):
    """A value as text in which order, types and the last bit of a float count."""
    if isinstance(value, dict):
        return "{%s}" % ", ".join("%s: %s" % (exact(k), exact(v)) for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return "[%s]" % ", ".join(map(exact, value))
    return "%s %r" % (type(value).__name__, value)


def same(mine, original, *about):
    a, b = exact(mine), exact(original)
    if a != b:
        at = max(0, len(os.path.commonprefix([a, b])) - 200)
        raise AssertionError("%r\nours   ...%s\ntheirs ...%s" % (about, a[at : at + 400], b[at : at + 400]))


def outcome(function, *arguments, **options):
    """(result, None) or (None, class of the exception)"""
    try:
        return function(*arguments, **options), None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return None, type(error)


def code_without_lines():
    """A code object as other things than functions have it: real, with lines that dis finds."""
    return compile("\n\na = 1\n\nb = 2\nfor x in ():\n    c = 3\n", "made-up.py", "exec")


def duck_frame(r, back):
    # The line of a frame without one: since 3.11 the old release finds 0 or None where code begins without a line.
    line = r.choice([0, 1, 2, 3, 40, None if not OLD or sys.version_info < (3, 11) else 7])
    if line is None or r.random() < 0.1:
        code = code_without_lines()
    else:
        code = types.SimpleNamespace(co_name=r.choice(NAMES), co_filename=r.choice(FILES), co_firstlineno=r.choice([0, 1, 7]))
    return types.SimpleNamespace(f_code=code, f_lineno=line, f_back=back, f_globals={}, f_lasti=r.choice([-1, 0, 2, 8, 30, 1000]))


def duck_stack(r, depth):
    frame = None
    for _ in range(depth):
        frame = duck_frame(r, frame)
    return frame


def real_stack(r, depth, use):
    """Call use(frame) below so many functions of all sorts, made for the occasion."""
    plans = {
        "function": "def f(n, go):\n    return go(n - 1)\n",
        "lambda": "f = lambda n, go: go(n - 1)\n",
        "generator": "def g(n, go):\n    yield go(n - 1)\ndef f(n, go):\n    return next(g(n, go))\n",
        "method": "class C:\n    def m(self, n, go):\n        return (\n            go(n - 1))\nf = C().m\n",
        "comprehension": "def f(n, go):\n    return [go(n - 1) for _ in (0,)][0]\n",
        "sorted": "def f(n, go):\n    return sorted([1], key=lambda x: (go(n - 1), x)[1])\n",
    }
    made = []
    for _ in range(4):
        namespace = {}
        name = r.choice(FILES[1:])
        exec(compile("\n" * r.randrange(3) + plans[r.choice(sorted(plans))], name, "exec"), namespace)
        made.append(namespace["f"])

    def go(n):
        if n <= 0:
            return use(sys._getframe())
        return r.choice(made)(n, go)

    go(depth)


def options_of(r):
    options = {}
    if r.random() < 0.4:
        options["stop"] = r.choice(SUFFIXES)
    if r.random() < 0.4:
        options["omit"] = r.choice([(), ["nowhere"], ("app.py", "mob.py"), {"b.py"}, [""], (r.choice(SUFFIXES),)])
    if r.random() < 0.1 and options.get("omit"):
        options["omit"] = iter(options["omit"])
    return options


def take(frame, trees, r):
    """One stack into both trees."""
    options = options_of(r)
    child = r.choice([None, None, None, frame, False])
    mine, original = trees
    alike = dict(options)
    if "omit" in options:
        options["omit"], alike["omit"] = itertools.tee(options["omit"])
    a = outcome(ours.process, frame, child, mine, **options)
    b = outcome(theirs.process, frame, child, original, **alike)
    same(a, b, options, child)
    if a[0] is not None:
        assert a[0]["identifier"] == ours.identifier(frame)
    same(mine, original, options, child)


def say(frame):
    """What is said of each frame."""
    same(ours.call_stack(frame), theirs.call_stack(frame))
    while frame is not None:
        same(ours.identifier(frame), theirs.identifier(frame))
        same(ours.info_frame(frame), theirs.info_frame(frame))
        same(ours.repr_frame(frame), theirs.repr_frame(frame))
        frame = frame.f_back


def case_duck_frames(r):
    trees = ours.create(), theirs.create()
    same(*trees)
    for _ in range(r.choice([1, 5, 20])):
        frame = duck_stack(r, r.choice([1, 2, 3, 8, 60]))
        take(frame, trees, r)
    say(frame)


def case_real_frames(r):
    trees = ours.create(), theirs.create()
    for _ in range(r.choice([1, 5, 10])):
        real_stack(r, r.choice([0, 1, 3, 12]), lambda frame: (take(frame, trees, r), take(frame.f_back, trees, r)))
    real_stack(r, 3, say)


def case_deep_stacks(r):
    """Where the original loses or cuts, strict does so, too."""
    mine, original = ours.create(), theirs.create()
    frame = duck_stack(r, r.choice([90, 100, 101, 102, 150, 200]))
    depth = r.choice([None, None, 0, 1, 5, 100, 149, -3])
    a = outcome(ours.process, frame, None, mine, depth=depth, strict=STRICT)
    b = outcome(theirs.process, frame, None, original, depth=depth)
    same(a, b, depth)
    same(mine, original, depth)
    letters = r.choice(["y", "z", "ab"])
    a = outcome(ours.process, frame, None, mine, omit=letters, depth=20, strict=STRICT)
    b = outcome(theirs.process, frame, None, original, omit=letters, depth=20)
    same(a, b, letters)
    same(mine, original, letters)


def random_tree(r, nodes, counts):
    """Nodes below each other; keys are few, so that trees overlap, and mostly but not always what the identifier is."""
    root = ours.create()
    root["count"] = counts(r)
    there = [root]
    for _ in range(nodes):
        parent = r.choice(there[-8:] if r.random() < 0.5 else there)
        name, filename, line = r.choice(NAMES), r.choice(FILES + ["<low-level>"]), r.choice([1, 7])
        identifier = ";".join((name, filename, str(line)))
        node = {
            "count": counts(r),
            "description": {"filename": filename, "name": name, "line_number": r.randrange(50), "line": "x = %d\n" % r.randrange(9)},
            "children": {},
            "identifier": identifier,
        }
        parent["children"][identifier] = node
        there.append(node)
    return root


def plain_counts(r):
    return r.choice([0, 1, 2, 3, 300, r.randrange(10**6)])


def large_counts(r):
    return r.choice([0, 1, True, 1 << 62, 1 << 63, 1 << 64, -1 << 63, 10**30, -5, 3])


def broken_counts(r):
    return r.choice([0, 1, 2.5, -0.25, 1000])


def trees_of(r, counts):
    trees = [random_tree(r, r.choice([0, 1, 10, 60]), counts) for _ in range(r.choice([0, 1, 2, 3, 7]))]
    if trees and r.random() < 0.3:
        trees.append(copy.deepcopy(r.choice(trees)))
    if trees and r.random() < 0.2:
        trees.append(r.choice(trees))
    return trees


def containers(tree):
    yield id(tree)
    yield id(tree["children"])
    yield id(tree["description"])
    for child in tree["children"].values():
        yield from containers(child)


def case_merge(r):
    trees = trees_of(r, r.choice([plain_counts, large_counts, broken_counts]))
    before = exact(trees)
    merged = ours.merge(*trees)
    same(merged, theirs.merge(*trees))
    same(ours.merge(*trees, strict=True), merged)
    assert exact(trees) == before
    assert set(containers(merged)).isdisjoint(itertools.chain.from_iterable(map(containers, trees)))


def case_merge_refused(r):
    trees = trees_of(r, plain_counts) + [random_tree(r, 5, plain_counts)]
    node = r.choice(trees)
    while node["children"] and r.random() < 0.6:
        node = r.choice(list(node["children"].values()))
    r.choice([lambda: node.update(identifier="other"), lambda: node.pop("count"), lambda: node.pop("children"),
              lambda: node.update(identifier=None), lambda: node.pop("description"), lambda: node.update(count="many")])()
    mine, original = outcome(ours.merge, *trees), outcome(theirs.merge, *trees)
    same(mine, original)


def plotted_counts(r):
    return r.choice([0, 1, True, 3, 2.5, 300, -1, 10**16 + 1, 10**16 + 3, 10**17])


class Own(dict):
    """Is asked by its methods."""


def otherwise_kept(r, tree):
    """The same tree of dicts that are not all made alike: keys that are equal only, in another order, among others, one deleted."""
    def kept(old):
        new = r.choice([dict, dict, dict, Own])(gone=1)
        for name in r.sample(sorted(old), len(old)) if r.random() < 0.3 else old:
            new["".join(list(name)) if r.random() < 0.2 else name] = old[name]
            new["more"] = new.get("more", 0)
        del new["gone"]
        return new

    node = kept({**tree, "description": kept(tree["description"])})
    children = r.choice([dict, Own])(gone=1, **{key: otherwise_kept(r, child) for key, child in tree["children"].items()})
    del children["gone"]
    node["children"] = children
    return node


def case_plot(r):
    tree = random_tree(r, r.choice([0, 1, 20, 200]), r.choice([plain_counts, plain_counts, plotted_counts]))
    if r.random() < 0.5:
        tree = otherwise_kept(r, tree)
    interval = r.choice([0.01, 1, 1e-7, 0.123, 3600.0, 1e5, 0.0, True])
    arguments = (tree,) if r.random() < 0.3 else (tree, interval)
    mine, original = ours.plot_data(*arguments), theirs.plot_data(*arguments)
    assert [id(node) for node in mine.pop("states")] == [id(node) for node in original.pop("states")]
    same(mine, original, interval)


class Recorder:
    """Stands for Bokeh, which is large: keeps what was called and set."""

    def __init__(self, told, name):
        self.__dict__.update(told=told, name=name)

    def __getattr__(self, name):
        return Recorder(self.told, self.name + "." + name)

    def __setattr__(self, name, value):
        self.told.append(["set", self.name + "." + name, value])

    def __call__(self, *arguments, **options):
        name = self.name.rpartition(".")[2] + "()"
        self.told.append(["call", self.name, [repr(a) for a in arguments], sorted((k, v) for k, v in options.items() if k != "source")])
        return Recorder(self.told, name)

    def __repr__(self):
        return self.name


def drawn(draw, data):
    """What a plot_figure() does with Bokeh, in order of what it is done to, and the text of its hints."""
    told = []
    bokeh = {name: Recorder(told, name) for name in ("bokeh", "bokeh.models", "bokeh.plotting")}
    sys.modules.update(bokeh)
    try:
        result = draw(data, title="a title", height=3)
    finally:
        for name in bokeh:
            del sys.modules[name]
    hints = [entry[3].pop() for entry in told if entry[1].endswith("HoverTool")]
    # ColumnDataSource is to be had from both modules.
    told = [[*entry[:1], entry[1].replace("bokeh.plotting.Col", "bokeh.models.Col"), *entry[2:]] for entry in told]
    return sorted(told, key=repr), repr(result), dict(hints)["tooltips"]


def case_figure(r):
    data = ours.plot_data(random_tree(r, 5, plain_counts))
    before = exact(data)
    told, result, hints = drawn(ours.plot_figure, data)
    expected, expected_result, expected_hints = drawn(theirs.plot_figure, data)
    same(told, expected)
    same(result, expected_result)
    shown = lambda text: sorted(re.findall(r"@\w+", text))
    same(shown(hints), shown(expected_hints))
    assert shown(hints) and exact(data) == before


def case_low_level(r):
    trees = ours.create(), theirs.create()
    for _ in range(r.choice([1, 5])):
        native = [
            types.SimpleNamespace(name=r.choice(NAMES), addr=r.choice([0x10, 0x7F0123]), offset=r.choice([0, 3]), is_python=r.random() < 0.2)
            for _ in range(r.choice([0, 1, 2, 5]))
        ]
        same(*(list(map(repr, function(native))) for function in (ours._remove_py_stack, theirs._remove_py_stack)))
        child = r.choice([None, True])
        same(ours.llprocess(native, child, trees[0]), theirs.llprocess(list(native), child, trees[1]))
        same(*trees)
    frame = duck_stack(r, 1)
    same(ours._f_lineno(frame), theirs._f_lineno(frame))


def case_times(r):
    tree = ours.create()
    tree["count"] = 1
    seconds = r.choice([r.uniform(0, 2), r.uniform(590, 610), r.uniform(7190, 7210), r.uniform(172790, 172810), r.uniform(0, 1e7), 10 ** r.uniform(-9, 3)])
    same(ours.plot_data(tree, seconds)["time"], theirs.plot_data(tree, seconds)["time"], seconds)


def case_history(r):
    times = sorted(r.choice([r.uniform(0, 10), r.randrange(10)]) for _ in range(r.choice([0, 1, 2, 5, 20])))
    history = [(time, random_tree(r, 8, plain_counts)) for time in times]
    if r.random() < 0.5:
        history = theirs.deque(history)
    options = {"recent": r.choice([None, {}, random_tree(r, 8, plain_counts)])}
    for edge in ("start", "stop"):
        options[edge] = r.choice([None, None, r.uniform(-1, 11), r.randrange(10)])
    original = theirs.get_profile(history, **options)
    same(ours.get_profile(history, strict=True, **options), original, times, options)
    start, stop = options["start"], options["stop"]
    # It adds `recent` to any time that has an entry, and to no other.
    if not options["recent"] or (times and (start is None or start <= times[-1]) and (stop is None or stop > times[-1])):
        if r.random() < 0.5:
            history = ours.History(history)
        same(ours.get_profile(history, **options), original, times, options)


CASES = {name[5:]: function for name, function in sorted(globals().items()) if name.startswith("case_")}


def main():
    seed, cases = map(int, sys.argv[1:3])
    sys.setrecursionlimit(2000)
    linecache.cache["made-up.py"] = (1, None, ["  line %d\n" % i for i in range(30)], "made-up.py")
    for name, case in CASES.items():
        for i in range(cases):
            r = random.Random("%s %d %d" % (name, seed, i))
            try:
                case(r)
            except Exception:
                print("case %s, seed %d, number %d" % (name, seed, i), file=sys.stderr)
                raise
    print(json.dumps({"cases": {name: cases for name in CASES}, "version": distributed.__version__, "file": ours.__file__}))


main()
