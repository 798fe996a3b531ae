# SPDX-License-Identifier: Apache-2.0
"""What the checks of plumb.Profiler need: work, and what a process has; for scripts that run where there is no pytest."""
import contextlib
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

PERIOD = 0.001
PATIENCE = 100  # seconds


def spin(seconds=0.005):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def until(profiler, samples):
    """Work until so many more samples were taken."""
    wanted = profiler.status()["samples"] + samples
    while profiler.status()["samples"] < wanted:
        spin()


def reset(profiler):
    """What was counted is forgotten: what there is now is no more than can have come since, a sample of this thread in a period."""
    begin = time.monotonic()
    profiler.reset()
    status = profiler.status()
    assert status["samples"] <= (time.monotonic() - begin) / PERIOD + 2, status


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


def children():
    """Processes that this one has started and that run."""
    found = set()
    for thread in tasks():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            with open("/proc/self/task/%d/children" % thread) as file:
                found.update(file.read().split())
    return found


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


def warnings_of_a_fork():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        pid = os.fork()
        if pid == 0:
            os._exit(0)
    os.waitpid(pid, 0)
    return ["multi-threaded" in str(warning.message) for warning in told]


def deep(depth, end):
    if depth:
        return deep(depth - 1, end)
    while not end():
        for _ in range(50):  # to ask takes a moment
            hot_function()


def hot_function():
    return sum(range(20000))


def ten_clients_read_what_is_controlled_meanwhile(rounds, **options):
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


def interrupted_at(number, call, handle, modules, event="line"):
    """As a signal handler that comes there would: at that line, or "opcode", of the modules. Whether there are so many."""
    places = itertools.count()

    def trace(frame, what, arg):
        if frame.f_globals.get("__name__") not in modules:
            return None
        frame.f_trace_opcodes = event == "opcode"
        if what == event and next(places) == number:
            sys.settrace(None)
            handle()
        return trace

    if event == "opcode":  # 3.12 finds out whether anybody wants these when tracing begins
        sys._getframe().f_trace_opcodes = True
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(None)
    return next(places) > number


class _Raised(BaseException):
    pass


def _raise():
    raise _Raised


def begun_and_given_up_at_instructions(make, end, step):
    """A signal handler raises there, as Ctrl-C does, at each instruction or each one of so many: what had been opened by then has an
    owner, and goes with it."""
    modules = {"plumb._recording", "plumb._profiler", "plumb._external", "plumb._gil", "subprocess", "tempfile"}
    or_refused(lambda: make().start())()  # what is imported for it stays
    gc.collect()
    threads, files, number, more = tasks(), descriptors(), sys.version_info.minor % step, True
    while more:
        one = make()
        try:
            more = interrupted_at(number, one.start, _raise, modules, "opcode")
        except _Raised:
            number += step
        or_refused(lambda: end(one))()
    assert number > 100, number
    del one
    nothing_is_left(threads, files)


def is_within(module, frame):
    """Whether that frame, or one that led to it, runs code of the module."""
    while frame and frame.f_globals.get("__name__") != module:
        frame = frame.f_back
    return frame is not None


def interrupted_within(module, calls, handled, most=200):
    """Make the calls in turn until a signal handler, which makes one of `handled` each time, has so often interrupted code of `module`."""
    within, turn = 0, itertools.cycle(handled)

    def handler(signo, frame):
        nonlocal within
        within += is_within(module, frame)
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


def raised_within(module, calls, most):
    """Make the calls in turn; a signal handler raises meanwhile, until it has so often done so within code of `module`."""
    within, turn, catching = 0, itertools.cycle(calls), True

    def handler(signo, frame):
        nonlocal within, catching
        if not catching:
            return
        within += is_within(module, frame)
        catching = False
        raise _Raised

    def make_them():
        nonlocal catching
        while within < most:
            catching = True  # set anew each time: Python leaves out what is raised where something is thrown away
            signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-6, 5e-4))
            next(turn)()
        catching = False
        return True

    before, made = signal.signal(signal.SIGALRM, handler), False
    while not made:
        with contextlib.suppress(_Raised):
            made = make_them()
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def another_thread_can(call):
    """It waits for nobody who does not go on."""
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    assert not thread.is_alive(), "it waits for ever"


def or_refused(function):
    """A handler that comes in the middle of something may be told that there is nothing yet, or no more."""

    def call():
        try:
            function()
        except RuntimeError:
            pass

    return call


def a_signal_handler_may_interrupt_each_call(engine, module, most):
    """Another thread asks, too: it has locks that the handler wants, and wants those that the interrupted call has."""
    threads, files = tasks(), descriptors()
    profiler, done = plumb.Profiler(interval=PERIOD, engine=engine), []
    names = ("start", "status", "snapshot", "set_interval", "reset", "status", "pause", "status", "resume", "stop")
    arguments = {"set_interval": [PERIOD]}
    calls = [or_refused(functools.partial(getattr(profiler, name), *arguments.get(name, ()))) for name in names]
    other = threading.Thread(target=lambda: [or_refused(profiler.status)() for _ in iter(lambda: bool(done), True)])
    other.start()
    interrupted_within(module, calls, calls, most)
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


def run_checks(checks):
    """Each function of these that is called check_; tells their names."""
    checks = [(name, check) for name, check in sorted(checks.items()) if name.startswith("check_") and inspect.isfunction(check)]
    for _, check in checks:
        check()
        while threading.enumerate() != [threading.main_thread()]:  # a watch that a handler stopped ends by itself
            time.sleep(0.001)
    print(json.dumps({"checks": [name for name, _ in checks]}))
