# SPDX-License-Identifier: Apache-2.0
"""Ends as it is told: --exit N, --signal N, or writes --lines of output first. For exit statuses and clean stdout."""
from __future__ import print_function

import os
import sys

import parley


def spin(n):
    total = 0
    for i in range(n):
        total += i
    return total


def main():
    for number in range(parley.argument("lines", 0)):
        print("line", number, "of the program's own output")
    if sys.stdout:  # none where it is closed
        sys.stdout.flush()
    for _ in range(parley.argument("spins", 20)):
        spin(50000)
    if parley.argument("signal", 0):
        os.kill(os.getpid(), parley.argument("signal", 0))
    sys.exit(parley.argument("exit", 0))


if __name__ == "__main__":
    main()
