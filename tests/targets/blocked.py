# SPDX-License-Identifier: Apache-2.0
"""A thread for each system call that programs hang in. The name of a thread is that of its function; the line it waits in
has the comment "# here"; the expression that waits is all of that line."""
import fcntl
import os
import select
import socket
import sys
import tempfile
import threading
import time

import parley

HOUR = 3600
STARTED = []
READY = os.pipe()


def in_read(things):
    os.read(things["pipe"], 1)  # here


def in_epoll(things):
    poller = select.epoll()
    poller.register(things["pipe"], select.EPOLLIN)
    poller.register(things["listener"].fileno(), select.EPOLLIN)
    poller.poll(HOUR)  # here


def in_poll(things):
    poller = select.poll()
    poller.register(things["pipe"], select.POLLIN)
    poller.poll()  # here


def in_select(things):
    select.select([things["pipe"]], [], [], HOUR)  # here


def in_sleep(things):
    time.sleep(HOUR)  # here


def in_accept(things):
    things["listener"].accept()  # here


def in_recv(things):
    things["client"].recv(1)  # here


def in_recv_unix(things):
    things["unix"].recv(1)  # here


def in_lock(things):
    things["lock"].acquire()  # here


def in_condition(things):
    things["event"].wait(HOUR)  # below


def in_wait(things):
    os.waitpid(things["child"], 0)  # here


def in_flock(things):
    with open(things["path"]) as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # here


def in_except(things):
    try:
        raise KeyError("x")
    except KeyError:
        os.read(things["pipe"], 1)  # here


def handles(things):
    try:
        raise KeyError("x")
    except KeyError:
        os.read(things["pipe"], 1)
        yield


def in_generator_except(things):
    next(handles(things))  # here


FUNCTIONS = [
    in_read, in_epoll, in_poll, in_select, in_sleep, in_accept, in_recv, in_recv_unix, in_lock, in_condition, in_wait,
    in_flock, in_except, in_generator_except,
]


def child(readable, writable):
    """Waits until its parent is gone."""
    os.close(writable)
    os.write(READY[1], b".")
    os.read(readable, 1)
    os._exit(0)


def make_things():
    readable, writable = os.pipe()
    pid = os.fork()
    if pid == 0:
        child(readable, writable)
    os.read(READY[0], 1)  # from now on nobody else has the end that is written to
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(1)
    # The listener above is for the one that accepts: nobody connects to it.
    other = socket.socket()
    other.bind(("127.0.0.1", 0))
    other.listen(1)
    client = socket.create_connection(other.getsockname())
    server, _ = other.accept()
    ours, theirs = socket.socketpair()
    handle, path = tempfile.mkstemp()
    fcntl.flock(handle, fcntl.LOCK_EX)
    lock = threading.Lock()
    lock.acquire()
    return {
        "pipe": os.dup(readable), "child": pid, "listener": listener, "client": client, "unix": ours, "path": path,
        "lock": lock, "event": threading.Event(), "keep": (writable, server, theirs, handle),
    }


def run(function, things):
    STARTED.append(function.__name__)
    function(things)


def main():
    things = make_things()
    for function in FUNCTIONS:
        thread = threading.Thread(target=run, args=(function, things), name=function.__name__)
        thread.daemon = True
        thread.start()
    while len(STARTED) < len(FUNCTIONS):
        time.sleep(0.001)
    parley.ready(
        listener="%s:%d" % things["listener"].getsockname(), server="%s:%d" % things["client"].getpeername(),
        client="%s:%d" % things["client"].getsockname(), path=things["path"], child=things["child"])
    parley.wait_over()
    os.unlink(things["path"])
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
