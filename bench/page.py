# SPDX-License-Identifier: Apache-2.0
"""What the report page costs: its size, how long it takes to open, to zoom and to search, for how long it answers nothing, and its
memory; beside it the same profile in speedscope and in the page of CPython's own sampler."""
import base64
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from harness import consumers, interpreters

HERE = pathlib.Path(__file__).resolve().parent
NODES = [10_000, 100_000, 1_000_000]
SAMPLES_A_NODE = 3
RUNS = 3
PATIENCE = 400
COLUMNS = [("bytes", "file, MB", 1e6), ("data_bytes", "data, MB", 1e6), ("load_s", "open, s", 1), ("zoom_ms", "zoom, ms", 1),
           ("search_ms", "search, ms", 1), ("block_ms", "block, ms", 1), ("heap_bytes", "memory, MB", 1e6)]
_DATA = re.compile(rb'data-kind="[a-z-]+">([^<]*)<')


class Pages:
    def __init__(self, plumb, nodes=None):
        self.plumb, self.nodes = plumb, nodes or NODES
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="plumb-bench-"))
        self.results, self.steps, self.absent = {}, {}, []

    def run(self):
        try:
            for nodes in self.nodes:
                print("bench: pages of %d nodes" % nodes, file=sys.stderr, flush=True)
                self.results[str(nodes)] = self.measure(nodes)
        finally:
            shutil.rmtree(self.directory)

    def measure(self, nodes):
        recording = self.directory / ("%d.plumb" % nodes)
        maker = pathlib.Path(self.plumb).parent / "tests/tools/make_profile"
        subprocess.run([str(maker), "1", str(recording), str(SAMPLES_A_NODE * nodes), str(nodes), "program"], check=True)
        found = {}
        for name, make in (("plumb", self.page), ("speedscope", self.speedscope), ("cpython", self.cpython)):
            try:
                found[name] = make(recording)
            except (RuntimeError, OSError, subprocess.SubprocessError) as error:
                self.absent.append("%s at %d nodes because %s" % (name, nodes, " ".join(str(error).split())[-200:]))
        recording.unlink()
        return found

    def written(self, recording, form, name):
        path = self.directory / name
        subprocess.run([self.plumb, "convert", str(recording), str(path), "-f", form], check=True, capture_output=True)
        return path

    def page(self, recording):
        path = self.written(recording, "html", "page.html")
        data = sum(len(block) for block in _DATA.findall(path.read_bytes()))
        self.steps = driven("page_steps.py", str(path))  # of the largest, which is the last
        return {"bytes": path.stat().st_size, "data_bytes": data, **look("plumb", "file://%s" % path)}

    def speedscope(self, recording):
        index = interpreters.cache() / "npm/node_modules/speedscope/dist/release/index.html"
        if not index.exists():
            raise RuntimeError("./dev setup has not fetched it")
        path = self.written(recording, "speedscope", "speedscope.json")
        size, script = path.stat().st_size, self.directory / "profile.js"
        with script.open("wb") as f:
            f.write(b'speedscope.loadFileFromBase64("x.json", "')
            f.write(base64.b64encode(path.read_bytes()))
            f.write(b'")')
        path.unlink()
        url = "file://%s#localProfilePath=%s&view=left-heavy" % (index, str(script).lstrip("/"))
        return {"bytes": size, "data_bytes": size, **look("speedscope", url)}

    def cpython(self, recording):
        """Its collector makes the page from the same stacks."""
        found = [p for p in interpreters.discover() if p.kind == (3, 15, "") and not p.missing]
        if not found:
            raise RuntimeError("there is no Python 3.15")
        python = found[0]
        inside = pathlib.Path(tempfile.mkdtemp(prefix="plumb-bench-", dir=python.root + "/tmp"))
        try:
            shutil.move(self.written(recording, "collapsed", "stacks"), inside / "in")
            shown = str(inside)[len(python.root):]
            made = [*python.command, "-c", (HERE / "format_peers.py").read_text(), "flamegraph", shown + "/in", shown + "/out.html"]
            done = subprocess.run(made, capture_output=True, text=True, timeout=PATIENCE)
            if done.returncode:
                raise RuntimeError(done.stderr)
            size = (inside / "out.html").stat().st_size
            return {"bytes": size, "data_bytes": size, **look("cpython", "file://%s/out.html" % inside)}
        finally:
            shutil.rmtree(inside)

    def markdown(self):
        lines = ["| nodes | page | " + " | ".join(title for _, title, _ in COLUMNS) + " |", "|---:|---|" + "---:|" * len(COLUMNS)]
        for nodes, found in self.results.items():
            for name, figures in found.items():
                cells = [self.cell(found, name, key, scale) for key, _, scale in COLUMNS]
                lines.append("| %s | %s | %s |" % ("{:,}".format(int(nodes)), name, " | ".join(cells)))
        lines += ["", "| what is done, %s nodes | longest task, ms of CPU | again | until rest | again |" % "{:,}".format(int(nodes)),
                  "|---|---:|---:|---:|---:|"]
        for what, ((first, first_all), (later, later_all)) in self.steps.items():
            lines.append("| %s | %.0f | %.0f | %.0f | %.0f |" % (what, first, later, first_all, later_all))
        return "\n".join(lines)

    def cell(self, found, name, key, scale):
        """The value and, for the others, its ratio to plumb's."""
        value, ours = found[name][key], found.get("plumb", {}).get(key)
        if value is None:
            return ""
        text = "%.*f" % (2 if value / scale < 10 else 0, value / scale)
        return text if name == "plumb" or not ours else "%s (%.1f x)" % (text, value / ours)


def look(kind, url):
    return driven("page_viewers.py", kind, url, str(RUNS))


def driven(script, *words):
    """What the script prints: in the browser, by the interpreter that can drive it."""
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent / "tests")}
    command = [consumers.environment("venv-browser"), str(HERE / script), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=environment)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)
