# SPDX-License-Identifier: Apache-2.0
"""The commands README begins with, on a machine that has nothing but Debian's minimum: as root, and as a user with sudo.

`./dev test` is run in its quick form: the whole one is what these tests are a part of."""
import os
import re
import shlex
import shutil

import pytest

from harness import fresh
from harness.interpreters import cache

pytestmark = [pytest.mark.fresh, pytest.mark.once]
USER = "someone"
SENTENCE = "packages are missing that only root can install: "


@pytest.fixture(scope="module", params=["root", USER])
def machine(request):
    try:
        with fresh.machine(request.param) as made:
            assert_first_of_run(request.param)
            yield made
    except fresh.Lacking as why:
        pytest.skip(str(why))


def assert_first_of_run(user):
    """Workers that each made a machine of their own for this user would take the time of all but one for nothing (conftest.py)."""
    run, last = os.environ.get("PYTEST_XDIST_TESTRUNUID", ""), cache() / "fresh" / (user + ".run")
    assert not run or not last.exists() or last.read_text() != run, "a second machine of %s is made in one run" % user
    last.write_text(run)


@pytest.fixture(scope="module")
def demo(machine):
    """Root's machine compiles all, with what it has: what that takes is known then, and the other one compiles what is not as before."""
    if machine.user != "root":
        machine.must("apt-get install -y --no-install-recommends sudo ccache", user="root")
        machine.must("echo '%s ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/%s" % (USER, USER), user="root")
    return machine.run("./dev demo")


@pytest.fixture(scope="module")
def quick_tests(machine, demo):
    return machine.run("./dev test --quick")


def told(result):
    """What `dev` says."""
    return re.findall("^dev: (.*)", result.stderr, re.M)


def proposed(text):
    """The commands a report names at its end."""
    return re.findall(r"^(?:next: | {6})(\S*plumb report .*)$", text, re.M)


def on_a_terminal(command):
    return "script -qec %s /dev/null" % shlex.quote(command)


def test_who_may_not_install_is_told_what_to_do(machine):
    result = machine.run("./dev demo", user="nobody")
    (sentence,) = told(result)
    assert result.status == 1 and sentence.startswith(SENTENCE), str(result)
    machine.must(sentence[len(SENTENCE):].replace("apt-get install", "apt-get install --simulate"), user="root")


def test_demo_prints_the_answer_and_what_it_proposes_works(machine, demo):
    assert demo.status == 0 and "where the time went" in demo.stderr and "pipeline.py" in demo.stderr, str(demo)
    assert not [line for line in told(demo) if "without" in line or "could not" in line], str(demo)
    lines, page = proposed(demo.stderr)
    assert lines.endswith(" --lines") and page.endswith(" --html"), str(demo)  # there is no browser
    assert re.search(r"pipeline\.py:\d+", machine.must(lines).stdout)
    assert "the page is demo.html" in machine.must(on_a_terminal(page)).stdout
    assert machine.must("cat demo.html").stdout.startswith("<!doctype html>")


def test_the_page_is_shown_where_there_is_a_browser(machine, demo):
    machine.must("printf '#!/bin/sh\\nln -s \"$1\" /tmp/shown\\n' >/usr/local/bin/xdg-open && chmod +x /usr/local/bin/xdg-open", user="root")
    page = proposed(machine.must("build/plumb report demo.plumb").stdout)[1]
    assert page.endswith(" --open")
    machine.must(page + " && until [ -e /tmp/shown ]; do sleep 0.1; done && cmp /tmp/shown demo.html")


def test_what_meson_installs_is_found_by_python(machine, demo):
    found = "import json, sys; print(*{path + '/plumb/__init__.py' for path in sys.path} & {*json.load(sys.stdin).values()})"
    assert machine.must('meson introspect --installed build | python3 -c "%s"' % found).stdout.strip()


@pytest.mark.parametrize("machine", ["root"], indirect=True, scope="module")
def test_a_debian_package_installs_works_and_leaves_nothing(machine, demo):
    (built,) = machine.must("./dev deb /tmp/made").stdout.split()
    machine.must("apt-get install -y --no-install-recommends lintian && lintian --fail-on error --allow-root %s" % built)
    with fresh.machine("installer") as other:  # it has nothing of what was built with
        shutil.copy(machine.seen(built), other.seen("/tmp/plumb.deb"))
        other.must("apt-get update && apt-get install -y --no-install-recommends /tmp/plumb.deb", user="root")
        files = [path for path in other.must("dpkg -L plumb").stdout.split() if not other.seen(path).is_dir()]
        assert {"/usr/bin/plumb", "/usr/share/man/man1/plumb-run.1.gz", "/usr/share/bash-completion/completions/plumb"} <= set(files)
        with_it(other)
        other.must("cd / && python3 -c 'import plumb'", user="root")  # leaves compiled files where it may
        other.must("apt-get purge -y plumb", user="root")
        left = other.must(r"find / -xdev \( -path /tmp -o -path /srv -o -path /home \) -prune -o -name '*plumb*' -print", user="root").stdout
        assert not left and not [path for path in files if other.seen(path).exists()], left


def with_it(machine):
    machine.must("cd / && plumb --version && plumb doctor")
    run = machine.must("cd /tmp && plumb run -o it.plumb -- python3 -c 'for _ in range(10**5): sum(range(100))'")
    assert "where the time went" in run.stderr, str(run)
    assert machine.must("cd /tmp && plumb report it.plumb --html -o it.html && cat it.html").stdout.startswith("<!doctype html>")
    assert "samples" in machine.must("cd /tmp && python3 -c 'import plumb; p = plumb.open(\"it.plumb\"); print(p.text())'").stdout
    machine.must("bash -c 'source /usr/share/bash-completion/completions/plumb && complete -p plumb'")


@pytest.mark.soak  # minutes for each machine
def test_the_tests_pass(quick_tests):
    print(quick_tests.stdout[-2000:])
    assert quick_tests.status == 0 and re.match(r"[1-9]\d* passed, 0 failed, \d+ skipped", quick_tests.stdout.splitlines()[-1]), str(quick_tests)


@pytest.mark.soak
def test_a_part_that_cannot_be_had_is_told_and_left_out(machine, quick_tests):
    machine.must("dpkg --remove --force-depends nodejs npm $(dpkg-query -S Python.h | sed 's/:.*//') && rm /etc/apt/sources.list", user="root")
    demo = machine.must("./dev demo")
    left_out = [line.split(": ")[-1] for line in told(demo) if "without" in line]
    assert left_out == ["plumb is built without its Python package", "plumb is built without the report page"], str(demo)
    (lines,) = proposed(demo.stderr)
    machine.must(lines)
