# SPDX-License-Identifier: Apache-2.0
"""native_oracle.py [--plumb PLUMB] [--seconds S] -- PYTHON SCRIPT...: how many native frames of `plumb dump --native` are those that
elfutils' libdwfl finds (eu-stack), of a program that runs.

The program is stopped by a signal at random moments, and both look at it. It tells plumb no more of itself then than a
blocked one: where it is, and its stack pointer."""
import argparse
import collections
import json
import pathlib
import random
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

from harness.native import EU_STACK, addresses, true_stacks  # noqa: E402


def frames_of(plumb, pid):
    """{thread: addresses of its native frames, the innermost first}; nothing of a program that has no Python yet"""
    told = subprocess.run([plumb, "dump", "--json", "--no-source", "--native=all", "--timeout", "60", str(pid)],
                          stdout=subprocess.PIPE, text=True)
    if told.returncode:
        return {}
    (process,) = json.loads(told.stdout)["processes"]
    return {thread["tid"]: addresses(thread) for thread in process["threads"]}


def compare(ours, truth, counts):
    for tid in truth.keys() & ours.keys():
        mine, theirs = ours[tid], truth[tid]
        both = list(zip(mine, theirs))
        counts["stacks"] += 1
        counts["equal stacks"] += mine == theirs
        counts["stacks that end earlier than libdwfl's"] += mine == theirs[: len(mine)] and len(mine) < len(theirs)
        counts["stacks that go on where libdwfl ends"] += theirs == mine[: len(theirs)] and len(mine) > len(theirs)
        counts["frames that both have"] += len(both)
        counts["equal frames"] += sum(one == other for one, other in both)


def measure(plumb, command, seconds):
    counts = collections.Counter()
    program = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        end = time.monotonic() + seconds
        while time.monotonic() < end and program.poll() is None:
            time.sleep(random.uniform(0.005, 0.03))
            program.send_signal(signal.SIGSTOP)
            truth = true_stacks(program.pid)
            compare(frames_of(plumb, program.pid), truth, counts)
            program.send_signal(signal.SIGCONT)
    finally:
        program.kill()
        program.wait()
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plumb", default=str(HERE.parent / "build" / "plumb"))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    if not EU_STACK:
        parser.exit(1, "there is no eu-stack (Debian: elfutils)\n")
    for name, count in measure(options.plumb, options.command, options.seconds).items():
        print("%8d %s" % (count, name))


main()
