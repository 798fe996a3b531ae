# SPDX-License-Identifier: Apache-2.0
"""libplumb.so shows the functions of the public headers, all of them and nothing else: exports.py HEADERS LIBRARY."""
import pathlib
import re
import subprocess
import sys

headers, library = sys.argv[1:]
declared = set()
for header in pathlib.Path(headers).glob("*.h"):
    declared |= set(re.findall(r"^PLUMB_API [^;(]*?\b(plumb_\w+)\(", header.read_text(encoding="utf-8"), re.MULTILINE))
table = subprocess.run(["nm", "-D", "--defined-only", library], stdout=subprocess.PIPE, check=True, encoding="utf-8").stdout
shown = {line.split()[2].split("@")[0] for line in table.splitlines() if line.split()[1] != "A"}
assert declared, "no functions in %s" % headers
assert declared == shown, "not shown: %s; not declared: %s" % (sorted(declared - shown), sorted(shown - declared))
