# SPDX-License-Identifier: Apache-2.0
"""Two greenlets that compute in turns, and the main one between them. They are begun at different depths of the C stack, so each
lies over what others have left there. Needs greenlet."""
import greenlet

import parley


def leaf(n):
    return sum(i & 7 for i in range(n))


def shallow():
    while True:
        leaf(2000)
        main.switch()


def deep():
    while True:
        sorted([1, 2], key=lambda item: leaf(1000))
        main.switch()


def begin(greenlets, depth):
    """From within some calls of C."""
    if depth:
        return list(map(lambda depth: begin(greenlets, depth), [depth - 1]))
    for each in greenlets:
        each.switch()


def run():
    begin(greenlets[:1], 0)
    begin(greenlets[1:], 20)
    parley.ready()
    while not parley.over():
        for each in greenlets:
            each.switch()
        leaf(1000)
        parley.tick()


main = greenlet.getcurrent()
greenlets = [greenlet.greenlet(shallow), greenlet.greenlet(deep)]
run()
