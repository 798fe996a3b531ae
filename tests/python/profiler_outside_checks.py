# SPDX-License-Identifier: Apache-2.0
"""What plumb.Profiler(engine="external") does with the process it runs in. Each check_ is run; their names are told."""
import gc
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import warnings

import plumb
from plumb import _external
from controlling import (
    PATIENCE, PERIOD, a_signal_handler_may_interrupt_each_call, begun_and_given_up_at_instructions, children, descriptors, hot_function, in_child, interrupted_at,
    nothing_is_left, reset, run_checks, spin, tasks, ten_clients_read_what_is_controlled_meanwhile, until, warnings_of_a_fork,
)
from raising import refusal
from sanitizer import MAY_FORK


def seen(profiler, regex):
    return sum(record["total_samples"] for record in profiler.query(regex))


def check_the_thread_that_starts_plumb_is_not_seen():
    """On a busy machine it may take its time to end."""
    popen = _external._popen

    def started_slowly(*arguments):
        process = popen(*arguments)
        spin(0.05)
        return process

    _external._popen = started_slowly
    try:
        with plumb.profile(engine="external") as recording:
            while not recording.tree()["count"]:
                hot_function()
    finally:
        _external._popen = popen
    assert recording.info()["threads"] == 1, str(recording)


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
    assert json.loads(json.dumps(known)) == known and known["elapsed"] > 0 and known["cpu"] > 0 and known["threads"] == 1, known
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
    reset(profiler)
    assert len(children()) == 1
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


def check_a_recording_from_outside_is_the_parent_s_as_any():
    def said(recording):
        errors = []
        for ask in (recording.info, recording.tree, recording.stop):
            try:
                ask()
            except plumb.Error as error:
                errors.append([str(error), error.code, error.hint])
        return errors

    with plumb.profile(engine="inprocess") as inside, plumb.profile(engine="external") as outside:
        assert in_child(lambda: said(outside)) == in_child(lambda: said(inside)[:1] * 3)
    assert in_child(lambda: outside.tree()["count"]) == outside.tree()["count"]


def check_ten_clients_read_what_is_controlled_meanwhile():
    ten_clients_read_what_is_controlled_meanwhile(rounds=3, engine="external")


def check_python_does_not_warn_of_a_fork_while_it_is_sampled_from_outside():
    profiler = plumb.Profiler(engine="external")
    while len(tasks()) > 1:
        os.sched_yield()
    profiler.start()
    assert warnings_of_a_fork() == []
    profiler.cancel()


def check_a_child_that_is_forked_while_plumb_starts_keeps_nobody_waiting():
    """Between what Popen opens and what it waits for: the child would have it open."""
    if not MAY_FORK:
        return
    pipe, opened, goes_on = os.pipe, threading.Event(), threading.Event()

    def pipe_of_popen():
        ends = pipe()
        opened.set()
        goes_on.wait()
        return ends

    profiler = plumb.Profiler(engine="external")
    starts = threading.Thread(target=profiler.start)
    os.register_at_fork(before=goes_on.set)  # what is registered last is done first
    os.pipe = pipe_of_popen
    try:
        starts.start()
        opened.wait()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # a fork of a process with threads
            pid = os.fork()
        if not pid:
            signal.alarm(30)
            signal.pause()
    finally:
        os.pipe = pipe
    starts.join()
    lives = os.waitpid(pid, os.WNOHANG) == (0, 0)
    profiler.cancel()
    if lives:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert lives, "who starts plumb has waited for it"


IN_A_FORK = """
import os
profilers = []
def start():
    while profilers:
        profilers.pop().start()
os.register_at_fork(before=start)  # what is registered first is done last
import plumb
profilers.append(plumb.Profiler(engine="external"))
if not os.fork():
    os._exit(0)
os.wait()
"""


def check_a_signal_handler_in_a_fork_may_start_plumb():
    """A fork has locks that its own thread is not to wait for."""
    if MAY_FORK:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        subprocess.run([sys.executable, "-W", "ignore", "-c", IN_A_FORK], env=environment, check=True, timeout=PATIENCE)


def check_a_handler_may_pause_anywhere_in_status_outside():
    profiler = plumb.Profiler(interval=PERIOD, engine="external")
    profiler.start()
    until(profiler, 1)
    for number in itertools.count():
        if not interrupted_at(number, profiler.status, profiler.pause, {"plumb._external"}):
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
            if not interrupted_at(number, getattr(profiler, way), handle, {"plumb._external"}):
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
        until(profiler, 1)
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


def check_who_waits_for_any_child_has_what_was_sampled():
    """The program plumb is one of them, until the end. Whoever waits for it first, nothing of what it wrote is lost."""
    reaped, finished = [], []

    def wait_for_all():
        try:
            while True:
                reaped.append(os.wait()[0])
        except ChildProcessError:
            finished.append(True)

    with plumb.profile(engine="external") as recording:
        (plumbs,) = children()
        waits = threading.Thread(target=wait_for_all)
        waits.start()
        mine = os.posix_spawn("/bin/sh", ["sh", "-c", ""], {})
        while mine not in reaped or not recording.tree()["count"]:
            hot_function()
        assert not finished
    waits.join()
    assert finished and set(reaped) <= {mine, int(plumbs)}, (reaped, mine, plumbs)
    assert recording.tree()["count"] and "incomplete" not in recording.text(), recording.text()


def check_a_signal_handler_may_raise_in_a_start():
    begun_and_given_up_at_instructions(lambda: plumb.Profiler(engine="external"), lambda profiler: profiler.cancel(), 9)


def check_a_signal_handler_may_interrupt_each_call():
    a_signal_handler_may_interrupt_each_call("external", "plumb._external", most=30)


if __name__ == "__main__":
    run_checks(globals())
