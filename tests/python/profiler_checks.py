# SPDX-License-Identifier: Apache-2.0
"""What plumb.Profiler does with the process it runs in. Each check_ is run; their names are told."""
import gc
import json
import os
import sys
import threading
import time

import plumb
from controlling import (
    PERIOD, deep, descriptors, hot_function, in_child, nothing_is_left, reset, run_checks, spin, tasks,
    ten_clients_read_what_is_controlled_meanwhile, until, warnings_of_a_fork,
)
from plumb import _gil
from raising import refusal


def check_the_states_are_what_they_are_called():
    profiler = plumb.Profiler()
    assert profiler.status()["state"] == "idle"
    assert "start() was not called" in refusal(RuntimeError, profiler.snapshot)
    for method in (profiler.pause, profiler.resume):
        assert "start() was not called" in refusal(RuntimeError, method)
    profiler.stop()
    profiler.cancel()
    profiler.reset()
    assert profiler.status()["state"] == "idle"
    profiler.start()
    profiler.start()
    until(profiler, 5)
    status = profiler.status()
    assert status["state"] == "running" and status["engine"] == "inprocess" and status["pid"] == os.getpid()
    assert json.loads(json.dumps(status)) == status
    profiler.pause()
    profiler.pause()
    assert profiler.status()["state"] == "paused"
    counted = profiler.status()["samples"]
    profiler.start()
    assert profiler.status()["state"] == "running" and profiler.status()["samples"] >= counted
    profiler.stop()
    profiler.stop()
    status = profiler.status()
    assert status["state"] == "stopped" and status["samples"] >= counted
    assert profiler.query()[0]["self_samples"] > 0, "what was found can be asked for after the end"
    assert "it was stopped" in refusal(RuntimeError, profiler.pause)
    profiler.reset()
    refusal(RuntimeError, profiler.show)
    assert profiler.status()["samples"] == 0


def check_one_that_nobody_has_any_more_ends():
    threads, files = tasks(), descriptors()
    for engine in ("inprocess",) if _gil.why_not() else ("inprocess", "gil"):
        for last in (plumb.Profiler.start, plumb.Profiler.pause):
            profiler = plumb.Profiler(engine=engine)
            profiler.start()
            last(profiler)
            del profiler
            nothing_is_left(threads, files)


def check_a_hundred_rounds_leave_nothing_behind():
    profiler = plumb.Profiler()

    def rounds(count):
        for i in range(count):
            profiler.start()
            (profiler.stop, profiler.cancel)[i % 2]()
        gc.collect()

    def kept():
        """Blocks of memory. The first hundred rounds fill what Python keeps for later use; what each round keeps, later ones do, too."""
        blocks = sys.getallocatedblocks()
        rounds(100)
        return sys.getallocatedblocks() - blocks

    before = tasks(), descriptors()
    assert min(kept() for _ in range(3)) < 100, "each round keeps something"
    nothing_is_left(*before)


def check_sampling_with_the_gil_is_controlled_alike():
    profiler = plumb.Profiler(engine="gil", interval=0.002)
    if sys.version_info[:2] == (3, 11) or not getattr(sys, "_is_gil_enabled", lambda: True)():
        assert "with" in refusal(plumb.Error, profiler.start)
        assert profiler.status()["state"] == "idle"
        return
    before = threading.active_count()
    profiler.start()
    until(profiler, 20)
    profiler.pause()
    counted = profiler.status()["samples"]
    spin(0.02)
    assert profiler.status()["samples"] == counted and profiler.status()["state"] == "paused"
    profiler.resume()
    profiler.set_interval(0.001)
    until(profiler, 20)
    profiler.stop()
    assert profiler.status()["engine"] == "gil" and threading.active_count() == before
    assert profiler.query("^spin ") and not profiler.query("_run .*_gil"), profiler.show()


def compute(enough):
    """CPU seconds that it took."""
    began = time.thread_time()
    while not enough(time.thread_time() - began):
        pass
    return time.thread_time() - began


def counted_of_it(profiler):
    """CPU seconds of what it is counted for."""
    return sum(f["total"]["weight_ns"] for f in profiler.snapshot().stats()["functions"] if f["name"] == "compute") / 1e9


