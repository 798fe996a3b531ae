# SPDX-License-Identifier: Apache-2.0
"""In a process that may not read its own memory: it takes that right from itself, then watches. Tells what came of it. x86-64.

    denied.py CALL..."""
import ctypes
import errno
import json
import os
import struct
import sys
import threading
import warnings

import plumb
import plumb.profile as profile

# pread64 is how /proc/self/mem is read, which a filter cannot know by its name.
CALLS = {name: number for name, number in {"process_vm_readv": 310, "pread64": 17}.items() if name in sys.argv[1:]}
LOAD_NUMBER, IF_EQUAL, RETURN = 0x20, 0x15, 0x06
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER = 38, 22, 2
FAIL, ALLOW = 0x00050000, 0x7FFF0000


def refuse():
    steps = [(LOAD_NUMBER, 0, 0, 0)]
    for i, number in enumerate(CALLS.values()):
        steps.append((IF_EQUAL, len(CALLS) - i, 0, number))
    steps += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, FAIL | errno.EPERM)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, FILTER, ctypes.c_void_p(ctypes.addressof(program)), 0, 0):
        sys.exit("no filter: %s" % os.strerror(ctypes.get_errno()))


def spin():
    n = 20000
    while n:
        n -= 1


def found(tree):
    waiting, names = [tree], set()
    while waiting:
        node = waiting.pop()
        names.add(node["description"]["name"])
        waiting.extend(node["children"].values())
    return sorted(names & {"spin", "main", "<module>"})


def main():
    refuse()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            history = profile.watch(interval="2ms", cycle="50ms")
        except plumb.Error as error:
            print(json.dumps({"error": str(error), "threads": threading.active_count()}))
            return
        try:
            profile.watch(engine="inprocess")
        except plumb.Error as error:
            refused = error.code
        while sum(tree["count"] for _, tree in list(history)) < 20:
            spin()
        history.stop()
        profile.watch(interval="2ms").stop()
    said = [str(warning.message) for warning in told if warning.category is RuntimeWarning]
    print(json.dumps({"engine": history.engine, "names": found(profile.get_profile(history)), "said": said, "refused": refused}))


main()
