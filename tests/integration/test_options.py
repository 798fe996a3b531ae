# SPDX-License-Identifier: Apache-2.0
"""What the options of run, attach and report change."""
import json
import os
import re
import signal
import subprocess
import time

import pytest

from harness.dump import PATIENCE as IN_TIME
from harness.plumb import PATIENCE, TOP, running, until
from harness.statistics import NotNow, holds
from harness.target import of_threads, status, thread_ids, wait_until

THREADS = {"MainThread", "alpha", "beta", "waiter"}  # of threads.py


@pytest.fixture
def recording(plumb, target, any_python):
    path = plumb.path()
    with target(any_python, "threads.py") as busy:
        with plumb.attached(busy.pid, recording=path):
            wait_until(lambda: plumb.recorded(path, lambda profile: THREADS <= names_of(profile)), "not every thread is sampled")
    return path


def names_of(profile):
    return {thread["name"] for thread in profile.threads if thread["samples"]}


@pytest.mark.smoke
def test_version_and_help(plumb):
    version = plumb("--version")
    assert version.status == 0 and re.fullmatch(r"plumb \d+\.\d+\.\d+\n", version.stdout), version
    for arguments in (["help"], ["--help"], ["help", "run"], ["run", "--help"], ["help", "formats"]):
        result = plumb(*arguments)
        assert result.status == 0 and len(result.stdout.splitlines()) > 3 and result.stderr == "", result
    assert plumb("help", "run").stdout == plumb("run", "--help").stdout


def test_the_topics_of_help_agree_with_the_commands(plumb):
    told = " ".join(plumb("help", "exit-status").stdout.split())
    (ones,) = re.findall(r"[^.]* return 1 if [^.]*\.", told)
    for command in ("dump", "doctor"):
        own = " ".join(plumb("help", command).stdout.split())
        assert re.search(r"\b1 if", own) and "'plumb %s' if" % command in ones, (own, told)
    figures = " ".join(plumb("help", "figures").stdout.split())
    assert "could not or must not be stopped" in figures, "--never-stop is not the only cause of doubt: %s" % figures


@pytest.mark.smoke
@pytest.mark.parametrize("command", ["run", "attach", "report"])
def test_help_names_every_option_of_the_task(plumb, command):
    text = plumb("help", command).stdout
    options = ["--threads", "--lines", "--functions", "--idle"]
    if command == "report":
        options += ["--json", "--markdown", "--format", "--names"]
    else:
        options += ["--rate", "--mode", "--engine", "--no-jitter", "--no-sources", "--seed", "--never-stop", "--always-stop", "--duration", "--output"]
    missing = [option for option in options if option not in text]
    assert not missing, text


def test_threads_by_name_and_by_number(plumb, recording):
    everything = plumb.report(recording)
    alpha = next(thread for thread in everything.threads if thread["name"] == "alpha")
    assert names_of(plumb.report(recording, "--threads", "alpha")) == {"alpha"}
    assert names_of(plumb.report(recording, "--threads", str(alpha["tid"]))) == {"alpha"}
    assert names_of(plumb.report(recording, "--threads", "alpha,beta")) == {"alpha", "beta"}


def test_a_thread_that_is_not_there_is_named(plumb, recording):
    for names in ("nobody", "alpha,nobody", "nobody,beta"):
        result = plumb("report", "--threads", names, recording)
        assert result.status == 125 and result.stdout == "", result
        assert "no samples of a thread 'nobody'; there are: " in result.stderr, result
        assert "alpha" in result.stderr, "those there are: %s" % result


def test_a_thread_has_to_be_in_one_of_the_recordings_compared(plumb, target, any_python, recording):
    with target(any_python, "many_threads.py", "--threads", "2", "--depth", "3") as other:
        result, others = plumb.try_sampling(lambda profile: len(profile.threads) == 3 and all(t["name"] for t in profile.threads), other.pid)
    assert result.status == 0, result
    only = next(thread["name"] for thread in plumb.report(others).threads if not thread["main"])
    result = plumb("diff", recording, others, "--threads", "alpha,%s" % only)
    assert result.status == 0 and "no samples of a thread" not in result.stderr, result
    result = plumb("diff", recording, others, "--threads", "alpha,%s,nobody" % only)
    assert result.status == 125 and "no samples of a thread 'nobody'; there are: " in result.stderr and "alpha" in result.stderr, result


