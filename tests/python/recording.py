# SPDX-License-Identifier: Apache-2.0
"""What plumb.profile(), plumb.start() and plumb.open() do in the process that is sampled. Each check_ is run; their names are told."""
import asyncio
import collections
import contextlib
import gc
import importlib.util
import inspect
import io
import itertools
import json
import os
import re
import select
import signal
import sys
import tempfile
import threading
import time
import warnings

import plumb
from plumb import _binary, _plumb
from raising import raises
from sanitizer import MAY_FORK, SANITIZED

OUT = tempfile.mkdtemp(prefix="plumb-test-")


def spin():
    """A millisecond or so: looking at a profile all the time would leave it nothing to see but that."""
    for _ in range(300):
        sum(range(300))


def busy_inner(until):
    while not until():
        spin()


def busy_outer(until):
    while not until():
        spin()


def has(p, samples, *names):
    """A condition: it has got so many more samples by now, with each of these functions if there are any."""
    if not names:
        wanted = p.info()["samples"] + samples
        return lambda: p.info()["samples"] >= wanted
    wanted = functions(p)
    return lambda: all(functions(p).get(name, 0) >= wanted.get(name, 0) + samples for name in names)


def hottest(p):
    """The function with the most self time, which is always told: others are where they do not fit, and callers that do nothing
    but call are folded."""
    return p.stats()["functions"][0]["name"]


def functions(p):
    """{name: samples with it} of a profile or a tree."""
    found, waiting = {}, [(p if isinstance(p, dict) else p.tree(), ())]
    while waiting:
        node, above = waiting.pop()
        name = node["description"]["name"]
        if name not in above:
            found[name] = found.get(name, 0) + node["count"]
        waiting += [(child, above + (name,)) for child in node["children"].values()]
    return found


def check_a_block_is_recorded_and_told_in_every_form():
    with plumb.profile() as p:
        busy_inner(has(p, 50, "busy_inner"))
    info = p.info()
    assert info["samples"] >= 50 and info["mode"] == "wall" and info["interval"] == 0.001
    assert hottest(p) in p.text(), p.text()
    assert max(map(len, p.text(width=60).splitlines())) <= 60
    assert "busy_inner" in [row["name"] for row in p.stats()["functions"]]
    assert p.tree()["count"] == info["samples"] == p.stats()["samples"]["total"]
    assert functions(p)["busy_inner"] >= 50
    assert p.html().startswith("<!")
    tree = p.text(format="tree")
    assert re.search(r"^ +[\d.]+ +[\d.]+ m?s +(.*[├└] )?busy_inner", tree, re.MULTILINE), tree
    assert p.write("tree").decode() == tree and len(tree.splitlines()) >= len(functions(p))
    assert b"busy_inner" in p.write("collapsed")
    assert re.match(r"<plumb.Profile: [\d.]+ s, %d samples>" % info["samples"], repr(p))
    there = io.StringIO()
    p.print(there)
    assert there.getvalue() == p.text()
    with contextlib.redirect_stdout(io.StringIO()) as there:
        p.print()
    assert hottest(p) in there.getvalue()


def check_it_is_saved_and_opened_again():
    path = os.path.join(OUT, "a.plumb")
    with plumb.profile(output=path) as p:
        busy_inner(has(p, 30, "busy_inner"))
    for name in ("b.plumb", "c", "d.folded", "e.firefox.json", "f.svg", "a.plumb"):
        p.save(os.path.join(OUT, name))
    for name in ("a.plumb", "b.plumb", "c"):
        again = plumb.open(os.path.join(OUT, name))
        assert again.tree() == p.tree() and again.info()["samples"] == p.info()["samples"], name
        assert functions(again)["busy_inner"] == functions(p)["busy_inner"]
    assert "busy_inner" in functions(plumb.open(os.path.join(OUT, "d.folded")))
    assert "plumb report %s" % path in plumb.open(path).text(width=200)
    assert not [name for name in os.listdir(OUT) if re.search(r"\.[0-9a-f]{8}(\.new)?$", name)]


def check_what_plumb_did_not_write_stays_unless_one_insists():
    path, link = os.path.join(OUT, "precious.py"), os.path.join(OUT, "link.html")
    os.symlink(path, link)
    with plumb.profile() as p:
        busy_inner(has(p, 5))
    for write in (lambda force: p.write("plumb", path, force=force), lambda force: p.write("collapsed", path, force=force),
                  lambda force: p.html(path, force=force), lambda force: p.html(link, force=force)):
        with open(path, "w") as file:
            file.write("precious")
        os.chmod(path, 0o644)
        error = raises(plumb.Error, write, False)
        assert error.code == "exists" and "force=True" in error.hint, error
        with open(path) as file:
            assert file.read() == "precious"
        write(True)
        assert os.stat(path).st_mode & 0o777 == 0o600 and os.path.islink(link)
        with open(path, "rb") as file:
            assert file.read(8) != b"precious"
    assert not [name for name in os.listdir(OUT) if name.endswith(".new")]


