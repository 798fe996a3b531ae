# SPDX-License-Identifier: Apache-2.0
"""What the scripts in tools do to folders that are not theirs."""
import pathlib
import subprocess

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"


def test_a_python_is_not_built_in_place_of_another_folder(tmp_path):
    kept = tmp_path / "mine" / "kept"
    kept.parent.mkdir()
    kept.write_text("kept")
    for place in (kept.parent, kept):
        result = subprocess.run([TOOLS / "musl_python.sh", place, "http://localhost:1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert result.returncode == 1
        assert result.stderr == "%s is there and has no bin/python3.9: remove it, or name another folder\n" % place
    assert kept.read_text() == "kept" and [each.name for each in tmp_path.rglob("*")] == ["mine", "kept"]
