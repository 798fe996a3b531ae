# SPDX-License-Identifier: Apache-2.0
"""Corpus of fuzz_context.c from the interpreter that runs this, with the Python package in its path: make_context.py FOLDER"""
import contextvars
import gc
import pathlib
import platform
import struct
import sys

from plumb import _contexts
from plumb._plumb import Tag, own_memory, thread_state

VAR = contextvars.ContextVar("plumb.tag")


def layout():
    """What the package finds out about this interpreter."""
    found = {}
    _contexts.set_tag_place = found.update
    _contexts._look(VAR, Tag)
    return found


def objects(context, tag):
    """What leads from a context to the tag."""
    seen = [context, tag]
    waiting = [_contexts._variables(context)]
    while waiting:
        held = waiting.pop()
        seen.append(held)
        waiting += [o for o in gc.get_referents(held) if type(o).__name__.startswith("hamt")]
    return seen


def image(context, tag):
    address = context.run(thread_state)
    ranges = [(address, context.run(own_memory, address, 1024))]
    ranges += [(id(o), own_memory(id(o), 32 + 8 * 32)) for o in objects(context, tag)]
    return b"PLIMG1\n" + b"".join(struct.pack("<QI", at, len(held)) + held for at, held in ranges)


def one(found, context):
    tag = Tag(7)
    context.run(VAR.set, tag)
    words = [context.run(thread_state), id(VAR), id(Tag)] + [found[name + "_type"] for name in ("bitmap", "array", "collision")]
    offsets = [found[name] for name in ("context", "vars", "root", "type")] + [object.__basicsize__]
    folded = (hash(VAR) ^ hash(VAR) >> 32) & 0xFFFFFFFF
    return struct.pack("<6Q6I", *words, *offsets, folded) + image(context, tag)


def main():
    folder, found = pathlib.Path(sys.argv[1]), layout()
    folder.mkdir(exist_ok=True)
    colliding = contextvars.Context()
    colliding.run(_contexts.colliding(VAR).set, None)
    for name, context in {"one": contextvars.Context(), "many": _contexts._with_variables(40), "collision": colliding}.items():
        (folder / ("%s-%s" % (platform.python_version(), name))).write_bytes(one(found, context))


main()