def check_what_is_written_is_its_owners_alone_from_the_beginning():
    with plumb.profile() as p:
        busy_inner(has(p, 5))
    before, modes = os.umask(0), []
    try:
        for name in ("own.plumb", "own.html", "own.folded"):
            path = os.path.join(OUT, name)
            for _ in range(2):  # into nothing, and in place of itself
                p.save(path)
                modes.append(os.stat(path).st_mode & 0o777)
    finally:
        os.umask(before)
    assert set(modes) == {0o600}, modes


def check_a_pipe_is_written_to():
    with plumb.profile() as p:
        busy_inner(has(p, 5, "busy_inner"))
    ours, theirs = os.pipe()
    p.write("collapsed", "/proc/self/fd/%d" % theirs)
    assert b"busy_inner" in os.read(ours, 4096)  # there is room for it in a pipe
    os.close(ours)
    os.close(theirs)


def check_what_holds_no_sample_is_told_in_every_form():
    with plumb.profile(interval=9) as p:
        pass
    for form in ("text", "json", "markdown", "html", "svg", "collapsed", "pprof", "firefox", "speedscope", "plumb"):
        p.write(form)
    assert p.info()["samples"] <= 1 and p.tree()["count"] <= 1 and p.text()


def check_it_can_be_looked_at_while_it_grows():
    p = plumb.start()
    busy_inner(has(p, 20, "busy_inner"))
    first = p.info()["samples"]
    assert "self" in p.text() and functions(p)["busy_inner"] >= 20
    busy_inner(has(p, 20))
    assert p.stop() is p and p.info()["samples"] >= first + 20
    assert p.stop() is p


def check_recordings_in_each_other_are_independent():
    with plumb.profile() as outer:
        busy_outer(has(outer, 20, "busy_outer"))
        with plumb.profile() as inner:
            conditions = [has(inner, 20, "busy_inner"), has(outer, 1, "busy_inner")]
            busy_inner(lambda: all(condition() for condition in conditions))
        busy_outer(has(outer, 20, "busy_outer"))
    assert set(functions(inner)) & {"busy_inner", "busy_outer"} == {"busy_inner"}
    assert set(functions(outer)) >= {"busy_inner", "busy_outer"}


