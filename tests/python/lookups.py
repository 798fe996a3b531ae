# SPDX-License-Identifier: Apache-2.0
"""What a thread of plumb looks up beside one that computes, on one processor: it is not to let that one go first again and again.

CPython 3.13 without a GIL takes the lock of a dict twice in dict.get() where it has not seen the value before, and gives the processor
away 80 times before it notices that it waits for itself."""
import json
import os
import sys
import threading
import time
import types

from plumb import _frames

COUNT = 4


def seconds(ask):
    """That a thread takes for it while this one computes."""
    took = []

    def measured():
        began = time.monotonic()
        ask()
        took.append(time.monotonic() - began)

    thread = threading.Thread(target=measured)
    thread.start()
    while not took:
        pass
    thread.join()
    return took[0]


def modules():
    """As those of the program are: made and imported by another thread."""
    made = [types.ModuleType("made_%d" % number) for number in range(COUNT)]
    for module in made:
        module.__file__ = "/nowhere/%s.py" % module.__name__
    sys.modules.update((module.__name__, module) for module in made)
    _frames._globals_of("")
    return lambda: [_frames._globals_of(module.__file__) for module in made]


def gets():
    """What it costs where dict.get() does it."""
    made = {number: object() for number in range(COUNT)}
    return lambda: [made.get(number) for number in range(COUNT)]


os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
print(json.dumps({make.__name__: seconds(make()) for make in (gets, modules)}))
