# SPDX-License-Identifier: Apache-2.0
"""Dask's profiler and ours make the same of the same stacks: the tree of distributed.profile.process(), and what plot_data() draws."""
import json
import random
import types

import pytest

from harness import collector_runs

FILES = [f for f in collector_runs.FILES if "\0" not in f]
NAMES = [n for n in collector_runs.NASTY if "\0" not in n]


@pytest.fixture(scope="module")
def profile():
    return pytest.importorskip("distributed.profile", reason="there is no distributed (./dev setup takes it from the package index)")


@pytest.fixture
def convert(plumb):
    def run(data, form, source):
        given, out = plumb.path(".json"), plumb.path(".out")
        given.write_text(json.dumps(data))
        result = plumb("convert", given, out, "--from", source, "-f", form)
        assert result.status == 0, result
        return json.loads(out.read_text())

    return run


def frame_of(frames):
    """The innermost of @frames, [file, line, name, first line] innermost first, as Dask sees frames."""
    frame = None
    for file, line, name, first in reversed(frames):
        code = types.SimpleNamespace(co_name=name, co_filename=file, co_firstlineno=first)
        frame = types.SimpleNamespace(f_code=code, f_lineno=line, f_back=frame, f_globals={}, f_lasti=0)
    return frame


def stacks_of(seed, first_lines):
    r = random.Random(seed)
    lines = [1, 2, 3, 9, 10, 11]
    files = [__file__, "/srv/app.py"] + (FILES if seed % 2 else [])
    names = ["f", "g"] + (NAMES if seed % 2 else [])
    # A frame of nothing at all is one without a place to us.
    make = lambda: [r.choice(files), r.choice(lines), r.choice(names), r.choice(lines) if first_lines else 0]
    deep = [["/srv/deep.py", 3, "again", 2 if first_lines else 0]] * 80
    return [[make() for _ in range(r.choice([1, 2, 4, 8]))] + (deep if r.random() < 0.05 else []) for _ in range(r.choice([1, 10, 60]))]


def tree_of(profile, stacks):
    tree = profile.create()
    for stack in stacks:
        profile.process(frame_of(stack), None, tree)
    return tree


def in_order(tree):
    """The tree as data in which the order of children counts."""
    return [tree["identifier"], tree["description"], tree["count"], [(key, in_order(child)) for key, child in tree["children"].items()]]


def drawn(profile, tree, interval):
    data = profile.plot_data(json.loads(json.dumps(tree)), interval)
    del data["states"]  # the nodes themselves
    return data


@pytest.mark.parametrize("seed", range(12))
def test_the_same_stacks_make_the_same_tree(profile, convert, seed):
    stacks = stacks_of(seed, first_lines=False)
    tree = tree_of(profile, stacks)
    samples = [{"interpreters": [{"id": 0, "threads": [{"id": 1, "status": 3, "frames": [[f, n, name, None] for f, n, name, _ in stack]}]}]}
               for stack in stacks]
    run = {"sample_interval_usec": 10000, "samples": samples}
    ours = convert(run, "dask", "samples")
    assert in_order(ours) == in_order(json.loads(json.dumps(tree)))
    assert convert(run, "dask-plot", "samples") == drawn(profile, tree, 0.01)
    assert profile.merge(ours, ours)["count"] == 2 * len(stacks)


@pytest.mark.parametrize("seed", range(20, 32))
def test_a_tree_comes_back_as_it_was(profile, convert, seed):
    tree = tree_of(profile, stacks_of(seed, first_lines=True))
    assert in_order(convert(tree, "dask", "dask")) == in_order(json.loads(json.dumps(tree)))
    assert convert(tree, "dask-plot", "dask") == drawn(profile, tree, 0.01)


@pytest.mark.parametrize("seconds", [1e-7, 1e-3, 0.5, 1, 599, 600, 601, 7200, 7201, 172800, 172801, 1234567])
def test_times_are_written_as_dask_writes_them(profile, convert, seconds):
    stack = {"interpreters": [{"id": 0, "threads": [{"id": 1, "status": 3, "frames": [["/a.py", 1, "f", None]]}]}]}
    interval = min(seconds, 0.001)
    weight = round(seconds / interval)
    run = {"sample_interval_usec": interval * 1e6, "samples": [{"weight": weight, **stack}]}
    tree = tree_of(profile, [[["/a.py", 1, "f", 0]]])
    tree["count"] = tree["children"]["f;/a.py;0"]["count"] = weight
    assert convert(run, "dask-plot", "samples") == drawn(profile, tree, interval)


def test_trees_without_samples_and_what_is_none(profile, convert, plumb):
    empty = profile.create()
    assert in_order(convert({"sample_interval_usec": 1, "samples": []}, "dask", "samples")) == in_order(empty)
    assert all(column == [] for column in convert({"sample_interval_usec": 1, "samples": []}, "dask-plot", "samples").values())
    for broken in ('{"children": 1}', '{"children": {"a": 1}}', '{"count": -1}', "[]", '{"children": {"a": {}'):
        source = plumb.path(".json")
        source.write_text(broken)
        assert plumb("convert", source, plumb.path(".out"), "--from", "dask", "-f", "dask").status != 0, broken


def test_times_of_a_plot_are_those_of_the_recording(plumb, any_python):
    """A sample stands for the CPU time that it is known to, or for the period of a rate that was lowered, and not for one that was asked for."""
    recording, plot = plumb.path(), plumb.path(".dask-plot")
    result = plumb("run", "--mode", "cpu", "-o", recording, "--", *any_python.command, "-c", "for i in range(5000000): pass")
    assert result.status == 0, result
    assert plumb("convert", recording, plot, "-f", "dask-plot").status == 0
    told, unit = json.loads(plot.read_text())["time"][0].split()
    ns = float(told) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[unit]
    assert abs(ns / plumb.report(recording).json["samples"]["weight_ns"] - 1) < 0.01, told
