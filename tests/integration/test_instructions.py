# SPDX-License-Identifier: Apache-2.0
"""How long instructions are, by plumb and by binutils: those of the C library, of its functions of mathematics (SSE, AVX, AVX-512 and
x87, as the same function is there for several processors), and of plumb itself."""
import os
import re
import subprocess

import pytest

from harness.sites import Lacking, tool

# What stands in code and is none: data, which is disassembled as well.
NONE = re.compile(r"\(bad\)|^(rex(\.\w+)?|data16|addr32|cs|ds|es|ss|fs|gs|lock|repn?z|{\w+})$")


def instructions(path):
    """Each once, as hexadecimal bytes. What waits for x87 (9b) is one of its own, which binutils shows with the next one."""
    listing = subprocess.run([tool("objdump"), "-d", "-w", "--insn-width=16", path], stdout=subprocess.PIPE, text=True, check=True)
    columns = (line.split("\t") for line in listing.stdout.splitlines())
    found = {row[1].strip() for row in columns if len(row) == 3 and not NONE.search(row[2].strip())}
    return {re.sub("^9b (?=d)", "", code) for code in found}


def libraries():
    with open("/proc/self/maps") as maps:
        mapped = sorted({line.split()[-1] for line in maps if re.search(r"/lib(c|m)[-.0-9]*so", line)})
    return mapped or pytest.skip("which C library there is is not known")


def test_instructions_are_as_long_as_binutils_says(plumb):
    try:
        of_files = [instructions(path) for path in [*libraries(), plumb.binary]]
    except Lacking as lacking:
        pytest.skip(str(lacking))
    all_of_them = sorted(set().union(*of_files))
    program = os.path.join(os.path.dirname(plumb.binary), "tests/tools/instruction_lengths")
    told = subprocess.run([program], input="\n".join(all_of_them) + "\n", stdout=subprocess.PIPE, text=True, check=True).stdout
    *wrong, counted = told.splitlines()
    assert not wrong, wrong[:20]
    assert len(all_of_them) > 10000 and counted == "%d instructions, 0 not known" % len(all_of_them), counted
