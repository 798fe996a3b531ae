#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No function has more than six parameters: what belongs together is a structure, whose fields have names where it is
filled in.

    tools/check_parameters.py [ROOT]"""

import pathlib
import re
import sys

MOST = 6
SOURCES = ('src', 'python/ext', 'include')
NOISE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|^[ \t]*#(?:\\\n|[^\n])*', re.DOTALL | re.MULTILINE)
FUNCTION = re.compile(r'^[A-Za-z_][\w \t*]*?\b(\w+)\(([^;{}]*?)\)[^;{}()]*(?:\([^;{}]*\)[^;{}()]*)*[;{]', re.MULTILINE)


def parameters(text):
    """How many, with those of functions that are parameters counted as one."""
    while (inner := re.sub(r'\([^()]*\)', '', text)) != text:
        text = inner
    return 0 if text.strip() in ('', 'void') else text.count(',') + 1


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else '.')
    seen, faults = 0, []
    for folder in SOURCES:
        for path in sorted((root / folder).rglob('*.[ch]')):
            text = NOISE.sub(lambda found: '\n' * found[0].count('\n'), path.read_text(encoding='utf-8'))
            for found in FUNCTION.finditer(text):
                seen += 1
                if (count := parameters(found[2])) > MOST:
                    line = text.count('\n', 0, found.start()) + 1
                    faults.append(f'{path.relative_to(root)}:{line}: {found[1]} has {count} parameters')
    print(*faults, sep='\n', end='\n' if faults else '')
    if not seen:
        sys.exit(f'no functions in {root}')
    sys.exit(1 if faults else 0)


main()