def test_threads_chosen_while_sampling(plumb, target, any_python):
    with target(any_python, "threads.py") as busy:
        profile = plumb.attach_until(names_of, busy.pid, "--threads", "beta")
        result = plumb("attach", "-d", "0.3", "--threads", "beta,nobody", "-o", plumb.path(), busy.pid)
    assert names_of(profile) == {"beta"}
    assert result.status == 0 and "no samples of a thread 'nobody'; there are: " in " ".join(result.stderr.replace("!", " ").split()), result


def test_a_thread_that_is_not_there_is_named_while_sampling(plumb, target, any_python):
    with target(any_python, "threads.py") as busy:

        def attach(seconds):
            recording = plumb.path()
            result = plumb("attach", "-d", seconds, "--threads", "nobody", "-o", recording, busy.pid)
            assert result.status == 0 and plumb.report(recording).samples == 0, result
            return " ".join(result.stderr.replace("!", " ").split())

        told = until(attach, lambda told: "waiter" in told, 0.3)
    assert "no samples of a thread 'nobody'; there are: " in told, told
    for name in ("alpha", "beta", "waiter", "%d MainThread" % busy.pid):
        assert name in told, "%r is missing: %s" % (name, told)


def test_a_process_that_is_stopped_is_told(plumb, target, any_python):
    def halted(profile):
        return profile.json["halted_ns"] > 0.9 * profile.json["duration_ns"]

    with target(any_python, "threads.py", count=True) as busy:
        os.kill(busy.pid, signal.SIGSTOP)
        wait_until(lambda: all(status(busy.pid, tid)["State"][0] == "T" for tid in thread_ids(busy.pid)), "it runs on")
        result, profile = plumb.sampled(halted, busy.pid)
        os.kill(busy.pid, signal.SIGCONT)
        busy.wait_progress()
        _, running = plumb.sampled(lambda profile: profile.samples, busy.pid)
    told = " ".join(result.stderr.split())
    assert "! the process was stopped all of the time, by a signal or a debugger; 'kill -CONT %d' lets it go on" % busy.pid in told, result
    assert halted(profile) and "nothing ran" not in told
    assert not halted(running)


def test_idle_threads_are_hidden_counted_and_shown_on_demand(plumb, recording):
    short = json.loads(plumb("report", "--json", recording).stdout)
    shown = plumb.report(recording)  # with --idle
    assert short["filter"]["idle_threads_hidden"] == 1
    assert "waiter" not in {t["name"] for t in short["threads"] if not t["idle"]}
    assert "waiter" in names_of(shown)
    assert any(stack.has("wait_here") for stack in shown.stacks)


def test_lines_and_functions(plumb, recording):
    lines = plumb("report", "--lines", recording).stdout
    functions = plumb("report", "--functions", recording).stdout
    assert functions == plumb("report", recording).stdout
    assert len(re.findall(r"threads\.py:\d+", lines)) >= 2 and lines != functions, lines


def test_collapsed_output(plumb, recording):
    result = plumb("report", "-f", "collapsed", recording)
    assert result.status == 0, result
    rows = result.stdout.splitlines()
    assert rows and all(re.fullmatch(r"tid:\d+;([^;]+;)*[^;]+ \d+", row) for row in rows), rows[:3]
    assert any(re.search(r";threads\.py:work_alpha:\d+;threads\.py:spin:\d+ \d+$", row) for row in rows), rows[:5]
    counts = [int(row.rsplit(" ", 1)[1]) for row in rows]
    assert sum(counts) == plumb.report(recording).samples
    keys = [(-count, row.rsplit(" ", 1)[0].encode()) for count, row in zip(counts, rows)]
    assert keys == sorted(keys)
    assert any("wait_here" in row for row in rows), "the format cannot say that a thread was left out: %s" % rows
    running = plumb("report", "-f", "collapsed", "--skip-idle", recording).stdout
    assert "spin" in running and "wait_here" not in running, running


