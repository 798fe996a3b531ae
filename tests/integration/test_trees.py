# SPDX-License-Identifier: Apache-2.0
"""Programs of several processes: all of them are in one recording, each is known, and each has its share."""
import contextlib
import json
import os
import resource
import signal
import subprocess

import pytest

from harness import shares
from harness.plumb import PATIENCE, finish, running, until
from harness.statistics import NotNow, holds
from harness.target import children_of, wait_until

UNIT = 0.3  # seconds that the first child works
WAYS = ["fork", "spawn", "forkserver", "os.fork", "exec", "subprocess", "shell", "posix_spawn"]


def sample(plumb, places, python, *arguments, before=(), options=()):
    """Run targets/children.py; (Result, Profile, what it told)."""
    recording = plumb.path()
    script = os.path.join(places.directory(python.root)[1], "children.py")
    result = plumb("run", "-o", recording, *options, "--", *before, *python.command, script, *arguments,
                   env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"))
    assert result.status == 0, result
    return result, plumb.report(recording), [json.loads(line) for line in result.stdout.splitlines()]


def with_function(profile, name):
    """{pid: (samples, nanoseconds) that have a function of that name on their stack}"""
    found = {}
    for stack in profile.stacks:
        if stack.has(name):
            samples, weight_ns = found.get(stack.thread["pid"], (0, 0))
            found[stack.thread["pid"]] = samples + stack.samples, weight_ns + stack.weight_ns
    return found


def wait_sampled(profiler, pid):
    """Return when the profiler has the memory of that process open."""
    wait_until(lambda: "/proc/%d/mem" % pid in descriptors(profiler), "process %d is not sampled" % pid)


def descriptors(pid):
    found = set()
    for name in os.listdir("/proc/%d/fd" % pid):
        with contextlib.suppress(OSError):
            found.add(os.readlink("/proc/%d/fd/%s" % (pid, name)))
    return found


def off(compared):
    """What is off in the shares of a run, which compared(seconds) makes: for as long as it takes to see both children. Shares are
    of CPU time, which is told in full by the samples that there are: on a busy machine ticks are missed in bursts."""
    comparisons = until(compared, bool, UNIT)
    assert comparisons, "a child is never seen"
    return "\n".join(map(str, comparisons)) if any(abs(found.score) > 4 for found in comparisons) else ""


# How a process comes to be does not depend on the release; each way is tried on some.
@pytest.mark.thinned(1, of=len(WAYS))
@pytest.mark.parametrize("way", WAYS)
def test_each_process_has_its_share(plumb, places, python, way, table):
    table(python, "tree %s" % way, "FAILED")
    if python.name.endswith("-shared") and way not in ("fork", "os.fork"):
        pytest.skip("sys.executable of a program that embeds Python is no interpreter")
    if python.minor < (3, 4) and way in ("spawn", "forkserver"):
        pytest.skip("multiprocessing only forks before 3.4")
    if python.minor < (3, 8) and way == "posix_spawn":
        pytest.skip("os.posix_spawn is new in 3.8")
    holds(lambda: off(lambda seconds: of_children(plumb, places, python, way, seconds)))
    table(python, "tree %s" % way, "ok")


def of_children(plumb, places, python, way, seconds):
    """Comparisons of the two children, which work for so long and twice as long; none if one was over before plumb saw it."""
    result, profile, told = sample(plumb, places, python, "--way", way, "--unit", str(seconds), options=["--mode", "cpu", "-r", "500"])
    worked = {t["pid"]: t for t in told if t["event"] == "worked"}
    assert len(worked) == 2, result
    processes = {p["pid"]: p for p in profile.json["processes"]}
    spun = with_function(profile, "spin")
    if not set(worked) <= set(spun):
        return []
    for pid, truth in worked.items():
        process = processes[pid]
        assert process["parent"] == truth["parent"] and process["name"], process
        assert process["python"].startswith("%d.%d" % python.minor), process
        assert process["came_ns"] < process["ended_ns"] <= profile.json["duration_ns"], process
    truth = {"child %d" % t["share"]: t["seconds"] for t in worked.values()}
    seen = {"child %d" % t["share"]: spun[pid][1] for pid, t in worked.items()}
    return shares.compare(truth, seen, sum(spun[pid][0] for pid in worked))


def test_no_subprocesses_samples_the_program_alone(plumb, places, any_python):
    _, profile, told = sample(plumb, places, any_python, "--way", "os.fork", options=["--no-subprocesses"])
    start = next(t for t in told if t["event"] == "ready")
    assert [p["pid"] for p in profile.json["processes"]] == [start["pid"]]


def test_attach_takes_the_children_there_are_and_those_that_come_if_it_is_told_to(plumb, target, either):
    with target(either, "brood.py") as brood:
        [first] = children_of(brood.pid)
        recording = plumb.path()
        with running(plumb.start("attach", "--subprocesses", "-o", recording, brood.pid, stderr=subprocess.PIPE)) as process:
            wait_sampled(process.pid, first)
            os.kill(brood.pid, signal.SIGUSR1)
            second = brood.result("child")["pid"]
            wait_for_processes(plumb, recording, 3)
            process.send_signal(signal.SIGINT)
            assert finish(process).status == 0
        pids = {p["pid"] for p in plumb.report(recording).json["processes"]}
        assert pids == {brood.pid, first, second}, pids
        alone = plumb.attach_until(lambda profile: profile.samples, brood.pid)
        assert [p["pid"] for p in alone.json["processes"]] == [brood.pid]


def test_a_shell_script_is_passed_through_and_the_recording_named_after_the_python(plumb, places, any_python):
    script = plumb.path(".sh")
    program = os.path.join(places.directory(any_python.root)[1], "status.py")

    def run(seconds):
        for old in plumb.directory.glob("plumb.*.plumb"):
            old.unlink()
        command = "'%s'" % "' '".join([*any_python.command, program, "--spins", str(int(400 * seconds))])
        script.write_text("#!/bin/sh\n%s\n%s --exit 0\nexit 7\n" % (command, command))
        script.chmod(0o755)
        return plumb("run", "--", script)

    result = until(run, lambda result: "2 processes" in result.stderr, 0.1)
    assert result.status == 7, result
    [recording] = plumb.directory.glob("plumb.*.plumb")
    assert recording.name.startswith("plumb.status.py."), recording
    assert recording.name in result.stderr, result
    profile = plumb.report(recording)
    assert [p["name"] for p in profile.json["processes"]] == ["status.py", "status.py"]


def test_reports_tell_processes_apart(plumb, places, any_python):
    def run(seconds):
        _, profile, told = sample(plumb, places, any_python, "--way", "os.fork", "--unit", str(seconds))
        return profile, [t for t in told if t["event"] == "worked"]

    profile, worked = until(run, lambda found: {t["pid"] for t in found[1]} <= set(with_function(found[0], "spin")), UNIT)
    recording = max(plumb.directory.glob("*.plumb"), key=lambda path: path.stat().st_mtime_ns)
    one = worked[1]["pid"]
    chosen = plumb.report(recording, "--process", str(one))
    assert {s.thread["pid"] for s in chosen.stacks} == {one}
    assert chosen.samples == next(p["samples"] for p in profile.json["processes"] if p["pid"] == one)
    assert plumb.report(recording, "--process", "children.py").samples == profile.samples
    told = plumb("report", "--process", "nobody", recording).stderr
    assert "no samples of a process 'nobody'; there are: " in told and str(one) in told, told
    assert len(plumb("report", "--width", "80", recording).stdout.splitlines()) <= 25
    folded = plumb("report", "--idle", "-f", "collapsed", recording).stdout.splitlines()
    roots = {line.split(";")[0] for line in folded}
    assert {"pid:%d children.py" % t["pid"] for t in worked} <= roots, roots
    assert all(line.split(";")[1].startswith("tid:") for line in folded), folded[:3]


def test_children_for_which_there_is_no_room_are_counted_and_told(plumb, places, either):
    """Room is descriptors here; a process takes four."""

    def few_descriptors():
        resource.setrlimit(resource.RLIMIT_NOFILE, (48, 48))

    script = os.path.join(places.directory(either.root)[1], "children.py")

    def run(seconds):
        recording = plumb.path()
        result = plumb("run", "-o", recording, "--", *either.command, script, "--way", "together", "--children", "24",
                       "--unit", seconds, preexec_fn=few_descriptors)
        assert result.status == 0, result
        return result, plumb.report(recording)

    # On a busy machine children that there is room for may be over before plumb looks at them.
    result, profile = until(run, lambda found: found[1].losses["beyond"] > 0 and len(found[1].json["processes"]) > 1, 0.5)
    assert 1 < len(profile.json["processes"]) < 25
    assert profile.losses["beyond"] > 0
    assert "too many to be followed" in result.stderr, result


def test_most_children_of_twenty_milliseconds_are_sampled(plumb, places, either, table):
    """Of CPU time. On a busy machine the sampler may itself wait for longer, and says that it missed ticks."""

    def off():
        _, profile, _ = sample(plumb, places, either, "--way", "short", "--children", "100", "--unit", "0.02")
        spun, children = len(with_function(profile, "short_lived")), len(profile.json["processes"]) - 1
        table(either, "100 short", "%d seen" % children)
        assert children + profile.losses["unseen"] <= 100
        if min(children, spun) >= 75:
            return ""
        told = "%d children of 100 are in the recording, %d with what they did; %s" % (children, spun, profile.losses)
        if profile.losses["missed"] > 0.1 * profile.json["ticks"]:
            raise NotNow(told)
        return told

    holds(off)


def wait_for_processes(plumb, recording, pids):
    """Until the recording knows so many processes."""
    wait_until(lambda: plumb.recorded(recording, lambda profile: len(profile.json["processes"]) == pids), "not all processes are sampled")


def test_the_exit_status_is_the_programs_and_not_a_childs(plumb, any_python):
    """The program ends when both have been seen, and its child after it: an orphan that nobody saw before is known by nothing."""
    code = ("import os, sys, time\n"
            "program = os.getpid()\n"
            "if os.fork() == 0:\n"
            "    while os.getppid() == program:\n"
            "        time.sleep(0.001)\n"
            "    os._exit(9)\n"
            "sys.stdin.read()\n"
            "sys.exit(3)")
    recording = plumb.path()
    with running(plumb.start("run", "-o", recording, "--", *any_python.command, "-c", code, stdin=subprocess.PIPE,
                             stderr=subprocess.PIPE)) as process:
        wait_for_processes(plumb, recording, 2)
        result = finish(process)
    assert result.status == 3, result
    first, second = plumb.report(recording).json["processes"]
    assert second["ended_ns"] is not None and first["ended_ns"] <= second["ended_ns"], "what the program left was not waited for"


def test_a_daemon_is_not_waited_for(plumb, any_python):
    code = ("import os, sys, time\n"
            "if os.fork() == 0:\n"
            "    os.setsid()\n"
            "    os.close(0); os.close(1); os.close(2)\n"
            "    time.sleep(600)\n"
            "    os._exit(0)\n"
            "sys.stdin.read()\n"
            "sys.exit(3)")
    recording = plumb.path()
    with running(plumb.start("run", "-o", recording, "--", *any_python.command, "-c", code, stdin=subprocess.PIPE,
                             stderr=subprocess.PIPE)) as process:
        wait_for_processes(plumb, recording, 2)
        result = finish(process)
    assert result.status == 3, result
    daemon = plumb.report(recording).json["processes"][1]
    assert daemon["ended_ns"] is None, daemon
    os.kill(daemon["pid"], signal.SIGKILL)


def test_ctrl_c_ends_the_waiting_for_what_a_program_left(plumb, any_python):
    code = ("import os, sys, time\n"
            "pid = os.fork()\n"
            "if pid == 0:\n"
            "    time.sleep(600)\n"
            "    os._exit(0)\n"
            "sys.stdin.read()\n"
            "print(pid)")
    recording = plumb.path()
    with running(plumb.start("run", "-o", recording, "--", *any_python.command, "-c", code, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)) as process:
        wait_for_processes(plumb, recording, 2)
        process.stdin.close()
        child = int(process.stdout.readline())
        assert b"the program has ended; sampling goes on for 1 process" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)
        os.kill(child, signal.SIGKILL)
    assert process.returncode == 0
    assert len(plumb.report(recording).json["processes"]) == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="choosing the number of a process needs root")
