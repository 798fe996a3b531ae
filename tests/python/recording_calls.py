# SPDX-License-Identifier: Apache-2.0
"""What is recorded of functions, generators and coroutines, decorated or awaited. Each check_ is run; their names are told."""
import asyncio
import collections
import contextlib
import gc
import inspect
import io
import itertools
import os

import plumb
from raising import raises
from recorded import OUT, busy_inner, descriptions, functions, has, run_checks, spin


def check_calls_of_a_function_are_recorded():
    done = []

    @plumb.profile(done=done.append)
    def work(n):
        """Of work."""
        busy_inner(has(done_p(), 10))
        return work(n - 1) if n else "result"

    def done_p():
        return [p for p in gc.get_objects() if type(p) is plumb.Recording and p._outcome is None and p._session is not None][0]

    assert work(3) == "result" and work.__doc__ == "Of work." and list(inspect.signature(work).parameters) == ["n"]
    assert len(done) == 1 and work.profile is done[0] and done[0].info()["samples"] >= 40
    assert work(0) == "result" and len(done) == 2 and work.profile is done[1]


def check_a_decorated_function_may_raise_and_tells_on_stderr():
    @plumb.profile()
    def work():
        spin()
        raise KeyError("of work")

    with contextlib.redirect_stderr(io.StringIO()) as told:
        assert "of work" in str(raises(KeyError, work))
    assert "samples" in told.getvalue()
    path = os.path.join(OUT, "decorated.plumb")
    silent = plumb.profile(output=path)(spin)
    with contextlib.redirect_stderr(io.StringIO()) as told:
        silent()
    assert told.getvalue() == "" and os.path.getsize(path) > 0


def check_generators_are_recorded_from_begin_to_end():
    done = []

    @plumb.profile(done=done.append)
    def numbers(first):
        number = first
        try:
            while True:
                try:
                    number = (yield number) + 1
                except ValueError:
                    number = 101
        finally:
            spin()

    assert inspect.isgeneratorfunction(numbers)
    iterator = numbers(1)
    assert not done and next(iterator) == 1 and iterator.send(5) == 6 and iterator.throw(ValueError("of the test")) == 101
    assert not done
    iterator.close()
    assert len(done) == 1 and next(numbers(7)) == 7
    gc.collect()
    assert len(done) == 2

    @plumb.profile(done=done.append)
    def returning():
        yield 1
        return "result"

    def delegating():
        return (yield from returning())

    iterator = delegating()
    next(iterator)
    assert raises(StopIteration, next, iterator).value == "result" and len(done) == 3


def check_coroutines_share_a_recording():
    done = []

    @plumb.profile(done=done.append)
    async def work(event, others):
        others.append(1)
        if len(others) == 2:
            event.set()
        await event.wait()
        return len(others)

    async def main():
        event, others = asyncio.Event(), []
        return await asyncio.gather(work(event, others), work(event, others))

    assert inspect.iscoroutinefunction(work)
    assert asyncio.run(main()) == [2, 2] and len(done) == 1


def check_asynchronous_generators_are_recorded():
    done, closed = [], []

    @plumb.profile(done=done.append)
    async def numbers(first):
        try:
            yield (yield first) + 1
        except ValueError:
            yield 101
        finally:
            closed.append(first)

    @plumb.profile(done=done.append)
    async def three():
        for i in range(3):
            await asyncio.sleep(0)
            yield i

    async def main():
        iterator = numbers(1)
        assert await iterator.__anext__() == 1 and await iterator.asend(5) == 6
        assert await iterator.athrow(ValueError("of the test")) == 101
        await iterator.aclose()
        assert closed == [1] and len(done) == 1
        assert [i async for i in three()] == [0, 1, 2] and len(done) == 2

    assert inspect.isasyncgenfunction(numbers)
    asyncio.run(main())


async def task_of_it(until):
    busy_inner(until)


async def awaits_it(until):
    await asyncio.gather(task_of_it(until))


def awaited(p):
    """The samples of what task_of_it calls, below who awaits it: while its coroutine is made it stands there itself."""
    below_it, waiting = 0, [(p.tree(), ())]
    while waiting:
        node, above = waiting.pop()
        names = (*above[-2:], node["description"]["name"])
        if names == ("awaits_it", "task_of_it", "busy_inner"):
            below_it += node["count"]
        waiting += [(child, names) for child in node["children"].values()]
    return below_it


def check_tasks_are_shown_below_who_awaits_them():
    with plumb.profile(tasks=True) as p:
        asyncio.run(awaits_it(lambda: awaited(p) >= 30))
    with plumb.profile() as p:
        asyncio.run(awaits_it(has(p, 30, "task_of_it")))
    assert awaited(p) == 0


