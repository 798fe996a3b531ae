# SPDX-License-Identifier: Apache-2.0
"""A thread that computes, mostly in functions of C that call back: which Python function has called which of them is
known. Runs on Python 3.6 and later."""
import functools
import json
import re
import zlib

import parley

TEXT = json.dumps([{"a": 1}] * 50)
DATA = bytes(range(256)) * 400


def leaf(n):
    total = 0
    for i in range(n):
        total += i & 7
    return total


def via_partial(n, item):
    leaf(n)
    return item


def key(item):
    return list(map(functools.partial(via_partial, 100), [item]))[0]


def replacement(match):
    return str(sorted([3, 1, 2], key=key)[0])


def hook(things):
    return re.sub("a", replacement, "banana")


def parse():
    json.loads(TEXT, object_hook=hook)


def compress():
    zlib.compress(DATA, 6)


def main():
    parley.ready()
    while not parley.over():
        parse()
        compress()
        parley.tick()


main()
