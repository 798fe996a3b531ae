# SPDX-License-Identifier: Apache-2.0
"""A program that says events when it is told to, by a line on standard input each; it answers when it has."""
import os
import sys

import plumb


def before(rounds):
    return sum(i * i for i in range(rounds))


def after(rounds):
    return sum(i * i for i in range(rounds))


def answer(**values):
    os.write(1, ("%s\n" % values).encode())


def say(count, name="step"):
    for number in range(int(count)):
        plumb.event(name, number=number, text="größe\n")


def together(threads, count):
    """At once where there is no GIL. They stay until all have said what they have to say."""
    import threading

    said = threading.Barrier(int(threads) + 1)

    def work(number):
        said.wait()
        say(count, "thread %d" % number)
        said.wait()
        over.wait()

    over = threading.Event()
    working = [threading.Thread(target=work, args=(number,)) for number in range(int(threads))]
    for thread in working:
        thread.start()
    said.wait()
    said.wait()
    answer(tids=[thread.native_id for thread in working])
    line()  # once it was heard
    over.set()
    for thread in working:
        thread.join()


def between(rounds):
    before(int(rounds))
    plumb.event("between")
    after(int(rounds))


def fork():
    child = os.fork()
    if child:
        answer(child=child)
        os.waitpid(child, 0)
    else:
        say(2, "of the child")
        os.read(0, 5)  # "over\n", once it was heard
        os._exit(0)


def execute():
    os.execv(sys.executable, [sys.executable, *sys.argv])


def inner(count):
    """In another interpreter."""
    import importlib

    for name in ("_interpreters", "_xxsubinterpreters"):
        try:
            module = importlib.import_module(name)
            break
        except ImportError:
            pass
    code = "import sys; sys.path[:] = %r\nimport plumb\nfor number in range(%s): plumb.event('inner', number=number)" % (sys.path, count)
    module.run_string(module.create(), code)


COMMANDS = {function.__name__: function for function in (say, together, between, fork, execute, inner)}


def line():
    """What is not read is for a child of a fork."""
    read = b""
    while not read.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            return []
        read += byte
    return read.decode().split()


answer(pid=os.getpid())
for words in iter(line, []):
    COMMANDS[words[0]](*words[1:])
    answer(done=words[0])
