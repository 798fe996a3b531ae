# SPDX-License-Identifier: Apache-2.0
"""What a recording leaves behind: in this process, in a child by fork, in another interpreter. Each check_ is run; their names are told."""
import contextlib
import gc
import itertools
import json
import os
import select
import subprocess
import sys
import warnings

import plumb
from plumb import _binary, _plumb
from raising import raises
from recorded import OUT, busy_inner, functions, has, run_checks, settle, spin, tells_the_hottest, threads_and_descriptors
from sanitizer import MAY_FORK, SANITIZED


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def check_a_hundred_rounds_leave_nothing_behind():
    def rounds(n):
        for i in range(n):
            with plumb.profile() as p:
                spin()
            if i % 10 == 0:
                p.tree(), p.text(), p.html()
        gc.collect()

    rounds(20)
    before, grown = threads_and_descriptors(), []
    # A kilobyte for each round would be nothing; a profile for each would be thirty times as much, again and again. What the
    # allocator keeps for threads that meet has an end.
    while not grown or (grown[-1] >= 3 << 20 and not SANITIZED):
        assert len(grown) < 10, grown
        memory = resident()
        rounds(100)
        settle(before)
        grown.append(resident() - memory)


def check_what_has_ended_holds_no_descriptors():
    path, before = os.path.join(OUT, "kept.plumb"), threads_and_descriptors()
    with plumb.profile() as unnamed, plumb.profile(output=path) as named:
        profiler = plumb.Profiler()
        profiler.start()
        reached = has(unnamed, 20, "busy_inner"), has(named, 20, "busy_inner")
        busy_inner(lambda: profiler.status()["samples"] >= 40 and all(has_enough() for has_enough in reached))
        profiler.stop()
    settle(before)
    os.unlink(path)
    for p in (unnamed, named, profiler.snapshot()):
        assert tells_the_hottest(p) and p.html().startswith("<!") and "busy_inner" in functions(p)
        p.save(path)
        assert functions(plumb.open(path)) == functions(p)
    for p in (unnamed, named):  # with the time of each sample
        assert len(json.loads(p.write("firefox"))["threads"]) == p.info()["threads"]
        middle = p.info()["duration"] / 2
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one may have none
            halves = [p.stats(time=part, idle="keep")["samples"]["total"] for part in ((0, middle), (middle, None))]
        assert sum(halves) == p.info()["samples"], (halves, p.info())
    gc.collect()
    settle(before)
    assert profiler.status()["state"] == "stopped"


def check_a_recording_that_is_cut_when_it_has_ended_is_told():
    path = os.path.join(OUT, "cut.plumb")
    with plumb.profile(output=path) as p:
        busy_inner(has(p, 20))
    os.truncate(path, 100)
    assert "the recording" in str(raises(plumb.Error, p.write, "firefox")) and p.text()


def check_what_nobody_has_any_more_is_stopped():
    before = threads_and_descriptors()
    plumb.start()
    gc.collect()
    settle(before)
    session = _plumb.Session()
    busy_inner(lambda: session.status()["samples"] > 5)
    del session
    gc.collect()
    settle(before)


def check_a_child_of_a_fork_is_not_recorded():
    if not MAY_FORK:
        return
    with plumb.profile() as p:
        busy_inner(has(p, 10))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of a process with several threads, as it is now
            child = os.fork()
        if child == 0:
            break_out(p)
        status = os.waitpid(child, 0)[1]
    assert status == 0 and p.info()["samples"] >= 10, (status, p.info())


def break_out(p):
    """In the child: exit with what is wrong."""
    status = 1
    try:
        p.__exit__(None, None, None)
        status = 2
        assert raises(plumb.Error, p.text).code == "forked"
        with plumb.profile() as own:
            busy_inner(has(own, 10, "busy_inner"))
        status = 0 if "busy_inner" in functions(own) else 3
    finally:
        os._exit(status)


def descriptors():
    """{number: what is open}"""
    found = {}
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # that of the list itself
            found[int(name)] = os.readlink("/proc/self/fd/" + name)
    return found


