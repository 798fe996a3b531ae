#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make src/model/opcode_tables.c: what the instructions of each CPython from 3.11 on are called, specialised ones too.

    tools/gen_opcodes.py ~/.pyenv/versions/3.1[123].*/lib/python3.1[123] /sysroot/usr/lib/python3.1[45] > src/model/opcode_tables.c

An argument is a library folder. From 3.13 on its _opcode_metadata.py says all; before, opcode.h has the numbers and opcode.py
what each instruction specialises to. Nothing is imported: the files of another system root will do.
"""

import ast
import os
import re
import sys


def assignment(path, name):
    """The literal that the module at `path` gives to `name`."""
    with open(path) as f:
        for node in ast.parse(f.read()).body:
            if isinstance(node, ast.Assign) and any(getattr(t, "id", None) == name for t in node.targets):
                return node.value
    raise SystemExit("%s: no %s" % (path, name))


def dictionary(node):
    """The value of a dictionary's display, or of a call with keyword arguments (frozendict of 3.15)."""
    pairs = [(k.arg, k.value) for k in node.keywords] if isinstance(node, ast.Call) else \
        [(ast.literal_eval(k), v) for k, v in zip(node.keys, node.values)]
    return {k: ast.literal_eval(v) for k, v in pairs}


def from_header(path):
    with open(path) as f:
        found = re.findall(r"^#define +([A-Z][A-Z0-9_]*) +(\d+)$", f.read(), re.M)
    return {name: int(number) for name, number in found if name != "HAVE_ARGUMENT" and not name.startswith("NB_")}


def read(lib):
    """(minor, {number: name}, {specialised name: name})"""
    minor = int(re.search(r"python3\.(\d+)$", lib.rstrip("/")).group(1))
    metadata = os.path.join(lib, "_opcode_metadata.py")
    if os.path.exists(metadata):
        names = dictionary(assignment(metadata, "opmap"))
        names.update(dictionary(assignment(metadata, "_specialized_opmap")))
        special = dictionary(assignment(metadata, "_specializations"))
    else:
        names = from_header(os.path.join(lib, "..", "..", "include", "python3.%d" % minor, "opcode.h"))
        special = dictionary(assignment(os.path.join(lib, "opcode.py"), "_specializations"))
    base = {s: general for general, all_of_it in special.items() for s in all_of_it}
    by_number = {}
    for name, number in names.items():
        if number not in by_number or not name.startswith(("MIN_", "MAX_")):
            by_number[number] = name
    return minor, by_number, base


def main():
    print("/* SPDX-License-Identifier: Apache-2.0 */")
    print("/* Made by tools/gen_opcodes.py. Not edited by hand. */")
    print('#include "opcodes.h"\n')
    releases = sorted((read(lib) for lib in sys.argv[1:]), key=lambda r: r[0])
    for minor, names, base in releases:
        index = {name: number for number, name in names.items()}
        print("static const struct pl_opcode rows_3_%d[] = {" % minor)
        for number in sorted(names):
            print('\t[%d] = {"%s", %d},' % (number, names[number], index.get(base.get(names[number]), number)))
        print("};\n")
    print("static const struct pl_opcodes tables[] = {")
    for minor, _, _ in releases:
        print("\t{%d, sizeof rows_3_%d / sizeof rows_3_%d[0], rows_3_%d}," % (minor, minor, minor, minor))
    print("};\n")
    print("const struct pl_opcodes *pl_opcodes(int minor)\n{")
    print("\tfor (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {")
    print("\t\tif (tables[i].minor == minor)\n\t\t\treturn &tables[i];\n\t}\n\treturn NULL;\n}")


if __name__ == "__main__":
    main()
