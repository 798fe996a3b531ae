# SPDX-License-Identifier: Apache-2.0
"""Line tables and what this interpreter itself makes of them, for test_cpython_lines_dump. Run inside any Python from 2.7 on:

    python dump_lines.py MAX FILE_OR_FOLDER... > lines.txt

Per code object: "code KIND FIRSTLINENO CODE_BYTES HEX_TABLE", then per range of equal answers
"at START END LINE END_LINE COLUMN END_COLUMN" (0: no line, -1: no column). Stops after MAX code objects (0: never).
"""
import binascii
import dis
import os
import sys

KIND = "lnotab_u8" if sys.version_info < (3,) else "lnotab" if sys.version_info < (3, 10) else "pep626" if sys.version_info < (3, 11) else "pep657"


def by_starts(code):
    starts = list(dis.findlinestarts(code)) + [(len(code.co_code), None)]
    if starts[0][0]:
        yield 0, starts[0][0], code.co_firstlineno
    for (start, line), (end, _) in zip(starts, starts[1:]):
        yield start, end, line


def ranges(code):
    """(start, end, line, end_line, column, end_column) for every byte of the bytecode, in order."""
    if KIND == "pep657":
        for i, p in enumerate(code.co_positions()):
            line, end_line, column, end_column = p
            if not line:  # None, or 0: the first instruction of a module
                end_line = column = end_column = None
            yield (2 * i, 2 * i + 2, line or 0, end_line or 0, -1 if column is None else column,
                   -1 if end_column is None else end_column)
        return
    for start, end, line in code.co_lines() if KIND == "pep626" else by_starts(code):
        yield start, end, line or 0, line or 0, -1, -1


def merged(items):
    last = None
    for item in items:
        if last and last[2:] == item[2:] and last[1] == item[0]:
            last = (last[0], item[1]) + last[2:]
            continue
        if last:
            yield last
        last = item
    if last:
        yield last


def dump(code, out):
    table = code.co_lnotab if KIND.startswith("lnotab") else code.co_linetable
    out.write("code %s %d %d %s\n" % (KIND, code.co_firstlineno, len(code.co_code), binascii.hexlify(table).decode() or "-"))
    for r in merged(ranges(code)):
        if r[0] < r[1]:
            out.write("at %d %d %d %d %d %d\n" % r)


def codes_of(code):
    yield code
    for const in code.co_consts:
        if isinstance(const, type(code)):
            for inner in codes_of(const):
                yield inner


def sources(path):
    if not os.path.isdir(path):
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(f for f in folders if f not in ("site-packages", "lib2to3", "__pycache__"))
        for name in sorted(names):
            if name.endswith(".py"):
                yield os.path.join(folder, name)


def main():
    import warnings
    warnings.simplefilter("ignore")
    limit, done = int(sys.argv[1]), 0
    for path in (p for arg in sys.argv[2:] for p in sources(arg)):
        with open(path, "rb") as f:
            text = f.read()
        try:
            module = compile(text, path, "exec")
        except (SyntaxError, ValueError, TypeError, RuntimeError):
            continue  # test data that is meant to be broken
        for code in codes_of(module):
            dump(code, sys.stdout)
            done += 1
            if done == limit:
                return


if __name__ == "__main__":
    main()
