# SPDX-License-Identifier: Apache-2.0
"""What `import plumb` does, in one small program: two kinds of requests, one of them slow. docs/user/python.md explains each part.

    PYTHONPATH=build/python python3 examples/in_python.py
"""
import json
import threading
import time

import plumb


def parse(text):
    return json.loads(text)


def total(orders):
    return sum(order["price"] * order["count"] for order in orders)


def handle(route, seconds):
    """Requests of one kind; the tag tells their samples apart, whichever function they are in."""
    text = json.dumps([{"price": i, "count": i % 7} for i in range(2000 if route == "/report" else 20)])
    end = time.monotonic() + seconds
    with plumb.tag(route=route):
        while time.monotonic() < end:
            total(parse(text))


def serve(seconds):
    threads = [threading.Thread(target=handle, args=(route, seconds), name="serves " + route) for route in ("/report", "/order")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main():
    with plumb.profile() as whole:
        serve(1)
    whole.print()
    print("one route, by lines:")
    whole.print(focus="route=/report", lines=True)

    profiler = plumb.Profiler(interval=0.002)
    profiler.start()
    serve(0.5)
    profiler.pause()
    print(profiler.show(limit=5))
    profiler.stop()

    history = plumb.profile.watch(interval="5ms", cycle="100ms")
    handle("/order", 0.5)
    history.stop()
    tree = plumb.profile.get_profile(history)
    print("watched: %d samples in %d cycles" % (tree["count"], len(history)))


if __name__ == "__main__":
    main()
