# SPDX-License-Identifier: Apache-2.0
"""plumb symbolize: names for native functions that had none when they were sampled, from symbols that are there later."""
import json
import os
import pathlib
import re
import subprocess

import pytest

from harness.figures import written
from harness.sites import tool

SOURCE = pathlib.Path(__file__).parent.parent / "targets/native_stripped.c"
BUILD_ID, OTHER = "ab" * 20, "cd" * 20


def compiled(path, *options, build_id=BUILD_ID):
    subprocess.run([tool("cc"), "-O1", "-shared", "-fPIC", "-Wl,--build-id=0x" + build_id, *options, "-o", path, SOURCE], check=True)
    return path


def is_unnamed(frame):
    return frame.kind == "native" and re.match(r"libwork\.so\+0x[0-9a-f]+$", frame.name)


def samples_of(profile, is_it):
    return sum(s.samples for s in profile.stacks if any(map(is_it, s.frames)))


@pytest.fixture
def recorded(plumb, target, any_python, tmp_path):
    """The recording of a program whose library has lost its symbols, and the library."""
    library = compiled(tmp_path / "libwork.so", "-s")
    with target(any_python, "native_stripped.py", library) as program:
        result, recording = plumb.try_sampling(lambda profile: samples_of(profile, is_unnamed) >= 10, program.pid, "--native")
    assert result.status == 0, result
    return recording, library


def debug_directory(tmp_path, build_id=BUILD_ID):
    path = tmp_path / "symbols" / ".build-id" / build_id[:2] / (build_id[2:] + ".debug")
    path.parent.mkdir(parents=True)
    compiled(path)
    return dict(os.environ, PLUMB_DEBUG_PATH=str(tmp_path / "symbols"))


def is_inner(frame):
    return frame.name == "inner_work" and frame.kind == "native" and frame.file.endswith("libwork.so")


def builds_of(plumb, recording):
    """{file: build-id} of the libraries of which it is known."""
    return {library["path"]: library["codeId"] for library in json.loads(written(plumb, recording, "firefox").read_text())["libs"]}


def test_names_come_from_symbols_that_are_there_later(plumb, recorded, tmp_path):
    recording, library = recorded
    copy, out = plumb.path(), plumb.path()
    before = plumb.report(recording)
    builds = builds_of(plumb, recording)
    assert builds[str(library)] == BUILD_ID
    # Elsewhere: the library is not here, or another build of it.
    os.remove(library)
    for _ in range(2):
        result = plumb("symbolize", recording, "-o", copy)
        assert result.status == 0 and "nothing is here of %s, build-id %s" % (library, BUILD_ID) in result.stderr, result
        same = plumb.report(copy)
        assert not samples_of(same, is_inner) and samples_of(same, is_unnamed) == samples_of(before, is_unnamed)
        compiled(library, build_id=OTHER)
    # Both still say where it is.
    environment = debug_directory(tmp_path)
    for unnamed in (recording, copy):
        result = plumb("symbolize", unnamed, "-o", out, env=environment)
        assert result.status == 0 and "libwork.so" not in result.stderr, result
        after = plumb.report(out)
        assert samples_of(after, is_inner) == samples_of(before, is_unnamed) and not samples_of(after, is_unnamed)
        assert builds_of(plumb, out) == builds
        assert after.samples == before.samples and after.json["start"] == before.json["start"]


def test_the_recording_itself_is_replaced_only_when_that_is_asked_for(plumb, recorded):
    recording, library = recorded
    content = recording.read_bytes()
    for arguments in ([recording], [recording, "-o", recording]):
        result = plumb("symbolize", *arguments)
        assert result.status == 125 and "itself would be replaced" in result.stderr and "--force" in result.stderr, result
        assert recording.read_bytes() == content
    # The very file is here, and stripped: nothing is new.
    result = plumb("symbolize", recording, "--force", "-q")
    assert result.status == 0 and not result.stderr and recording.read_bytes() == content, result
    compiled(library)
    result = plumb("symbolize", recording, "--force")
    assert result.status == 0 and str(recording) in result.stderr, result
    assert samples_of(plumb.report(recording), is_inner) >= 10
    with open(recording) as file:
        result = plumb("symbolize", "-", stdin=file)
    assert result.status == 125 and "-o OUT" in result.stderr, result


def test_what_is_no_recording_is_told(plumb, tmp_path):
    path = tmp_path / "a.folded"
    path.write_text("a;b 3\n")
    result = plumb("symbolize", path, "-o", plumb.path())
    assert result.status == 1 and str(path) in result.stderr, result
    missing = plumb("symbolize", tmp_path / "nothing.plumb")
    assert missing.status == 1 and "nothing.plumb" in missing.stderr and "replaced" not in missing.stderr, missing