async def sleeps_in_a_task():
    await asyncio.sleep(0.01)


async def awaits_sleep(enough):
    while not enough():
        await asyncio.ensure_future(sleeps_in_a_task())


def waited_below(p, *names):
    """Task seconds of the waits whose own frames are these."""
    stacks = p.stats()["waits"]["stacks"]
    return sum(row["task_ns"] for row in stacks if [f["name"] for f in row["frames"] if f["file"] == __file__] == list(names)) / 1e9


def check_how_long_tasks_wait_is_told():
    with plumb.profile(tasks=True) as p:
        asyncio.run(awaits_sleep(lambda: p.stats().get("waits") and waited_below(p, "awaits_sleep", "sleeps_in_a_task") > 0.2))
    assert {row["what"] for row in p.stats()["waits"]["stacks"]} == {"time"}
    assert "time (sleep), in sleeps_in_a_task" in p.text(top=40), p.text(top=40)
    with plumb.profile() as p:
        asyncio.run(awaits_it(has(p, 30, "task_of_it")))
    assert "waits" not in p.stats()


@plumb.tag(step="plain")
def lead_to_plain(until):
    busy_inner(until)


@plumb.tag(step="generator")
def lead_to_generator(until):
    while not until():
        yield spin()


@plumb.tag(step="coroutine")
async def lead_to_coroutine(until):
    busy_inner(until)


@plumb.tag(step="asynchronous generator")
async def lead_to_async_generator(until):
    while not until():
        yield spin()


def lead(until, engine):
    """To work, by wrappers of each kind; recorded, and the profile is given."""
    found = []

    def recorded(function):
        return plumb.profile(engine=engine, done=found.append)(function)

    @recorded
    def lead_plain():
        lead_to_plain(until("lead_to_plain"))
        yield
        collections.deque(lead_to_generator(until("lead_to_generator")))

    @recorded
    async def lead_async():
        await lead_to_coroutine(until("lead_to_coroutine"))
        async for _ in lead_to_async_generator(until("lead_to_async_generator")):
            yield

    async def take():
        async for _ in lead_async():
            pass

    application = plumb.web.WSGIMiddleware(recorded(lambda environ, start: [list(lead_plain()), asyncio.run(take())]))
    application({"REQUEST_METHOD": "GET", "PATH_INFO": "/"}, None)
    return found[-1]


def ways(tree):
    """Of each node, the functions that lead to it."""
    waiting = [(tree, ())]
    while waiting:
        node, above = waiting.pop()
        way = above + (node["description"]["name"],)
        yield way
        waiting += [(child, way) for child in node["children"].values()]


def check_frames_that_only_lead_to_functions_are_left_out():
    for engine in ("inprocess",) if plumb._gil.why_not() else ("inprocess", "gil"):
        path = os.path.join(OUT, "wrappers.plumb")
        with plumb.profile(engine=engine) as p:
            wanted = lambda name: enough(p, name)
            inner = lead(wanted, engine)
        p.save(path)
        for profile in (p, inner, plumb.open(path)):
            tree = profile.tree()
            found = set(ways(tree))
            for place in (("lead_plain", "lead_to_plain"), ("lead_plain", "lead_to_generator"), ("lead_async", "lead_to_coroutine"),
                          ("lead_async", "lead_to_async_generator"), ("lead", "<lambda>")):
                # Of the inner recording it is not waited for.
                assert profile is inner or any(way[-2:] == place for way in found), (engine, place, found)
            assert plumb._unseen.NAME not in functions(tree)
            leading = {("call", "_decorated.py"), ("tagged", "_tags.py"), ("__call__", "_wsgi.py")}
            places = {(d["name"], os.path.basename(d["filename"])) for d in descriptions(tree)}
            assert not places & leading, places
            places = {(f["name"], os.path.basename(f["file"])) for f in profile.stats()["functions"]}
            assert not places & leading and plumb._unseen.NAME not in dict(places), places
            assert "decorated.<locals>.call" not in profile.text(idle="keep", names="full", width=300)


def enough(p, name):
    """A condition: some samples of that function."""
    reached = []

    def until():
        """Often asked: a profile is made only now and then."""
        if not reached and next(turns) % 20 == 0 and functions(p.tree(lines=False)).get(name, 0) >= 10:
            reached.append(True)
        return bool(reached)

    turns = itertools.count()
    return until


if __name__ == "__main__":
    run_checks(globals())
