# SPDX-License-Identifier: Apache-2.0
"""Run by a CPython 3.15 with -I: the real collectors over runs read from stdin; what they make goes to stdout as JSON."""
import base64
import contextlib
import json
import os
import shutil
import sys
import tempfile
import types

from _remote_debugging import CoroInfo, FrameInfo, InterpreterInfo, LocationInfo, TaskInfo, ThreadInfo
from profiling.sampling.stack_collector import CollapsedStackCollector, FlamegraphCollector


def frames_of(frames):
    return [FrameInfo((f, LocationInfo(tuple(loc)) if isinstance(loc, list) else loc, name, op)) for f, loc, name, op in frames]


def interpreters(sample):
    return [InterpreterInfo((i["id"], [ThreadInfo((t["id"], t["status"], frames_of(t["frames"]))) for t in i["threads"]]))
            for i in sample["interpreters"]]


def task(t):
    coros = [CoroInfo((frames_of(c["frames"]), c["name"])) for c in t["coros"]]
    return TaskInfo((t["id"], t["name"], coros, [CoroInfo(([], parent)) for parent in t["awaited_by"]]))


def awaited(sample):
    # AwaitedInfo is made by C alone where its field has another name than its attribute; the collectors look at these two.
    return [types.SimpleNamespace(thread_id=a["thread_id"], awaited_by=[task(t) for t in a["tasks"]]) for a in sample["awaited"]]


def collect(make, run):
    collector = make(run["sample_interval_usec"], skip_idle=run.get("skip_idle", False))
    for sample in run["samples"]:
        stacks = awaited(sample) if "awaited" in sample else interpreters(sample)
        collector.collect(stacks, [0] * sample["weight"] if "weight" in sample else None)
    return collector


def flame_graph(run):
    collector = collect(FlamegraphCollector, run)
    if "stats" in run:
        collector.set_stats(**run["stats"])
    return "".join(json.JSONEncoder().iterencode(collector._convert_to_flamegraph_format()))


def collapsed(run):
    with tempfile.NamedTemporaryFile() as out:
        collect(CollapsedStackCollector, run).export(out.name)
        return base64.b64encode(out.read()).decode()


def main():
    given = json.load(sys.stdin)
    answer = []
    sys.setrecursionlimit(20000)
    for path, text in given["sources"].items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as out:
            out.write(base64.b64decode(text))
    with contextlib.redirect_stdout(sys.stderr):
        for run in given["runs"]:
            answer.append({"flame": flame_graph(run), "collapsed": collapsed(run)})
    for path in given["sources"]:
        shutil.rmtree(os.path.dirname(path), ignore_errors=True)
    json.dump(answer, sys.stdout)


main()
