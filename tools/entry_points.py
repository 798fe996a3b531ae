#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The entry points that a pyproject.toml declares, as entry_points.txt of an installed package has them."""

import re
import sys

with open(sys.argv[1]) as file:
    for group, lines in re.findall(r"^\[project\.entry-points\.(\w+)\]\n(.*?)^$", file.read(), re.MULTILINE | re.DOTALL):
        sys.stdout.write("[%s]\n%s" % (group, lines.replace('"', "")))
