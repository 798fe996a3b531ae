# SPDX-License-Identifier: Apache-2.0
"""A program does all sorts of things while it is being watched. Each check_ is run; their names are told. checks.py says how."""
import gc
import itertools
import mmap
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import threading

import plumb.profile as profile
from checks import ENGINE, IN_PROCESS, run_all, spin, spin_until
from plumb._plumb import HeldFile
from trees import nodes

if sys.version_info >= (3, 13):
    import _interpreters as interpreters
else:
    import _xxsubinterpreters as interpreters


def watch(*arguments, **options):
    return profile.watch(*arguments, **{"interval": 0.001, "cycle": 0.02, "engine": ENGINE, **options})


def samples(history):
    return history.status()["samples"]


def counted(history):
    return profile.get_profile(history)["count"]


def names(history):
    return {node["description"]["name"] for node in nodes(profile.get_profile(history))}


def alone():
    """Whether no other thread is left: one that was joined may take its time to be gone."""
    return len(os.listdir("/proc/self/task")) == 1


def resources():
    """(descriptors, kilobytes) of this process, when only the main thread is left and no garbage"""
    spin_until(alone)
    gc.collect()
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[1])
    return len(os.listdir("/proc/self/fd")), pages * 4


def one_round():
    history = watch(cycle=0.005)
    spin()
    history.recent()
    history.stop()
    assert history.status()["ended"]


def check_a_hundred_rounds_leave_nothing():
    """What rounds leave they leave again and again. What the allocator keeps for threads that meet has an end."""
    for _ in range(20):
        one_round()
    grown = []
    while not grown or grown[-1] >= 3000:
        assert len(grown) < 10, grown
        before = resources()
        for _ in range(100):
            one_round()
        after = resources()
        assert after[0] == before[0], (before, after)
        grown.append(after[1] - before[1])


def check_rounds_without_a_stop_end_with_their_threads():
    before = resources()[0]
    for _ in range(10):
        thread = threading.Thread(target=lambda: watch("all", stop=lambda: True) and watch())
        thread.start()
        thread.join()
    spin_until(lambda: resources()[0] == before)


