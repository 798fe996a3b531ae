# SPDX-License-Identifier: Apache-2.0
"""Threads that wait, each for something else and for good; or, with --case turns, one that waits for a pipe and for time
in turn. How long each of these waits took is told at the end."""
import os
import select
import socket
import subprocess
import sys
import threading
import time

import parley

HOUR = 3600


def new_socket():
    kept.extend(socket.socketpair())
    return kept[-1]


def new_pipe():
    ends = os.pipe()
    return ends[0]


def wait_recv():
    new_socket().recv(1)


def wait_timed_recv():
    sock = new_socket()
    sock.settimeout(HOUR)  # so that it waits in poll
    sock.recv(1)


def wait_accept():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(1)
    listener.accept()


def wait_pipe():
    os.read(new_pipe(), 1)


def wait_full_pipe():
    ends = os.pipe()
    while True:
        os.write(ends[1], b"x" * 4096)


def wait_select():
    select.select([new_pipe(), new_pipe()], [], [])


def wait_epoll():
    epoll = select.epoll()
    epoll.register(new_pipe(), select.EPOLLIN)
    epoll.poll()


def wait_sleep():
    time.sleep(HOUR)


def wait_lock():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def wait_child():
    child.wait()


REASONS = {
    wait_recv: "socket", wait_timed_recv: "socket", wait_accept: "socket", wait_pipe: "pipe", wait_full_pipe: "pipe",
    wait_select: "poll", wait_epoll: "poll", wait_sleep: "sleep", wait_lock: "lock", wait_child: "child",
}
kept = []
child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)  # it ends with us


def all_kinds():
    for function in REASONS:
        thread = threading.Thread(target=function, name=function.__name__)
        thread.daemon = True
        thread.start()
    parley.ready(reasons=dict((function.__name__, reason) for function, reason in REASONS.items()))
    parley.wait_over()


def answer(asked, answering):
    """Somebody at the other end, who takes 20 ms."""
    while os.read(asked, 1):
        time.sleep(0.02)
        os.write(answering, b"x")


def in_turns():
    """10 ms of sleep and 20 ms of a pipe, about: what they took is measured."""
    questions, answers = os.pipe(), os.pipe()
    waited = {"sleep": 0, "pipe": 0}
    other = threading.Thread(target=answer, args=(questions[0], answers[1]), name="other")
    other.daemon = True
    other.start()
    parley.ready()
    while not parley.over():
        before = parley.perf_counter_ns()
        time.sleep(0.01)
        between = parley.perf_counter_ns()
        os.write(questions[1], b"x")
        os.read(answers[0], 1)
        waited["pipe"] += parley.perf_counter_ns() - between
        waited["sleep"] += between - before
        parley.tick()
    parley.tell(event="waited", waited=waited)


def main():
    if parley.argument("case", "kinds") == "turns":
        in_turns()
    else:
        all_kinds()
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
