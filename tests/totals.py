# SPDX-License-Identifier: Apache-2.0
"""Add up what meson and pytest ran and print the closing lines of `./dev test`.

The last line is "N passed, N failed, N skipped" alone. Before it stands, by name, what failed, what was not run and why, where the
time went, what could not be decided and what had to be run again, and as the last once more what failed, with what it said: of a long
log the end is kept, and its last page has to tell what is wrong.
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
MOST_TOLD = 20  # failures with what they said: the last page of a log has them, and the lines below
MOST_SAID = 300  # characters
# As tests/conftest.py and harness/statistics.py begin their notes.
UNDECIDED, AGAIN = "undecided: ", "run again"


class Counts:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.failures = {}  # what each said, in the order in which they were run
        self.seconds = collections.Counter()  # of each test function, whatever its parameters
        self.processors = collections.Counter()  # seconds that it had one; not known of a unit test

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.failures.update(other.failures)
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
                counts.failures["%s: %s" % (row["name"], row["result"])] = of_a_program(row)
    return counts


def of_a_program(row):
    """What it printed of errors, as cmocka and the sanitizers do, or else as the last."""
    lines = [line.strip() for kind in ("stdout", "stderr") for line in row.get(kind, "").splitlines() if line.strip()]
    return "\n".join([line for line in lines if "error" in line.lower()][:3] or lines[-3:])


def read_pytest(path):
    kinds, said = {}, {}  # of each test: one that was run again stands there once for each time
    counts = Counts()
    for case in xml.parse(path).getroot().iter("testcase"):
        name = "%s::%s" % (case.get("classname"), case.get("name"))
        kinds.setdefault(name, set()).update(child.tag for child in case)
        said.update((name, child.get("message") or "") for child in case if child.tag in ("failure", "error"))
        function = "%s::%s" % (case.get("classname"), case.get("name").partition("[")[0])
        counts.seconds[function] += float(case.get("time"))
        told = [float(each.get("value")) for each in case.iter("property") if each.get("name") == "processor"]
        counts.processors[function] += sum(told)
    for name, tags in kinds.items():
        if tags & {"failure", "error"}:
            counts.failed += 1
            counts.failures[name] = said[name]
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


def print_failures(steps, failures):
    """Once more: the names alone stand above all else that is told."""
    for name in steps:
        print("step failed: " + name)
    for name, said in list(failures.items())[:MOST_TOLD]:
        told = " | ".join(line.strip() for line in said.splitlines() if line.strip())[:MOST_SAID]
        print("failed: %s, which said: %s" % (name, told or "nothing"))
    if len(failures) > MOST_TOLD:
        print("and %d more that failed: their names stand above" % (len(failures) - MOST_TOLD))


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
    print_failures(steps, total.failures)
    undecided = sum(line.startswith(UNDECIDED) for line in chance)
    print("%d of the skipped tests could not be decided on this machine now; %d tests were run again" % (undecided, len(chance) - undecided))
    print("%d passed, %d failed, %d skipped" % (total.passed, total.failed, total.skipped))
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
