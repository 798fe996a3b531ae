# SPDX-License-Identifier: Apache-2.0
"""Threads that block deep inside calls that go from Python to C and back. Runs on Python 3.6 and later. The name of a thread
is that of its function."""
import asyncio
import functools
import gc
import json
import mmap
import os
import re
import sys
import threading

import parley

try:
    import ctypes
except ImportError:  # a build without it
    ctypes = None
try:
    import sqlite3
except ImportError:
    sqlite3 = None

PIPE = os.pipe()


def leaf():
    os.read(PIPE[0], 1)


def via_partial(first, second):
    leaf()
    return second


def key(item):
    return list(map(functools.partial(via_partial, 1), [item]))[0]


def replacement(match):
    return str(sorted([1], key=key)[0])


def hook(things):
    return re.sub("a", replacement, "a")


def in_callbacks():
    json.loads('{"a": 1}', object_hook=hook)


def compare(first, second):
    leaf()
    return 0


def in_qsort():
    integer = ctypes.POINTER(ctypes.c_int)
    function = ctypes.CFUNCTYPE(ctypes.c_int, integer, integer)
    ctypes.CDLL("libc.so.6").qsort((ctypes.c_int * 2)(2, 1), 2, 4, function(compare))


def of_sql(value):
    leaf()
    return value


def in_sqlite():
    connection = sqlite3.connect(":memory:")
    connection.create_function("of_sql", 1, of_sql)
    connection.execute("select of_sql(1)").fetchall()


class Dies:
    def __del__(self):
        leaf()


def in_del():
    thing = Dies()
    del thing


class DiesInCycle:
    def __init__(self):
        self.itself = self

    def __del__(self):
        leaf()


def in_gc():
    DiesInCycle()
    gc.collect()


def tracer(frame, event, argument):
    if frame.f_code.co_name == "traced":
        leaf()


def traced():
    pass


def in_settrace():
    sys.settrace(tracer)
    traced()


async def coroutine():
    leaf()


def in_asyncio():
    asyncio.new_event_loop().run_until_complete(coroutine())


class Adds:
    def __add__(self, other):
        leaf()
        return self


def generates():
    yield Adds() + 1


def in_generator():
    return sum(generates(), 0)


# Machine code as a JIT compiler makes it, which calls what it is given: without a table that says how to unwind it.
PLAIN = b"\x48\x83\xec\x08\xff\xd7\x90\x48\x83\xc4\x08\xc3"  # sub $8,%rsp; call *%rdi; nop; add $8,%rsp; ret
WITH_FRAME_POINTER = b"\x55\x48\x89\xe5\xff\xd7\x90\x5d\xc3"  # push %rbp; mov %rsp,%rbp; call *%rdi; nop; pop %rbp; ret
# What it has left to do says where its caller is. push %rbx; sub $16,%rsp; call *%rdi; add $16,%rsp; pop %rbx; ret
TRAMPOLINE = b"\x53\x48\x83\xec\x10\xff\xd7\x48\x83\xc4\x10\x5b\xc3"


def called():
    leaf()


def run(code):
    callback = ctypes.CFUNCTYPE(None)
    memory = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(code)
    ctypes.CFUNCTYPE(None, callback)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))(callback(called))


def in_jit():
    run(PLAIN)


def in_jit_with_frame_pointer():
    run(WITH_FRAME_POINTER)


def in_jit_that_returns():
    run(TRAMPOLINE)


def main():
    functions = [in_callbacks, in_del, in_gc, in_settrace, in_asyncio, in_generator]
    functions += [in_qsort, in_jit, in_jit_with_frame_pointer, in_jit_that_returns] if ctypes else []
    functions += [in_sqlite] if sqlite3 else []
    for function in functions:
        threading.Thread(target=function, name=function.__name__, daemon=True).start()
    parley.ready(threads=[function.__name__ for function in functions])
    parley.wait_over()


main()
