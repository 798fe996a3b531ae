# SPDX-License-Identifier: Apache-2.0
"""A program that computes: it reads orders as JSON, corrects them, and adds up who bought what, for about three seconds.

    build/plumb run -- python3 examples/orders.py
"""
import collections
import decimal
import json
import random
import sys
import time

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0


def make_text(count):
    """What another system would send."""
    source = random.Random(1)
    return json.dumps([{"customer": "c%d" % source.randrange(200), "price": "%.2f" % (source.random() * 100),
                        "items": [source.choice(["socks", "shoes", "hat"]) for _ in range(source.randrange(1, 6))]}
                       for _ in range(count)])


def parse(text):
    return json.loads(text)


def correct(orders):
    """Prices as exact numbers, items in order."""
    for order in orders:
        order["price"] = decimal.Decimal(order["price"])
        order["items"] = sorted(order["items"])
    return orders


def similar(a, b):
    """How many letters two words have in common at the same place."""
    same = 0
    for x, y in zip(a, b):
        same += x == y
    return same


def closest(word, words):
    return max(words, key=lambda other: similar(word, other))


def total(orders):
    sums, names = collections.defaultdict(decimal.Decimal), ["socks", "shoes", "hats", "coats", "gloves"]
    for order in orders:
        for item in order["items"]:
            sums[order["customer"], closest(item, names)] += order["price"]
    return sums


def main():
    text, until = make_text(500), time.monotonic() + SECONDS
    while time.monotonic() < until:
        total(correct(parse(text)))


if __name__ == "__main__":
    main()
