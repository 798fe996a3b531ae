# SPDX-License-Identifier: Apache-2.0
"""A module that takes long to import: faults.py."""
import os
import time

_END = time.time() + 0.8 * float(os.environ["PLUMB_TEST_SECONDS"])
while time.time() < _END:
    sum(range(1000))
