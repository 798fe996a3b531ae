# SPDX-License-Identifier: Apache-2.0
"""What README.md and docs/user tell to type works as it stands there: every command and every option.

Each command is run in a directory that has all files which the pages name. What stands for something else is in
MEANS; what is not run here, and why, in NOT_RUN. A command that needs neither is run as it is, and ends with 0."""
import dataclasses
import gzip
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import pytest

from harness import documented, package
from harness.plumb import PATIENCE, TOP, Plumb, running, until
from harness.target import wait_until

# `serve` goes on until its input ends, and rests in between, as servers do: other tests need the processors meanwhile. The name of the
# script is not that of any other program of this machine.
APP = """
import subprocess, sys, threading, time
def handle_request(number):
    return sum(i * i for i in range(number))
def load_orders(goes_on):
    while goes_on():
        for _ in range(50):
            handle_request(200)
def main():
    serves = sys.argv[1:] == ["serve"]
    end = time.monotonic() + 0.3
    over = threading.Event()
    goes_on = (lambda: not over.wait(0.003)) if serves else (lambda: time.monotonic() < end)
    worker = threading.Thread(target=load_orders, args=(goes_on,), name="worker-1")
    worker.start()
    if serves:
        child = subprocess.Popen([sys.executable, "worker.py"], stdin=subprocess.PIPE)
        print(child.pid, flush=True)
        sys.stdin.read()
        child.stdin.close()
        child.wait()
        over.set()
    load_orders(goes_on)
    worker.join()
main()
"""
WORKER = """
import sys, threading, time
threading.Thread(target=sys.stdin.read).start()
while threading.active_count() > 1:
    for _ in range(50):
        sum(range(1000))
    time.sleep(0.003)
"""
SLOW_TESTS = "import time\ndef test_one():\n    end = time.monotonic() + 0.1\n    while time.monotonic() < end: sum(range(100))\n"

# What is written for something else: (pattern, what it stands for), in this order. {pid}, {child}, ... are those of `World`.
MEANS = [
    (r"^docker run .* IMAGE (?=plumb)", ""),
    (r"^sudo (?=plumb)", ""),  # one's own program
    (r"perf script \|", "cat app.perf |"),
    (r"\[PID\|NAME\]|PID\|NAME(\.\.\.)?|\[PID\]|\bPID\b|(?<![\w.])4242(?![\w.])", "{pid}"),
    (r"\b(4250|4711)\b", "{child}"),
    (r"(?<=--core )FILE", "{core}"),
    (r"(?<= )app\.py", "{app}"),
    (r"/data/", ""),
    (r"\bFILE\b|\bIN\b", "in.plumb"),
    (r"A1 A2 A3 -- B1 B2 B3", "old1.plumb old2.plumb old3.plumb -- new1.plumb new2.plumb new3.plumb"),
    (r"\bA B( \.\.\.)?|\bBEFORE AFTER", "before.plumb after.plumb"),
    (r"(?<=merge before.plumb after.plumb -o )OUT|(?<=symbolize in.plumb -o )OUT", "out.plumb"),
    (r"\bOUT\b", "out.json"),
    (r"\bNAME\b|\bFORMAT\b", "json"),
    (r"\bPROGRAM\b", "python3 {app}"),
    (r"\[(-[^]]*)\]", r"\1"),
    (r"-d \d+", "-d 0.3"),
    (r"10\.\.20", "..0.2"),
    (r"(?<=-n )8", "2"),
    (r"(?<=plumb attach )(?!.*-d )", "-d 0.3 "),  # it would go on until Ctrl-C
    (r"(?<=plumb top )(?!.*-d )", "-d 0.3 "),
]

# What a command needs that is mentioned without, as `plumb report --json`.
OPERANDS = {"run": "-- python3 app.py", "attach": "PID", "report": "FILE", "dump": "PID", "top": "PID", "diff": "A B", "merge": "A B -o OUT", "symbolize": "FILE -o OUT", "convert": "IN OUT",
            "completion": "bash"}

# (pattern, why it is not run)
NOT_RUN = [
    (r"\./dev ", "tests/fresh and tests/python run demo, test and wheel; what there is, ./dev lists"),
    (r"sudo (apt|meson|ninja|setcap|sysctl) ", "it would change this machine; tests/fresh installs a package"),
    (r"docker (?!.* plumb )|kubectl ", "it takes containers"),
    (r"pip install |\(cd webui && npm ci\)", "tests/python/test_profile_functions.py and test_package.py install it"),
    (r"pprof |perf script$", "the program is not plumb's: tests/integration/test_consumers.py"),
    (r"curl ", "a server is to be there: tests/python/test_web.py asks it"),
    (r"gunicorn ", "it would go on: tests/integration/test_servers.py has servers"),
    (r"plumb <Tab>", "tests/integration/test_completion.py presses it"),
    (r"source <\(plumb completion zsh\)", "the shell here is bash: tests/integration/test_completion.py"),
]