def check_threads_may_each_have_their_own_and_all_see_all():
    found, begun = {}, threading.Barrier(2)

    def work(name, busy):
        with plumb.profile() as p:
            seen = has(p, 20, "busy_inner", "busy_outer")
            begun.wait()

            def both_have_seen():  # until then both are busy
                if seen():
                    found[name] = p
                return len(found) == 2

            busy(both_have_seen)

    threads = [threading.Thread(target=work, args=pair) for pair in (("a", busy_inner), ("b", busy_outer))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for p in found.values():
        assert set(functions(p)) >= {"busy_inner", "busy_outer"}


def check_threads_are_chosen_and_hidden():
    stop, ready = threading.Event(), threading.Event()

    def other():
        ready.set()
        while not stop.is_set():
            spin()

    thread = threading.Thread(target=other, name="other one")
    thread.start()
    ready.wait()
    try:
        for chosen in (thread, thread.ident, "other one", [thread]):
            with plumb.profile(threads=chosen) as p:
                busy_inner(has(p, 10, "other"))
            assert "busy_inner" not in functions(p) and "other" in functions(p), (chosen, functions(p), p.info())
        with plumb.profile(hidden=thread) as p:
            busy_inner(has(p, 10, "busy_inner"))
        assert "other" not in functions(p)
        assert "nobody" in str(raises(ValueError, plumb.start, threads="nobody"))
    finally:
        stop.set()
        thread.join()


def check_what_a_block_raises_is_raised_and_recorded():
    for error in (ValueError("of the block"), SystemExit(3)):
        try:
            with plumb.profile() as p:
                busy_inner(has(p, 10))
                raise error
        except BaseException as got:
            assert got is error
        assert p.info()["samples"] >= 10
        after = p.info()
        spin()
        assert p.info() == after


def check_ctrl_c_ends_a_block():
    def interrupt():
        os.kill(os.getpid(), signal.SIGINT)

    try:
        with plumb.profile() as p:
            busy_inner(has(p, 10))
            threading.Thread(target=interrupt).start()
            while True:
                spin()
    except KeyboardInterrupt:
        pass
    else:
        raise AssertionError("no KeyboardInterrupt")
    assert p.info()["samples"] >= 10 and p.stop() is p


def check_any_thread_may_stop_it():
    p = plumb.start()
    busy_inner(has(p, 10))
    threads = [threading.Thread(target=p.stop) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    count = p.info()["samples"]
    assert count >= 10 and p.stop().info()["samples"] == count


def check_a_recording_is_begun_once():
    p = plumb.profile()
    assert "not begun" in repr(p)
    for early in (p.print, p.stop, p.tree, p.stats):
        assert "nothing has been recorded" in str(raises(RuntimeError, early))
    with p:
        assert "begun already" in str(raises(RuntimeError, p.start))
    raises(RuntimeError, p.__enter__)


def check_wrong_arguments_are_refused_in_words():
    for wrong in ({"interval": 0}, {"interval": -1}, {"mode": "gpu"}, {"engine": "steam"}, {"max_overhead": 3}, {"output": "x.svg"}):
        assert str(raises(ValueError, plumb.start, **wrong)), wrong
    for wrong in ({"interval": "soon"}, {"colour": 1}, {"seed": "x"}):
        raises(TypeError, plumb.start, **wrong)
    with plumb.profile() as p:
        busy_inner(has(p, 5))
    assert "is one of hide, keep, skip" in str(raises(ValueError, p.text, idle="maybe"))
    assert "format is one of text, " in str(raises(ValueError, p.write, "pdf"))
    raises(ValueError, p.text, focus="(")
    raises(TypeError, p.text, colour=True)
    raises(ValueError, p.tree, depth=-1)
    for path, code in (("/nowhere/at.plumb", "not-found"), ("/dev/null", "not-a-recording"), (__file__, "not-a-recording")):
        error = raises(plumb.Error, plumb.open, path)
        assert error.code == code and isinstance(error, RuntimeError), (error, error.code)
    error = raises(plumb.Error, plumb.start, output="/nowhere/at/all.plumb")
    assert error.code == "write-failed" and error.hint
    error = raises(plumb.Error, p.save, "/nowhere/at/all.plumb")
    assert error.code == "write-failed" and error.hint


def check_a_file_that_cannot_be_written_is_named_as_it_was_given():
    with plumb.profile() as p:
        pass
    for name in ("/nodir/x", "nodir/x.html"):
        assert ("cannot write %s: " % name) in str(raises(plumb.Error, p.save, name))


def check_report_options_choose():
    with plumb.profile() as p:
        busy_inner(has(p, 30, "busy_inner"))
        busy_outer(has(p, 30, "busy_outer"))
    assert "busy_outer" not in p.write("collapsed", focus="busy_inner").decode()
    assert "busy_inner" not in p.write("collapsed", ignore="busy_inner").decode()
    assert b"busy_inner" in p.write("collapsed", threads=[threading.get_native_id()])
    end = p.info()["duration"]
    first = p.write("collapsed", time=(0, end / 2)) + p.write("collapsed", time=(end / 2, None))
    assert b"busy_inner" in first and b"busy_outer" in first
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it may never have waited
        parts = [p.stats(state="on-cpu"), p.stats(state=["waiting"])]
    assert sum(part["samples"]["total"] for part in parts) <= p.info()["samples"]
    assert "\x1b" in p.text(color=True) and p.text(ascii=True).isascii() and not p.text().isascii()


def check_shares_of_a_part_are_of_that_part():
    path = os.path.join(OUT, "part.plumb")
    with plumb.profile() as p:
        busy_inner(has(p, 20, "busy_inner"))
        time.sleep(0.2)  # so that it is a part
    part = p.stats(focus="busy_inner")
    share = 100 * part["states"]["has_gil"]["samples"] / part["samples"]["total"]
    p.save(path, focus="busy_inner")
    for text in (p.text(focus="busy_inner", quality=True), plumb.open(path).text(quality=True)):
        told = re.search(r"holding the GIL ([\d.]+) %", text)
        assert "GIL held" not in text and told and abs(float(told[1]) - share) <= 0.5, (share, text)


def check_trees_are_those_of_process():
    with plumb.profile() as p:
        busy_inner(has(p, 30, "busy_inner"))
    whole = p.tree()
    assert list(whole) == list(plumb.profile.create()) and whole["identifier"] == "root"
    node = whole
    while node["children"]:
        assert list(node["children"]) == [child["identifier"] for child in node["children"].values()]
        assert node["count"] >= sum(child["count"] for child in node["children"].values())
        node = max(node["children"].values(), key=lambda child: child["count"])
        if node["description"]["name"] == "busy_inner":
            assert node["description"]["filename"] == __file__
            assert node["description"]["line"].strip() in ("while not until():", "spin()")
            assert node["identifier"] == "busy_inner;%s;%d" % (__file__, busy_inner.__code__.co_firstlineno)
    own = os.path.basename(__file__)
    left = p.tree(omit=own)
    assert left["count"] < whole["count"] and not [d for d in descriptions(left, leaves=True) if d["filename"] == __file__]
    # Of a stack of this file only the leaf is left.
    below = p.tree(stop=own)
    assert below["count"] == whole["count"] and all(not node["children"] or not node["description"]["filename"].endswith(own)
                                                    for node in below["children"].values())
    for depth in (0, 1, 2, 3):
        cut = p.tree(depth=depth)
        assert cut["count"] == whole["count"]
        assert innermost(cut) == innermost(whole)
    assert list(p.tree(depth=0)["children"]) == ["<truncated>"]
    assert p.tree(depth=1000) == whole
    assert {node["line"] for node in descriptions(p.tree(lines=False))} == {""}
    assert plumb.profile.merge(whole, whole)["count"] == 2 * whole["count"]


def check_what_a_marker_stands_below_decides_what_is_omitted():
    path = os.path.join(OUT, "markers.folded")
    with open(path, "w") as file:
        file.write("/srv/a.py:a:1;/srv/b.py:b:2 5\n/srv/a.py:a:1;/srv/b.py:b:2;<GC> 2\n/srv/a.py:a:1 1\n")
    p = plumb.open(path)
    kinds = {name for name, samples in functions(p).items()}
    assert len(kinds) == 4, kinds
    assert p.tree()["count"] == 8 and p.tree(omit="b.py")["count"] == 1 and p.tree(omit="a.py")["count"] == 7


def innermost(tree):
    """{name: samples in which it was what ran}"""
    found, waiting = collections.Counter(), [tree]
    while waiting:
        node = waiting.pop()
        found[node["description"]["name"]] += node["count"] - sum(child["count"] for child in node["children"].values())
        waiting.extend(node["children"].values())
    return +found


def descriptions(tree, leaves=False):
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if not (leaves and node["children"]):
            yield node["description"]
        waiting.extend(node["children"].values())


def check_source_of_a_loader_is_found():
    class Loader:
        create_module = exec_module = staticmethod(lambda *_: None)

        @staticmethod
        def get_source(name):
            return "def work(until):\n    while not until():\n        sum(range(300))  # of the loader\n"

    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("made_up", Loader, origin="/not/there/made_up.py"))
    module.__file__ = "/not/there/made_up.py"
    exec(compile(Loader.get_source(""), module.__file__, "exec"), module.__dict__)
    sys.modules["made_up"] = module
    with plumb.profile() as p:
        module.work(has(p, 20, "work"))
    lines = [d["line"] for d in descriptions(p.tree()) if d["name"] == "work"]
    assert lines and lines[0] in ("while not until():\n", "sum(range(300))  # of the loader\n"), lines


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
    """The samples of task_of_it below who awaits it."""
    below_it, waiting = 0, [p.tree()]
    while waiting:
        node = waiting.pop()
        children = list(node["children"].values())
        waiting += children
        if node["description"]["name"] == "awaits_it":
            below_it += sum(child["count"] for child in children if child["description"]["name"] == "task_of_it")
    return below_it


def check_tasks_are_shown_below_who_awaits_them():
    with plumb.profile(tasks=True) as p:
        asyncio.run(awaits_it(lambda: awaited(p) >= 30))
    with plumb.profile() as p:
        asyncio.run(awaits_it(has(p, 30, "task_of_it")))
    assert awaited(p) == 0


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


def threads_and_descriptors():
    return len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))


