# SPDX-License-Identifier: Apache-2.0
"""Names in each of CPython's string representations: Latin-1, two-byte, four-byte, and one of 300 characters."""
import parley  # -> *

LONG = "l" + 298 * "o" + "ng"
EXPECT = [["main", "größe", "функция", "関数", "𐐨𐐩"], ["main", "loooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooong", "schluß"]]


def 𐐨𐐩(n):
    total = 0
    for i in range(n):
        total += i
    return total


def 関数(n):
    return 𐐨𐐩(n)  # -> 𐐨𐐩


def функция(n):
    return 関数(n)  # -> 関数


def größe(n):
    return функция(n)  # -> функция


def schluß(n):
    total = 0
    for i in range(n):
        total += i
    return total


def loooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooong(n):
    return schluß(n)  # -> schluß


def main():
    long_named = globals()[LONG]
    parley.ready()  # -> ready
    while not parley.over():  # -> over
        größe(3000)  # -> größe
        long_named(3000)  # -> loooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooong
        parley.tick()  # -> tick


if __name__ == "__main__":
    main()  # -> main
