# SPDX-License-Identifier: Apache-2.0
"""Threads blocked in system calls that a stop would interrupt for the program to see: epoll_wait and a receive with a time
limit return EINTR after a stop, whatever the program asked. They are called through ctypes, below the layer of Python
that hides EINTR by calling again. A tick is an epoll
whose time was over. At the end: how often each saw EINTR, and how many calls were made."""
import ctypes
import errno
import os
import socket
import struct
import threading

import parley

libc = ctypes.CDLL(None, use_errno=True)
counts = {"epoll_wait": {"calls": 0, "eintr": 0}, "recv": {"calls": 0, "eintr": 0}}


def count(name, result):
    counts[name]["calls"] += 1
    if result < 0 and ctypes.get_errno() == errno.EINTR:
        counts[name]["eintr"] += 1


def wait_in_epoll(descriptor, milliseconds):
    epoll = libc.epoll_create1(0)
    event = ctypes.create_string_buffer(struct.pack("=IQ", 1, 0))  # EPOLLIN
    libc.epoll_ctl(epoll, 1, descriptor, event)
    events = ctypes.create_string_buffer(12 * 4)
    result = 0
    while result <= 0:
        ctypes.set_errno(0)
        result = libc.epoll_wait(epoll, events, 4, milliseconds)
        count("epoll_wait", result)
        if result == 0:
            parley.tick()


def wait_in_recv(descriptor):
    data = ctypes.create_string_buffer(16)
    result = -1
    while result < 0:
        ctypes.set_errno(0)
        result = libc.recv(descriptor, data, 16, 0)
        count("recv", result)


def main():
    readable, writable = os.pipe()
    ours, theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 3600, 0))
    threads = [
        threading.Thread(target=wait_in_epoll, args=(readable, -1), name="epoll"),
        threading.Thread(target=wait_in_epoll, args=(readable, 2), name="epoll, short"),
        threading.Thread(target=wait_in_recv, args=(ours.fileno(),), name="recv"),
    ]
    for thread in threads:
        thread.start()
    parley.ready()
    parley.wait_over()
    theirs.send(b"end")
    os.write(writable, b"end")
    for thread in threads:
        thread.join()
    parley.tell(event="waited", counts=counts)


if __name__ == "__main__":
    main()
