# SPDX-License-Identifier: Apache-2.0
"""Threads that wait for locks and for one another, as --case says. A thread is called like its function. When all have taken
what they hold, each goes on to what it waits for; the numbers (id) of these things are told."""
import os
import sys
import threading

try:
    import queue
except ImportError:  # 2.7
    import Queue as queue

import parley

HOUR = 3600


class Gate(object):
    """All threads arrive, then all go on."""

    def __init__(self):
        self.arrived, self.opened = os.pipe(), os.pipe()

    def wait(self):
        os.write(self.arrived[1], b"a")
        os.read(self.opened[0], 1)

    def open_for(self, count):
        for _ in range(count):
            os.read(self.arrived[0], 1)
        os.write(self.opened[1], b"o" * count)


GATE = Gate()


def start(name, function, *arguments):
    thread = threading.Thread(target=function, args=arguments, name=name)
    thread.daemon = True
    thread.start()
    return thread


def take(lock):
    with lock:
        return


def hold_and_take(mine, other):
    with mine:
        GATE.wait()
        with other:
            return


def hold_and_acquire(mine, other):
    with mine:
        GATE.wait()
        other.acquire()


def hold_and_acquire_in_time(mine, other):
    with mine:
        GATE.wait()
        other.acquire(timeout=HOUR)


def take_again(lock):
    with lock:
        GATE.wait()
        take(lock)


def take_back(lock):
    """Lets go of the lock in its own block; what takes it then is no `with`."""
    with lock:
        lock.release()
        start("taker", keep, lock)
        GATE.wait()
        lock.acquire()


def wait_in_another(condition):
    """Another thread lets go of the lock that this one has entered."""
    with condition:
        inner = start("inner", condition.wait)
        start("taker", notify_and_keep, condition)
        inner.join()


def notify_and_keep(condition):
    condition.acquire()  # when the other has let go of it
    condition.notify()
    stay()


def keep(lock):
    lock.acquire()
    stay()


def hold_and_join(lock, thread):
    with lock:
        GATE.wait()
        thread.join()


def hold(*locks):
    """Stays inside all of them."""
    if not locks:
        stay()
    with locks[0]:
        hold(*locks[1:])


def stay():
    free = threading.Lock()
    assert not free.locked()
    GATE.wait()
    os.read(os.pipe()[0], 1)


def compute(lock):
    with lock:
        GATE.wait()
        while True:
            sum([n for n in range(100)])


def take_in_order(locks, i):
    GATE.wait()
    while True:
        with locks[0]:
            if i % 2:
                with locks[1]:
                    with locks[2]:
                        locks[2].notify()
            with locks[2]:
                pass
        with locks[1]:
            with locks[2]:
                locks[2].wait(0.001)


def ring(locks, function):
    for i in range(len(locks)):
        start("worker-%d" % i, function, locks[i], locks[(i + 1) % len(locks)])
    GATE.open_for(len(locks))
    return {"lock-%d" % i: id(lock) for i, lock in enumerate(locks)}


def pair():
    return ring([threading.Lock(), threading.Lock()], hold_and_take)


def three():
    return ring([threading.Lock() for _ in range(3)], hold_and_acquire)


def recursive():
    return ring([threading.RLock(), threading.RLock()], hold_and_take)


def mixed():
    """The lock of a Condition, which is entered in its place, an RLock and a Lock."""
    inner = threading.Lock()
    locks = [threading.Condition(inner), threading.RLock(), threading.Lock()]
    return dict(ring(locks, hold_and_take), inner=id(inner))


def itself():
    lock = threading.Lock()
    start("worker", take_again, lock)
    GATE.open_for(1)
    return {"lock": id(lock)}


def joined():
    lock = threading.Lock()
    release = os.pipe()

    def begin():
        os.read(release[0], 1)
        take(lock)

    taker = start("taker", begin)
    start("joiner", hold_and_join, lock, taker)
    GATE.open_for(1)
    os.write(release[1], b"r")
    return {"lock": id(lock), "thread": id(taker)}


def timed():
    return ring([threading.Lock(), threading.Lock()], hold_and_acquire_in_time)


def running():
    lock = threading.Lock()
    start("computing", compute, lock)
    GATE.open_for(1)
    for i in range(2):
        start("waiter-%d" % i, take, lock)
    return {"lock": id(lock)}


def crowd():
    """Seven wait for what one has taken twice."""
    lock = threading.RLock()
    start("holder", hold, lock, lock)
    GATE.open_for(1)
    for i in range(7):
        start("waiter-%d" % i, take, lock)
    return {"lock": id(lock)}


def orderly():
    """Takes them always in the same order: there is much waiting, and never a deadlock."""
    locks = [threading.Lock(), threading.RLock(), threading.Condition(threading.Lock())]
    for i in range(4):
        start("worker-%d" % i, take_in_order, locks, i)
    GATE.open_for(4)
    return {}


def taken_back():
    lock = threading.Lock()
    start("worker", take_back, lock)
    GATE.open_for(2)
    return {"lock": id(lock)}


def given_away():
    lock = threading.Lock()
    condition = threading.Condition(lock)
    start("outer", wait_in_another, condition)
    GATE.open_for(1)
    return {"lock": id(lock)}


def notified(condition):
    with condition:
        condition.wait()


def full(maximum):
    made = queue.Queue(maximum)
    made.put(1)
    return made


def acquired(made):
    made.acquire()
    return made


def waits():
    """One thread for each thing that can be waited for."""
    things = {
        "lock": threading.Lock(), "rlock": threading.RLock(), "taken": acquired(threading.Lock()),
        "condition": threading.Condition(), "event": threading.Event(), "semaphore": threading.Semaphore(0),
        "empty": queue.Queue(), "full": full(1), "undone": full(2), "thread": None,
    }
    things["thread"] = start("holder", hold, things["lock"], things["rlock"], things["rlock"])
    GATE.open_for(1)
    start("in_lock", take, things["lock"])
    start("in_lock_too", take, things["lock"])
    start("in_rlock", take, things["rlock"])
    start("in_taken", take, things["taken"])
    start("in_condition", notified, things["condition"])
    start("in_event", things["event"].wait)
    start("in_semaphore", things["semaphore"].acquire)
    start("in_get", things["empty"].get)
    start("in_get_too", things["empty"].get)
    start("in_put", things["full"].put, 2)
    start("in_queue_join", things["undone"].join)
    start("in_join", things["thread"].join)
    if sys.version_info >= (3, 7):
        things["simple"] = queue.SimpleQueue()
        start("in_simple_get", things["simple"].get)
    if sys.version_info >= (3, 6):
        from concurrent.futures import Future

        things["barrier"], things["future"] = threading.Barrier(2), Future()
        start("in_barrier", things["barrier"].wait)
        start("in_result", things["future"].result)
    KEPT.append(things)
    return {name: id(thing) for name, thing in things.items()}


KEPT = []
CASES = {f.__name__: f for f in (pair, three, recursive, mixed, itself, joined, timed, running, crowd, orderly, taken_back,
                                 given_away, waits)}


def main():
    parley.ready(things=CASES[parley.argument("case", "waits")]())
    parley.wait_over()
    os._exit(0)


if __name__ == "__main__":
    main()
