# SPDX-License-Identifier: Apache-2.0
"""The package as it is installed: the program in it, its types, what importing it costs and who may import it."""
import ast
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest

from harness import package
from harness.plumb import TOP
from harness.sites import tool


def said(python, *arguments, **popen):
    result = subprocess.run([*python.command, *arguments], env=package.environment(python), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, cwd="/", **popen)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_the_module_is_the_program(one, plumb):
    assert said(one, "-m", "plumb", "help") == plumb("help").stdout
    result = subprocess.run([*one.command, "-m", "plumb", "no-such-command"], env=package.environment(one), stderr=subprocess.PIPE, text=True)
    assert result.returncode == plumb("no-such-command").status != 0 and "no-such-command" in result.stderr


def test_a_program_that_the_module_runs_begins_with_the_signals_that_it_would_have_alone(one):
    state = ["grep", "-E", "^Sig(Ign|Blk)", "/proc/self/status"]
    assert said(one, "-m", "plumb", "run", "--", *state) == subprocess.run(state, stdout=subprocess.PIPE, text=True, check=True).stdout


def program(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_the_program_is_looked_for_where_it_was_installed_and_not_around_that(one, tmp_path):
    """In a directory above the one of pip install --target, as /tmp, anybody may have put a program of that name."""
    if one.root:
        pytest.skip("the directories of this test are not in its root directory")
    target = tmp_path / "some" / "where" / "deps"
    shutil.copytree(TOP / "python" / "plumb", target / "plumb", ignore=shutil.ignore_patterns("__pycache__"))
    for extension in (package.built() / "plumb").glob("*.so"):
        shutil.copy(extension, target / "plumb")
    anybodys = [program(tmp_path / name) for name in ("some/where/plumb", "some/where/bin/plumb", "some/bin/plumb", "bin/plumb", "here/plumb")]
    environment = dict(package.environment(one, [str(target)]), PATH="/nowhere")
    code = "import sys\nsys.executable = ''\nimport sysconfig\nsysconfig.get_path = lambda name: '/nowhere'\nfrom plumb import _binary\ntry: print(_binary.find())\nexcept Exception as error: print('none', error)"
    ask = lambda: subprocess.run([*one.command, "-c", code], check=True, cwd=anybodys[-1].parent, stdout=subprocess.PIPE, text=True, env=environment).stdout.strip()
    assert ask().startswith("none the program plumb is neither")
    own = program(target / "bin" / "plumb")
    assert ask() == str(own)
    packages = tmp_path / "lib" / "python3.8" / "site-packages"  # where pip install --user puts it
    packages.mkdir(parents=True)
    (target / "plumb").rename(packages / "plumb")
    environment["PYTHONPATH"] = str(packages)
    assert ask() == str(tmp_path / "bin" / "plumb")


def test_importing_it_takes_along_little(one):
    ours = "print(*sorted(m for m in sys.modules if m.partition('.')[0] in ('plumb', 'http', 'asyncio', 'html', 'bokeh', 'unittest')))"
    alone, used = said(one, "-c", "import sys, plumb\n%s\nplumb.profile\n%s" % (ours, ours)).splitlines()
    trees = {"plumb._trees", "plumb._frames", "plumb._plot"} if one.free_threaded else set()  # they have a lock there
    assert set(alone.split()) == {"plumb", "plumb._imports"} | trees
    assert "plumb.profile" in used.split()
    assert {name.partition(".")[0] for name in used.split()} == {"plumb"}
    assert not [name for name in used.split() if name.startswith("plumb.web")]


def imports_within(tree):
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))]
    return {node for function in functions for node in ast.walk(function) if isinstance(node, (ast.Import, ast.ImportFrom))}


def test_what_is_imported_later_is_what_a_fork_waits_for(one):
    """_imports.imported() does that. What is sent to a cluster uses what a process there has."""
    own = package.built() / "plumb"
    found = {str(path.relative_to(own)) for path in own.rglob("*.py") if imports_within(ast.parse(path.read_text()))}
    assert found == {os.path.join("dask", "_sent.py")}


def test_everything_that_is_promised_is_there(one):
    code = "import plumb, inspect\nfor name in plumb.__all__: getattr(plumb, name)\nfor name in plumb.profile.__all__: getattr(plumb.profile, name)\nprint(inspect.signature(plumb.profile))"
    assert said(one, "-c", code).startswith("(interval: ")


@pytest.mark.parametrize("module", ["_plumb", "_trees"])
def test_the_extension_shows_nothing_of_the_library(one, module):
    extension = said(one, "-c", "import plumb.%s as it; print(it.__file__)" % module).strip()
    names = subprocess.run(["nm", "-D", "--defined-only", extension], check=True, stdout=subprocess.PIPE, text=True).stdout
    assert re.findall(r" [A-Z] (\w+)", names) == ["PyInit_" + module]


