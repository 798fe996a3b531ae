# SPDX-License-Identifier: Apache-2.0
"""The chain of frames of its main thread is made up, and as long as can be: at its end it is corrupt, so that no walk is whole. Of
CPython 3.11, whose frames are in memory that can be written to by address."""
import ctypes
import mmap
import struct
import sys

import parley

FRAMES, SPAN = 65000, 80
FRAME_OF_OBJECT, PREVIOUS, IS_ENTRY, OWNER = 24, 48, 68, 69
GENERATOR = 1  # such frames are in no chunk of a data stack


def work():
    inner = ctypes.c_uint64.from_address(id(sys._getframe()) + FRAME_OF_OBJECT).value
    chain = mmap.mmap(-1, FRAMES * SPAN)
    first = ctypes.addressof(ctypes.c_char.from_buffer(chain))
    frame = bytearray(ctypes.string_at(inner, SPAN))
    frame[IS_ENTRY], frame[OWNER] = 0, GENERATOR
    for i in range(FRAMES):
        struct.pack_into("<Q", frame, PREVIOUS, first + (i + 1) * SPAN if i + 1 < FRAMES else 0x11)
        chain[i * SPAN : (i + 1) * SPAN] = bytes(frame)
    previous = ctypes.c_uint64.from_address(inner + PREVIOUS)
    previous.value = first
    parley.ready()
    ctypes.CDLL(None).pause()


if __name__ == "__main__":
    assert sys.version_info[:2] == (3, 11)
    work()
