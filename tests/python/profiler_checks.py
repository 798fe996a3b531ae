# SPDX-License-Identifier: Apache-2.0
"""What plumb.Profiler does with the process it runs in. Each check_ is run; their names are told.

    profiler_checks.py MEASURE    for each line that it reads it takes measure_MEASURE once, and tells what it found"""
import functools
import gc
import inspect
import itertools
import json
import os
import random
import signal
import sys
import threading
import time
import warnings

import plumb
from plumb import _binary, _gil, _threads
from raising import refusal

PERIOD = 0.001


def spin(seconds=0.005):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def until(profiler, samples):
    """Work until so many more samples were taken."""
    wanted = profiler.status()["samples"] + samples
    while profiler.status()["samples"] < wanted:
        spin()


def tasks():
    return {int(tid) for tid in os.listdir("/proc/self/task")}


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def nothing_is_left(threads, files):
    """Waits until there are no more threads, descriptors and children than before. What an earlier check had may go meanwhile."""
    gc.collect()
    while tasks() - threads or descriptors() > files or children():
        time.sleep(0.001)
        gc.collect()


def switches(tids):
    """How often threads have been given a processor."""
    total = 0
    for tid in tids:
        with open("/proc/self/task/%d/status" % tid) as file:
            total += sum(int(line.split()[1]) for line in file if "ctxt_switches" in line)
    return total


