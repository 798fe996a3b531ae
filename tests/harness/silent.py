# SPDX-License-Identifier: Apache-2.0
"""A file system that does not answer, like that of a server that is gone: it takes each request and never replies. Whoever
asks it waits, and no signal helps, until it is taken away."""
import contextlib
import ctypes
import errno
import os
import struct
import threading

_IN, _GETATTR, _READ = struct.Struct("=IIQQIIII"), 3, 15
_UNANSWERED = {2, 36, 42}  # FORGET, INTERRUPT, BATCH_FORGET: nobody waits
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


def _answer(device, silent, mode=0o40755, content=None):
    """A directory that is empty, or a file, which denies nothing, until it is silent. Without content it is never read."""
    size = 4096 if content is None else len(content)
    about = struct.pack("=QII", 0, 0, 0) + struct.pack("=QQQQQQIIIIIIIIII", 1, size, 0, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)
    with contextlib.suppress(OSError):
        _introduce(device)
        while True:
            request = os.read(device, 1 << 17)
            _, what, unique, *_ = _IN.unpack_from(request)
            if silent.is_set() or what in _UNANSWERED or (what == _READ and content is None):
                continue
            text, error = (about, 0) if what == _GETATTR else (b"", -errno.ENOSYS)
            if what == _READ:
                _, offset, most = struct.unpack_from("=QQI", request, _IN.size)
                text, error = content[offset:offset + most], 0
            os.write(device, struct.pack("=IiQ", 16 + len(text), error, unique) + text)


@contextlib.contextmanager
def _mounted(directory, serve, mode=0o40000):
    device = os.open("/dev/fuse", os.O_RDWR)
    options = "fd=%d,rootmode=%o,user_id=0,group_id=0,allow_other" % (device, mode)
    if _LIBC.mount(b"silent", os.fsencode(directory), b"fuse", 0, options.encode()):
        os.close(device)
        raise OSError(ctypes.get_errno(), "mount")
    server = threading.Thread(target=serve, args=(device,), daemon=True)
    server.start()
    try:
        yield
    finally:
        go_away(directory)
        server.join()
        os.close(device)


def silent_files(directory):
    """Mounted on `directory`; OSError where that is not allowed."""
    return _mounted(directory, _swallow)


@contextlib.contextmanager
def files_that_fall_silent(directory):
    """The same, but it answers until what it yields, an event, is set."""
    silent = threading.Event()
    with _mounted(directory, lambda device: _answer(device, silent)):
        yield silent


def silent_program(path):
    """A file, mounted on one, that can be opened and has what is asked for, but is never read."""
    return _mounted(path, lambda device: _answer(device, threading.Event(), 0o100755), 0o100000)


@contextlib.contextmanager
def file_that_falls_silent(path, content):
    """A file of that content, mounted on one, until what it yields, an event, is set. What was read of it stays."""
    silent = threading.Event()
    with _mounted(path, lambda device: _answer(device, silent, 0o100755, content), 0o100000):
        yield silent
