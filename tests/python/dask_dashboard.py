# SPDX-License-Identifier: Apache-2.0
"""A cluster with its dashboard and plumb, by an interpreter that finds distributed, bokeh and plumb.

Runs tasks, then tells in a line of JSON where the dashboard is, and what Client.profile() says: as Dask draws it, of all tasks and of
each kind. It ends when stdin does."""
import json
import logging
import sys
import time
import warnings

import dask
import distributed
import distributed.profile
import plumb.dask
from dask_cluster import is_true, run_on_all, spin, until_sampled, work

KINDS = {"work": work, "spin": spin}


def drawn(tree):
    interval = dask.utils.parse_timedelta(dask.config.get("distributed.worker.profile.interval"))
    data = distributed.profile.plot_data(tree, interval)
    return {name: data[name] for name in ("name", "time", "percentage", "filename", "line_number", "left", "right", "top", "bottom")}


async def has_all_until(end, dask_worker):
    """Whether the cycle in which it was, and the next one, are in the history: then no sample of before comes any more."""
    counts = (await dask_worker.get_profile_metadata())["counts"]
    return sum(at > end for at, _ in counts[:-1]) >= 2


def main():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0", silence_logs=logging.ERROR
    ) as cluster, distributed.Client(cluster) as client:
        assert set(plumb.dask.install(client, cycle="100ms").values()) == {""}
        for name, function in KINDS.items():
            is_true(until_sampled(client, name, lambda: run_on_all(client, function)))
        end = time.time()
        while not all(client.run(has_all_until, end).values()):
            pass
        told = {"": drawn(client.profile()), **{name: drawn(client.profile(key=name)) for name in KINDS}}
        port = cluster.scheduler.http_server.port
        print(json.dumps({"link": "http://127.0.0.1:%d" % port, "profiles": told}), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
