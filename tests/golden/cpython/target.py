# SPDX-License-Identifier: Apache-2.0
# The program whose memory the golden images hold. Every thread is blocked at a known line when "ready" is printed; then one
# JSON line says what Python itself thinks its stacks are. Runs on 3.6 and later.
import json
import sys
import threading

started = []
release = threading.Event()


def park():
    started.append(1)
    release.wait()


def fib(n):
    if n:
        return fib(n - 1) + \
            1
    park()
    return 0


def numbers():
    yield 1
    park()
    yield 2


def all_numbers():
    yield from numbers()


def sum_of_numbers():
    return sum(
        x for x in all_numbers())


class Thing:
    def __init__(self, work):
        self.value = work()

    @property
    def été(self):
        return Кириллица(self)


def Кириллица(thing):
    return list(map(lambda f: f(), [漢字]))


def 漢字():
    exec(compile("def \U0001d4d4():\n  park()\n\n\U0001d4d4()", "<exec🐍>", "exec"), {"park": park})


def make_things():
    for work in [int] * 1000 + [park]:  # often enough for the call to be specialized
        Thing(work)


def use_property():
    Thing(int).été


def in_except():
    try:
        raise ValueError("x")
    except ValueError:
        park()


def coroutines():
    import asyncio

    async def inner():
        park()

    async def outer():
        await inner()

    asyncio.run(outer()) if "asyncio" in sys.argv else drive(outer())


def drive(coro):
    try:
        coro.send(None)
    except StopIteration:
        pass


def deep():
    sys.setrecursionlimit(20000)
    fib(int(sys.argv[2]) if len(sys.argv) > 2 else 10)


WORK = {"recursion": lambda: fib(3), "generators": sum_of_numbers, "unicode": use_property, "init": make_things,
        "except": in_except, "coroutines": coroutines, "deep": deep}


def stacks():
    names = {t.ident: t.name for t in threading.enumerate()}
    result = {}
    for ident, frame in sys._current_frames().items():
        if ident == threading.get_ident():
            continue
        lines = []
        while frame:
            lines.append([frame.f_code.co_name, frame.f_lineno])
            frame = frame.f_back
        result[names.get(ident, "?")] = lines
    return result


class Worker(threading.Thread):
    """Attributes beyond those of Thread, some in slots."""
    __slots__ = ("slot",)

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.slot = self.extra = 1


def new_thread(work):
    name = work if work != "unicode" else "поток 漢字 🐍"
    t = (Worker if work == "except" else threading.Thread)(target=WORK[work], name=name, daemon=True)
    if work == "init":
        t.__dict__ = dict(t.__dict__)  # an ordinary dict instead of what the class shares
    if work == "generators":
        vars(t)  # makes the dict that 3.11 and later do without
    return t


def main():
    wanted = sys.argv[1].split(",")
    threading.stack_size(256 << 20 if "deep" in wanted else 0)
    threads = [new_thread(w) for w in wanted]
    for t in threads:
        t.start()
    while len(started) < len(threads):
        pass
    # The threads have counted themselves, but may still be on their way into the lock.
    previous = None
    while previous != stacks():
        previous = stacks()
        for _ in range(100000):
            pass
    print(json.dumps(previous))
    print("ready", flush=True)
    sys.stdin.readline()


main()
