#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write a text file as a C string: embed_text.py INPUT OUTPUT HEADER NAME."""

import pathlib
import sys


def literal(line):
    escaped = line.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?")
    assert escaped.isascii() and "\t" not in escaped.lstrip("\t"), line
    return '\t"%s\\n"' % escaped.replace("\t", "\\t")


def main():
    source, target, header, name = sys.argv[1:]
    text = pathlib.Path(source).read_text()
    lines = [literal(line) for line in text.splitlines()]
    pathlib.Path(target).write_text('#include "%s"\n\nconst char %s[] =\n%s;\n' % (header, name, "\n".join(lines)))


if __name__ == "__main__":
    main()