def take_all_numbers(last):
    """As a daemon that has closed what there was and opens what it needs: files of all the kinds that plumb has."""
    name, taken, number = os.path.join(OUT, "daemon"), [], 0
    kinds = lambda: os.open(name, os.O_RDWR | os.O_CREAT, 0o600), lambda: os.open("/proc/self/stat", os.O_RDONLY), select.epoll
    for kind in itertools.cycle(kinds):
        if number > last:
            return taken
        taken.append(kind())
        number = taken[-1] if isinstance(taken[-1], int) else taken[-1].fileno()


def as_a_daemon(answer, before, kept):
    """In the child of a fork: tell what it has of plumb's, and what of its own is closed when nobody has plumb's objects any more."""
    has = descriptors()
    os.dup2(answer, 2)
    os.closerange(3, max(has) + 1)
    taken = take_all_numbers(max(has) + 3)
    opened = descriptors()
    kept.clear()
    gc.collect()
    lost = set(opened.items()) - set(descriptors().items())
    os.write(2, json.dumps([sorted(set(has) - set(before)), sorted(lost), len(taken)]).encode())


def daemon_beside(begin, end):
    """(descriptors of plumb's, descriptors that it lost) of a daemon that is forked while there is what `begin` gives."""
    gc.collect()
    read, answer = os.pipe()
    before = descriptors()
    kept = [begin()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            as_a_daemon(answer, before, kept)
        finally:
            os._exit(0)
    os.close(answer)
    with open(read) as told:
        has, lost, taken = json.loads(told.read())
    os.waitpid(child, 0)
    end(kept.pop())
    assert taken
    return has, lost


def ways_to_keep_a_session():
    """(how it begins, how it ends), ..."""

    def profiler(**options):
        made = plumb.Profiler(**options)
        made.start()
        return made

    def generator():
        @plumb.profile(done=lambda _: None)
        def values():
            yield

        made = values()
        next(made)
        return made

    def stop(session):
        session.stop()

    ways = [
        (lambda: plumb.start(output=os.path.join(OUT, "fork.plumb")), stop),
        (plumb.start, stop),
        (profiler, stop),
        (_plumb.Session, stop),
        (lambda: plumb.profile.watch("all"), stop),
        (generator, list),
    ]
    if not plumb._gil.why_not():
        ways.append((lambda: plumb.start(engine="gil"), stop))
    with contextlib.suppress(plumb.Error):
        _binary.find()
        ways += [(lambda: plumb.start(engine="external"), stop), (lambda: profiler(engine="external"), stop)]
        ways.append((lambda: plumb.start(engine="external", output=os.path.join(OUT, "outside.plumb")), stop))
    return ways


def check_a_child_of_a_fork_has_its_descriptors_for_itself():
    if not MAY_FORK:
        return
    for number, (begin, end) in enumerate(ways_to_keep_a_session()):
        found = daemon_beside(begin, end)
        assert found == ([], []), "way %d: %r" % (number, found)
    opened = lambda: plumb.open(os.path.join(OUT, "fork.plumb"))
    assert daemon_beside(opened, str)[1] == []  # which the child may read, too


INTERRUPTED = """
import subprocess
import sys
name, home = sys.argv[1:]
said = []
def trace(frame, event, arg):
    if frame.f_globals["__name__"] == home and event == "line" and not said:
        try:
            getattr(plumb, name)()
        except ImportError as error:
            said.append(str(error))
    return trace
import plumb
sys.settrace(trace)
use = getattr(plumb, name)
sys.settrace(None)
use()
print(*said)
"""


def check_a_signal_handler_that_interrupts_the_import_is_told():
    """Who traces the lines may do at one what a handler that comes there would."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for name, home in ("start", "plumb._recording"), ("profile", "plumb.profile"):
        command = [sys.executable, "-c", INTERRUPTED, name, home]
        said = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout.decode()
        assert said == "plumb.%s is being imported by the code that this signal handler has interrupted: use it once before\n" % name, said


def check_another_interpreter_can_import_it():
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters
    code = "import plumb\nwith plumb.profile() as p:\n    sum(range(1000))\nassert p.info() and plumb.profile.merge(p.tree())\n"
    interpreter = interpreters.create()
    try:
        failed = (getattr(interpreters, "run_string", None) or interpreters.exec)(interpreter, code)
    finally:
        interpreters.destroy(interpreter)
    assert failed is None, failed


if __name__ == "__main__":
    run_checks(globals())
