# SPDX-License-Identifier: Apache-2.0
"""Add up what meson and pytest ran and print the closing lines of `./dev test`.

The last line is "N passed, N failed, N skipped" alone. Before it stands, by name, what failed, what was not run and why, where the
time went, and as the last what could not be decided and what had to be run again: of a long log the end is kept.
Exit status 1 if anything failed or nothing ran.
"""
import argparse
import collections
import json
import os
import sys
import time
import xml.etree.ElementTree as xml


LONGEST = 12
# As tests/conftest.py and harness/statistics.py begin their notes.
UNDECIDED, AGAIN = "undecided: ", "run again"


class Counts:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.failures = []
        self.seconds = collections.Counter()  # of each test function, whatever its parameters
        self.processors = collections.Counter()  # seconds that it had one; not known of a unit test

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.failures += other.failures
        self.seconds += other.seconds
        self.processors += other.processors


def read_meson(path):
    """One JSON object per line, one line per test executable."""
    counts = Counts()
    with open(path, encoding="utf-8") as log:
        for line in log:
            row = json.loads(line)
            counts.seconds[row["name"]] += row["duration"]
            if row["result"] in ("OK", "EXPECTEDFAIL"):
                counts.passed += 1
            elif row["result"] == "SKIP":
                counts.skipped += 1
            else:
                counts.failed += 1
                counts.failures.append("%s: %s" % (row["name"], row["result"]))
    return counts


def read_pytest(path):
    kinds = {}  # of each test: one that was run again stands there once for each time, and only the last one tells
    counts = Counts()
    for case in xml.parse(path).getroot().iter("testcase"):
        kinds.setdefault("%s::%s" % (case.get("classname"), case.get("name")), set()).update(child.tag for child in case)
        function = "%s::%s" % (case.get("classname"), case.get("name").partition("[")[0])
        counts.seconds[function] += float(case.get("time"))
        told = [float(each.get("value")) for each in case.iter("property") if each.get("name") == "processor"]
        counts.processors[function] += sum(told)
    for name, tags in kinds.items():
        if tags & {"failure", "error"}:
            counts.failed += 1
            counts.failures.append(name)
        elif "skipped" in tags:
            counts.skipped += 1
        else:
            counts.passed += 1
    return counts


def read(path):
    return read_pytest(path) if path.endswith(".xml") else read_meson(path)


def minutes(seconds):
    return "%3d:%02d" % divmod(round(seconds), 60)


def print_times(steps, began, tests):
    """Steps in the order in which they ended, and the share of the processors that they kept busy; of the tests those that took longest, with all
    their parameters added up, and for how much of it they had a processor: that is what others beside them go without."""
    rows = [line.rstrip("\n").split("\t") for line in steps]
    for took, processors, name in rows:
        busy = 100 * float(processors) / (float(took) * len(os.sched_getaffinity(0))) if float(took) else 0
        print("took %s  %3.0f %% busy  %s" % (minutes(float(took)), busy, name))
    print("took %s  all steps" % minutes(time.time() - began))
    for name, took in tests.seconds.most_common(LONGEST):
        had = tests.processors[name]
        print("of it %s  %s  %s" % (minutes(took), "%s of a processor" % minutes(had) if had else " " * 22, name))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps-failed", default="", help="names, separated by ', '")
    parser.add_argument("--notes", help="file with a line for each part that could not be had or had to be run again")
    parser.add_argument("--steps", help="file with a line for each step: seconds, tab, seconds of processors, tab, name")
    parser.add_argument("--began", type=float, default=0, help="when, in seconds since 1970")
    parser.add_argument("results", nargs="*", help="meson testlog.json and pytest junit files")
    options = parser.parse_args()

    total = Counts()
    for path in options.results:
        total.add(read(path))
    # A step that failed without a failed test of its own (a compiler, a crash of the runner) counts as one.
    steps = [name for name in options.steps_failed.split(", ") if name]
    builds = [name for name in steps if name.startswith("build")]
    total.failed += len(builds)
    if steps and not total.failed:
        total.failed = len(steps)

    print()
    for name in steps:
        print("step failed: " + name)
    for name in total.failures:
        print("failed: " + name)
    notes = []
    if options.notes and os.path.exists(options.notes):
        with open(options.notes, encoding="utf-8") as lines:
            notes = list(dict.fromkeys(lines))  # each once: there is more than one run of pytest
    chance = [line for line in notes if line.startswith((UNDECIDED, AGAIN))]
    sys.stdout.writelines(line for line in notes if line not in chance)
    if options.steps and os.path.exists(options.steps):
        with open(options.steps, encoding="utf-8") as lines:
            print_times(lines, options.began, total)
    sys.stdout.writelines(chance)
    undecided = sum(line.startswith(UNDECIDED) for line in chance)
    print("%d of the skipped tests could not be decided on this machine now; %d tests were run again" % (undecided, len(chance) - undecided))
    print("%d passed, %d failed, %d skipped" % (total.passed, total.failed, total.skipped))
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