# Options of other programs, and of the plug-in of pytest and the magic of Jupyter, which their own tests know.
FOREIGN_OPTIONS = {
    "--init", "--target",  # docker, kubectl
    "--mount-proc", "--pid",  # unshare
    "--negate",  # flamegraph.pl
    "--feature-gates",  # the OpenTelemetry Collector
    "--preload-nanny",  # dask worker
    "--slow",  # tests/targets/compared.py
    "--plumb", "--interval", "--variable", "--save", "--largest",
}


@dataclasses.dataclass(frozen=True)
class World:
    files: pathlib.Path  # what each page's directory begins with
    programs: pathlib.Path  # goes into PATH
    names: dict  # what stands for {pid}, ...


def script(path, *command):
    path.write_text("#!/bin/sh\nexec %s \"$@\"\n" % shlex.join(map(str, command)))
    path.chmod(0o755)


def put_programs(plumb, directory):
    (directory / "plumb").symlink_to(plumb.binary)
    for name in ("python", "python3"):
        script(directory / name, sys.executable)
    script(directory / "pytest", sys.executable, "-m", "pytest", "-p", "no:cacheprovider")


def recorded(plumb, pid):
    """A recording of both threads and of the child, from its beginning on. How long what was recorded took is known, so that it can be
    compared: where the machine gives the sampler a processor too seldom for that, it asks for one less often."""

    def attach(seconds):
        path = plumb.path()
        rate = max(20, int(500 / seconds))  # 1,000 a second at first
        assert plumb("attach", "-d", seconds, "-r", rate, "--subprocesses", "-o", path, pid).status == 0
        return path

    def enough(path):
        busy = {(thread["process"], thread["main"]) for thread in plumb.report(path, "--time", "..0.2").threads if thread["samples"]}
        whole = plumb.report(path)
        known = whole.losses["missed_ns"] < 0.8 * whole.json["duration_ns"]
        return known and len(busy) > 2 and any(stack.has("handle_request") for stack in whole.stacks)

    return until(attach, enough, 0.5)


def put_recordings(plumb, directory, pid):
    """The recordings that the pages name, and what other formats they read."""
    made = [recorded(plumb, pid) for _ in range(3)]  # a side of `plumb diff` has as many
    text = " ".join(command.text for page in documented.PAGES for command in documented.commands(page))
    named, converted = re.findall(r"[\w.-]+\.plumb\b", text), re.findall(r"plumb convert \S+ ([\w.-]+\.plumb)\b", text)
    for number, name in enumerate(sorted({"in.plumb", *named}.difference(converted))):
        shutil.copy(made[number % 3], directory / name)
    for name in ("app.perf", "app.pb.gz", "other.folded"):
        assert plumb("convert", made[0], directory / name).status == 0
    (directory / "other.folded.gz").write_bytes(gzip.compress((directory / "other.folded").read_bytes()))


def core_of(pid, directory):
    gcore = shutil.which("gcore")
    if not gcore:
        return None
    subprocess.run([gcore, "-o", directory / "core", str(pid)], check=True, capture_output=True)
    return directory / ("core.%d" % pid)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    top = tmp_path_factory.mktemp("documented")
    plumb = Plumb(top)
    files, programs = top / "files", top / "programs"
    app = "app-%d.py" % os.getpid()
    for directory in (files / "build", files / ".config" / "fish" / "completions", programs):
        directory.mkdir(parents=True)
    for name, text in ((app, APP), ("worker.py", WORKER), ("test_sample.py", SLOW_TESTS)):
        (files / name).write_text(text)
    put_programs(plumb, programs)
    (files / "build" / "plumb").symlink_to(plumb.binary)
    (files / "build" / "python").symlink_to(package.built())
    (files / "examples").symlink_to(TOP / "examples")
    with running(subprocess.Popen([sys.executable, app, "serve"], cwd=files, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)) as process:
        names = {"pid": process.pid, "child": int(process.stdout.readline()), "app": app, "core": core_of(process.pid, top)}
        (files / "server.pid").write_text(str(process.pid))
        wait_until(lambda: plumb("dump", names["child"]).status == 0, "the worker does not begin")
        put_recordings(plumb, files, process.pid)
        yield World(files, programs, names)


@pytest.fixture
def here(world, tmp_path):
    """run(TEXT) is a command in a new directory that has all that the pages name."""
    home = tmp_path / "home"
    environment = {**os.environ, "HOME": str(home), "PATH": "%s:%s" % (world.programs, os.environ["PATH"]), "PYTHONPATH": str(package.built()),
                   "BROWSER": "true", "PYTHONDONTWRITEBYTECODE": "1"}

    def run(text):
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(world.files, home, symlinks=True)
        return subprocess.run(["bash", "-o", "pipefail", "-c", text], cwd=home, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, errors="replace", timeout=PATIENCE)

    return run


