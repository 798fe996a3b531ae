# SPDX-License-Identifier: Apache-2.0
"""A program of several processes. --way tells how they are started; each works for a CPU time of its own and tells on the pipe
how long that was. There are two: more would fight for the processors of a small machine.

fork, spawn, forkserver: a multiprocessing process each. os.fork: bare fork. subprocess: this script anew. exec: a fork that
executes this script. shell: a shell that runs this script twice, and does not become it. posix_spawn: vfork and exec."""
import os
import subprocess
import sys
import time

import parley

SHARES = (1, 2)  # the second child works twice as long as the first


def spin(seconds):
    """Of CPU time: how long that takes is the machine's to decide."""
    start = now = parley.thread_time_ns()
    while now < start + seconds * 1e9:
        for _ in range(1000):
            pass
        now = parley.thread_time_ns()
    return (now - start) / 1e9


def work(share):
    seconds = spin(share * parley.argument("unit", 0.3))
    parley.tell(event="worked", pid=os.getpid(), parent=os.getppid(), share=share, seconds=seconds)


def command(share):
    """This script as a program of its own that does a child's work."""
    options = ["-B"] if sys.dont_write_bytecode else []
    return [sys.executable] + options + [os.path.abspath(__file__), "--share", str(share),
                                         "--unit", str(parley.argument("unit", 0.3))]


def keep_pipe():
    """What is executed shall be able to tell, too."""
    if parley._ready >= 0 and hasattr(os, "set_inheritable"):  # 2.7 closes nothing
        os.set_inheritable(parley._ready, True)


def multiprocess(way):
    import multiprocessing

    context = multiprocessing.get_context(way) if hasattr(multiprocessing, "get_context") else multiprocessing
    children = [context.Process(target=work, args=(share,)) for share in SHARES]
    for child in children:
        child.start()
    for child in children:
        child.join()


def collect(pids):
    for pid in pids:
        os.waitpid(pid, 0)


def fork(task):
    pids = []
    for share in SHARES:
        pid = os.fork()
        if pid == 0:
            try:
                task(share)
            finally:
                os._exit(0)
        pids.append(pid)
    collect(pids)


def execute(share):
    os.execv(sys.executable, command(share))


def run_scripts():
    children = [subprocess.Popen(command(share), close_fds=False) for share in SHARES]
    for child in children:
        child.wait()


def run_shell():
    script = "; ".join("'%s'" % "' '".join(command(share)) for share in SHARES)
    subprocess.check_call(["/bin/sh", "-c", script + "; true"], close_fds=False)


def posix_spawn():
    collect([os.posix_spawn(sys.executable, command(share), os.environ) for share in SHARES])


def short_lived():
    """Children one after the other; tells how many and how long each lived."""
    count, seconds = parley.argument("children", 200), parley.argument("unit", 0.02)
    for _ in range(count):
        pid = os.fork()
        if pid == 0:
            spin(seconds)
            os._exit(0)
        os.waitpid(pid, 0)
    parley.tell(event="short", children=count)


def together():
    """Children that wait for the same end."""
    pids = []
    for _ in range(parley.argument("children", 20)):
        pid = os.fork()
        if pid == 0:
            time.sleep(parley.argument("unit", 0.3))
            os._exit(0)
        pids.append(pid)
    collect(pids)


def reuse():
    """Two children with the same number, if the kernel lets us choose it (as root) and nobody is faster. Others lie between
    them, as in life, where the numbers have gone round."""
    first = None
    for share in (1, 0, 2):
        if share == 2:
            with open("/proc/sys/kernel/ns_last_pid", "w") as f:
                f.write(str(first - 1))
        pid = os.fork()
        first = first or pid
        if pid == 0:
            if share:
                work(share)
            os._exit(0)
        os.waitpid(pid, 0)


WAYS = {
    "fork": lambda: multiprocess("fork"),
    "spawn": lambda: multiprocess("spawn"),
    "forkserver": lambda: multiprocess("forkserver"),
    "os.fork": lambda: fork(work),
    "exec": lambda: fork(execute),
    "subprocess": run_scripts,
    "shell": run_shell,
    "posix_spawn": posix_spawn,
    "short": short_lived,
    "together": together,
    "reuse": reuse,
}


def main():
    share = parley.argument("share", 0)
    if share:
        work(share)
        return
    parley.ready()
    keep_pipe()
    WAYS[parley.argument("way", "fork")]()
    parley.tell(event="end")


if __name__ == "__main__":
    main()
