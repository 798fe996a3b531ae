# SPDX-License-Identifier: Apache-2.0
"""Run a program while a sampler in the same process samples it, for some seconds or until it ends:
WHO INTERVAL SECONDS OUTPUT SCRIPT ARGUMENTS..."""
import collections
import json
import os
import runpy
import signal
import sys

who, interval, seconds, output, script = sys.argv[1:6]
interval, seconds = float(interval), float(seconds)


def begin_plumb():
    import plumb

    profile = plumb.start(interval=interval)

    def end():
        profile.stop()
        profile.write("json", output, force=True, idle="keep")

    return end


def begin_pyinstrument():
    import pyinstrument

    profiler = pyinstrument.Profiler(interval=interval)
    profiler.start()

    def end():
        stacks = collections.Counter(tuple(stack) for stack, _ in profiler.stop().frame_records)
        with open(output, "w", encoding="utf-8") as file:
            json.dump(list(stacks.items()), file)

    return end


end = {"plumb": begin_plumb, "pyinstrument": begin_pyinstrument}[who]()


def over(signo, frame):
    end()
    os._exit(0)


signal.signal(signal.SIGALRM, over)
signal.setitimer(signal.ITIMER_REAL, seconds)
sys.argv = sys.argv[5:]
try:
    runpy.run_path(script, run_name="__main__")
except SystemExit:
    end()
