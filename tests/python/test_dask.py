# SPDX-License-Identifier: Apache-2.0
"""plumb.dask on a real cluster."""
import json

import pytest

from harness import package


def told_by(any_python, release, script, *arguments):
    if not package.original(release).is_dir():
        pytest.skip("there is no distributed %s: ./dev setup takes it from the package index" % release)
    if any_python.minor < package.ORIGINALS[release] or package.why_not(any_python):
        pytest.skip(package.why_not(any_python) or "distributed %s is not for it" % release)
    told = json.loads(package.run(any_python, script, *arguments, other=package.original(release)))
    assert told["version"] == release
    return told["checks"]


# Processes take five times as long: they are for one release.
@pytest.mark.parametrize("release, kind", [("2022.12.1", "threads"), ("2026.8.0", "threads"), ("2026.8.0", "processes")])
def test_a_cluster_is_sampled(any_python, release, kind):
    assert told_by(any_python, release, "dask_cluster.py", kind) >= 4


# Each takes 20 seconds of a processor.
@pytest.mark.parametrize("release, which", [pytest.param("2022.12.1", "most", marks=pytest.mark.soak), ("2026.8.0", "all")])
def test_a_cluster_is_sampled_whatever_happens_to_it(any_python, release, which):
    """Workers are killed, restart and hang, a client dies, many read at once, many workers are there, all of it by TLS."""
    assert told_by(any_python, release, "dask_trouble.py", which) == 4