def check_what_a_new_thread_ran_in_a_pause_is_in_no_share():
    profiler = plumb.Profiler(mode="cpu")
    ran, goes_on, took = threading.Event(), threading.Event(), []

    def run():
        compute(lambda seconds: seconds > 0.5)
        ran.set()
        goes_on.wait()
        took.append(compute(lambda seconds: counted_of_it(profiler)))

    profiler.start()
    until(profiler, 5)
    profiler.pause()
    thread = threading.Thread(target=run)
    thread.start()
    ran.wait()
    profiler.resume()
    goes_on.set()
    thread.join()
    profiler.stop()
    assert counted_of_it(profiler) < took[0] + 0.2, (counted_of_it(profiler), took)


def check_what_is_wrong_is_refused():
    profiler = plumb.Profiler()
    for interval in (0, -1, 10, 11, float("nan"), float("inf"), 1e-9):
        for call in (profiler.set_interval, plumb.Profiler):
            assert "interval" in refusal(ValueError, call, interval)
    for interval in ("1", None, True):
        refusal(TypeError, profiler.set_interval, interval)
    for options in ({"mode": "x"}, {"engine": "x"}, {"max_nodes": -1}):
        refusal(ValueError, plumb.Profiler, **options)
    profiler.start()
    until(profiler, 5)
    assert "regular expression" in refusal(ValueError, profiler.query, "(")
    for options in ({"max_records": -1}, {"sort": "up"}, {"idle": "x"}):
        refusal(ValueError, profiler.query, **options)
    refusal(ValueError, profiler.show, -1)
    assert profiler.query(max_records=0) == [] and profiler.status()["state"] == "running"
    profiler.cancel()


def check_threads_that_are_not_asked_for_are_not_sampled():
    ready, end = threading.Event(), threading.Event()

    def other_thread():
        ready.set()
        while not end.is_set():
            spin()

    thread = threading.Thread(target=other_thread, name="other")
    thread.start()
    ready.wait()
    for threads, there in ((None, True), ("other", True), (threading.main_thread(), False)):
        profiler = plumb.Profiler(threads=threads)
        profiler.start()
        until(profiler, 30)
        profiler.stop()
        assert bool(profiler.query("other_thread")) is there, (threads, profiler.show())
        assert bool(profiler.query("until")) is (threads != "other"), (threads, profiler.show())
    end.set()
    thread.join()


def collapsed(profiler):
    """(names of the functions, samples) of each stack."""
    for line in profiler.snapshot().write("collapsed").decode().splitlines():
        frames, _, count = line.rpartition(" ")
        yield [frame.split(":")[-2:][0] for frame in frames.split(";")], int(count)


def check_a_function_is_counted_once_a_sample():
    profiler = plumb.Profiler(threads=threading.main_thread())
    profiler.start()
    deep(20, lambda: profiler.status()["samples"] > 300)
    profiler.stop()
    by_name, stacks = {record["function"]: record for record in profiler.query()}, list(collapsed(profiler))
    for name in ("deep", "hot_function"):
        within, leaf = (sum(count for names, count in stacks if name in part(names)) for part in (list, lambda names: names[-1:]))
        assert (by_name[name]["total_samples"], by_name[name]["self_samples"]) == (within, leaf), (by_name[name], stacks)
        assert by_name[name]["self"] <= by_name[name]["total"] <= 1
    recursive, hot = by_name["deep"], by_name["hot_function"]
    assert recursive["total_samples"] >= hot["self_samples"] > recursive["self_samples"], profiler.show()
    assert profiler.query(sort="total")[0]["total"] >= recursive["total"]
    assert [record["function"] for record in profiler.query("^hot_")] == ["hot_function"]
    assert profiler.query(r"controlling\.py$", 1)[0]["function"] == "hot_function"
    lines = profiler.show(limit=3, query="hot").splitlines()
    share, _, _, name, place = lines[3].split()
    assert len(lines) == 4 and name == "hot_function" and share == "%.1f" % (100 * hot["self"])
    assert place.endswith("controlling.py:%d" % hot_function.__code__.co_firstlineno)


def check_nothing_of_the_profiler_is_in_the_profile():
    profiler = plumb.Profiler()
    profiler.start()
    while profiler.status()["samples"] < 200:
        hot_function()
    profiler.stop()
    threads = json.loads(profiler.snapshot().write("json", idle="keep"))["threads"]
    assert [thread["tid"] for thread in threads] == [threading.get_native_id()], threads


def down(depth):
    return down(depth - 1) if depth else 0


