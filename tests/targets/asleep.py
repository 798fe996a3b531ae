# SPDX-License-Identifier: Apache-2.0
"""A thread for each system call that programs wait in, called through ctypes once, below the layer of Python that hides
EINTR by calling again; and a main thread that is busy. Whatever returns before the end is told with its errno."""
import ctypes
import os
import socket
import struct
import sys
import threading
import time

import parley

HOUR = 3600
libc = ctypes.CDLL(None, use_errno=True)
tids, returned = {}, {}


def epoll_wait(things):
    epoll = libc.epoll_create1(0)
    libc.epoll_ctl(epoll, 1, things["pipe"], ctypes.create_string_buffer(struct.pack("=IQ", 1, 0)))
    return libc.epoll_wait(epoll, ctypes.create_string_buffer(48), 4, -1)


def nanosleep(things):
    return libc.nanosleep(ctypes.create_string_buffer(struct.pack("ll", HOUR, 0)), None)


def recv(things):
    return libc.recv(things["client"].fileno(), ctypes.create_string_buffer(16), 16, 0)


def futex(things):
    return libc.sem_wait(things["semaphore"])


def waitpid(things):
    return libc.waitpid(things["child"], None, 0)


def accept(things):
    return libc.accept(things["listener"].fileno(), None, None)


def own_tid():
    if hasattr(threading, "get_native_id"):
        return threading.get_native_id()
    return int(os.path.basename(os.readlink("/proc/thread-self")))


def wait_in(function, things):
    tids[function.__name__] = own_tid()
    ctypes.set_errno(0)
    result = function(things)
    returned[function.__name__] = [result, ctypes.get_errno()]


def limited(sock):
    """With a time limit on it, a stop makes its calls return EINTR."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", HOUR, 0))
    return sock


def make_things():
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writable)
        os.read(readable, 1)  # until the parent is gone
        os._exit(0)
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(1)
    ours, theirs = socket.socketpair()
    semaphore = ctypes.create_string_buffer(64)
    libc.sem_init(semaphore, 0, 0)
    return {"pipe": readable, "child": child, "listener": limited(listener), "client": limited(ours),
            "semaphore": semaphore, "keep": (writable, theirs)}


def spin(n):
    total = 0
    for i in range(n):
        total += i
    return total


def main():
    things = make_things()
    functions = [epoll_wait, nanosleep, recv, futex, waitpid, accept]
    for function in functions:
        thread = threading.Thread(target=wait_in, args=(function, things), name=function.__name__)
        thread.daemon = True
        thread.start()
    while len(tids) < len(functions):
        time.sleep(0.001)
    parley.ready(threads=tids)
    while not parley.over():
        spin(5000)
        parley.tick()
    parley.tell(event="waited", returned=returned)
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
