# SPDX-License-Identifier: Apache-2.0
"""Recordings of the engine that is external have the events of the process, from their beginning to their end."""
import json

import plumb
from recorded import busy_inner


def told(profile):
    return json.loads(profile.write("json")).get("events", [])


def recorded(*names):
    with plumb.profile(engine="external") as p:
        for number, name in enumerate(names, 1):
            plumb.event(name, number=number)
        busy_inner(lambda: len(told(p)) >= len(names))
    return told(p)


plumb.event("before")
first = recorded("first", "second")
plumb.event("nobody hears it")
again = recorded("third")
print(json.dumps({"names": [event["name"] for event in first], "again": [event["name"] for event in again], "labels": first[0]["labels"]}))
