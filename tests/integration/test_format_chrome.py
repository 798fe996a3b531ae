# SPDX-License-Identifier: Apache-2.0
"""`report -f chrome-trace`: slices nest, stand in order, and speedscope draws them."""
import collections
import json

import pytest

from harness import viewers
from harness.figures import make, written


def slices_by_thread(document):
    threads = collections.defaultdict(list)
    for event in document["traceEvents"]:
        if event["ph"] == "X":
            start = round(event["ts"] * 1000)  # nanoseconds
            threads[event["pid"], event["tid"]].append((start, start + round(event["dur"] * 1000), event["name"]))
    return threads


def instants_with(slices):
    """{stack: time that had it}: what is open at each moment, the callers first."""
    edges = sorted({edge for start, end, _ in slices for edge in (start, end)})
    open_now, waiting, times = [], list(reversed(slices)), collections.Counter()
    for now, after in zip(edges, edges[1:]):
        while open_now and open_now[-1][1] <= now:
            open_now.pop()
        assert all(end > now for _, end, _ in open_now), "a caller ends before what it called"
        while waiting and waiting[-1][0] == now:
            assert not open_now or waiting[-1][1] <= open_now[-1][1], "a slice outlasts its caller"
            open_now.append(waiting.pop())
        times[tuple(name for _, _, name in open_now)] += after - now
    assert not waiting
    return times


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_slices_nest_and_hold_every_stack(plumb, seed):
    recording = make(plumb, seed)
    report = plumb.report(recording)
    document = json.loads(written(plumb, recording, "chrome-trace").read_text())
    threads = slices_by_thread(document)
    names = [event["name"] for event in document["traceEvents"] if event["ph"] == "M"]
    assert names.count("thread_name") == names.count("process_name") == len(report.threads)
    stacks = set()
    for slices in threads.values():
        starts = [start for start, _, _ in slices]
        assert starts == sorted(starts)  # a reader that does not sort nests them as they come
        stacks |= set(instants_with(slices))
    functions, locations = report.json["functions"], report.json["locations"]
    wanted = {tuple(functions[locations[index]["function"]]["qualname"] for index in stack["frames"])
              for stack in report.json["stacks"] if stack["frames"]}
    # Samples at one instant leave no time to show all of them, nor does the end of a slice between them.
    assert stacks - {()} <= wanted and len(stacks) > 0.6 * len(wanted)


def test_speedscope_draws_it(plumb):
    recording = make(plumb, 2)
    path = written(plumb, recording, "chrome-trace")
    document = json.loads(path.read_text())
    page = viewers.speedscope(path)
    assert len(page.importing) == 1 and "race" in page.importing[0] and not page.errors, (page.importing, page.errors)
    assert len(page.totals) == len(slices_by_thread(document))