def in_child(function):
    """What a function says in a child of this process; an exception there is one here."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # that there are threads, from 3.12 on
        pid = os.fork()
    if pid == 0:
        try:
            os.write(writer, json.dumps(function()).encode())
        except BaseException as error:
            os.write(writer, json.dumps({"error": repr(error)}).encode())
        os._exit(0)
    os.close(writer)
    with open(reader, "rb") as file:
        told = json.loads(file.read() or b'{"error": "it died"}')
    os.waitpid(pid, 0)
    assert not (isinstance(told, dict) and "error" in told), told
    return told


# ---- life ----


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


def check_a_hundred_rounds_leave_nothing_behind():
    profiler = plumb.Profiler()

    def rounds(count):
        for i in range(count):
            profiler.start()
            (profiler.stop, profiler.cancel)[i % 2]()
        gc.collect()
        return tasks(), descriptors()

    before = rounds(10)
    blocks = sys.getallocatedblocks()
    assert rounds(100) == before
    assert sys.getallocatedblocks() - blocks < 100, "each round keeps something"


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


def children():
    """Processes that this one has started and that run."""
    found = set()
    for thread in tasks():
        with open("/proc/self/task/%d/children" % thread) as file:
            found.update(file.read().split())
    return found


def is_the_program_there():
    """It is not in the directories that some interpreters are run in."""
    try:
        return bool(_binary.find())
    except plumb.Error:
        return False


def seen(profiler, regex):
    return sum(record["total_samples"] for record in profiler.query(regex))


def check_sampling_from_outside_is_controlled_alike():
    profiler = plumb.Profiler(engine="external")
    before = tasks(), descriptors()
    profiler.start()
    assert len(children()) == 1 and profiler.status()["state"] == "running"
    for _ in range(100):
        hot_function()
    assert profiler.snapshot().info()["samples"] > 0, "it waits for what was written first"
    while not seen(profiler, "^hot_"):
        hot_function()
    until(profiler, 20)
    profiler.pause()
    profiler.pause()
    counted, known = seen(profiler, "^hot_"), profiler.status()
    assert not children() and known["state"] == "paused" and counted > 0 and known["engine"] == "external", profiler.show()
    assert json.loads(json.dumps(known)) == known and known["elapsed"] > 0 and known["cpu"] > 0 and known["threads"] == 1
    hot_function()
    assert profiler.status() == known and seen(profiler, "^hot_") == counted
    profiler.set_interval(0.002)
    assert not children()
    profiler.resume()
    until(profiler, 20)
    profiler.set_interval(0.001)
    assert profiler.status()["samples"] >= known["samples"] + 20
    assert profiler.status()["elapsed"] > known["elapsed"] + 18 * 0.002, "a period has one sample of a thread"
    until(profiler, 20)
    assert seen(profiler, "^hot_") == counted and seen(profiler, "^spin ") > 0
    profiler.reset()
    assert profiler.status()["samples"] < known["samples"] and len(children()) == 1
    until(profiler, 20)
    assert profiler.query("^hot_") == [] and profiler.query("^spin ")
    profiler.pause()
    profiler.reset()
    assert profiler.status()["samples"] == 0 and profiler.query() == [] and not children()
    profiler.start()
    hot_function()
    profiler.stop()
    status = profiler.status()
    assert status["state"] == "stopped" and status["samples"] == profiler.snapshot().info()["samples"] and not children()
    profiler.start()
    profiler.cancel()
    profiler.start()
    assert "<plumb.Profile" in repr(profiler.snapshot())
    profiler.stop()
    del profiler
    nothing_is_left(*before)


def check_what_samples_from_outside_ends_with_its_profiler():
    before = tasks(), descriptors()
    profiler = plumb.Profiler(engine="external", threads=threading.main_thread())
    profiler.start()
    assert len(children()) == 1
    del profiler
    nothing_is_left(*before)


def check_what_samples_from_outside_is_the_parent_s():
    profiler = plumb.Profiler(engine="external")
    profiler.start()

    def child():
        found = [profiler.status()["state"], refusal(RuntimeError, profiler.pause)]
        profiler.stop()
        gc.collect()
        profiler.start()
        until(profiler, 5)
        profiler.stop()
        return found + [bool(profiler.query("^spin "))]

    state, pause, own = in_child(child)
    assert state == "forked" and "forked" in pause and own
    until(profiler, 20)
    profiler.stop()
    assert profiler.query("^spin ")


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


# ---- what is found ----


def deep(depth, end):
    if depth:
        return deep(depth - 1, end)
    while not end():
        for _ in range(50):  # to ask takes a moment
            hot_function()


def hot_function():
    return sum(range(20000))


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
    assert profiler.query(r"profiler_checks\.py$", 1)[0]["function"] == "hot_function"
    lines = profiler.show(limit=3, query="hot").splitlines()
    share, _, _, name, place = lines[3].split()
    assert len(lines) == 4 and name == "hot_function" and share == "%.1f" % (100 * hot["self"])
    assert place.endswith("profiler_checks.py:%d" % hot_function.__code__.co_firstlineno)


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
    lowered = json.loads(profiler.snapshot().write("json"))["overhead"]["lowered_to_hz"]
    assert lowered is None or lowered > 10, lowered


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
    for _ in range(20):
        space = {}
        source = "".join("def f%d(end):\n  while not end(): pass\n" % i for i in range(50))
        exec(compile(source, "/x/generated.py", "exec"), space)
        for i in range(50):
            begin = profiler.status()["samples"]
            space["f%d" % i](lambda: profiler.status()["samples"] > begin)
    status = profiler.status()
    profiler.stop()
    assert status["folded"] > 0 and status["samples"] >= 1000, status
    assert len(profiler.query(max_records=10**6)) <= 200, status


def check_what_was_counted_can_be_forgotten():
    profiler = plumb.Profiler()
    profiler.start()
    end = profiler.status
    while end()["samples"] < 50:
        hot_function()
    profiler.reset()
    assert profiler.status()["samples"] < 50
    until(profiler, 50)
    profiler.stop()
    assert profiler.query("hot_function") == [] and profiler.query("spin"), profiler.show()


# ---- others at the same time ----


def check_ten_clients_read_what_is_controlled_meanwhile(rounds=15, **options):
    profiler, end, failed = plumb.Profiler(**options), threading.Event(), []

    def client(number):
        try:
            while not end.is_set():
                profiler.status()
                for ask in (profiler.show, profiler.query, profiler.snapshot):
                    try:
                        ask()
                    except RuntimeError as error:
                        assert "nothing was sampled" in str(error), error
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=client, args=(i,)) for i in range(10)]
    for thread in threads:
        thread.start()
    interval = sys.getswitchinterval()
    for i in range(rounds):
        profiler.start()
        until(profiler, 5)
        profiler.pause()
        profiler.set_interval(0.001 + i / 10000)
        profiler.resume()
        profiler.reset()
        (profiler.stop, profiler.cancel)[i % 2]()
        assert sys.getswitchinterval() == interval
    end.set()
    for thread in threads:
        thread.join()
    assert not failed, failed[0]


def check_ten_clients_read_what_is_controlled_from_outside():
    check_ten_clients_read_what_is_controlled_meanwhile(rounds=3, engine="external")


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


def warnings_of_a_fork():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        pid = os.fork()
        if pid == 0:
            os._exit(0)
    os.waitpid(pid, 0)
    return ["multi-threaded" in str(warning.message) for warning in told]


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


def check_python_does_not_warn_of_a_fork_while_it_is_sampled_from_outside():
    profiler = plumb.Profiler(engine="external")
    while len(tasks()) > 1:
        os.sched_yield()
    profiler.start()
    assert warnings_of_a_fork() == []
    profiler.cancel()


def interrupted_at(number, call, handle, module, event="line"):
    """As a signal handler that comes there would: at that line, or "opcode", of the module. Whether there are so many."""
    places = itertools.count()

    def trace(frame, what, arg):
        if frame.f_globals.get("__name__") != module:
            return None
        frame.f_trace_opcodes = event == "opcode"
        if what == event and next(places) == number:
            sys.settrace(None)
            handle()
        return trace

    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(None)
    return next(places) > number


def check_a_handler_may_pause_anywhere_in_status_outside():
    profiler = plumb.Profiler(interval=PERIOD, engine="external")
    profiler.start()
    until(profiler, 1)
    for number in itertools.count():
        if not interrupted_at(number, profiler.status, profiler.pause, "plumb._external"):
            break
        assert profiler.status()["state"] == "paused"
        profiler.resume()
    profiler.cancel()


def check_a_handler_finds_each_round_anywhere_in_what_ends_it_outside():
    """As one that saves what there is before the program ends."""
    threads, files = tasks(), descriptors()
    profiler = plumb.Profiler(interval=PERIOD, engine="external")
    found = []

    def handle():
        profiler.stop()
        found.append(profiler.snapshot().info()["duration"])  # it may be too short for a sample

    for way in ("pause", "stop"):
        for number in itertools.count():
            found.clear()
            profiler.start()
            if not interrupted_at(number, getattr(profiler, way), handle, "plumb._external"):
                break
            assert found[0] > 0 and profiler.snapshot().info()["duration"] == found[0], (way, number, found)
        profiler.cancel()
    del profiler, handle
    nothing_is_left(threads, files)


def check_what_was_counted_is_left_when_what_samples_from_outside_is_killed():
    profiler = plumb.Profiler(interval=PERIOD, engine="external")
    profiler.start()
    until(profiler, 20)
    profiler.pause()
    first = profiler.status()["samples"]
    for kill in (False, True, True):
        before = children()
        profiler.resume()
        (pid,) = children() - before
        until(profiler, profiler.status()["samples"] + 1)
        counted = profiler.status()["samples"]
        if kill:
            os.kill(int(pid), signal.SIGKILL)
            refusal(plumb.Error, profiler.pause)
        else:
            profiler.pause()
        assert profiler.status()["samples"] >= counted > first, (counted, first)
    profiler.resume()
    (pid,) = children()
    os.kill(int(pid), signal.SIGKILL)
    refusal(plumb.Error, profiler.stop)
    assert profiler.status()["state"] == "stopped" and profiler.snapshot().info()["samples"] >= counted


def check_what_is_said_outside_comes_in_files():
    """A pipe that somebody forks with, at the wrong moment, would be open as long as that child lives."""
    profiler = plumb.Profiler(engine="external")
    while len(tasks()) > 1:
        os.sched_yield()
    before = children()
    profiler.start()
    (pid,) = children() - before
    assert "pipe" not in "".join(os.readlink("/proc/%s/fd/%d" % (pid, fd)) for fd in (1, 2))
    profiler.cancel()


# ---- times ----

STATES = ("idle", "running", "paused", "slow", "stopped", "cancelled")


def measure_cancel():
    """Seconds that it takes in each state, and to have a thread of our own end."""
    return {"a thread": seconds_of_a_thread(), **{state: seconds_to_cancel(state) for state in STATES}}


def seconds_of_a_thread():
    thread = threading.Thread(target=lambda: None)
    begin = time.perf_counter()
    thread.start()
    thread.join()
    return time.perf_counter() - begin


def seconds_to_cancel(state):
    profiler = plumb.Profiler(interval=9 if state == "slow" else PERIOD)
    if state != "idle":
        profiler.start()
    if state == "paused":
        profiler.pause()
    if state == "stopped":
        profiler.stop()
    if state == "cancelled":
        profiler.cancel()
    begin = time.perf_counter()
    profiler.cancel()
    return time.perf_counter() - begin


def measure_paused():
    """How many threads it has that sleep when it is paused: from when there was a quiet second on nothing wakes up for another."""
    before = tasks()
    profiler = plumb.Profiler()
    profiler.start()
    until(profiler, 20)
    own = tasks() - before
    profiler.pause()
    while not is_quiet(own, 1):
        continue
    samples, quiet = profiler.status()["samples"], is_quiet(own, 1)
    assert quiet and profiler.status()["samples"] == samples
    profiler.resume()
    until(profiler, 20)
    profiler.cancel()
    return len(own)


def is_quiet(tids, seconds):
    """Whether threads sleep for so long."""
    before = switches(tids)
    asleep = all(state_of(tid) == "S" for tid in tids)
    time.sleep(seconds)
    return asleep and switches(tids) == before


def state_of(tid):
    with open("/proc/self/task/%d/stat" % tid) as file:
        return file.read().rpartition(")")[2].split()[0]


def measure_intervals():
    """{interval: by how many ticks more came, or were told as missed, than are due in a hundred periods}"""
    profiler, found = plumb.Profiler(), {}
    profiler.start()
    for interval in (0.001, 0.01, 0.002):
        profiler.set_interval(interval)
        assert profiler.status()["rate_asked"] == 1 / interval
        begin = profiler._session.status()
        spin(100 * interval)
        end = profiler._session.status()
        due = (end["elapsed"] - begin["elapsed"]) / interval
        found[interval] = sum(end[name] - begin[name] for name in ("ticks", "missed")) - due
    profiler.cancel()
    return found


def measure_stalls():
    """By how much a thread that wakes up each 5 ms is late at most, beside ten that ask for the status, and beside ten that do not."""
    profiler, end = plumb.Profiler(), threading.Event()

    def latest(ask):
        end.clear()
        clients = [threading.Thread(target=lambda: [ask() for _ in iter(end.is_set, True)]) for _ in range(10)]
        for client in clients:
            client.start()
        longest, last = 0.0, time.perf_counter()
        for _ in range(200):
            time.sleep(0.005)
            now = time.perf_counter()
            longest, last = max(longest, now - last - 0.005), now
        end.set()
        for client in clients:
            client.join()
        return longest

    alone = latest(lambda: time.sleep(0.001))
    profiler.start()
    asked = latest(lambda: (profiler.status(), time.sleep(0.001)))
    profiler.cancel()
    return asked, alone


def interrupted_within(module, calls, handled, most=200):
    """Make the calls in turn until a signal handler, which makes one of `handled` each time, has so often interrupted code of `module`."""
    within, turn = 0, itertools.cycle(handled)

    def handler(signo, frame):
        nonlocal within
        while frame and frame.f_globals.get("__name__") != module:
            frame = frame.f_back
        within += frame is not None
        next(turn)()

    before = signal.signal(signal.SIGALRM, handler)
    try:
        for call in itertools.cycle(calls):
            signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-6, 5e-4))
            call()
            if within >= most:
                break
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def or_refused(function):
    """A handler that comes in the middle of something may be told that there is nothing yet, or no more."""

    def call():
        try:
            function()
        except RuntimeError:
            pass

    return call


def check_a_signal_handler_may_interrupt_each_call_by_any():
    threads, files = tasks(), descriptors()
    profiler = plumb.Profiler(interval=PERIOD)
    calls = [or_refused(getattr(profiler, name)) for name in ("start", "show", "pause", "status", "resume", "query", "reset", "snapshot", "stop")]
    calls.append(lambda: profiler.set_interval(PERIOD))
    interrupted_within("plumb._profiler", calls, calls, most=50)
    profiler.cancel()
    assert profiler.status()["state"] == "idle"

    @plumb.profile(done=lambda _: None)
    def recorded():
        spin(0.0001)

    interrupted_within("plumb._decorated", [recorded], [recorded], most=50)
    del profiler, calls, recorded
    nothing_is_left(threads, files)  # what was begun in the middle of something else has ended


def check_a_signal_handler_may_end_or_begin_it_at_any_instruction_of_a_call():
    """Who traces the instructions may call at each what a signal handler that comes there would."""
    ended_or_begun_at_any_instruction(plumb.Profiler(interval=PERIOD), "plumb._profiler")
    if not _gil.why_not():
        ended_or_begun_at_any_instruction(plumb.Profiler(interval=PERIOD, engine="gil"), "plumb._gil")


def ended_or_begun_at_any_instruction(profiler, module):
    started, paused = [profiler.start], [profiler.start, profiler.pause]
    for before, names in ((started, ("pause", "resume", "status", "reset", "stop")), (paused, ("resume", "start")), ([], ("start",))):
        for name in names:
            for handled in (profiler.stop, profiler.cancel, profiler.start):
                for number in itertools.count():
                    for prepare in (profiler.cancel, *before):
                        prepare()
                    if not interrupted_at(number, or_refused(getattr(profiler, name)), or_refused(handled), module, "opcode"):
                        break
    profiler.cancel()


def other_engines():
    """Those in whose Python code a signal handler can come: the first one has none."""
    return [*([] if _gil.why_not() else ["gil"]), *(["external"] if is_the_program_there() else [])]


def check_a_list_of_threads_that_is_interrupted_keeps_nobody_waiting():
    """Whoever lists or starts threads has a lock, which 3.8 does not give twice to the same thread."""
    if _gil.why_not():
        return
    profiler = plumb.Profiler(interval=PERIOD, engine="gil")
    with threading._active_limbo_lock:
        assert threading.current_thread() in _threads.every()
        or_refused(profiler.start)()
    profiler.cancel()


def check_a_signal_handler_may_interrupt_each_call_of_other_engines():
    """Another thread asks, too: it has locks that the handler wants, and wants those that the interrupted call has."""
    for engine in other_engines():
        threads, files = tasks(), descriptors()
        profiler, done = plumb.Profiler(interval=PERIOD, engine=engine), []
        names = ("start", "status", "snapshot", "set_interval", "reset", "status", "pause", "status", "resume", "stop")
        arguments = {"set_interval": [PERIOD]}
        calls = [or_refused(functools.partial(getattr(profiler, name), *arguments.get(name, ()))) for name in names]
        other = threading.Thread(target=lambda: [or_refused(profiler.status)() for _ in iter(lambda: bool(done), True)])
        other.start()
        interrupted_within({"gil": "plumb._gil", "external": "plumb._external"}[engine], calls, calls, most={"gil": 200, "external": 30}[engine])
        done.append(True)
        other.join()
        profiler.cancel()
        recording = plumb.profile()

        def recorded():
            nonlocal recording
            recording = plumb.profile(engine=engine)
            recording.start()
            recording.stop()

        interrupted_within("plumb._recording", [recorded], [or_refused(lambda: recording.stop())], most=30)
        del profiler, calls, recording
        nothing_is_left(threads, files)


def check_a_signal_handler_may_stop_a_watch_within_its_calls():
    for engine in (None, *(["gil"] if "gil" in other_engines() else [])):
        for _ in range(50):
            history = plumb.profile.watch(interval=PERIOD, cycle=0.005, engine=engine)
            calls = [history.status, history.recent]
            interrupted_within("plumb._watch", calls, [history.stop], most=1)
            assert history.status()["ended"]


def check_a_signal_handler_may_stop_a_watch_while_it_is_stopped():
    """Between any two lines: who traces a line may call what a handler that comes there would."""
    history = plumb.profile.watch(interval=PERIOD, cycle=0.005)
    depth = 0

    def trace(frame, event, arg):
        nonlocal depth
        if depth == 0 and event == "line":
            depth = 1
            history.stop()
            depth = 0
        return trace

    sys.settrace(trace)
    try:
        history.stop()
    finally:
        sys.settrace(None)
    assert history.status()["ended"]


def all_checks():
    checks = [(name, check) for name, check in sorted(globals().items()) if name.startswith("check_") and inspect.isfunction(check)]
    if not is_the_program_there():
        checks = [(name, check) for name, check in checks if "_outside" not in name]
    for _, check in checks:
        check()
        while threading.enumerate() != [threading.main_thread()]:  # a watch that a handler stopped ends by itself
            time.sleep(0.001)
    print(json.dumps({"checks": [name for name, _ in checks]}))


def measures(name):
    for _ in sys.stdin:
        print(json.dumps(globals()["measure_" + name]()), flush=True)


if __name__ == "__main__":
    measures(sys.argv[1]) if sys.argv[1:] else all_checks()
