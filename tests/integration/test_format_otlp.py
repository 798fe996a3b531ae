# SPDX-License-Identifier: Apache-2.0
"""`-f otlp` and `-f otlp-json`: OpenTelemetry's own definitions read them, and a real Collector takes them over HTTP and passes
on all of it; every sample arrives with its figures."""
import contextlib
import http.server
import json
import pathlib
import re
import socket
import subprocess
import threading
import urllib.error
import urllib.request

import pytest

from harness.consumers import environment, go_program
from harness.figures import Cost, Figures, NOTHING, make, written
from harness.plumb import PATIENCE

SEEDS = [1, 2, 3]
READER = pathlib.Path(__file__).resolve().parents[1] / "harness" / "otlp_read.py"  # for a Python that has the definitions
PATH = "/v1development/profiles"
TYPES = {"protobuf": "application/x-protobuf", "json": "application/json"}
FRAME_TYPES = {"python": "cpython"}


def read(path, form="protobuf"):
    done = subprocess.run([environment("venv-otlp"), str(READER), str(path), form], capture_output=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return json.loads(done.stdout)


def function_key(function, line):
    if function["name"] == "<no frame>":
        return None
    return function["qualname"], function["file"], function["line"], FRAME_TYPES.get(function["kind"], function["kind"]), line


class Found:
    """Figures of what was read, by the keys of function_key."""

    def __init__(self, request, mode):
        self.all, self.own, self.total, self.threads = NOTHING, {}, {}, {}
        for sample in request["samples"]:
            amount = sum(sample["values"]) if sample["values"] else len(sample["times"])
            cost = Cost(amount, 0) if sample["type"] == "samples/count" else Cost(0, amount)
            assert cost.samples or sample["type"] == "%s/nanoseconds" % mode
            self.add(sample, cost)

    def add(self, sample, cost):
        frames = [tuple(frame[:5]) for frame in sample["frames"]] or [None]
        self.all += cost
        self.own[frames[-1]] = self.own.get(frames[-1], NOTHING) + cost
        for frame in set(frames):
            self.total[frame] = self.total.get(frame, NOTHING) + cost
        thread = sample["pid"], sample["thread.id"]
        self.threads[thread] = self.threads.get(thread, NOTHING) + cost


def assert_same(request, profile):
    want, got = Figures(profile, function_key), Found(request, profile.json["mode"])
    assert got.all == want.all
    assert got.own == want.own
    assert got.total == want.total
    threads = {}
    for thread in profile.json["threads"]:
        if thread["samples"]:
            key = thread["pid"], thread["tid"]
            threads[key] = threads.get(key, NOTHING) + Cost(thread["samples"], thread["weight_ns"])
    assert got.threads == threads


@pytest.mark.parametrize("form", ["protobuf", "json"])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_public_definitions_find_the_same_figures(plumb, seed, form):
    recording = make(plumb, seed)
    request = read(written(plumb, recording, "otlp" if form == "protobuf" else "otlp-json"), form)
    profile = plumb.report(recording)
    assert_same(request, profile)
    assert request["libraries"]
    for function_file, file, attributes in request["libraries"]:
        assert file == function_file and set(attributes) == {"process.executable.build_id.gnu"}
    assert request["first"] == [0] * 7, "each table begins with nothing"
    assert not request["unknown"]
    ids = [entry["id"] for entry in request["profiles"]]
    assert len(set(ids)) == len(ids) == 2 * len({process["start_ns"] for process in profile.json["processes"]})
    for entry in request["profiles"]:
        assert entry["period"] == profile.json["period_ns"]
        assert entry["source"]["service.name"] and entry["source"]["process.pid"]
        for name, count in profile.json["losses"].items():
            if not name.endswith("_ns"):  # of those that are counted
                assert entry["scope"].get("plumb.lost_" + name, 0) == count


def test_equal_recordings_give_equal_bytes(plumb):
    recording = make(plumb, 2)
    for form in "otlp", "otlp-json":
        assert written(plumb, recording, form).read_bytes() == written(plumb, recording, form).read_bytes()


def converted(plumb, source, form, *options):
    path = plumb.path("." + form)
    result = plumb("convert", source, path, "-f", form, *options)
    assert result.status == 0, result
    return path


def instants(request, kind="samples/count"):
    """Of all samples of a kind, sorted; none may do without."""
    samples = [sample for sample in request["samples"] if sample["type"] == kind]
    assert samples and all(sample["times"] for sample in samples)
    return sorted(time for sample in samples for time in sample["times"])


@pytest.mark.parametrize("form", ["protobuf", "json"])
def test_convert_keeps_the_instant_of_every_sample(plumb, form):
    """Those that the text of perf script tells of the same recording, another writer's."""
    recording = make(plumb, 1)
    told = re.findall(r" (\d+)\.(\d{9}):", converted(plumb, recording, "perf-script").read_text(errors="replace"))
    request = read(converted(plumb, recording, "otlp" if form == "protobuf" else "otlp-json"), form)
    (start,) = {entry["time"] for entry in request["profiles"]}
    assert [time - start for time in instants(request)] == sorted(int(seconds + fraction) for seconds, fraction in told)


def test_convert_writes_the_samples_of_a_stretch_of_time(plumb):
    recording = make(plumb, 1)
    whole = read(converted(plumb, recording, "otlp"))
    first = min(instants(whole))
    (start,) = {entry["time"] for entry in whole["profiles"]}
    end = start + 100_000_000
    part = read(converted(plumb, recording, "otlp", "--time", "0..0.1"))
    wanted = [time for time in instants(whole) if time < end]
    assert first < end < max(instants(whole)), "the stretch is a part of it"
    assert instants(part) == wanted


def test_convert_of_a_profile_without_times_has_none(plumb):
    folded = plumb.path(".folded")
    folded.write_text("tid:1 main;a.py:f:1 3\ntid:1 main;a.py:g:2 4\n")
    request = read(converted(plumb, folded, "otlp"))
    assert sorted(sum(sample["values"]) for sample in request["samples"] if sample["type"] == "samples/count") == [3, 4]
    assert not any(sample["times"] for sample in request["samples"])


# ---- a Collector ---------------------------------------------------------------------------------------------------------


class Backend:
    """Where the Collector sends what it got: the bodies, in the order in which they came."""

    def __init__(self):
        self.bodies, self.came = [], threading.Condition()
        backend = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                assert self.path == PATH and self.headers["Content-Type"] == TYPES["protobuf"], self.headers
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()
                with backend.came:
                    backend.bodies.append(body)
                    backend.came.notify()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def next(self):
        with self.came:
            assert self.came.wait_for(lambda: self.bodies, timeout=PATIENCE), "the Collector passed nothing on"
            return self.bodies.pop(0)

    def close(self):
        self.server.shutdown()
        self.server.server_close()


CONFIGURATION = """
receivers:
  otlp: {protocols: {http: {endpoint: "127.0.0.1:%d"}}}
exporters:
  debug: {verbosity: detailed}
  otlphttp: {profiles_endpoint: "http://127.0.0.1:%d%s", compression: none, sending_queue: {enabled: false}}
service:
  telemetry: {metrics: {level: none}}
  pipelines:
    profiles: {receivers: [otlp], exporters: [otlphttp, debug]}
"""


class Collector:
    def __init__(self, port, backend):
        self.port, self.backend = port, backend

    def post(self, body, form):
        """(status, answer)"""
        request = urllib.request.Request("http://127.0.0.1:%d%s" % (self.port, PATH), data=body, headers={"Content-Type": TYPES[form]})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextlib.contextmanager
def started_collector(program, directory, port, backend):
    """A Collector that listens there; None if another program took the port before it could."""
    configuration = directory / "collector.yaml"
    configuration.write_text(CONFIGURATION % (port, backend.port, PATH))
    command = [program, "--config", str(configuration), "--feature-gates=service.profilesSupport"]
    log, ready = [], threading.Event()
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          errors="replace") as process:

        def follow():
            for line in process.stderr:
                log.append(line)
                if "Everything is ready" in line:
                    ready.set()
            ready.set()

        follower = threading.Thread(target=follow, daemon=True)
        follower.start()
        try:
            assert ready.wait(PATIENCE), "".join(log)
            taken = "address already in use" in "".join(log)
            assert taken or "Everything is ready" in "".join(log), "".join(log)
            yield None if taken else Collector(port, backend)
        finally:
            process.terminate()
            follower.join(PATIENCE)


