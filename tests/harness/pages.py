# SPDX-License-Identifier: Apache-2.0
"""Recordings and the pages that plumb makes of them."""
import dataclasses
import json
import pathlib

import pytest

from harness.plumb import Plumb
from harness.report import Profile


@dataclasses.dataclass(frozen=True)
class Made:
    """A recording and the page of it."""

    plumb: Plumb
    recording: pathlib.Path
    page: pathlib.Path

    def report(self, *options):
        """What `plumb report --json` says of it; by itself it leaves out what did nothing all along, and so does the page."""
        result = self.plumb("report", "--json", *options, self.recording)
        assert result.status == 0, result
        return Profile(result.stdout)

    def collapsed(self, *options):
        return self.written("collapsed", *options)

    def markdown(self, *options):
        return self.written("markdown", *options)

    def written(self, form, *options):
        result = self.plumb("report", "-f", form, *options, self.recording)
        assert result.status == 0, result
        return result.stdout


def page_of(plumb, recording, *options, command="report"):
    """The page of a recording, or of several."""
    page = plumb.path(".html")
    recordings = [recording] if isinstance(recording, pathlib.Path) else recording
    result = plumb(command, "-f", "html", "-o", page, *options, *recordings, timeout=600)
    if "Node" in result.stderr and result.status:
        pytest.skip("this plumb was built without the page: " + result.stderr.strip())
    assert result.status == 0, result
    return page


class Comparison:
    """Two recordings and the page of their comparison."""

    def __init__(self, plumb, recordings):
        self.plumb, self.recordings = plumb, recordings
        self.page = page_of(plumb, recordings, command="diff")

    def diff(self, *options):
        """What `plumb diff --json` says."""
        result = self.plumb("diff", "--json", *options, *self.recordings)
        assert result.status == 0, result
        return json.loads(result.stdout)