@pytest.mark.parametrize("module", ["_plumb", "_trees"])
def test_stubs_name_what_the_extension_has(one, module):
    code = "import json, plumb.%s as e\nprint(json.dumps({n: [m for m in dir(getattr(e, n)) if m[0] != '_'] for n in dir(e) if n[0] != '_'}))" % module
    there = json.loads(said(one, "-c", code))
    stub = (package.built() / "plumb" / (module + ".pyi")).read_text()
    for name, members in there.items():
        assert re.search(r"^(def|class) %s\b" % name, stub, re.MULTILINE), name
        for member in members if name in ("Profile", "Session") else ():
            assert re.search(r"^    def %s\(" % member, stub, re.MULTILINE), member


def test_a_free_threaded_python_without_its_extension_is_refused_in_words(free_threaded, tmp_path):
    """It would take the one for Pythons with a GIL."""
    shutil.copytree(package.built() / "plumb", tmp_path / "plumb", ignore=shutil.ignore_patterns("_plumb.cpython-*", "*.p"))
    for there in (True, False):
        assert len(list((tmp_path / "plumb").glob("_plumb*.so"))) == there
        result = subprocess.run([*free_threaded.command, "-c", "import plumb"], env=package.environment(free_threaded, [str(tmp_path)]), stderr=subprocess.PIPE, text=True)
        assert result.returncode == 1 and "ImportError: this plumb was not built for this free-threaded Python" in result.stderr
        (tmp_path / "plumb" / "_plumb.abi3.so").unlink(missing_ok=True)


