# SPDX-License-Identifier: Apache-2.0
"""--opcodes: the instruction of each innermost frame is one that the interpreter has at that line, in its specialised form."""
import pytest

from harness.statistics import holds


def innermost(report):
    """(function, location, samples) of the last frame of each stack."""
    for stack in report["stacks"]:
        location = report["locations"][stack["frames"][-1]]
        yield report["functions"][location["function"]]["name"], location, stack["samples"]


def enough(profile):
    return sum(samples for function, _, samples in innermost(profile.json) if function in ("numbers", "texts")) > 300


def test_the_instruction_is_one_of_that_line(plumb, minor, target):
    """What has run long enough is specialised. Now and then an instruction changes once more while it is watched: what it was is not
    told in the end."""
    if minor.version < (3, 11):
        pytest.skip("instructions are specialised from Python 3.11 on")

    def off():
        with target(minor, "opcodes.py") as program:
            profile = plumb.attach_until(enough, program.pid, "--opcodes")
            program.stop()
            told = program.result("instructions")
        truth = {name: {tuple(row) for row in rows} for name, rows in told.items() if name != "event"}
        seen, names = {True: 0, False: 0}, set()
        for function, location, samples in innermost(profile.json):
            if function in truth:
                names.add(location.get("opcode_name", ""))  # of a sample now and then it is not known
                seen[(location["line"], location.get("opcode_name")) in truth[function]] += samples
        if not (minor.free_threaded and minor.version < (3, 14)):  # that one does not specialise
            assert any(name.startswith("BINARY_OP_") for name in names), names
        return "" if seen[False] <= 0.02 * seen[True] else "%r, %r" % (seen, names)

    holds(off)


def test_without_the_option_there_are_none(plumb, ordinary_python, target):
    with target(ordinary_python, "fixed_work.py", "--rounds", "1000000000", "--work", "2000") as program:
        profile = plumb.attach_until(lambda profile: profile.samples, program.pid, seconds=0.2)
    assert not any("opcode" in location for location in profile.json["locations"])
