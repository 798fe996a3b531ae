# SPDX-License-Identifier: Apache-2.0
"""plumb.dask on a real cluster."""
import json

import pytest

from harness import package


# Processes take five times as long: they are for one release.
@pytest.mark.parametrize("release, kind", [("2022.12.1", "threads"), ("2026.8.0", "threads"), ("2026.8.0", "processes")])
def test_a_cluster_is_sampled(any_python, release, kind):
    if not package.original(release).is_dir():
        pytest.skip("there is no distributed %s: ./dev setup takes it from the package index" % release)
    if any_python.minor < package.ORIGINALS[release] or package.why_not(any_python):
        pytest.skip(package.why_not(any_python) or "distributed %s is not for it" % release)
    told = json.loads(package.run(any_python, "dask_cluster.py", kind, other=package.original(release)))
    assert told["version"] == release and told["checks"] >= 4
