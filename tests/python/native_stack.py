# SPDX-License-Identifier: Apache-2.0
"""Native stacks of threads of the own process. Each check_ is run; their names are told.

    native_stack.py DIRECTORY-OF-PLUMB"""
import _thread
import ctypes
import json
import os
import pickle
import sys
import tempfile
import threading
import zlib

import plumb
import plumb.profile as profile
from raising import raises, refusal

os.environ["PATH"] += os.pathsep + sys.argv[1]  # a root directory of its own has no other way to the program
PIPE = os.pipe()
PR_SET_DUMPABLE, PR_CAPBSET_DROP, CAP_SYS_PTRACE = 4, 24, 19


def leaf():
    os.read(PIPE[0], 1)


def key(item):
    leaf()
    return item


def waits():
    sorted([1], key=key)


def compresses(data, ends):
    while not ends:
        zlib.compress(data, 9)


class Started:
    """A thread, until the end of the block; the program sees it in the function that it waits in."""

    def __init__(self, function, *arguments, before=()):
        self.thread = threading.Thread(target=function, args=arguments)
        self.before = before

    def __enter__(self):
        self.thread.start()
        return self.thread

    def __exit__(self, *error):
        for then in self.before:
            then()
        self.thread.join()


def waiting():
    return Started(waits, before=[lambda: os.write(PIPE[1], b"x")])


def stack_of(number, **options):
    """On a busy machine a thread may not be stopped in time."""
    while True:
        try:
            return profile.ll_get_stack(number, **options)
        except plumb.Error as error:
            if "try again" not in str(error):
                raise


def stack_until(condition, thread, **options):
    """A thread may not be there yet when it has been started."""
    while True:
        frames = stack_of(thread.ident, **options)
        if condition(frames):
            return frames


def in_read(frames):
    return any("read" in frame.name for frame in frames)  # glibc 2.41 has functions of its own inside of it


def check_native_functions_inside_of_the_innermost_python_function():
    with waiting() as thread:
        frames = stack_until(in_read, thread)
        assert not any(frame.is_python for frame in frames)
        whole = stack_of(thread.ident, python=True)
        assert whole[-len(frames) :] == frames and whole[-len(frames) - 1].is_python
        assert whole == stack_of(thread.native_id, python=True)
    for frame in frames:
        assert frame.addr > frame.offset >= 0 and frame.name in str(frame) and pickle.loads(pickle.dumps(frame)) == frame


def check_native_functions_stand_between_those_of_python():
    with waiting() as thread:
        stack_until(in_read, thread)
        whole = stack_of(thread.ident, python=True)
    names = [frame.name for frame in whole]
    python = [frame.name for frame in whole if frame.is_python]
    assert python[-3:] == ["waits", "key", "leaf"], names
    assert any("sort" in name for name in names[names.index("waits") : names.index("key")]), names
    here = [frame for frame in whole if frame.name == "key"]
    assert [(frame.file, frame.line) for frame in here] == [(key.__code__.co_filename, key.__code__.co_firstlineno + 1)]


def check_a_thread_that_runs():
    ends = []
    with Started(compresses, os.urandom(1 << 22), ends, before=[lambda: ends.append(1)]) as thread:
        frames = stack_until(bool, thread)
    assert not any(frame.is_python for frame in frames)


def check_a_thread_that_threading_does_not_know():
    identified = []

    def begun():
        identified.append((threading.get_ident(), threading.get_native_id()))
        leaf()

    _thread.start_new_thread(begun, ())
    while not identified:
        pass
    for number in identified[0]:
        while not in_read(stack_of(number)):
            pass
    os.write(PIPE[1], b"x")


def check_of_the_thread_that_asks_what_it_asks_with_is_no_part():
    for number in threading.get_ident(), threading.get_native_id():
        assert stack_of(number) == []
        whole = stack_of(number, python=True)
        python = [frame.name for frame in whole if frame.is_python]
        assert whole[-1].is_python and python[-2:] == ["check_of_the_thread_that_asks_what_it_asks_with_is_no_part", "stack_of"], whole
        assert whole[0].name == "<module>", whole


def check_another_one_that_asks_is_whole():
    """Two that ask at once."""
    asked = []

    def asks():
        while not asked:
            stack_of(threading.get_ident())

    with Started(asks, before=[lambda: asked.append(1)]) as thread:
        stack_until(lambda frames: any(frame.name.endswith("ll_get_stack") for frame in frames), thread, python=True)


def check_they_are_counted_as_the_original_counts_them():
    tree = profile.create()
    with waiting() as thread:
        frames = stack_until(in_read, thread)
        for _ in range(3):
            profile.llprocess(stack_of(thread.ident), None, tree)
    node = tree
    for frame in frames:
        node = node["children"]["%s;<low-level>;%s" % (frame.name, hex(frame.addr - frame.offset))]
    assert tree["count"] == node["count"] == 3 and not node["children"]


def check_a_thread_that_has_ended_is_named():
    thread = threading.Thread(target=int)
    thread.start()
    ident = thread.ident
    thread.join()
    for number in (ident, 1, -1):
        assert "has no thread '%d' (there are " % number in refusal(ValueError, profile.ll_get_stack, number)
    for wrong in ("MainThread", None, 1.0):
        raises(TypeError, profile.ll_get_stack, wrong)


def check_nothing_is_left():
    before = len(os.listdir("/proc/self/fd")), threading.active_count()
    for _ in range(3):
        stack_of(threading.get_ident())
    assert (len(os.listdir("/proc/self/fd")), threading.active_count()) == before
    raises(ChildProcessError, os.waitpid, -1, os.WNOHANG)


def check_a_program_that_does_not_end_is_ended():
    native_stack = sys.modules["plumb._native_stack"]
    kept = native_stack._binary.find, native_stack._SECONDS, native_stack._GRACE
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "plumb")
        with open(program, "w") as file:
            file.write("#!/bin/sh\nexec sleep 1h\n")
        os.chmod(program, 0o755)
        native_stack._binary.find, native_stack._SECONDS, native_stack._GRACE = lambda: program, 0.05, 0.05
        try:
            assert "did not end within 0.1 s" in refusal(plumb.Error, profile.ll_get_stack, threading.get_ident())
        finally:
            native_stack._binary.find, native_stack._SECONDS, native_stack._GRACE = kept
    raises(ChildProcessError, os.waitpid, -1, os.WNOHANG)


def refuse_reading():
    """Others, but for root's programs, and those of root that are started from here."""
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(PR_CAPBSET_DROP, CAP_SYS_PTRACE, 0, 0, 0)


def check_without_the_right_to_read_that_is_said():
    """In a child, as it is for good."""
    child = os.fork()
    if not child:
        refuse_reading()
        said = refusal(plumb.Error, profile.ll_get_stack, threading.get_ident())
        wanted = "the native stack could not be read: the kernel does not let plumb read pid %d " % os.getpid()
        os._exit(0 if said.startswith(wanted) else print(said, file=sys.stderr, flush=True) or 3)
    assert os.waitpid(child, 0)[1] == 0


CHECKS = {name: function for name, function in list(globals().items()) if name.startswith("check_")}
for check in CHECKS.values():
    check()
print(json.dumps({"checks": list(CHECKS)}))
