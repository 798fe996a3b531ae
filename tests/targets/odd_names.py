# SPDX-License-Identifier: Apache-2.0
# -*- coding: utf-8 -*-
"""Busy functions whose names, and whose files' names, have in them what formats of one stack per line are made of."""
import parley

SOURCE = "def busy(n):\n    total = 0\n    for i in range(n):\n        total += i\n    return total\n"
FUNCTIONS = ["a;b", "two words 7", "line\nbreak", "r\rn\u2028p", "<tag> & \"quote\" 'it'", "größe 関数"]


def named(name):
    """The function busy() under that name, in a file of that name; before 3.8 only the file has it."""
    names = {}
    exec(compile(SOURCE, "/dir;of\n/%s.py" % name, "exec"), names)
    code = names["busy"].__code__
    return type(named)(code.replace(co_name=name) if hasattr(code, "replace") else code, names)


def main():
    functions = [named(name) for name in FUNCTIONS]
    parley.ready()
    while not parley.over():
        for function in functions:
            function(3000)
        parley.tick()


if __name__ == "__main__":
    main()
