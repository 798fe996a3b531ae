# SPDX-License-Identifier: Apache-2.0
"""What plumb writes for other programs is read by them: every sample arrives, under its name."""
import collections
import html
import re

import pytest

from harness.plumb import until
from harness.viewers import flamegraph

ODD = ["a:b", "two words 7", "line break", "r n p", "<tag> & \"quote\" 'it'", "größe 関数"]


def frames_of(folded):
    """name -> samples in the frames of that name and below."""
    frames = collections.Counter()
    for row in folded.rstrip("\n").split("\n"):
        stack, count = row.rsplit(" ", 1)
        for name in ["all", *stack.split(";")]:
            frames[name.translate({60: 40, 62: 41})] += int(count)  # it draws () for <>
    return frames


def frames_in(svg):
    frames = collections.Counter()
    for name, count in re.findall(r"<title>(.*) \(([\d,]+) samples?, [\d.]+%\)</title>", svg):
        frames[html.unescape(name)] += int(count.replace(",", ""))
    return frames


@pytest.mark.parametrize("names", ["short", "full"])
def test_flamegraph_draws_every_sample_under_its_name(plumb, target, any_python, names):
    with target(any_python, "odd_names.py") as busy:

        def attach(seconds):
            recording = plumb.path()
            assert plumb("attach", "-d", seconds, "-o", recording, busy.pid).status == 0
            return recording, plumb("report", "-f", "collapsed", "--names", names, recording)

        recording, folded = until(attach, lambda found: all(name in found[1].stdout for name in ODD), 0.5)
    assert frames_in(flamegraph(folded.stdout.encode())) == frames_of(folded.stdout)
    total = sum(int(row.rsplit(" ", 1)[1]) for row in folded.stdout.splitlines())
    assert total == plumb.report(recording).samples > 0
    for name in ODD:
        assert name in folded.stdout, "%r is missing: %s" % (name, folded)
