# SPDX-License-Identifier: Apache-2.0
"""What scripts of checks about watch() have in common.

    SCRIPT ENGINE       with ONLY=part in the environment: the checks with that in their name"""
import json
import os
import sys
import threading
import time

ENGINE = sys.argv[1]
IN_PROCESS = ENGINE == "inprocess"


def spin():
    n = 20000
    while n:
        n -= 1


def spin_until(true):
    while not true():
        spin()


def run_all(names):
    """Each check_ of a module; their names are told, and how long they took."""
    took = {}
    for name, check in sorted(names.items()):
        if not name.startswith("check_") or os.environ.get("ONLY", "") not in name:
            continue
        before = time.monotonic()
        check()
        took[name[6:]] = round(time.monotonic() - before, 2)
    spin_until(lambda: threading.active_count() == 1)  # one that was left to itself may take its time
    print(json.dumps({"checks": took, "engine": ENGINE}))
