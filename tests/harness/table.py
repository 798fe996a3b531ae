# SPDX-License-Identifier: Apache-2.0
"""The tables at the end of a run: what was tried, how it ended and, where it was not tried, why not."""
import collections

MATRIX = "matrix"  # programs and places, by every way to look at them, on every interpreter
_cells = {}  # (title, row, column) -> (where its test stands among all, text or NotRun)
_ELSEWHERE = "-: not among the tests of this run; the long ones take one interpreter of each release, some take only one"


class NotRun:
    """A cell that is empty for a reason."""

    def __init__(self, why):
        self.why = why


class Cells:
    """What one test puts into the tables: a row is an interpreter or, in a table with a title of its own, anything. If the
    test is skipped, its cells say why."""

    def __init__(self):
        self._mine = {}

    def __call__(self, row, column, outcome, title=""):
        self._mine[title, str(row), str(column)] = outcome

    def skipped(self, why):
        self._mine = dict.fromkeys(self._mine, NotRun(why))

    def plain(self):
        """[title, row, column, text, why it was not run], in types that pass from one process to another."""
        return [[*key, *((None, outcome.why) if isinstance(outcome, NotRun) else (outcome, None))] for key, outcome in self._mine.items()]


def take(ordinal, plain):
    """The cells of the test that stands at `ordinal` among all: tests may end in any order, the tables keep theirs."""
    for title, row, column, text, why in plain:
        _cells[title, row, column] = ordinal, NotRun(why) if text is None else text


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
    tables = {}
    for (title, row, column), (_, outcome) in sorted(_cells.items(), key=lambda cell: cell[1][0]):
        tables.setdefault(title, {}).setdefault(row, {})[column] = outcome
    return [line for title, table in tables.items() for line in _lines(title, table)]
