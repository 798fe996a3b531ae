# SPDX-License-Identifier: Apache-2.0
"""A busy function whose name, and whose file's name, is --length characters long."""
import parley

SOURCE = "def %s(n):\n    total = 0\n    for i in range(n):\n        total += i\n    return total\n"


def main():
    length = parley.argument("length", 65536)
    name, names = "f" * length, {}
    exec(compile(SOURCE % name, "/" + "d" * (length - 1), "exec"), names)
    parley.ready()
    while not parley.over():
        names[name](3000)
        parley.tick()


if __name__ == "__main__":
    main()
