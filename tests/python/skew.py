# SPDX-License-Identifier: Apache-2.0
"""Programs of which a sampler that needs the GIL gets a wrong picture. Each takes its own time with a clock.

    skew.py SECONDS [original]

For each line that it reads it runs all programs once, and tells of each the share of its first function by the program's own clock, the
samples that watch() has of both, the share of samples for which the sampler came too late, and, with the word, the share that
distributed's watch() has, which takes its samples of the same run."""

import json
import sys
import time
import zlib

import plumb.profile as profile

BIG = list(range(600000))
BLOCK, LONG_BLOCK = bytes(200000), bytes(20000000)


def search_in_c():
    return -1 in BIG


def few_lines():
    n = 3000
    while n:
        n -= 1


def many_lines():
    n = 60000
    while n:
        n -= 1


def without_the_gil():
    zlib.crc32(BLOCK)
    zlib.compress(BLOCK, 1)


def long_without_the_gil():
    zlib.crc32(LONG_BLOCK)


def asleep():
    time.sleep(0.001)


# No loop and no call: the interpreter does not think of handing over the GIL in there.
exec("def straight_line(x=3):\n" + "    x = x * x % 1000003 + 1\n" * 20000)
straight = globals()["straight_line"]

PROGRAMS = {
    "a function in C keeps the GIL": (search_in_c, few_lines),
    "one in C lets it go": (many_lines, without_the_gil),
    "one sleeps": (many_lines, asleep),
    "one has no loop": (straight, few_lines),
    # As busy, but nobody who needs the GIL has to wait for it.
    "both let the GIL go": (long_without_the_gil, without_the_gil),
}


def alternate(seconds, functions):
    """{name: seconds spent in it}"""
    spent = dict.fromkeys((function.__name__ for function in functions), 0.0)
    before = time.perf_counter()
    end = before + seconds
    while before < end:
        for function in functions:
            function()
            after = time.perf_counter()
            spent[function.__name__] += after - before
            before = after
    return spent


def share_of_first(values):
    """Some see neither of the two, ever."""
    return next(iter(values.values())) / (sum(values.values()) or 1)


def counts(tree, names):
    found, waiting = dict.fromkeys(names, 0), [tree]
    while waiting:
        node = waiting.pop()
        if node["description"]["name"] in found:
            found[node["description"]["name"]] += node["count"]
        waiting.extend(node["children"].values())
    return found


def original_watch():
    """(its history, a function that ends it)"""
    import distributed.profile as original

    ended = []
    # It takes one sample a cycle, whatever the interval.
    return original.watch(interval="1ms", cycle="1ms", maxlen=None, stop=lambda: bool(ended)), lambda: ended.append(True)


def measure(seconds, functions, with_original):
    theirs, end = original_watch() if with_original else ([], lambda: None)
    # Nothing is published meanwhile: a wait for the GIL between two functions would be put down to one by the clock.
    ours = profile.watch(interval="1ms", cycle="1h")
    spent = alternate(seconds, functions)
    ours.stop()
    end()
    seen, status = counts(profile.get_profile(ours), spent), ours.status()
    return {
        "truth": share_of_first(spent), "ours": share_of_first(seen), "samples": sum(seen.values()),
        "missed": status["missed"] / max(1, status["ticks"] + status["missed"]),
        "theirs": share_of_first(counts(profile.get_profile(list(theirs)), spent)) if with_original else None,
    }  # fmt: skip


def main():
    seconds, with_original = float(sys.argv[1]), sys.argv[2:] == ["original"]
    for _ in sys.stdin:
        print(json.dumps({title: measure(seconds, functions, with_original) for title, functions in PROGRAMS.items()}), flush=True)


main()
