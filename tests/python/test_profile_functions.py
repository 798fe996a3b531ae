# SPDX-License-Identifier: Apache-2.0
"""plumb.profile beside distributed.profile, and where it does better, on every interpreter."""
import json
import subprocess

import pytest

from harness import package
from harness.plumb import TOP


@pytest.fixture(params=package.ORIGINALS)
def release(request, able):
    if not package.original(request.param, able).is_dir():
        pytest.skip("there is no distributed %s: ./dev setup takes it from the package index" % request.param)
    if able.minor < package.ORIGINALS[request.param]:
        pytest.skip("distributed %s is not for Python %d.%d" % (request.param, *able.minor))
    return request.param


def compared(python, release, seed, cases):
    told = json.loads(package.run(python, "original.py", seed, cases, other=package.original(release, python)))
    assert told["version"] == release
    assert set(told["cases"].values()) == {cases}


@pytest.mark.once
@pytest.mark.slow
def test_the_same_work_has_the_same_results_as_the_original(some, release, effort):
    compared(some, release, seed=1, cases=effort(24, 5000))


@pytest.mark.once
def test_nothing_is_lost_shared_or_cut_where_the_original_does_so(some):
    told = json.loads(package.run(some, "better.py", options=["-X", "dev", "-W", "error"]))
    assert len(told["checks"]) > 15


@pytest.mark.once
def test_threads_at_one_tree_lose_nothing(able, effort):
    assert len(json.loads(package.run(able, "together.py", effort(1000, 50000)))["checks"]) > 5


@pytest.mark.once
@pytest.mark.smoke
@pytest.mark.repeated
def test_no_memory_is_misused(one):
    assert json.loads(package.run(one, "better.py"))["checks"] and json.loads(package.run(one, "together.py", 200))["checks"]
    if package.original("2026.8.0", one).is_dir():
        compared(one, "2026.8.0", seed=2, cases=10)


@pytest.mark.soak
def test_pip_installs_the_package_and_the_command(tmp_path, one):
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([*one.command, "-m", "venv", tmp_path / "venv"], check=True)
    subprocess.run([python, "-m", "pip", "install", "-q", TOP], check=True)
    said = subprocess.run([python, "-c", "import plumb.profile as p; print(p.__file__)"], check=True, cwd="/", stdout=subprocess.PIPE, text=True)
    assert said.stdout.startswith(str(tmp_path))
    subprocess.run([tmp_path / "venv" / "bin" / "plumb", "help"], check=True, stdout=subprocess.DEVNULL)