@pytest.fixture(scope="module")
def collector(tmp_path_factory):
    program, directory = go_program("otelcol"), tmp_path_factory.mktemp("collector")
    with contextlib.closing(Backend()) as backend:
        while True:
            with started_collector(program, directory, free_port(), backend) as listening:
                if listening:
                    yield listening
                    return


@pytest.mark.parametrize("form", ["protobuf", "json"])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_collector_passes_every_sample_on(plumb, collector, tmp_path, seed, form):
    recording = make(plumb, seed)
    path = written(plumb, recording, "otlp" if form == "protobuf" else "otlp-json")
    status, answer = collector.post(path.read_bytes(), form)
    assert status == 200, answer
    passed = tmp_path / "passed.otlp"
    passed.write_bytes(collector.backend.next())
    request = read(passed)
    assert_same(request, plumb.report(recording))
    # Identifiers are hex digits in OTLP's JSON: the Collector knows, the definitions' own mapping does not.
    ours = read(written(plumb, recording, "otlp"))
    for entry in request["profiles"] + ours["profiles"]:
        assert "plumb report" in entry["scope"].pop("plumb.made_by")  # it names the form
    for what in "source", "scope", "id", "time", "duration", "period":
        assert [entry[what] for entry in request["profiles"]] == [entry[what] for entry in ours["profiles"]]


def test_a_collector_refuses_what_is_cut(plumb, collector):
    """So that its 200 means something."""
    body = written(plumb, make(plumb, 1), "otlp").read_bytes()
    assert collector.post(body[: len(body) // 2], "protobuf")[0] == 400


def test_samples_of_a_real_run_reach_a_collector(plumb, collector, target, any_python, tmp_path):
    recording = plumb.path()
    with target(any_python, "odd_names.py") as busy, plumb.attached(busy.pid, recording=recording):
        pass
    status, answer = collector.post(written(plumb, recording, "otlp").read_bytes(), "protobuf")
    assert status == 200, answer
    passed = tmp_path / "passed.otlp"
    passed.write_bytes(collector.backend.next())
    assert_same(read(passed), plumb.report(recording))