def in_child(work):
    """Run it in a child by fork; its trace is on stderr if it fails."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(status)
    _, status = os.waitpid(pid, 0)
    assert status == 0, "status %#x" % status


def check_a_child_by_fork_is_unharmed_and_may_watch_itself():
    history = watch()
    spin_until(lambda: counted(history) >= 10)

    def child():
        assert counted(history) >= 10 and history.recent() == profile.create()
        status = history.status()
        assert status["ended"] and status["forked"], status
        history.stop()
        mine = watch()
        # Not after so many samples: all of them may be of a moment in which this thread had no processor.
        spin_until(lambda: {"spin", "child"} <= names(mine))
        mine.stop()
        grandchild = watch("all")
        in_child(lambda: watch().stop())
        grandchild.stop()

    for _ in range(5):
        in_child(child)
    before = samples(history)
    spin_until(lambda: samples(history) > before)
    history.stop()
    assert "child" not in names(history)


def check_forks_at_any_moment():
    histories = [watch(cycle=0.002), watch("all", cycle=0.003)]
    done = []

    def read():
        while not done:
            for history in histories:
                history.recent()
                counted(history)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()

    def child():
        for history in histories:
            assert counted(history) >= 0 and history.status()["ended"]
            history.stop()
        with profile.lock:
            gc.collect()

    for _ in range(25):
        in_child(child)
    done.append(True)
    for thread in readers:
        thread.join()
    for history in histories:
        history.stop()


def check_a_fork_while_a_watch_ends():
    """Another thread has its lock then, and is not in the child."""
    history, has_lock, goes_on = watch(cycle=3600), threading.Event(), threading.Event()
    spin_until(lambda: samples(history))

    def made(counted):
        has_lock.set()
        goes_on.wait()
        return counted.tree()

    history._publisher._made = made
    stops = threading.Thread(target=history.stop)
    stops.start()
    has_lock.wait()

    def child():
        signal.alarm(20)
        history.stop()
        assert history.recent() == profile.create()
        assert history.status()["ended"] and history.status()["forked"]

    try:
        in_child(child)
    finally:
        goes_on.set()
        stops.join()


def _work_in_process(pipe):
    history = watch()
    spin_until(lambda: counted(history) >= 10)
    history.stop()
    pipe.send(sorted(names(history) & {"_work_in_process", "check_multiprocessing_by_fork"}))


def check_multiprocessing_by_fork():
    context = multiprocessing.get_context("fork")
    history = watch("all")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work_in_process, args=(theirs,))
    process.start()
    theirs.close()  # so that its end is the end of what is received
    assert "_work_in_process" in ours.recv()
    process.join()
    assert process.exitcode == 0
    history.stop()


def check_threads_come_and_go():
    history = watch("all", interval=0.0005)
    rounds = 0
    # With the GIL only those are seen that hand it over.
    while rounds < 30 or not samples(history) or (IN_PROCESS and "spin" not in names(history)):
        rounds += 1
        threads = [threading.Thread(target=spin) for _ in range(10)]
        one = None
        for thread in threads:
            thread.start()
            one = one or watch(thread.ident)
        for thread in threads:
            thread.join()
        one.stop()
    history.stop()


def check_signal_handlers_may_ask():
    history, asked = watch(cycle=0.002), []

    def ask(*_):
        asked.append(history.recent()["count"])
        if len(asked) < 50:
            signal.setitimer(signal.ITIMER_REAL, 0.001)

    before = signal.signal(signal.SIGALRM, ask)
    signal.setitimer(signal.ITIMER_REAL, 0.001)
    while len(asked) < 50:
        history.recent()
        counted(history)
    signal.signal(signal.SIGALRM, before)
    history.stop()


def check_the_collector_and_the_interpreter_are_left_alone():
    interval, history = sys.getswitchinterval(), watch(cycle=0.005)
    gc.freeze()
    for _ in range(20):
        circle = [[] for _ in range(1000)]
        circle.append(circle)
        del circle
        gc.collect()
        history.recent()
    gc.unfreeze()
    assert sys.getswitchinterval() == interval and sys.gettrace() is None and sys.getprofile() is None and gc.isenabled()
    history.stop()


INSIDE = """
import plumb.profile as profile
history = profile.watch(interval=0.001, cycle=0.02, engine=%r)
def inside():
    n = 20000
    while n:
        n -= 1
while not any("inside" in str(tree) for _, tree in list(history)):
    inside()
%s
"""


def new_interpreter():
    """One with the same GIL."""
    if sys.version_info >= (3, 13):
        return interpreters.create("legacy")
    return interpreters.create() if sys.version_info < (3, 9) else interpreters.create(isolated=False)


def check_interpreters_in_the_interpreter():
    """One stops its watch, one leaves that to its end; with the GIL of the first, and with their own, where they may have no daemon
    threads. sys._current_frames() knows one stack of a thread only."""
    if not IN_PROCESS:
        return
    history = watch()
    # Before 3.12 those with a thread left cannot be ended, and all have the same GIL.
    several = sys.version_info >= (3, 12)
    lasts, creates = (("history.stop()", ""), (new_interpreter, interpreters.create)) if several else (("history.stop()",), (new_interpreter,))
    for last, create in itertools.product(lasts, creates):
        interpreter = create()
        failed = interpreters.run_string(interpreter, "import sys\nsys.path[:] = %r\n" % sys.path + INSIDE % (ENGINE, last))
        assert failed is None, failed
        interpreters.destroy(interpreter)
    before = samples(history)
    spin_until(lambda: samples(history) > before)
    history.stop()


HANGS = 300  # seconds after which a program is taken for one that hangs
ENDS = {
    "by itself": ("", 0),
    "os._exit": ("os._exit(3)", 3),
    "sys.exit": ("sys.exit(4)", 4),
    "sys.exit in a thread": ("t = threading.Thread(target=sys.exit, args=(5,)); t.start(); t.join()", 0),
    "with a daemon": ("threading.Thread(target=forever, daemon=True).start(); profile.watch('all', engine=ENGINE)", 0),
    "with many watches": ("more = [profile.watch('all', cycle='1ms', engine=ENGINE) for _ in range(5)]", 0),
    "with a thread that goes on": ("threading.Thread(target=time.sleep, args=(0.05,)).start()", 0),
    "asked at the very end": ("atexit.register(lambda: (history.recent(), history.stop(), history.status()))", 0),
    "held by the module": ("sys.keep = history; import builtins; builtins.keep = history", 0),
    "by a signal": ("os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
}
BEGIN = """
import atexit, os, signal, sys, threading, time
import plumb.profile as profile
ENGINE = %r
def forever():
    while True:
        pass
