# SPDX-License-Identifier: Apache-2.0
"""The Python and the cells of notebooks that README.md and docs/user show run as they stand there."""
import os
import re
import subprocess
import sys

import pytest

from harness import documented, notebook, package
from harness.interpreters import Interpreter, cache

# What the pages take for granted.
PRELUDE = """
import threading, time
import plumb, pytest
def work(): return sum(range(100000))
"""
RECORDED = """
with plumb.profile() as recorded:
    while recorded.info()["samples"] < 50: work()
for name in ("monday", "tuesday", "old1", "old2", "new"): recorded.save(name + ".plumb")
"""
CLUSTER = """
import distributed
cluster = distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None)
client = distributed.Client(cluster)
futures = [client.submit(sum, range(1000000))]
"""
# page: (packages that it needs, more that it takes for granted)
TAKES = {
    "docs/user/dask.md": ("dask-2026.8.0", CLUSTER),
    "docs/user/python.md": ("", RECORDED + "app = lambda environ, start_response: [b'']\n"),
    "docs/user/web.md": ("flask-3", "import flask\napp = flask.Flask('documented')\napplication = work\nprofiler = plumb.Profiler()\n"),
}
CELLS = "orders = range(1000)\ndef load(order): sum(range(order))\ndef busy(n): [load(1000) for _ in range(1000 * n)]"
NOT_THERE = r".*# needs Bokeh"


@pytest.mark.parametrize("page", [page for page in documented.PAGES if documented.blocks(page, "python")])
def test_the_python_of_a_page_runs(page, tmp_path):
    """All blocks of a page, one after the other in one program."""
    because = package.why_not(Interpreter("own", sys.version_info[:3], (sys.executable,)))
    if because:
        pytest.skip(because)
    packages, more = TAKES.get(page, ("", ""))
    if packages and not (cache() / packages).is_dir():
        pytest.skip("there is no %s: ./dev setup makes it" % packages)
    code = PRELUDE + more
    for block in documented.blocks(page, "python"):
        text = re.sub("^%s$" % NOT_THERE, "", block.text, flags=re.M)
        code += "exec(compile(%r, %r, 'exec'))\n" % ("\n" * (block.line - 1) + text, page)  # errors name the lines of the page
    paths = os.pathsep.join([str(package.built()), *([str(cache() / packages)] if packages else [])])
    environment = dict(os.environ, PYTHONPATH=paths, PYTHONDONTWRITEBYTECODE="1", BROWSER="true")
    result = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if "built without Node" in result.stderr:
        pytest.skip("this plumb was built without the report page")
    assert result.returncode == 0, result.stderr


def test_the_cells_of_the_pages_run():
    cells = [block.text for page in documented.PAGES for block in documented.blocks(page, "") if block.text.startswith("%")]
    assert len(cells) > 1
    for cell, said in zip(["", *cells], notebook.executed([CELLS, *cells])):
        assert not said["raised"] and not said["error"], (cell, said)
    assert "samples" in said["text"]
