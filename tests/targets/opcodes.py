# SPDX-License-Identifier: Apache-2.0
"""Two busy functions whose instructions the interpreter specialises; in the end it tells which instructions they have now."""
import dis

import parley


def numbers(n):
    total = 0
    for i in range(n):
        total += i * 3
    return total


def texts(n):
    text = ""
    for _ in range(n):
        text = text + "x"
    return text


def instructions(function):
    """[line, name], specialised and general."""
    found = set()
    for adaptive in (True, False):
        for i in dis.get_instructions(function, adaptive=adaptive):
            if i.positions.lineno:
                found.add((i.positions.lineno, i.opname))
    return sorted(found)


def main():
    numbers(20000)
    texts(2000)
    parley.ready()
    while not parley.over():
        numbers(20000)
        texts(2000)
    parley.tell(event="instructions", numbers=instructions(numbers), texts=instructions(texts))


if __name__ == "__main__":
    main()