def check_what_a_program_asks_for_is_no_cost_of_the_samples():
    """A thread that asks all the time, and on whose processor the samples are taken, waits for most of what plumb does there because it
    has asked. The rate does not fall for that."""
    profiler = plumb.Profiler(interval=0.05)
    profiler.start()
    while profiler.status()["samples"] < 40:
        for _ in range(50):
            down(10)
    profiler.stop()
    told = json.loads(profiler.snapshot().write("json"))
    kept = told["ticks"] * 1e9 / told["taken_ns"]  # what was missed on a busy machine aside
    assert told["overhead"]["lowered_to_hz"] is None or kept > 10, told["overhead"]


def check_names_cannot_move_the_cursor():
    space = {}
    exec(compile("def f():\n    return sum(range(500000))", "/x/\x1b[2J\u202e.py", "exec"), space)
    profiler = plumb.Profiler()
    profiler.start()
    while profiler.status()["samples"] < 30:
        space["f"]()
    profiler.stop()
    text = profiler.show()
    assert "\\x1b[2J\\u202e.py" in text and "\x1b" not in text, text


def check_what_is_kept_is_bounded():
    profiler = plumb.Profiler(interval=0.0002, max_nodes=200)
    profiler.start()
    functions = 250  # each of which is sampled once at least: more stacks than are kept
    for _ in range(4):
        space = {}
        source = "".join("def f%d(end):\n  while not end(): pass\n" % i for i in range(functions))
        exec(compile(source, "/x/generated.py", "exec"), space)
        for i in range(functions):
            begin = profiler.status()["samples"]
            space["f%d" % i](lambda: profiler.status()["samples"] > begin)
    status = profiler.status()
    profiler.stop()
    assert status["folded"] > 0 and status["samples"] >= 1000, status
    assert len(profiler.query(max_records=10**6)) <= 200, status


def check_what_was_counted_can_be_forgotten():
    profiler = plumb.Profiler(interval=PERIOD)
    profiler.start()
    while profiler.status()["samples"] < 50:
        hot_function()
    reset(profiler)
    until(profiler, 50)
    profiler.stop()
    assert profiler.query("hot_function") == [] and profiler.query("spin"), profiler.show()


def check_ten_clients_read_what_is_controlled_meanwhile():
    ten_clients_read_what_is_controlled_meanwhile(rounds=15)


def check_a_child_begins_anew():
    profiler = plumb.Profiler()

    def child():
        found = [profiler.status()["state"]]
        found.append(refusal(RuntimeError, profiler.snapshot))
        found.append(refusal(RuntimeError, profiler.pause))
        profiler.stop()
        profiler.cancel()
        profiler.start()
        until(profiler, 20)
        found.append(profiler.status()["state"])
        assert profiler.status()["pid"] == os.getpid()
        while not profiler.query("spin"):  # a child may wait for a processor at each of its first samples
            spin()
        profiler.stop()
        assert profiler.query("spin")
        return found

    assert in_child(lambda: profiler.status()["state"]) == "idle"
    profiler.start()
    until(profiler, 5)
    stop_asking = threading.Event()
    ask = lambda: [profiler.status() for _ in iter(stop_asking.is_set, True)]  # noqa: E731
    askers = [threading.Thread(target=ask, daemon=True) for _ in range(3)]  # what fails below must not wait for them
    for asker in askers:
        asker.start()
    for _ in range(3):
        state, snapshot, pause, after = in_child(child)
        assert state == "forked" and after == "running"
        assert "forked" in snapshot and "forked" in pause
    stop_asking.set()
    for asker in askers:
        asker.join()
    until(profiler, 20)
    assert profiler.status()["state"] == "running", "the parent goes on"
    profiler.stop()
    assert profiler.query("spin")


def check_python_warns_of_a_fork_while_threads_of_ours_are_there():
    """As of any threads, from 3.12 on."""
    profiler = plumb.Profiler()
    while len(tasks()) > 1:  # those of checks before this one are on their way out
        os.sched_yield()
    assert warnings_of_a_fork() == []
    profiler.start()
    assert warnings_of_a_fork() == [True] * (sys.version_info >= (3, 12))
    profiler.stop()
    while len(tasks()) > 1:
        os.sched_yield()
    assert warnings_of_a_fork() == []


if __name__ == "__main__":
    run_checks(globals())
