# SPDX-License-Identifier: Apache-2.0
"""Programs that tag what they do, sampled by the package: tags_sampled.py SAMPLES [FOLDER]. Prints, for each program, the samples of
each function below each tag, and when functions ran by the program's own clock. Recordings go to FOLDER, if there is one."""
import asyncio
import json
import os
import sys
import threading
import time

import plumb
from trees import by_tag

ENOUGH = int(sys.argv[1])
SOME = 20
A, B, NESTED = "[method=GET, route=/a]", "[method=GET, route=/b]", "[method=GET, route=/b, step=nested]"


class Program:
    """What is sampled, and when it is enough."""

    def __init__(self, name):
        output = os.path.join(sys.argv[2], name + ".plumb") if len(sys.argv) > 2 else None
        self.names, self.times = [], []
        self._recording = plumb.start(output=output)

    def enough(self, *wanted):
        """So many samples, and some of each (tag, function)."""
        if self._recording.info()["samples"] < ENOUGH:
            return False
        seen = self._seen()
        return all(seen.get(tag, {}).get(function, 0) >= SOME for tag, function in wanted)

    def call(self, function, *arguments):
        """It takes no turns with others meanwhile."""
        begin = time.time_ns()
        function(*arguments)
        self.times += begin, time.time_ns()
        self.names.append(function.__name__)

    def _seen(self):
        return by_tag(self._recording.tree(lines=False))

    def result(self):
        self._recording.stop()
        return {"seen": self._seen(), "names": self.names, "times": self.times}


def burn(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


def only_a(n):
    burn(n)


def only_b(n):
    burn(n)


def nested_b(n):
    burn(n)


def requests(turn):
    """Two requests that overlap, by turns of about so many loops; the second one has a part with one label more."""
    program = Program("requests-%d" % turn)
    over = []

    async def handle(route, work):
        with plumb.tag(route=route, method="GET"):
            while not over:
                work()
                await asyncio.sleep(0)

    def work_b():
        program.call(only_b, 2 * turn)
        with plumb.tag(step="nested"):
            program.call(nested_b, turn)

    async def watch():
        while not program.enough((A, "only_a"), (B, "only_b"), (NESTED, "nested_b"), (A, "<module>"), (B, "<module>")):
            await asyncio.sleep(0.02)
        over.append(True)

    async def main():
        await asyncio.gather(handle("/a", lambda: program.call(only_a, turn)), handle("/b", work_b), watch())

    asyncio.run(main())
    return program.result()


def waiter(go_on):
    go_on.wait()


def untagged(over):
    while not over:
        burn(100)


def busy(over):
    while not over:
        burn(100)


@plumb.tag(role="generator")
def squares():
    while True:
        only_a(2000)
        yield


def taker(over):
    """Its own time is not the generator's."""
    for _ in squares():
        only_b(2000)
        if over:
            return


def threads():
    """Each with its own, one that waits all the time, and one without."""
    program = Program("threads")
    over, go_on = [], threading.Event()

    def tagged(function, argument):
        with plumb.tag(role=function.__name__):
            function(argument)

    started = [
        threading.Thread(target=tagged, args=(waiter, go_on)),
        threading.Thread(target=tagged, args=(busy, over)),
        threading.Thread(target=untagged, args=(over,)),
        threading.Thread(target=taker, args=(over,)),
    ]
    for thread in started:
        thread.start()
    roles = {"waiter": "waiter", "busy": "busy", "generator": "only_a"}
    wanted = [("[role=%s]" % role, function) for role, function in roles.items()]
    while not program.enough(*wanted, ("", "only_b"), ("", "untagged")):
        time.sleep(0.02)
    over.append(True)
    go_on.set()
    for thread in started:
        thread.join()
    return program.result()


def main():
    print(json.dumps({"requests": requests(3000), "quick": requests(1000), "threads": threads()}))


main()