def test_collapsed_by_the_suffix_of_the_output(plumb, target, any_python, recording):
    by_report, by_attach = plumb.path(".folded"), plumb.path(".folded")
    assert plumb("report", "--idle", "-o", by_report, recording).status == 0
    assert by_report.read_text() == plumb("report", "-f", "collapsed", "--idle", recording).stdout
    with target(any_python, "calls.py") as busy:

        def attach(seconds):
            assert plumb("attach", "-d", seconds, "-o", by_attach, busy.pid).status == 0
            return re.search(r"calls\.py:main:\d+;calls\.py:outer:\d+", by_attach.read_text())

        assert until(attach, bool, 0.3)


@pytest.mark.smoke
def test_full_names(plumb, recording):
    result = plumb("report", "-f", "collapsed", "--names", "full", recording)
    assert re.search(r";/.*/threads\.py:work_alpha:\d+;", result.stdout), result


@pytest.mark.smoke
def test_markdown(plumb, recording):
    result = plumb("report", "--markdown", recording)
    assert result.status == 0 and "|" in result.stdout and "spin" in result.stdout, result


def test_json_is_documented_member_by_member(plumb, recording):
    """Every member of the output is named in the documentation."""
    documented = (TOP / "docs" / "user" / "json.md").read_text()

    def members(value):
        if isinstance(value, dict):
            for key, inner in value.items():
                yield key
                yield from members(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from members(inner)

    unknown = sorted({key for key in members(plumb.report(recording).json) if not re.search("`[^`]*\\b%s\\b[^`]*`" % key, documented)})
    assert not unknown, unknown


@pytest.mark.smoke
def test_json_adds_up(plumb, recording):
    profile = plumb.report(recording)
    total = profile.samples
    assert sum(profile.quality[key] for key in ("exact", "stopped", "doubtful", "partial")) == total
    assert sum(stack.samples for stack in profile.stacks) == total
    assert sum(thread["samples"] for thread in profile.threads) == total
    assert sum(function["self"]["samples"] for function in profile.functions) == total
    main = profile.function("work_alpha")
    assert main["total"]["samples"] == sum(s.samples for s in profile.stacks if s.has("work_alpha"))
    assert all(0 <= f["total"]["share"] <= 1 and 0 <= f["total"]["half_width"] <= 1 for f in profile.functions)


@pytest.mark.smoke
def test_the_same_recording_gives_the_same_report(plumb, recording):
    for options in ([], ["--json"], ["--markdown"], ["-f", "collapsed"]):
        assert plumb("report", *options, recording).stdout == plumb("report", *options, recording).stdout


def test_what_could_not_be_taken_until_the_end_is_missed(plumb, target, any_python):
    """plumb is held up for less than a second, beyond its end: from a second on that is a pause."""

    def held_up(seconds):
        """The profile, and how long plumb has had at most until it had found the Python, before which nothing is counted; None if the
        machine itself has held up the test until plumb was at its end."""
        recording, before = plumb.path(), time.monotonic()
        with running(plumb.start("attach", "-d", seconds, "-r", "100", "--max-overhead", "none", "-o", recording, busy.pid,
                                 stderr=subprocess.DEVNULL)) as process:
            began = time.monotonic()
            wait_until(lambda: plumb.recorded(recording, lambda profile: profile.samples), "it is not sampled")
            searched_s = time.monotonic() - before
            time.sleep(max(0, began + seconds - 0.2 - time.monotonic()))
            process.send_signal(signal.SIGSTOP)
            time.sleep(0.8)
            process.send_signal(signal.SIGCONT)
            assert process.wait(PATIENCE) == 0
        profile = plumb.report(recording)
        return (profile, searched_s) if profile.duration_s > seconds + 0.05 else None

    with target(any_python, "calls.py") as busy:
        profile, searched_s = until(held_up, bool, 2)
    periods, counted = 100 * profile.duration_s, profile.json["ticks"] + profile.losses["missed"]
    assert periods - 100 * searched_s - 2 <= counted <= periods + 2, (counted, periods, searched_s, profile.losses)


@pytest.mark.parametrize("option, rate", [("100", 100), ("1000", 1000), ("2khz", 2000)])
def test_rate(plumb, target, any_python, option, rate):
    """One sample in each period; what is missing is counted as missed, from where plumb has found the Python: that takes seldom as
    long as a tenth of a second, and longer only where plumb gets no processor."""

    def off():
        _, profile = plumb.attach(busy.pid, "-d", "1", "-r", option, "--max-overhead", "none")
        periods, counted = profile.duration_s * rate, profile.json["ticks"] + profile.losses["missed"]
        assert counted <= periods + 2, (counted, periods, profile.losses)
        if counted >= 0.9 * periods:
            return ""
        told = "%d of %d: %s" % (counted, periods, profile.losses)
        if profile.losses["missed"] > 0.1 * profile.json["ticks"]:  # it got no processor, so not before either
            raise NotNow(told)
        return told

    with target(any_python, "calls.py") as busy:
        holds(off)


@pytest.mark.smoke
def test_seed_and_jitter_are_recorded(plumb, target, any_python):
    with target(any_python, "calls.py") as busy:
        _, fixed = plumb.attach(busy.pid, "-d", "0.2", "--no-jitter", "--seed", "42")
        _, other = plumb.attach(busy.pid, "-d", "0.2")
    assert fixed.json["seed"] == "42" and not fixed.json["jitter"] and other.json["jitter"]


@pytest.mark.smoke
def test_modes_are_recorded_and_a_waiting_thread_costs_no_cpu(plumb, target, any_python):
    with target(any_python, "threads.py") as busy:
        wait_until(lambda: waits(plumb, busy.pid), "it does not wait")
        profiles = {mode: plumb.attach_until(lambda profile: {"alpha", "beta"} <= names_of(profile), busy.pid, "--mode", mode)
                    for mode in ("wall", "cpu", "gil")}
    for mode, profile in profiles.items():
        assert profile.json["mode"] == mode
    assert any(stack.has("wait_here") for stack in profiles["wall"].stacks)
    for mode in ("cpu", "gil"):
        assert not any(stack.weight_ns for stack in profiles[mode].stacks if stack.has("wait_here")), mode


def waits(plumb, pid):
    threads = json.loads(plumb("dump", "--json", *IN_TIME, pid).stdout)["processes"][0]["threads"]
    return any(thread["name"] == "waiter" and thread["doing"] == "blocked" for thread in threads)


def cpu_s(pid):
    """The processor time that the threads of a process have had."""
    return sum(int(text.split()[0]) for text in of_threads(pid, "schedstat").values()) / 1e9


@pytest.mark.smoke
def test_cpu_mode_tells_the_cpu_time_there_was(plumb, target, any_python):
    """All of it but what is used after the last sample, seldom a tenth of the whole even where plumb has to wait."""

    def off():
        recording = plumb.path()
        before = cpu_s(busy.pid)
        with plumb.attached(busy.pid, "--mode", "cpu", recording=recording):
            start = cpu_s(busy.pid)
            wait_until(lambda: cpu_s(busy.pid) > start + 0.5, "it does not run")
            end = cpu_s(busy.pid)
        after = cpu_s(busy.pid)
        told = sum(stack.weight_ns for stack in plumb.report(recording).stacks) / 1e9
        right = 0.95 * (end - start) <= told <= 1.05 * (after - before)
        return "" if right else "%g s were used, %g are told, %g before and after" % (end - start, told, after - before)

    with target(any_python, "threads.py") as busy:
        holds(off)


def test_gil_mode_has_one_holder_at_a_time(plumb, target, any_python):
    with target(any_python, "threads.py") as busy:
        profile = plumb.attach_until(lambda profile: {"alpha", "beta"} <= names_of(profile), busy.pid, "--mode", "gil")
    assert profile.samples <= profile.json["ticks"]
    assert {"alpha", "beta"} <= names_of(profile)


def test_never_stop_never_stops(plumb, target, any_python):
    with target(any_python, "families.py") as busy:
        profile = plumb.attach_until(lambda profile: profile.samples > 200, busy.pid, "-r", "5000", "--never-stop", seconds=0.2)
    assert profile.json["overhead"]["stops"] == 0 and profile.quality["stopped"] == 0


@pytest.mark.smoke
def test_recording_is_named_after_program_and_process(plumb, target, any_python):
    with target(any_python, "calls.py") as busy:
        result = plumb("attach", "-d", "0.2", busy.pid)
        assert result.status == 0, result
        assert os.path.exists(plumb.directory / ("plumb.calls.%d.plumb" % busy.pid)) or os.path.exists(
            plumb.directory / ("plumb.calls.py.%d.plumb" % busy.pid)), os.listdir(plumb.directory)


def test_max_overhead_lowers_the_rate_and_keeps_the_times(plumb, places, any_python):
    """Of two runs of one program as fast as 20,000 a second, the one with a budget costs a fraction of the other. Costs are those of
    plumb's own clocks; where it hardly gets a processor, no budget is needed."""
    program = [*any_python.command, places.directory(any_python.root)[1] + "/families.py", "--seconds", "3"]

    def run(*options):
        recording = plumb.path()
        assert plumb("run", "-r", "20k", *options, "-o", recording, "--", *program).status == 0
        profile = plumb.report(recording)
        cost = profile.json["overhead"]
        return profile, max(cost["stopped_ns"], cost["profiler_cpu_ns"]) / profile.json["duration_ns"]

    def off():
        free, cost_free = run("--max-overhead", "none")
        if cost_free < 0.15:
            raise NotNow("without a budget it costs no more than %g" % cost_free)
        bound, cost_bound = run("--max-overhead", "2%")
        whole = (bound.quality["weight_ns"] + bound.losses["missed_ns"]) / bound.json["duration_ns"]
        told = "cost %g, without a budget %g; %d samples, %d; %g of the time" % (cost_bound, cost_free, bound.samples, free.samples, whole)
        # What comes before the first look counts, too.
        right = cost_bound < cost_free / 3 and cost_bound < 0.05 and 10 < bound.samples < free.samples / 3 and abs(whole - 1) < 0.15
        return "" if right else told

    holds(off, blind=6)  # of three seconds each: a machine that has no processor to give has none for a while


def test_a_program_that_makes_ever_new_functions_takes_no_more_memory_than_was_allowed(plumb, target, any_python):
    """What is beyond is counted at the outer part of its stack, and told."""
    with target(any_python, "exec_churn.py") as busy:
        recording = plumb.path()
        with plumb.attached(busy.pid, "--max-nodes", "200", recording=recording):
            wait_until(lambda: plumb.recorded(recording, lambda profile: profile.losses["folded"] > 50), "nothing is folded")
    profile = plumb.report(recording)
    folded = [stack for stack in profile.stacks if stack.frames[-1].name == "<folded>"]
    assert sum(stack.samples for stack in folded) == profile.losses["folded"]
    assert {stack.python[0].name for stack in folded if stack.python} <= {"<module>"}
    assert len({frame for stack in profile.stacks for frame in stack.python}) <= 200
    assert "too many different stacks" in plumb("report", recording).stdout


@pytest.mark.parametrize("number", ["0", "-1", "many", "1e3", "", "99999999999"])
def test_what_is_no_number_of_places(plumb, number):
    result = plumb("run", "--max-nodes", number, "--", "true")
    assert result.status == 125 and "is not a number of places" in result.stderr and "hint: " in result.stderr, result


def test_what_is_no_engine(plumb):
    begun = plumb.path(".begun")
    result = plumb("run", "--engine", "none", "--", "touch", begun)
    assert result.status == 125 and "there is no engine 'none'" in result.stderr and "there are: auto, remote" in result.stderr, result
    assert not begun.exists(), result


@pytest.mark.smoke
@pytest.mark.parametrize("percent", ["0", "-1", "101", "much", "1%%", ""])
def test_what_is_no_overhead(plumb, percent):
    result = plumb("run", "--max-overhead", percent, "--", "true")
    assert result.status == 125 and "is not a percentage" in result.stderr and "hint: " in result.stderr, result