def whole(command):
    """The command, with operands if it is a mention without."""
    mention = re.fullmatch(r"plumb ([\w-]+)((?: -\w \S+| --[\w-]+)*)(?: --)?", command.text) if command.inline else None
    return "plumb %s%s %s" % (mention[1], mention[2], OPERANDS.get(mention[1], "")) if mention else command.text


def meant(command, names):
    text = whole(command)
    for pattern, replacement in MEANS:
        text = re.sub(pattern, replacement, text)
    return re.sub(r"\{(\w+)\}", lambda found: str(names[found[1]]), text)


def not_run(command, names):
    without_core = "--core" in command.text and not names["core"]
    return without_core or any(re.match(pattern, command.text) for pattern, _ in NOT_RUN)


def statuses(text):
    return (0, 1) if "--fail-above" in text else (0,)  # docs/user/diff.md: something got slower


@pytest.mark.parametrize("page", documented.PAGES)
def test_every_command_of_a_page_works(page, world, here):
    failed = []
    for command in documented.commands(page):
        if not_run(command, world.names):
            continue
        text = meant(command, world.names)
        result = here(text)
        if result.returncode not in statuses(text) and "built without Node" not in result.stderr:
            failed.append("%s\n  that is: %s\n  status %d: %s" % (command, text, result.returncode, result.stderr.strip()[-500:]))
    assert not failed, "\n".join(failed)


def test_commands_of_dev_are_there():
    listed = subprocess.run([TOP / "dev"], stdout=subprocess.PIPE, text=True, check=True).stdout
    named = {name: page for page in documented.PAGES for name in re.findall(r"\./dev (\w+)", (TOP / page).read_text())}
    for name in re.findall(r"^  (\w+)", listed, re.M):
        named.pop(name, None)
    assert not named, "there is no such command of dev"


def test_every_option_that_is_named_is_there(plumb):
    helps = [plumb("help", command).stdout for command in OPERANDS] + [plumb("doctor", "--help").stdout]
    there = set(re.findall(r"--[\w-]+", "".join(helps))) | FOREIGN_OPTIONS
    missing = ["%s:%d: %s" % (page, line, option) for page in documented.PAGES for line, option in documented.options(page) if option not in there]
    assert not missing


def shown_places(page):
    """(line of the page, what stands before the place, lines of the example up to it, name of the example) of reports:
    "consume      pipeline.py:89". A file of Python's library may have the name of an example; they are longer."""
    for block in documented.blocks(page, ""):
        for number, line in enumerate(block.text.splitlines(), block.line):
            place = re.search(r"^(.*\S)  +(\w+\.py):(\d+)$", line)
            example = TOP / "examples" / place[2] if place else None
            if not example or not example.exists():
                continue
            lines = example.read_text().splitlines()
            if int(place[3]) <= len(lines):
                yield number, place[1], lines[: int(place[3])], example.name


def function_at(said, lines):
    """The function that a place is of: begun at its last line, or, where tasks wait in it ("a lock, in handler"), before that."""
    begun = [re.search(r"\bdef (\w+)", line) for line in (lines[::-1] if ", in " in said else lines[-1:])]
    return next((found[1] for found in begun if found), "<")  # <module>, <listcomp>


@pytest.mark.parametrize("page", ["README.md", "docs/user/five-programs.md"])
def test_functions_of_examples_are_where_reports_show_them(page):
    wrong, places = [], list(shown_places(page))
    for number, said, lines, example in places:
        if function_at(said, lines) not in said:
            wrong.append("%s:%d: %s is not at %s:%d" % (page, number, said, example, len(lines)))
    assert places and not wrong, "\n".join(wrong)


@pytest.mark.parametrize("command", [command for command in documented.commands("docs/user/five-programs.md") if "examples/" in command.text], ids=str)
def test_what_reports_of_examples_show_is_found(command, plumb, world):
    """Those of their own functions that have a tenth of the time or more, by itself or with what they call."""
    example = re.search(r"examples/(\w+\.py)", command.text)[1]
    wanted = set()
    for _, said, lines, name in shown_places(command.page):
        if name == example and float(said.split()[0]) >= 10:
            wanted |= set(re.findall(r"def (\w+)", lines[-1]))
    assert wanted
    seen = set()

    def found():
        recording = plumb.path()
        words = command.text.split()
        words[1:2] = ["run", "-q", "-o", str(recording)]
        environment = {**os.environ, "PATH": "%s:%s" % (world.programs, os.environ["PATH"])}
        subprocess.run(words, cwd=TOP, env=environment, check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)
        seen.update(function["name"] for function in plumb.report(recording).json["functions"] if function["total"]["samples"])
        return wanted <= seen

    wait_until(found, "not all of %s have samples" % sorted(wanted))
