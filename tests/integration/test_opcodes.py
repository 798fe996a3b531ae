# SPDX-License-Identifier: Apache-2.0
"""--opcodes: the instruction of each innermost frame is one that the interpreter has at that line, in its specialised form."""
import pytest


def innermost(report):
    """(function, location, samples) of the last frame of each stack."""
    for stack in report["stacks"]:
        location = report["locations"][stack["frames"][-1]]
        yield report["functions"][location["function"]]["name"], location, stack["samples"]


def enough(profile):
    return sum(samples for function, _, samples in innermost(profile.json) if function in ("numbers", "texts")) > 300


def test_the_instruction_is_one_of_that_line(plumb, minor, target):
    if minor.version < (3, 11):
        pytest.skip("instructions are specialised from Python 3.11 on")
    with target(minor, "opcodes.py") as program:
        profile = plumb.attach_until(enough, program.pid, "--opcodes", seconds=1)
        program.stop()
        told = program.result("instructions")
    truth = {name: {tuple(row) for row in rows} for name, rows in told.items() if name != "event"}
    seen = {True: 0, False: 0}
    names = set()
    for function, location, samples in innermost(profile.json):
        if function in truth:
            names.add(location.get("opcode_name"))
            seen[(location["line"], location.get("opcode_name")) in truth[function]] += samples
    # What has run long enough is specialised; a few instructions change once more while they are watched.
    assert seen[True] > 200 and seen[False] <= 0.02 * seen[True], (seen, names)
    if not (minor.free_threaded and minor.version < (3, 14)):  # that one does not specialise
        assert any(name.startswith("BINARY_OP_") for name in names), names


def test_without_the_option_there_are_none(plumb, ordinary_python, target):
    with target(ordinary_python, "fixed_work.py", "--rounds", "1000000000", "--work", "2000") as program:
        profile = plumb.attach(program.pid, "-d", "0.2")[1]
    assert not any("opcode" in location for location in profile.json["locations"])
