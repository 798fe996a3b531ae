# SPDX-License-Identifier: Apache-2.0
"""plumb.event: what of very many events is kept. Each check_ is run; their names are told."""
import json
import os

import plumb
from recorded import OUT, busy_inner, has, run_checks


def told(profile):
    return json.loads(profile.write("json")).get("events", [])


def tell_all(p, events):
    """Some at a time, so that none waits for those before it to be taken."""
    lost = p.info()["losses"]["events"]
    before = len(told(p)) + lost
    for event in events:
        plumb.event("x", **event)
    busy_inner(lambda: len(told(p)) + p.info()["losses"]["events"] == before + len(events))


def check_what_those_that_are_too_many_say_is_not_kept():
    path = os.path.join(OUT, "many.plumb")
    with plumb.profile(output=path) as p:
        while len(told(p)) < 16384:
            tell_all(p, [{}] * 4000)
        for i in range(4):
            tell_all(p, [{"text": os.urandom(48).hex()} for j in range(4000)])
    assert len(told(p)) == 16384
    assert os.path.getsize(path) < 500000, os.path.getsize(path)  # 16,000 times 48 bytes would be there


def check_of_long_texts_there_are_fewer_whole_ones():
    """64 MiB with names and labels; what is left out is not there without its texts."""
    labels = {"k%02d" % i: "\U0001f600" * 100 for i in range(16)}
    with plumb.profile() as p:
        for _ in range(3):
            for _ in range(4000):
                plumb.event("x", **labels)
            busy_inner(has(p, 300))  # until these are taken
    found, lost = told(p), p.info()["losses"]["events"]
    assert {event["name"] for event in found} == {"x"} and lost and len(found) + lost == 12000, (len(found), lost)


run_checks(globals())