def test_a_number_that_is_used_again_is_another_process(plumb, either, places):
    """The second child gets the number of the first."""
    holds(lambda: off(lambda seconds: of_one_number(plumb, places, either, seconds)))


def of_one_number(plumb, places, python, seconds):
    _, profile, told = sample(plumb, places, python, "--way", "reuse", "--unit", str(seconds), options=["--mode", "cpu"])
    reused = [t for t in told if t["event"] == "worked"]
    if len({t["pid"] for t in reused}) != 1:
        raise NotNow("another process took the number that was to be used again")
    rows = [p for p in profile.json["processes"] if p["pid"] == reused[0]["pid"]]
    if len(rows) != 2:
        return []
    assert rows[0]["ended_ns"] <= rows[1]["came_ns"], rows
    assert rows[0]["start_ns"] < rows[1]["start_ns"], rows
    # If somebody else's process is given the next number at once, the kernel's last number is again what it was, and only the
    # sweep, once a second, finds the second child.
    if rows[1]["came_ns"] - rows[0]["ended_ns"] > 2e8:
        raise NotNow("the second child was found late")
    truth = {"child %d" % t["share"]: t["seconds"] for t in reused}
    seen = {name: row["weight_ns"] for name, row in zip(truth, rows)}
    return shares.compare(truth, seen, sum(row["samples"] for row in rows))


