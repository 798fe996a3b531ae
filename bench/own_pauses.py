# SPDX-License-Identifier: Apache-2.0
"""For how long plumb's stops hold a program up, as the program itself sees it: a thread of C, called by Python, that looks at the
clock all the time (own_pauses.c). Pauses in which it was only preempted are counted apart: somebody else had its processor then.
On a busy machine a stop has to wait for a processor, too; `nice -n -20` before all of it is near to a quiet one.

    python3 bench/own_pauses.py PLUMB [PYTHON] [--seconds 5] [--turns 4] [-- OPTIONS OF ATTACH]
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = """
import ctypes, json, sys
library, seconds, room = ctypes.CDLL(sys.argv[1]), float(sys.argv[2]), 1 << 20
library.watch_clock.argtypes = [ctypes.c_double, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p]
library.watch_clock.restype = ctypes.c_uint64
pauses, preempted = (ctypes.c_uint64 * room)(), ctypes.c_uint64()
print("ready", flush=True)
sys.stdin.readline()
stops = library.watch_clock(seconds, pauses, room, ctypes.byref(preempted))
print(json.dumps({"stops": list(pauses[:stops]), "preempted": preempted.value}), flush=True)
sys.stdin.readline()
"""


def measured(arguments, library, options):
    """What the program saw, and what plumb says of the same time; without options it is not sampled."""
    with tempfile.TemporaryDirectory() as directory:
        recording = os.path.join(directory, "r.plumb")
        program = subprocess.Popen([arguments.python, "-c", PROGRAM, library, str(arguments.seconds)],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert program.stdout.readline() == "ready\n"
        plumb = None
        if options is not None:
            plumb = subprocess.Popen([arguments.plumb, "attach", "-q", "-o", recording, *options, str(program.pid)], stderr=subprocess.PIPE)
        program.stdin.write("\n")
        program.stdin.flush()
        seen = json.loads(program.stdout.readline())
        program.stdin.write("\n")
        program.stdin.close()
        program.wait()
        if not plumb:
            return seen, None
        plumb.communicate()
        report = subprocess.run([arguments.plumb, "report", "-f", "json", recording], check=True, capture_output=True)
        return seen, json.loads(report.stdout)


def at(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] / 1000 if values else float("nan")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plumb")
    parser.add_argument("python", nargs="?", default=sys.executable)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--turns", type=int, default=4)
    own, _, options = " ".join(sys.argv[1:]).partition(" -- ")
    arguments, options = parser.parse_args(own.split()), options.split()
    ways = [None, options] if options else [
        None, ["--native", "-r", "1000", "--max-overhead", "none"], ["--always-stop", "-r", "1000", "--max-overhead", "none"]]
    with tempfile.TemporaryDirectory() as directory:
        library = os.path.join(directory, "own_pauses.so")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, HERE / "own_pauses.c"], check=True)
        for turn in range(arguments.turns):
            for way in ways:
                seen, report = measured(arguments, library, way)
                line = "%-45s stops %6d  p50 %6.1f us  p90 %6.1f us  p99 %7.1f us  preempted %5d" % (
                    " ".join(way) if way else "not sampled", len(seen["stops"]), *(at(seen["stops"], p) for p in (0.5, 0.9, 0.99)),
                    seen["preempted"])
                if report:
                    stops, samples = report["overhead"]["stops"], max(1, report["samples"]["total"])
                    line += "  plumb: %d stops, %.1f us each; %.1f us of CPU a sample; without native frames %.1f %%" % (
                        stops, report["overhead"]["stopped_ns"] / max(1, stops) / 1000, report["overhead"]["profiler_cpu_ns"] / samples / 1000,
                        100 * report["losses"]["native"] / samples)
                print(line, flush=True)
    print("load", os.getloadavg())


main()
