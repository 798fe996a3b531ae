# SPDX-License-Identifier: Apache-2.0
"""A program of tests/targets that is sampled from within: by the process that it runs in.

    standing.py PROGRAM SECONDS

For each line that it reads it runs the program for so long, and tells what the profile is (`report --json`), where the threads of the
process may run that are not plumb's, the process's children, and one thread that the program started meanwhile."""
import json
import os
import runpy
import subprocess
import sys
import threading

import plumb

AFFINITY = "import os; print(sorted(os.sched_getaffinity(0)))"


def is_plumbs(tid):
    with open("/proc/self/task/%s/comm" % tid) as file:
        return file.read().startswith("plumb-")


def where_threads_run():
    """{thread: processors}; of each that is there and is not plumb's."""
    found = {}
    for tid in os.listdir("/proc/self/task"):
        try:
            if not is_plumbs(tid):
                found[tid] = sorted(os.sched_getaffinity(int(tid)))
        except (FileNotFoundError, ProcessLookupError):
            pass  # it has ended
    return found


def where_new_ones_run():
    """Of a thread and of a process that are started now."""
    found = []
    thread = threading.Thread(target=lambda: found.append(sorted(os.sched_getaffinity(0))))
    thread.start()
    thread.join()
    return found + [json.loads(subprocess.check_output([sys.executable, "-c", AFFINITY]).decode())]


def run(program):
    # What the program says is not for whoever reads what we say.
    runpy.run_module(program, run_name="__main__")


def measure(program):
    before = where_threads_run()
    profile = plumb.start(interval=0.001)
    run(program)
    during = where_threads_run()
    new = where_new_ones_run()
    profile.stop()
    return {"report": json.loads(profile.write("json", idle="keep")), "before": before, "during": during, "new": new,
            "after": where_threads_run()}  # fmt: skip


def main():
    program = sys.argv[1]
    os.environ["PLUMB_TEST_SECONDS"] = sys.argv[2]
    for _ in sys.stdin:
        print(json.dumps(measure(program)), flush=True)


if __name__ == "__main__":
    os.environ["PLUMB_TEST_READY"] = str(os.open(os.devnull, os.O_WRONLY))
    main()
