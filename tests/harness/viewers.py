# SPDX-License-Identifier: Apache-2.0
"""Viewers of profiles that tests drive, as `./dev setup` fetches them: speedscope in a browser without a window, Mozilla's
profiler-cli, inferno. A test that needs one which is not there is skipped with the reason."""
import base64
import contextlib
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

import pytest

from harness import interpreters

PATIENCE = 300  # seconds after which a viewer is taken for one that hangs


def _part(folder, path):
    found = interpreters.cache() / folder / path
    if not found.exists():
        because = interpreters.cache() / (folder + ".because")
        pytest.skip("no %s: %s" % (path, because.read_text().strip() if because.exists() else "./dev setup fetches it"))
    return found


def _program(name, package):
    return shutil.which(name) or pytest.skip("there is no %s (Debian: %s)" % (name, package))


def plain(plumb, seed, samples=300):
    """A random recording with tame names, for readers that cannot bear others."""
    program = pathlib.Path(plumb.binary).parent / "tests/tools/make_profile"
    recording = plumb.path()
    subprocess.run([str(program), str(seed), str(recording), str(samples), "plain"], check=True, timeout=PATIENCE)
    return recording


class OneThread:
    """The report of a thread, for harness.figures.Figures."""

    def __init__(self, report, thread):
        self.json = {**report.json, "stacks": [stack for stack in report.json["stacks"] if stack["thread"] == thread]}


def validate(schema, documents):
    """What ajv finds wrong with each of the documents; an empty list: nothing."""
    ajv = _part("npm", "node_modules/ajv")
    script = """
        const [ajv, schema, ...documents] = process.argv.slice(1), fs = require("fs");
        const check = new (require(ajv))({strict: false, allErrors: true}).compile(JSON.parse(fs.readFileSync(schema)));
        for (const path of documents)
            if (!check(JSON.parse(fs.readFileSync(path)))) console.log(path, JSON.stringify(check.errors.slice(0, 3)));"""
    command = [_program("node", "nodejs"), "-e", script, str(ajv), str(schema), *map(str, documents)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def speedscope_schema():
    return _part("npm", "node_modules/speedscope/dist/release/file-format-schema.json")


def axe():
    """The text of axe-core, which checks a page for those who do not see or point."""
    return _part("npm", "node_modules/axe-core/axe.min.js").read_text()


class Page:
    """What speedscope shows of a file in its sandwich view."""

    def __init__(self, dom, log):
        self.importing = re.findall(r'"(Importing as [^"]*)"', log)
        self.errors = [line for line in log.splitlines() if ":ERROR:CONSOLE" in line or "Uncaught" in line]
        texts = [html.unescape(text) for text in re.findall(r">([^<>]+)<", dom.partition("<body")[2])]
        self.texts = [text for text in texts if text.strip()]
        self.numbers = [text for text in self.texts if re.fullmatch(r"[\d.,]+(ns|µs|ms|s)?( \([<\d.]+%\))?", text)]

    @property
    def totals(self):
        """Of each profile in the list of profiles."""
        start = self.texts.index("Total Weight") + 1
        end = self.texts.index("⤴️") if "⤴️" in self.texts else len(self.texts)
        return [text for text in self.texts[start:end] if text in self.numbers][1::2]

    @property
    def rows(self):
        """(total, self) of the functions, as many as fit on the page."""
        start = self.texts.index("Symbol Name") + 1
        shares = [text for text in self.texts[start:] if text.endswith("%)") and text in self.numbers]
        return list(zip(shares[::2], shares[1::2]))


def speedscope(path):
    """Load a file in the real speedscope."""
    index = _part("npm", "node_modules/speedscope/dist/release/index.html")
    chromium = _program("chromium", "chromium")
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder) / "profile.js"
        data = base64.b64encode(pathlib.Path(path).read_bytes()).decode()
        script.write_text("speedscope.loadFileFromBase64(%s, %s)" % (json.dumps(pathlib.Path(path).name), json.dumps(data)))
        url = "file://%s#localProfilePath=%s&view=sandwich" % (index, str(script).lstrip("/"))
        command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
                   "--user-data-dir=" + folder + "/chromium", "--enable-logging=stderr", "--window-size=1600,1200",
                   "--virtual-time-budget=20000", "--dump-dom", url]
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE)
    return Page(done.stdout.decode(), done.stderr.decode(errors="replace"))


