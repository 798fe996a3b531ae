# SPDX-License-Identifier: Apache-2.0
"""Dask clusters, sampled by plumb.

    plumb.dask.install(client)             # Dask's own pages and functions show what plumb samples
    with plumb.dask.profile(client) as p:  # one recording of the whole cluster
        work(client)
    p.print()
"""
from __future__ import annotations

from plumb.dask._merge import merge
from plumb.dask._plugins import Plugin, WorkerPlugin, dask_setup, install, uninstall
from plumb.dask._recording import ClusterRecording, profile

__all__ = ["ClusterRecording", "Plugin", "WorkerPlugin", "dask_setup", "install", "merge", "profile", "uninstall"]