def settle(before):
    """Wait until there are no more than before; a thread that has been joined may need a moment until it is gone."""
    while any(now > then for now, then in zip(threads_and_descriptors(), before)):
        os.sched_yield()


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
        assert hottest(p) in p.text() and p.html().startswith("<!") and "busy_inner" in functions(p)
        p.save(path)
        assert functions(plumb.open(path)) == functions(p)
    for p in (unnamed, named):  # with the time of each sample
        assert len(json.loads(p.write("firefox"))["threads"]) == p.info()["threads"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # there may be none
            assert p.stats(time=(0, p.info()["duration"] / 2))["samples"]["total"] < p.info()["samples"]
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
    return ways


def check_a_child_of_a_fork_has_its_descriptors_for_itself():
    if not MAY_FORK:
        return
    for number, (begin, end) in enumerate(ways_to_keep_a_session()):
        found = daemon_beside(begin, end)
        assert found == ([], []), "way %d: %r" % (number, found)
    opened = lambda: plumb.open(os.path.join(OUT, "fork.plumb"))
    assert daemon_beside(opened, str)[1] == []  # which the child may read, too


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


def main():
    checks = [name for name in sorted(globals()) if name.startswith("check_")]
    chosen = sys.argv[1:] or checks
    slow = {}
    for name in chosen:
        began = time.monotonic()
        globals()[name]()
        slow[name] = round(time.monotonic() - began, 2)
    print(json.dumps({"checks": slow}))


main()
