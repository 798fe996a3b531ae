# SPDX-License-Identifier: Apache-2.0
"""Plain nested calls. In this and the other targets a comment `# -> f, g` names every function that a line may call, and
`# root` a function that library code calls: the tests read them and accept no other caller or line."""
import parley  # -> *

EXPECT = [["<module>", "main", "outer", "middle", "inner"], ["main", "lonely"]]


def inner(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


def middle(n):
    return inner(n) + 1  # -> inner


def outer(n):
    return middle(n) + 1  # -> middle


def lonely(n):
    total = 0
    while n:
        total += n
        n -= 1
    return total


def main():
    parley.ready()  # -> ready
    while not parley.over():  # -> over
        outer(4000)  # -> outer
        lonely(2000)  # -> lonely
        parley.tick()  # -> tick


if __name__ == "__main__":
    main()  # -> main
