# SPDX-License-Identifier: Apache-2.0
"""Add up what meson and pytest ran and print the closing lines of `./dev test`.

The last line is "N passed, N failed, N skipped" alone; before it stands, by name, what was not run and why, and
what had to be run again.
Exit status 1 if anything failed or nothing ran.
"""
import argparse
import json
import os
import sys
import xml.etree.ElementTree as xml


class Counts:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.failures = []

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.failures += other.failures


def read_meson(path):
    """One JSON object per line, one line per test executable."""
    counts = Counts()
    with open(path, encoding="utf-8") as log:
        for line in log:
            row = json.loads(line)
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
    for case in xml.parse(path).getroot().iter("testcase"):
        kinds.setdefault("%s::%s" % (case.get("classname"), case.get("name")), set()).update(child.tag for child in case)
    counts = Counts()
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
    if not os.path.exists(path):
        # The step that writes it did not get so far; that step has failed and is named.
        counts = Counts()
        counts.failed = 1
        counts.failures.append("no results in %s" % path)
        return counts
    return read_pytest(path) if path.endswith(".xml") else read_meson(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps-failed", default="", help="names, separated by ', '")
    parser.add_argument("--notes", help="file with a line for each part that could not be had or had to be run again")
    parser.add_argument("results", nargs="*", help="meson testlog.json and pytest junit files")
    options = parser.parse_args()

    total = Counts()
    for path in options.results:
        total.add(read(path))
    # A step that failed without a failed test of its own (a compiler, a crash of the runner) counts as one.
    steps = [name for name in options.steps_failed.split(", ") if name]
    builds = [name for name in steps if name.startswith(("build", "no binary"))]
    total.failed += len(builds)
    if steps and not total.failed:
        total.failed = len(steps)

    print()
    for name in steps:
        print("step failed: " + name)
    for name in total.failures:
        print("failed: " + name)
    if options.notes and os.path.exists(options.notes):
        with open(options.notes, encoding="utf-8") as lines:
            sys.stdout.writelines(dict.fromkeys(lines))  # each once: there is more than one run of pytest
    print("%d passed, %d failed, %d skipped" % (total.passed, total.failed, total.skipped))
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
