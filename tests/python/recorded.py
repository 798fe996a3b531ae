# SPDX-License-Identifier: Apache-2.0
"""Work that is recorded, and what is found in a recording; for scripts that run where there is no pytest."""
import json
import os
import sys
import tempfile
import time

OUT = tempfile.mkdtemp(prefix="plumb-test-")


def spin():
    """A millisecond or so: looking at a profile all the time would leave it nothing to see but that."""
    for _ in range(300):
        sum(range(300))


def busy_inner(until):
    while not until():
        spin()


def has(p, samples, *names):
    """A condition: it has got so many more samples by now, with each of these functions if there are any."""
    if not names:
        wanted = p.info()["samples"] + samples
        return lambda: p.info()["samples"] >= wanted
    wanted = functions(p)
    return lambda: all(functions(p).get(name, 0) >= wanted.get(name, 0) + samples for name in names)


def tells_the_hottest(p):
    """The function with the most self time is always told: others are where they do not fit, and callers that do nothing but call are
    folded. Which one it is the machine decides, and how long its name is: so where there is room for any."""
    return p.stats()["functions"][0]["name"] in p.text(width=1000, names="full")


def functions(p):
    """{name: samples with it} of a profile or a tree."""
    found, waiting = {}, [(p if isinstance(p, dict) else p.tree(), ())]
    while waiting:
        node, above = waiting.pop()
        name = node["description"]["name"]
        if name not in above:
            found[name] = found.get(name, 0) + node["count"]
        waiting += [(child, above + (name,)) for child in node["children"].values()]
    return found


def descriptions(tree, leaves=False):
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if not (leaves and node["children"]):
            yield node["description"]
        waiting.extend(node["children"].values())


def threads_and_descriptors():
    return len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))


def settle(before):
    """Wait until there are no more than before; a thread that has been joined may need a moment until it is gone."""
    while any(now > then for now, then in zip(threads_and_descriptors(), before)):
        os.sched_yield()


def run_checks(names):
    """Each check_ of a module, or those that the command line names; their names are told, and how long they took."""
    took = {}
    for name in sys.argv[1:] or [name for name in sorted(names) if name.startswith("check_")]:
        began = time.monotonic()
        names[name]()
        took[name] = round(time.monotonic() - began, 2)
    print(json.dumps({"checks": took}))
