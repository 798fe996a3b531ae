# SPDX-License-Identifier: Apache-2.0
# The program whose asyncio tasks the golden images hold: loops in threads, each with tasks that wait in their own way. When
# none moves any more, one JSON line says what Python itself knows of them: {name: {"frames": [[function, line], ...]
# innermost first, "state", "wait", "thread", "waiters"}}; then "ready". Runs on 3.7 and later.
import asyncio
import gc
import json
import os
import queue
import sys
import threading
import types

assert sys.version_info >= (3, 7), sys.version
parked = threading.Event()
release = threading.Event()
settled = queue.Queue()
tasks = {}  # name: task, of all tasks that matter
expected = {}  # name: what is not to be learnt from the task itself


def add(name, coro, **more):
    task = coro if asyncio.isfuture(coro) else asyncio.ensure_future(coro)
    if hasattr(task, "set_name"):
        task.set_name(name)
    else:  # 3.7: it is called by its coroutine
        task._coro.__qualname__ = name
    tasks[name] = task
    expected[name] = more
    return task


async def sleeper(depth):
    if depth:
        await sleeper(depth - 1)
    await asyncio.sleep(1000)


@types.coroutine
def old_style(future):
    yield from future


async def through_generator(future):
    await old_style(future)


async def produce(future):
    yield 1
    await future
    yield 2


async def consume(future):
    async for _ in produce(future):
        pass


class Awaitable:
    """Waits in a generator of its own."""

    def __init__(self, future):
        self.future = future

    def __await__(self):
        return (yield from self.future)


class Wrapped:
    """What a coroutine makes of itself for await."""

    def __init__(self, future):
        self.future = future

    def __await__(self):
        return through_generator(self.future).__await__()


async def wait_for(thing):
    await thing


async def gather(children):
    await asyncio.gather(*children)


async def locked(lock):
    async with lock:
        pass


async def block():
    """Keeps its loop from doing anything else."""
    parked.set()
    release.wait()


async def nothing():
    pass


async def unpaused():
    await nothing()


async def ways(loop):
    future = loop.create_future()
    for name, coro in [("sleep", sleeper(2)), ("generator", through_generator(future)), ("async for", consume(future)),
                       ("awaitable", wait_for(Awaitable(future))), ("wrapped", wait_for(Wrapped(future)))]:
        add(name, coro)
    first = add("awaited", sleeper(0), waiters=["waits", "waits too"])
    add("waits", wait_for(first), wait="task")
    children = [add("child %d" % i, sleeper(i), waiters=["gather"]) for i in range(3)]
    add("gather", gather(children), wait="gather")
    add("waits too", wait_for(first), wait="task")
    lock = asyncio.Lock()
    await lock.acquire()
    add("lock", locked(lock))
    add("queue", wait_for(asyncio.Queue().get()))
    add("event", wait_for(asyncio.Event().wait()))
    add("executor", wait_for(loop.run_in_executor(None, release.wait)))
    grouped = add("grouped", sleeper(0), waiters=["wait"])
    add("wait", wait_for(asyncio.wait([grouped])))
    add("été", sleeper(0))
    done = add("done", nothing())
    await done
    del tasks["done"]
    settled.put(1)
    await asyncio.sleep(1000)


async def group():
    """3.11+"""
    async with asyncio.TaskGroup() as g:
        add("grown", g.create_task(sleeper(1)), waiters=["group"])


async def blocking(loop):
    if sys.version_info >= (3, 12):
        loop.set_task_factory(asyncio.eager_task_factory)
        add("eager", sleeper(0))
        loop.set_task_factory(None)
    add("ready", unpaused(), state="ready", wait="nothing")
    settled.put(1)
    await block()


async def in_python(loop):
    loop.set_task_factory(lambda l, coro, **kw: asyncio.tasks._PyTask(coro, loop=l, **kw))
    first = add("python", sleeper(1), waiters=["python waits"])
    add("python waits", wait_for(first), wait="task")
    await asyncio.sleep(0)
    settled.put(1)
    await asyncio.sleep(1000)


def in_thread(name, main):
    def run():
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        expect = {"state": "running", "wait": "nothing"} if main is blocking else {}

        async def start():
            add(name, asyncio.current_task(), **expect)
            await main(loop)
        loop.run_until_complete(start())
    threading.Thread(target=run, name=name, daemon=True).start()


def stopped():
    """A loop that does not run any more, with a task that waits."""
    loop = asyncio.new_event_loop()

    async def start():
        add("left", sleeper(0), thread="")
        await asyncio.sleep(0)
    loop.run_until_complete(start())
    return loop


def first(obj, *names):
    for name in names:
        value = getattr(obj, name, None)
        if value is not None:
            return value
    if type(obj).__name__ in ("async_generator_asend", "async_generator_athrow", "coroutine_wrapper"):
        return gc.get_referents(obj)[0] if "cr_await" in names else None
    return None


def chain(coro, state):
    """[[function, line], ...], innermost first."""
    frames = []
    while coro is not None:
        frame = first(coro, "cr_frame", "gi_frame", "ag_frame")
        if frame is not None:
            frames.append([frame.f_code.co_name, frame.f_lineno])
        coro = first(coro, "cr_await", "gi_yieldfrom", "ag_await")
    return frames[::-1] if state != "running" else frames[:1]


def said():
    result = {}
    for name, task in tasks.items():
        more = expected[name]
        state = more.get("state", "waiting")
        thread = [t.name for t in threading.enumerate() if t.ident == getattr(task.get_loop(), "_thread_id", None)]
        result[name] = {"frames": chain(task.get_coro() if hasattr(task, "get_coro") else task._coro, state), "state": state, "wait": more.get("wait", "future"),
                        "thread": more.get("thread", thread[0] if thread else ""),
                        "waiters": sorted(more.get("waiters", []))}
    return result


def main():
    # One after the other: their tasks are then always the same ones.
    work = [("ways", ways), ("blocked", blocking), ("in python", in_python)]
    if sys.version_info >= (3, 11):
        work.append(("group", None))
    for name, function in work:
        if name == "group":
            async def grouping(loop):
                loop.call_later(0.01, settled.put, 1)  # when all of them wait
                await group()
            function = grouping
        in_thread(name, function)
        settled.get()
    parked.wait()
    kept = stopped()
    previous = None
    while previous != said():
        previous = said()
        for _ in range(100000):
            pass
    print(json.dumps(previous))
    print("ready", flush=True)
    sys.stdin.readline()
    os._exit(0 if kept else 1)  # the thread of the executor would be waited for


main()
