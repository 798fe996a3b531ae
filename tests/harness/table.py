# SPDX-License-Identifier: Apache-2.0
"""The tables at the end of a run: what was tried, how it ended and, where it was not tried, why not."""
import collections

MATRIX = "matrix"  # programs and places, by every way to look at them, on every interpreter
_tables = collections.OrderedDict()  # title -> row -> column -> text or NotRun
_ELSEWHERE = "-: not among the tests of this run; the long ones take one interpreter of each release, some take only one"


class NotRun:
    """A cell that is empty for a reason."""

    def __init__(self, why):
        self.why = why


def put(row, column, outcome, title=""):
    """A row is an interpreter or, in a table with a title of its own, anything."""
    _tables.setdefault(title, collections.OrderedDict()).setdefault(str(row), collections.OrderedDict())[str(column)] = outcome


class Cells:
    """What one test puts into the tables. If it is skipped, its cells say why."""

    def __init__(self):
        self._mine = []

    def __call__(self, row, column, outcome, title=""):
        self._mine.append((row, column, title))
        put(row, column, outcome, title)

    def skipped(self, why):
        for row, column, title in self._mine:
            put(row, column, NotRun(why), title)


def _lines(title, table):
    columns = list(collections.OrderedDict.fromkeys(column for row in table.values() for column in row))
    reasons = []

    def text(row, column):
        outcome = row.get(column, "-")
        if not isinstance(outcome, NotRun):
            return outcome
        if outcome.why not in reasons:
            reasons.append(outcome.why)
        return "(%d)" % (1 + reasons.index(outcome.why))

    rows = [[title, *columns], *([name, *(text(row, column) for column in columns)] for name, row in table.items())]
    widths = [max(map(len, cells)) for cells in zip(*rows)]
    lines = ["", *("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)]
    lines += ["(%d) not run: %s" % numbered for numbered in enumerate(reasons, 1)]
    return lines + ([_ELSEWHERE] if any("-" in row for row in rows) else [])


def closing_lines():
    return [line for title, table in _tables.items() for line in _lines(title, table)]
