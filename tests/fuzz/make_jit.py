# SPDX-License-Identifier: Apache-2.0
"""Corpus of fuzz_jit.c, of the compiler in targets/jit_code.py: make_jit.py FOLDER"""
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "targets"))
import jit_code  # noqa: E402

FACTS, CODE, FILES, LIST, HEAD, STACK = 16, 0x10000, 0x20000, 0x30000, 0x40000, 0x50000
MORE = 0x4000  # from one object to the next
DISTANCE = 64


def image(ranges):
    return b"PLIMG1\n" + b"".join(struct.pack("<QI", at, len(held)) + held for at, held in ranges)


def of(count, pc, frames):
    """That many objects; a thread at this place of the first one's code, whose stack holds these words."""
    ranges, entries = [], []
    for i in range(count):
        code, tables, file = jit_code.made_up(CODE + i * MORE)
        ranges += [(CODE + i * MORE, code.ljust(jit_code.TABLES_AT, b"\xcc") + tables), (FILES + i * MORE, file)]
        entries.append((LIST + 32 * i, FILES + i * MORE, len(file)))
    for i, (at, file, size) in enumerate(entries):
        after, before = (entries[i + 1][0] if i + 1 < count else 0), (entries[i - 1][0] if i else 0)
        ranges.append((at, struct.pack("<4Q", after, before, file, size)))
    ranges.append((HEAD, b"\0" * 8 + struct.pack("<IIQQ", 1, 1, LIST, LIST) + b"\0" * 32))
    ranges.append((STACK, b"".join(struct.pack("<Q", word) for word in frames).ljust(256, b"\0")))
    anchor = STACK + 8 * len(frames) - DISTANCE
    heads = struct.pack("<QIIQQ", HEAD + 8, 1, 2, LIST, LIST + 32) + struct.pack("<QIIQQ", HEAD + 8, 1, 2, LIST, 0)
    facts = struct.pack("<5Q", HEAD, HEAD + 64, pc, STACK, anchor) + heads
    return image([(FACTS, facts)] + ranges)


def main(folder):
    returns = CODE + jit_code.OUTER_AT + len(jit_code.OUTER_BEGIN) + 8 + 2
    inner, outer = [0] * 5 + [returns], [0] * 3 + [CODE + returns]
    made = {"inner": of(2, CODE + 10, inner + outer), "begins": of(1, CODE, [returns] + outer), "outer": of(3, returns, outer)}
    for name, held in made.items():
        (pathlib.Path(folder) / name).write_bytes(held)


main(sys.argv[1])
