# SPDX-License-Identifier: Apache-2.0
"""A thread waits for a lock that the main thread is inside of, whose stack is made up: --frames frames of a function wait() of
threading.py stand outside of the one that has the lock. Of CPython 3.11, whose frames are in memory that can be written to by address."""
import ctypes
import mmap
import struct
import sys
import threading

import parley

SPAN = 80
FRAME_OF_OBJECT, PREVIOUS, IS_ENTRY, OWNER = 24, 48, 68, 69
GENERATOR = 1  # such frames are in no chunk of a data stack


def wait(lock, frames):
    with lock:
        threading.Thread(target=lock.acquire, name="taker", daemon=True).start()
        inner = ctypes.c_uint64.from_address(id(sys._getframe()) + FRAME_OF_OBJECT).value
        outer = ctypes.c_uint64.from_address(inner + PREVIOUS).value
        chain = mmap.mmap(-1, (frames + 1) * SPAN)
        first = ctypes.addressof(ctypes.c_char.from_buffer(chain))
        frame = bytearray(ctypes.string_at(inner, SPAN))
        frame[IS_ENTRY], frame[OWNER] = 0, GENERATOR
        for i in range(frames):
            struct.pack_into("<Q", frame, PREVIOUS, first + (i + 1) * SPAN if i + 1 < frames else outer)
            chain[i * SPAN : (i + 1) * SPAN] = bytes(frame)
        ctypes.c_uint64.from_address(inner + PREVIOUS).value = first
        parley.ready(lock=id(lock))
        ctypes.CDLL(None).pause()


if __name__ == "__main__":
    assert sys.version_info[:2] == (3, 11)
    wait.__code__ = wait.__code__.replace(co_filename="/lib/threading.py")
    wait(threading.Lock(), int(parley.argument("frames", "20000")))
