# SPDX-License-Identifier: Apache-2.0
"""A small log pipeline, the program of `./dev demo`: one thread makes access-log lines, three parse them, check their JSON
payload and count under a common lock, one writes a summary now and then. Runs for about five seconds.

Nothing here is slow on purpose. Guess which part costs most, then run it under plumb:

    build/plumb run -- python3 examples/pipeline.py
"""
import collections
import hashlib
import json
import queue
import random
import re
import sys
import threading
import time

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
WORKERS = 3
LINE = re.compile(r'(?P<host>\S+) - (?P<user>\S+) \[(?P<when>[^\]]+)\] "(?P<method>[A-Z]+) (?P<path>\S+) (?P<protocol>[^"]+)" '
                  r"(?P<status>\d{3}) (?P<size>\d+|-) (?P<payload>\{.*\})$")
PATHS = ["/", "/login", "/cart", "/search?q=socks", "/item/%d", "/static/app.js", "/api/v1/orders/%d"]


def make_line(source):
    """One line of an access log with a JSON payload at its end."""
    path = source.choice(PATHS)
    if "%d" in path:
        path = path % source.randrange(10000)
    payload = {"took_ms": source.random() * 100, "tags": [source.choice("abcdefgh") for _ in range(6)],
               "user": {"id": source.randrange(500), "roles": ["reader", "writer"][: source.randrange(3)]}}
    return '10.0.%d.%d - u%d [21/Nov/2026:10:%02d:%02d +0000] "GET %s HTTP/1.1" %d %d %s' % (
        source.randrange(256), source.randrange(256), payload["user"]["id"], source.randrange(60), source.randrange(60),
        path, source.choice([200, 200, 200, 304, 404, 500]), source.randrange(100, 90000), json.dumps(payload))


def produce(lines, until):
    """Make batches of lines until the time is up, then one end mark for each worker."""
    source = random.Random(1)
    while time.monotonic() < until:
        lines.put([make_line(source) for _ in range(200)])
    for _ in range(WORKERS):
        lines.put(None)


def normalise(path):
    """The path without its numbers and its query."""
    return re.sub(r"\d+", "N", path.split("?", 1)[0])


def parse(line):
    found = LINE.match(line)
    if found is None:
        raise ValueError(line)
    record = found.groupdict()
    record["payload"] = json.loads(record["payload"])
    record["path"] = normalise(record["path"])
    return record


def fingerprint(record):
    """Who asked for what, without saying who."""
    return hashlib.sha256((record["host"] + record["user"] + record["path"]).encode()).hexdigest()[:12]


class Totals:
    """Counts that all workers share."""

    def __init__(self):
        self.lock = threading.Lock()
        self.requests = collections.Counter()
        self.milliseconds = collections.defaultdict(float)
        self.visitors = set()

    def add(self, records):
        marked = [(fingerprint(record), record) for record in records]
        with self.lock:
            for visitor, record in marked:
                self.visitors.add(visitor)
                self.requests[record["path"], record["status"]] += 1
                self.milliseconds[record["path"]] += record["payload"]["took_ms"]

    def slowest(self, count):
        with self.lock:
            return sorted(self.milliseconds.items(), key=lambda item: -item[1])[:count]


def consume(lines, totals):
    while True:
        batch = lines.get()
        if batch is None:
            return
        totals.add([parse(line) for line in batch])


def summarise(totals, done):
    """A line of summary every half second."""
    while not done.wait(0.5):
        slowest = ", ".join("%s %.0f s" % (path, ms / 1000) for path, ms in totals.slowest(2))
        print("%8d requests, %6d visitors; slowest: %s" % (sum(totals.requests.values()), len(totals.visitors), slowest))


def main():
    lines, totals, done = queue.Queue(maxsize=8), Totals(), threading.Event()
    until = time.monotonic() + SECONDS
    workers = [threading.Thread(target=consume, args=(lines, totals), name="parser-%d" % n) for n in range(WORKERS)]
    writer = threading.Thread(target=summarise, args=(totals, done), name="summary")
    for thread in [*workers, writer]:
        thread.start()
    produce(lines, until)
    for thread in workers:
        thread.join()
    done.set()
    writer.join()


if __name__ == "__main__":
    main()