history = profile.watch(interval=0.001, cycle=0.005, engine=ENGINE)
while not any(tree["count"] for _, tree in list(history)):
    pass
"""


def run(text, *options, begin=None, watched=True):
    command = [sys.executable, *options, "-c", BEGIN % ENGINE + text if watched else text]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=begin)
    try:
        output, errors = process.communicate(timeout=HANGS)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)  # with -X dev it tells where its threads are
        raise AssertionError("%r hangs: %s" % (text, process.communicate()))
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def check_programs_end_as_ever():
    for name, (text, status) in ENDS.items():
        result = run(text, "-X", "dev", "-W", "error")
        assert (result.returncode, result.stderr, result.stdout) == (status, "", ""), (name, result)


def check_a_crash_still_has_its_trace():
    for where in ("crash()", "t = threading.Thread(target=crash); t.start(); t.join()"):
        result = run("import faulthandler, ctypes\nfaulthandler.enable()\ndef crash():\n    ctypes.string_at(0)\n" + where)
        assert result.returncode == -signal.SIGSEGV, result
        assert "Fatal Python error: Segmentation fault" in result.stderr and " in crash\n" in result.stderr, result


RECORDS_IN_THREE = """
import sys, threading
RECORDS = "import sys; sys.path[:] = %r; import plumb\\nwith plumb.profile() as p: sum(range(100000))\\np.text(); plumb.Profiler, plumb.open, plumb.merge, plumb.diff, plumb.tag, plumb.event('a')"
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
def record():
    interpreter = interpreters.create()
    failed = interpreters.run_string(interpreter, RECORDS % sys.path)
    assert failed is None, failed
    interpreters.destroy(interpreter)