def test_gunicorn_with_two_workers_under_load(plumb, either, tmp_path):
    pytest.importorskip("gunicorn", reason="gunicorn is not installed")
    import gunicorn
    import packaging

    if either.root:
        pytest.skip("gunicorn lies outside of that interpreter's root")
    paths = {os.path.dirname(os.path.dirname(module.__file__)) for module in (gunicorn, packaging)}
    (tmp_path / "served.py").write_text(
        "def spin():\n"
        "    return sum(i * i for i in range(20000))\n"
        "def app(environ, start_response):\n"
        "    spin()\n"
        "    start_response('200 OK', [('Content-Length', '2')])\n"
        "    return [b'ok']\n")

    def both_seen(profile):
        return with_function(profile, "spin") and len(profile.json["processes"]) == 3

    recording, address = plumb.path(), tmp_path / "socket"
    with running(plumb.start("run", "-o", recording, "--", *either.command, "-m", "gunicorn", "-w", "2", "-t", "600", "--bind",
                             "unix:%s" % address, "served:app", stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                             cwd=tmp_path, env=dict(os.environ, PYTHONPATH=":".join(sorted(paths)))) ) as process:
        for line in process.stderr:
            if b"Listening" in line:
                break
        assert [ask(address) for _ in range(200)].count(b"ok") == 200
        wait_until(lambda: ask(address) and plumb.recorded(recording, both_seen), "no worker is sampled, or not both are known")
        process.send_signal(signal.SIGTERM)
        result = finish(process)
    assert result.status == 0, result
    profile = plumb.report(recording)
    spinning = with_function(profile, "spin")
    parents = {p["pid"]: p["parent"] for p in profile.json["processes"]}
    assert len(parents) == 3 and set(spinning) <= set(parents), (parents, spinning)
    [master] = [pid for pid in parents if pid in parents.values()]
    assert spinning and all(parents[pid] == master for pid in spinning), (parents, spinning)
    assert all(p["name"] == "gunicorn" for p in profile.json["processes"]), profile.json["processes"]


def ask(address):
    """The body of one request over a socket in the file system."""
    import socket

    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(PATIENCE)
        s.connect(str(address))
        s.sendall(b"GET / HTTP/1.0\r\n\r\n")
        data = b""
        while True:
            more = s.recv(65536)
            if not more:
                return data.partition(b"\r\n\r\n")[2]
            data += more
