# SPDX-License-Identifier: Apache-2.0
"""Record, ask and save, whichever allocation of the package fails: what is refused is an exception, and the program goes on."""
import os
import sys

import plumb
from checks import spin, spin_until

REFUSED = (MemoryError, plumb.Error, OSError)
ROUNDS = 20


def tried(call, *arguments, **options):
    try:
        return call(*arguments, **options)
    except REFUSED as error:
        print(call.__name__, "refused:", error, file=sys.stderr)
        return None


def record(path):
    p = tried(plumb.start)
    for _ in range(ROUNDS):
        spin()
    if not p:
        return
    tried(p.stop)
    for ask in (p.info, p.stats, p.tree):
        tried(ask)
    tried(p.save, path, force=True)


record(sys.argv[1])
record(sys.argv[1])
spin_until(lambda: len(os.listdir("/proc/self/task")) == 1)  # the recording has ended
print("done")
