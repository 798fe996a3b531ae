# SPDX-License-Identifier: Apache-2.0
"""Works on one CPU that two others keep busy. How long it worked, and for how long of that it was ready and had no CPU,
is told at the end."""
import os
import subprocess

import parley

BUSY = "while kill -0 $PPID 2>/dev/null; do :; done"


def pin():
    """To the first CPU that it may use; whom it starts later, too."""
    with open("/proc/self/status") as file:
        allowed = [line.split()[1] for line in file if line.startswith("Cpus_allowed_list:")][0]
    cpu = int(allowed.replace("-", ",").split(",")[0])
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, [cpu])
        return
    import ctypes

    mask = (ctypes.c_ulong * 16)()
    bits = 8 * ctypes.sizeof(ctypes.c_ulong)
    mask[cpu // bits] = 1 << cpu % bits
    if ctypes.CDLL(None, use_errno=True).sched_setaffinity(0, ctypes.sizeof(mask), mask) != 0:
        raise OSError(ctypes.get_errno(), "sched_setaffinity")


def ready_ns():
    with open("/proc/self/task/%d/schedstat" % os.getpid()) as file:
        return int(file.read().split()[1])


def work():
    total = 0
    while not parley.over():
        for i in range(2000):
            total += i
        parley.tick()
    return total


def main():
    pin()
    others = [subprocess.Popen(["sh", "-c", BUSY]) for _ in range(2)]
    parley.ready()
    before, ready = parley.perf_counter_ns(), ready_ns()
    work()
    ready = ready_ns() - ready
    worked = parley.perf_counter_ns() - before
    for other in others:
        other.kill()
        other.wait()
    parley.tell(event="worked", worked=worked, ready=ready)


if __name__ == "__main__":
    main()
