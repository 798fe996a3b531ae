# SPDX-License-Identifier: Apache-2.0
"""Dask's own dashboard shows what plumb has sampled: what it draws is what Client.profile() says."""
import json
import os
import subprocess

import pytest

from harness import package
from harness.browser import launched
from harness.interpreters import cache

PATIENCE_MS = 3600000  # a page that never comes hangs
# Of the boxes that a page of Bokeh draws: a list of columns, or null while there are none.
BOXES = """() => {
    for (const document of (window.Bokeh || {documents: []}).documents) {
        for (const model of document._all_models.values()) {
            if (model.type !== "ColumnDataSource") continue;
            const column = name => model.data.get ? model.data.get(name) : model.data[name];
            if (!column("percentage") || column("left").length < 2) continue;
            const names = ["name", "time", "percentage", "filename", "line_number", "left", "right", "top", "bottom"];
            return Object.fromEntries(names.map(name => [name, Array.from(column(name))]));
        }
    }
    return null;
}"""


@pytest.fixture
def dashboard():
    python = cache() / "venv-dashboard" / "bin" / "python"
    if not python.exists():
        pytest.skip("there is no environment with bokeh: ./dev soak makes one")
    environment = {**os.environ, "PYTHONPATH": str(package.built()), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [python, package.SCRIPTS / "dask_dashboard.py"]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as cluster:
        try:
            yield json.loads(cluster.stdout.readline())
        finally:
            cluster.stdin.close()


def drawn_by(browser, link):
    page = browser.new_page()
    page.goto(link, timeout=PATIENCE_MS)
    return page, page.wait_for_function(BOXES, timeout=PATIENCE_MS).json_value()


def check_one_kind(page, before, wanted):
    """Of tasks, by the page's own selector."""
    page.locator("select").select_option("spin")
    another = "before => { const boxes = (%s)(); return boxes && boxes.time[0] !== before ? boxes : null; }" % BOXES
    assert page.wait_for_function(another, arg=before["time"][0], timeout=PATIENCE_MS).json_value() == wanted


@pytest.mark.soak
def test_the_dashboard_shows_what_the_client_is_told(dashboard):
    with launched() as launch:
        for name in ("profile", "individual-profile"):
            page, drawn = drawn_by(launch(), "%s/%s" % (dashboard["link"], name))
            assert drawn == dashboard["profiles"][""]
            if page.locator("select").is_enabled():  # not on Python 3.11, where Dask does not sample
                check_one_kind(page, drawn, dashboard["profiles"]["spin"])
        _, drawn = drawn_by(launch(), "%s/profile-server" % dashboard["link"])
        assert len(drawn["name"]) > 1
