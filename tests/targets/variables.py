# SPDX-License-Identifier: Apache-2.0
"""Functions with variables of all kinds, in a thread that waits and in one that computes. A reader of another process calls
none of this: what would be called says so on standard error."""
import os
import threading

import parley


class Shy:
    """Tells whoever makes it talk."""

    def __init__(self):
        self.size = 3
        self.password = "hunter2"

    def __repr__(self):
        os.write(2, b"repr was called\n")
        return "shy"

    __str__ = __repr__

    def __getattr__(self, name):
        os.write(2, b"getattr was called\n")
        raise AttributeError(name)


def waits(pipe, number, *rest, flag=True, **more):
    text = "größer"
    api_key = "s3cr3t"
    items = [1, 2.5, None, "x" * 500]
    table = {"a": 1, "token": "t0k3n"}
    shy = Shy()
    unset: int

    def inner():
        return os.read(pipe, 1), number

    inner()


def computes():
    counter = 0
    while True:
        counter += 1
        label = "at %d" % counter


def main():
    readable, writable = os.pipe()
    threads = [
        threading.Thread(target=waits, args=(readable, 42, "more", "still more"), kwargs={"other": b"bytes"}, name="waits"),
        threading.Thread(target=computes, name="computes"),
    ]
    for thread in threads:
        thread.daemon = True
        thread.start()
    parley.ready()
    parley.wait_over()
    os._exit(0)


if __name__ == "__main__":
    main()
