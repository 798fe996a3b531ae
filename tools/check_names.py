#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No two source files share a name, no two headers a guard, no two headers an enum or a struct tag.

Whoever reads `"waits.h"`, sees `waits.c` in a backtrace or looks for `struct pl_task` is to find one. A public header
may be named as what implements it (`<plumb/dump.h>`, `"dump.h"`): its folder is part of its name. A tag without a prefix
is known in its own file only.

    tools/check_names.py [ROOT]"""

import collections
import pathlib
import re
import sys

SOURCES = ('src', 'python/ext', 'include')
TAG = re.compile(r'^\s*(?:typedef )?(?:(?:static )?const )?((?:enum|struct|union) (?:pl_|plumb_|ext_)\w+) \{', re.MULTILINE)
GUARD = re.compile(r'#ifndef (\w+)\n#define \1\b')


def files(root, folders):
    for folder in folders:
        yield from sorted(path for path in (root / folder).rglob('*.[ch]'))


def shared(found):
    return {what: places for what, places in found.items() if len(places) > 1}


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else '.')
    names, guards, tags = (collections.defaultdict(set) for _ in range(3))
    for path in files(root, (*SOURCES, 'tests', 'bench')):
        place, text = str(path.relative_to(root)), path.read_text(encoding='utf-8')
        if path.suffix == '.h' and (guard := GUARD.search(text)):
            guards['guard ' + guard[1]].add(place)
        if not place.startswith(SOURCES):
            continue
        names['public ' * place.startswith('include/') + 'file ' + path.name].add(place)
        for tag in TAG.findall(text):
            tags[tag].add(place)
    faults = {**shared(names), **shared(guards), **shared(tags)}
    for what, places in faults.items():
        print(f'{what}: {", ".join(sorted(places))}')
    if not tags or not guards:
        sys.exit(f'no sources in {root}')
    sys.exit(1 if faults else 0)


main()