threads = [threading.Thread(target=record) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def check_a_child_of_a_fork_keeps_what_it_maps():
    """It may lie where the parent has the page that holds a file without a name."""
    file = HeldFile(None)
    pid = os.fork()
    if pid == 0:
        pages = [mmap.mmap(-1, mmap.PAGESIZE) for _ in range(8)]
        del file
        for page in pages:
            page[0] = 1
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0


def check_interpreters_that_record_themselves_end_well():
    """Each with its own GIL. In 3.12 and 3.13 modules of the standard library end a process that has them there, and not in the first
    one: hashlib, datetime."""
    if IN_PROCESS and sys.version_info >= (3, 12):
        result = run(RECORDS_IN_THREE, watched=False)
        assert (result.returncode, result.stderr, result.stdout) == (0, "", ""), result


# Before 3.11, calls of Python are calls of C; from 3.14 on the interpreter keeps some of the stack free.
LEAST_STACK = (192 if sys.version_info >= (3, 14) else 80 if sys.version_info >= (3, 11) else 112) << 10


def check_a_limit_of_stacks_is_for_the_program_alone():
    """The C library makes the size of each thread's stack of it."""
    if not IN_PROCESS:
        return
    low = LEAST_STACK, resource.getrlimit(resource.RLIMIT_STACK)[1]
    records = "import plumb\nwith plumb.profile() as all_of_it:\n    while not all_of_it.tree()['count']:\n        pass\n"
    result = run(records, begin=lambda: resource.setrlimit(resource.RLIMIT_STACK, low))
    assert (result.returncode, result.stderr, result.stdout) == (0, "", ""), result


WRITES_IN_A_SMALL_THREAD = """
import os, plumb, tempfile, threading
with plumb.profile() as p:
    while not p.tree()["count"]:
        pass
suffixes = [suffix for suffix in plumb._plumb.formats()[0].values() if suffix]
def write(folder):
    str(p)
    for suffix in suffixes:
        p.save(os.path.join(folder, "profile" + suffix))
    print(len(os.listdir(folder)) == len(suffixes))
threading.stack_size(%d)
with tempfile.TemporaryDirectory() as folder:
    thread = threading.Thread(target=write, args=(folder,))
    thread.start()
    thread.join()
"""


def check_all_is_written_in_threads_with_small_stacks():
    """Servers give theirs 64 KiB. What needs more writes into the stack of the next thread."""
    if not IN_PROCESS:
        return
    result = run(WRITES_IN_A_SMALL_THREAD % LEAST_STACK, watched=False)
    assert (result.returncode, result.stdout.strip()) == (0, "True"), result


RECORDS_IN_A_SMALL_THREAD = """
import plumb, threading
def record():
    with plumb.profile() as p:
        while not p.tree()["count"]:
            pass
    print("recorded")
record()  # an import takes more stack, of Python's own
threading.stack_size(32 << 10)
thread = threading.Thread(target=record)
thread.start()
thread.join()
"""


SHOWS_ITS_COMMAND = """
import os, plumb, tempfile
with plumb.profile() as p:
    while not p.tree()["count"]:
        pass
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "a.plumb")
    p.save(path)
    for profile in p, plumb.open(path):
        repr(profile), profile.text(), profile.stats()
        print(ascii(profile.info()["command"]))
"""


def check_a_command_line_may_be_anything():
    """No UTF-8, or as long that it is cut within a letter, whichever of its two bytes that is."""
    for word, shown in ("caf\udce9", "caf\ufffd"), (3000 * "\xfc", "\xfc\xfc"), ("a" + 3000 * "\xfc", "\xfc\xfc"):
        result = run(SHOWS_ITS_COMMAND, "-X", "utf8", "-X", word, watched=False)
        told = result.stdout.splitlines()
        assert result.returncode == 0 and len(told) == 2 and all(ascii(shown)[1:-1] in line for line in told), result


def check_the_hottest_function_may_have_a_long_name():
    """It is cut within a letter."""
    if not IN_PROCESS:
        return
    name, names = "a" + 45 * "\u95a2\u6570", {}
    exec("def %s():\n    for _ in range(10000):\n        pass\n" % name, names)
    history = watch()
    while not history.status()["hottest"].startswith(name[:80]):
        names[name]()
    history.stop()


REFUSED_IN_A_SMALL_THREAD = """
import ctypes, os, plumb, threading
with plumb.profile():  # an import takes more stack, of Python's own
    pass
os.setgroups(range(65536))
os.setgid(1234)
os.setuid(1234)
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE: its memory is a file of root's
def record():
    try:
        plumb.Profiler(engine="inprocess").start()
    except plumb.Error as e:
        print("not dumpable" in str(e))
record()
threading.stack_size(%d)
thread = threading.Thread(target=record)
thread.start()
thread.join()
"""


def check_a_thread_with_a_small_stack_is_told_why_it_cannot_record():
    """What explains it looks into files of /proc, which may be long."""
    if IN_PROCESS and os.geteuid() == 0:
        result = run(REFUSED_IN_A_SMALL_THREAD % LEAST_STACK, watched=False)
        assert (result.returncode, result.stdout) == (0, 2 * "True\n"), result


def check_a_thread_with_the_smallest_stack_there_is_can_record():
    if IN_PROCESS and sys.version_info < (3, 14):  # later ones keep more than that free
        result = run(RECORDS_IN_A_SMALL_THREAD, watched=False)
        assert (result.returncode, result.stdout) == (0, 2 * "recorded\n"), result


run_all(globals())
