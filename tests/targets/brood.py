# SPDX-License-Identifier: Apache-2.0
"""Has a child when it is ready, and another when it gets SIGUSR1; both work until the end."""
import os
import select
import signal

import parley


def spin():
    for _ in range(20000):
        pass


def child():
    poll = select.poll()
    poll.register(parley._control, 0)
    while not poll.poll(0):
        spin()
    os._exit(0)


def have_child():
    pid = os.fork()
    if pid == 0:
        child()
    parley.tell(event="child", pid=pid)
    return pid


def main():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    pids = [have_child()]
    parley.ready()
    while not parley.over():
        if signal.sigtimedwait([signal.SIGUSR1], 0.05):
            pids.append(have_child())
    for pid in pids:
        os.waitpid(pid, 0)


if __name__ == "__main__":
    main()
