# SPDX-License-Identifier: Apache-2.0
"""A file system that does not answer, like that of a server that is gone: it takes each request and never replies. Whoever
asks it waits, and no signal helps, until it is taken away."""
import contextlib
import ctypes
import os
import struct
import threading

_IN, _INIT = struct.Struct("=IIQQIIII"), 26
_LIBC = ctypes.CDLL(None, use_errno=True)


def _introduce(device):
    """What the kernel asks first; it is answered, or else who waits could be killed."""
    _, _, unique, *_ = _IN.unpack_from(os.read(device, 1 << 17))
    answer = struct.pack("=IIIIHHIIHH32x", 7, 31, 0, 0, 0, 0, 1 << 16, 1, 0, 0)
    os.write(device, struct.pack("=IiQ", 16 + len(answer), 0, unique) + answer)


def _swallow(device):
    with contextlib.suppress(OSError):
        _introduce(device)
        while os.read(device, 1 << 17):
            pass


def go_away(directory):
    """Whoever waits is told that it has gone."""
    _LIBC.umount2(os.fsencode(directory), 1 | 2)  # MNT_FORCE, MNT_DETACH


@contextlib.contextmanager
def silent_files(directory):
    """Mounted on `directory`; OSError where that is not allowed."""
    device = os.open("/dev/fuse", os.O_RDWR)
    options = "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other" % device
    if _LIBC.mount(b"silent", os.fsencode(directory), b"fuse", 0, options.encode()):
        os.close(device)
        raise OSError(ctypes.get_errno(), "mount")
    server = threading.Thread(target=_swallow, args=(device,), daemon=True)
    server.start()
    try:
        yield
    finally:
        go_away(directory)
        server.join()
        os.close(device)
