# SPDX-License-Identifier: Apache-2.0
"""An event loop that is held now and then: for PLUMB_TEST_SECONDS. It prints each time that it was held, as it was measured here."""
import asyncio
import json
import os
import time

END = time.monotonic() + float(os.environ["PLUMB_TEST_SECONDS"])
HELD = []


def encode(seconds):
    began = now = time.monotonic()
    while now < began + seconds:
        now = time.monotonic()


def read():
    time.sleep(0.13)


def measured(function, *args):
    began = time.monotonic()
    function(*args)
    HELD.append([function.__name__, time.monotonic() - began])


async def serve():
    while time.monotonic() < END:
        measured(encode, 0.18)
        await asyncio.sleep(0.06)
        measured(read)
        await asyncio.sleep(0.06)


loop = asyncio.new_event_loop()
loop.run_until_complete(serve())
print(json.dumps(HELD))
