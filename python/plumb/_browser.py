# SPDX-License-Identifier: Apache-2.0
"""Showing a file in the user's browser. No shell sees its name."""
from __future__ import annotations

import os
import subprocess
import threading
from typing import Iterator

from plumb import _imports
from plumb._plumb import Error


def _programs() -> Iterator[str]:
    for name in os.environ.get("BROWSER", "").split(os.pathsep):
        if name:
            yield name
    yield "xdg-open"


def show(path: str) -> None:
    """In a process of its own, away from our terminal. Error: there is nothing to show it with."""
    for program in _programs():
        try:
            with _imports.of_programs:
                process = subprocess.Popen(
                    [program, os.path.realpath(path)],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
        except OSError:
            continue
        # It may live as long as the browser: somebody has to wait for it.
        threading.Thread(target=process.wait, name="plumb browser", daemon=True).start()
        return
    raise Error("there is no browser to show %s: neither BROWSER nor xdg-open can be run" % path)