def test_the_extension_is_built_with_the_headers_of_each_python(minor):
    """What one of them does not declare for the limited API would be taken for a function that returns an int."""
    if minor.version < (3, 8) or minor.root:
        pytest.skip("the package is for 3.8 and later, and this Python's headers are to be here")
    where = "import sysconfig; print(sysconfig.get_config_var('INCLUDEPY'))"
    headers = subprocess.run([*minor.command, "-c", where], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    if not os.path.exists(os.path.join(headers, "Python.h")):
        pytest.skip("there is no %s/Python.h" % headers)
    api = [] if minor.free_threaded else ["-DPy_LIMITED_API=0x03080000"]
    for source in (TOP / "python" / "ext").glob("*.c"):
        subprocess.run([tool("cc"), "-fsyntax-only", "-std=gnu17", "-D_GNU_SOURCE", "-Wall", "-Werror", *api, "-I", TOP / "include",
                        "-iquote", TOP / "python" / "ext", "-isystem", headers, source], check=True)


@pytest.mark.soak
def test_a_wheel_is_for_all_pythons_and_installs(tmp_path, one):
    subprocess.run(["./dev", "wheel", tmp_path], cwd=TOP, check=True)
    if one.free_threaded:
        (wheel,) = tmp_path.glob("*-cp%d%d-cp%d%dt-manylinux_2_28_x86_64.whl" % (one.minor * 2))
    else:
        (wheel,) = tmp_path.glob("*-cp38-abi3-manylinux_2_28_x86_64.whl")
    assert re.fullmatch(r"plumb_profiler-[\d.]+-\w+-\w+-\w+\.whl", wheel.name)
    names = zipfile.ZipFile(wheel).namelist()
    assert [name for name in names if name.endswith(".data/data/man/man1/plumb-run.1")]
    assert [name for name in names if name.endswith(".data/scripts/plumb")] and "plumb/py.typed" in names and "plumb/web/__init__.py" in names
    assert len([name for name in names if name.endswith(".so")]) == 2 and "plumb/_built" not in names
    venv = tmp_path / "venv"
    subprocess.run([*one.command, "-m", "venv", venv], check=True)
    subprocess.run([venv / "bin" / "python", "-m", "pip", "install", "-q", "--no-index", wheel], check=True)
    code = "import plumb\nfrom plumb import _binary\nwith plumb.profile(engine='external') as p: sum(range(9**6))\nprint(_binary.find())"
    told = subprocess.run([venv / "bin" / "python", "-c", code], check=True, cwd="/", stdout=subprocess.PIPE, text=True,
                          env={"PATH": "/usr/bin:/bin"}).stdout
    assert told.strip() == str(venv / "bin" / "plumb")
    for made in [venv / "bin" / "plumb", *venv.glob("lib/python*/site-packages/plumb/*.so")]:
        runs_with_glibc(made, (2, 28))


def runs_with_glibc(path, oldest):
    """What manylinux asks for: no newer symbols, no libraries but those of the C library."""
    read = lambda *option: subprocess.run([tool("objdump"), *option, path], check=True, stdout=subprocess.PIPE, text=True).stdout
    versions = {tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_([\d.]+)", read("-T"))}
    assert versions and max(versions) <= oldest, sorted(versions)
    assert set(re.findall(r"NEEDED +(\S+)", read("-p"))) <= {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2"}


def test_a_source_distribution_has_the_report_page(tmp_path):
    """What is built of it has the page, without Node and what it is made with."""
    if not (TOP / "webui" / "node_modules").is_dir() or not (TOP / ".git").exists():
        pytest.skip("the page can be made in a checkout with webui/node_modules only")

    def meson(*arguments):
        result = subprocess.run([tool("meson"), *arguments], cwd=TOP, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert result.returncode == 0, result.stdout

    options = ["-Dtests=false", "-Dpython=disabled"]
    meson("setup", tmp_path / "here", *options)
    meson("dist", "-C", tmp_path / "here", "--no-tests", "--allow-dirty", "--formats", "gztar")
    (archive,) = (tmp_path / "here" / "meson-dist").glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path)
    (source,) = tmp_path.glob("plumb-*")
    assert not (source / "webui" / "node_modules").exists()
    meson("setup", tmp_path / "there", source, *options, "-Dweb=enabled")
    texts = []
    for build in (tmp_path / "here", tmp_path / "there"):
        subprocess.run([tool("ninja"), "-C", build, "src/export/page_text.c"], check=True, stdout=subprocess.DEVNULL)
        texts.append((build / "src" / "export" / "page_text.c").read_text())
    assert "plumb-blocks" not in texts[0] and texts[0] == texts[1]


USER = """
import sys

import plumb
import plumb.profile as functions
from plumb.profile import merge

with plumb.profile(0.01, threads="all", output=None, print=True) as p:
    pass
p.print()
p.print(sys.stderr, time=(1, None), state=["gil", "gc"])
text: str = p.text(lines=True)
page: str = p.open_in_browser(min_share=1)
q: plumb.Profile = plumb.open("x.plumb")
r = plumb.start(mode="cpu")
r.stop().save("y.svg")
d: plumb.Diff = plumb.diff([p, "x.plumb"], plumb.merge("y.plumb", p), normalize="time")
if d.fails(above=5):
    page = d.html(lines=True)

@plumb.profile()
def work(n: int) -> str:
    return str(n)

@plumb.profile(done=print)
async def later(n: int) -> str:
    return work(n)

@plumb.profile
def plain(n: int) -> str:
    return str(n)

@plumb.profile
class Thing:
    def __init__(self, n: int) -> None: ...

thing: Thing = Thing(3)
result: str = work(3) + plain(3)
tree = merge(functions.create(), q.tree(omit=("x.py",), depth=3))
history: functions.History = plumb.profile.watch(interval="20ms")
tree = plumb.profile.get_profile(history, key="x")
try:
    plumb.open("z")
except plumb.Error as error:
    print(error.code, error.hint)
"""


def type_errors(*arguments, **environment):
    pytest.importorskip("mypy", reason="mypy is not there: ./dev setup")
    result = subprocess.run([sys.executable, "-m", "mypy", *arguments], cwd=TOP, env={**os.environ, **environment}, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)
    return "" if result.returncode == 0 else result.stdout or "mypy ended with %d" % result.returncode


def test_the_package_is_typed(tmp_path):
    assert not type_errors("--cache-dir", tmp_path)


# What is refused, and a word of why.
WRONG = {
    "work('3')": "incompatible type",
    "plain('3')": "incompatible type",
    "Thing('3')": "incompatible type",
    "plumb.start(intervall=3)": "intervall",
    "plumb.profile(intervall=3)": "intervall",
    "plumb.profile(print='yes')": "overload",
    "plumb.profile.process(None, None, {}, foo=1)": "foo",
    "plumb.profile.create(1)": "Too many arguments",
    "plumb.profile.no_such_name": "no_such_name",
    "functions.process(None, None, {}, foo=1)": "foo",
    "p.text(colour=True)": "colour",
    "p.html('x.html', foo=1)": "foo",
    "p.write('json', state=3.5)": "overload",
    "p.tree(foo=1)": "foo",
    "p.open()": "open",
    "plumb.merge(3)": "incompatible type",
    "plumb.diff(p, p, lines=True)": "lines",
    "d.text(foo=1)": "foo",
    "plumb.web.control(plumb.Profiler(), foo=1)": "foo",
    "plumb.Profiler().show(foo=1)": "foo",
    "plumb.tag('x')": "incompatible type",
}


def test_a_user_s_program_is_typed(tmp_path):
    user = tmp_path / "user.py"
    environment = {"MYPYPATH": str(package.built())}
    options = ["--strict", "--follow-imports=silent", "--config-file=", "--cache-dir", tmp_path]
    user.write_text(USER)
    assert not type_errors(*options, user, **environment)
    user.write_text(USER + "\n".join(WRONG))
    first, told = USER.count("\n") + 1, type_errors(*options, user, **environment)
    for line, (call, why) in enumerate(WRONG.items(), first):
        assert re.search(r"user\.py:%d: error: .*%s" % (line, why), told), (call, told)
    assert {int(line) for line in re.findall(r"user\.py:(\d+): error", told)} == set(range(first, first + len(WRONG))), told