class ProfilerCli:
    """Mozilla's profiler-cli with a file loaded. Its own `load` waits half a second for its server to start, which on a busy
    machine is too short: so the server is started here."""

    SESSION = "plumb"

    def __init__(self, folder):
        self._program = str(_part("npm", "node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js"))
        self._node = _program("node", "nodejs")
        self._folder = pathlib.Path(folder)
        self._env = {**os.environ, "PROFILER_CLI_SESSION_DIR": folder, "HOME": folder, "PROFILER_CLI_NO_SYMBOLICATE": "1"}

    def run(self, *arguments):
        return subprocess.run([self._node, self._program, *map(str, arguments)], capture_output=True, text=True,
                              timeout=PATIENCE, env=self._env, stdin=subprocess.DEVNULL)

    def serve(self, path):
        return subprocess.Popen([self._node, self._program, "--daemon", str(path), "--session", self.SESSION], env=self._env,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def wait_for(self, server, path):
        """Until its log says so: a question that comes while it loads can stay without an answer for ever."""
        until = time.monotonic() + PATIENCE / 2
        log = self._folder / (self.SESSION + ".log")
        while not (log.exists() and "Profile loaded successfully" in log.read_text(errors="replace")):
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.wait(timeout=0.05)
            if server.poll() is not None or time.monotonic() > until:
                server.kill()
                pytest.fail("profiler-cli cannot load %s: %s" % (path, server.communicate()[0]))

    def __call__(self, *arguments):
        """It waits for an answer for thirty seconds, which is a measure of the machine: then it is asked again."""
        until = time.monotonic() + PATIENCE
        done = self.run(*arguments, "--session", self.SESSION, "--json")
        while done.returncode and "Timed out after" in done.stderr and time.monotonic() < until:
            done = self.run(*arguments, "--session", self.SESSION, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@contextlib.contextmanager
def profiler_cli(path):
    with tempfile.TemporaryDirectory(prefix="pq") as folder:  # a socket's path must be short
        cli = ProfilerCli(folder)
        with cli.serve(path) as server:
            try:
                cli.wait_for(server, path)
                yield cli
            finally:
                server.kill()


def _inferno(program, *arguments):
    path = _part("inferno", "bin/inferno-" + program)
    done = subprocess.run([str(path), *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return done.stdout


def inferno(path):
    """{stack: weight} as inferno-collapse-perf folds it."""
    return {stack: int(weight) for stack, weight in (line.rsplit(" ", 1) for line in _inferno("collapse-perf", path).splitlines())}


def inferno_diff(before, after):
    """The stacks with both counts, as inferno-diff-folded makes them of two files of stacks."""
    return _inferno("diff-folded", before, after)


def inferno_flamegraph(path):
    """The SVG that inferno-flamegraph draws, every frame of it."""
    return _inferno("flamegraph", "--minwidth=0", path)


# Where Debian's libdevel-nytprof-perl has it.
FLAMEGRAPH = shutil.which("flamegraph.pl") or "/usr/share/perl5/Devel/NYTProf/flamegraph.pl"


def flamegraph(folded):
    """The SVG that flamegraph.pl draws of these bytes, every frame of it."""
    perl = shutil.which("perl")
    if not perl or not os.path.exists(FLAMEGRAPH):
        pytest.skip("there is no flamegraph.pl (Debian: libdevel-nytprof-perl)")
    drawn = subprocess.run([perl, FLAMEGRAPH, "--minwidth=0"], input=folded, capture_output=True, timeout=PATIENCE)
    assert drawn.returncode == 0 and drawn.stderr == b"", drawn.stderr
    return drawn.stdout.decode(errors="replace")  # what it writes into a box it cuts between bytes; titles are whole
