# SPDX-License-Identifier: Apache-2.0
"""PLUMB_DEBUG: the decisions that plumb takes, on stderr."""
import os
import re

LINE = re.compile(r"plumb (engine|process) \d+\.\d{6}: (.+)")


def test_decisions_are_told(plumb, target, any_python):
    with target(any_python, "threads.py") as busy:
        result, _ = plumb.sampled(lambda profile: profile.samples, busy.pid, env=dict(os.environ, PLUMB_DEBUG="engine,process,x"))
    told = [found.groups() for found in map(LINE.fullmatch, result.stderr.splitlines()) if found]
    assert told[0] == ("engine", "PLUMB_DEBUG: there is no domain 'x': engine, process, all"), result
    assert ("engine", "engine remote: can do what is asked for") in told, result
    assert any(domain == "process" and text.startswith("process %d: Python " % busy.pid) for domain, text in told), result
    assert ("process", "process %d: attached, threads are stopped if they must be" % busy.pid) in told, result
    assert ("engine", "process %d is sampled" % busy.pid) in told, result
