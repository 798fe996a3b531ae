# SPDX-License-Identifier: Apache-2.0
"""What is asked of Dask's servers in one way by some releases, and in another one by others."""
from __future__ import annotations

import inspect
from typing import Any


async def register_on_workers(scheduler: Any, name: str, plugin: bytes) -> None:
    """A plug-in on all workers, those that come later too; it takes the place of one of that name."""
    register = scheduler.register_worker_plugin
    options = {"idempotent": False} if "idempotent" in inspect.signature(register).parameters else {}
    await register(comm=None, plugin=plugin, name=name, **options)
