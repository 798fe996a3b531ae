#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make the report page and write it as C, cut where its data goes: embed_page.py NODE WEBUI SCRATCH OUTPUT DEPFILE.

SCRATCH is a folder for page.html. DEPFILE names what the page was made of, so that a change makes it anew. A page that is made
already: embed_page.py PAGE OUTPUT."""

import pathlib
import subprocess
import sys

MARK = b"<!--plumb-blocks-->\n"


def sources(webui):
    """Tools that are installed (node_modules) follow from package-lock.json."""
    return [webui / "build.mjs", webui / "package-lock.json", webui / "package.json", *sorted(p for p in (webui / "src").rglob("*") if p.is_file())]


def escaped(path):
    return str(path).replace("\\", "\\\\").replace(" ", "\\ ").replace("#", "\\#").replace("$", "$$")


def literal(data):
    """As string literals, a line each: compilers read these ten times as fast as lists of numbers."""
    def char(byte):
        return chr(byte) if 32 <= byte < 127 and byte not in b'"\\?' else "\\%03o" % byte

    return "\n".join('\t"%s"' % "".join(map(char, line)) for line in data.splitlines(keepends=True)) or '\t""'


def embedded(page):
    head, mark, tail = page.partition(MARK)
    if not mark or MARK in tail:
        sys.exit("page.html must have the line %s once" % MARK.decode().strip())
    return ('#include "page.h"\n\nstatic const char head[] =\n%s;\nstatic const char tail[] =\n%s;\n\n'
            "const struct pl_page_text pl_page_built = {\n"
            "\t.head = head, .tail = tail, .head_len = sizeof head - 1, .tail_len = sizeof tail - 1};\n" % (literal(head), literal(tail)))


def embed(page, output):
    output.write_text(embedded(page.read_bytes()))


def make():
    node, webui, scratch, output, depfile = sys.argv[1], *map(pathlib.Path, sys.argv[2:])
    scratch.mkdir(parents=True, exist_ok=True)
    subprocess.run([node, str(webui / "build.mjs"), str(scratch)], check=True)
    embed(scratch / "page.html", output)
    depfile.write_text("%s: %s\n" % (escaped(output), " ".join(map(escaped, sources(webui)))))


if __name__ == "__main__":
    if len(sys.argv) == 3:
        embed(*map(pathlib.Path, sys.argv[1:]))
    else:
        make()
