# SPDX-License-Identifier: Apache-2.0
"""plumb.tag without a profiler: what is set, and that it is found in the thread's memory. Each check_ is run; their names are told."""
import asyncio
import contextvars
import gc
import inspect
import json
import linecache
import os
import sys
import threading
import warnings

import plumb
from plumb import _contexts, _plumb, _tags
from sanitizer import SANITIZED

try:
    import _interpreters as interpreters
except ImportError:
    try:
        import _xxsubinterpreters as interpreters
    except ImportError:
        interpreters = None


def number():
    """What a sampler finds of this thread now."""
    return _plumb.find_tag(_plumb.thread_state())


def labels():
    """What is set in this context; found by the sampler as well."""
    entry = _tags._current.get()
    assert number() == (entry.id if entry else 0)
    return dict(entry.labels) if entry else {}


def in_thread(function):
    told = []
    thread = threading.Thread(target=lambda: told.append(function()))
    thread.start()
    thread.join()
    return told[0]


def check_tags_add_up_and_the_inner_one_counts():
    with plumb.tag(route="/x", user=3):
        assert labels() == {"route": "/x", "user": "3"}
        with plumb.tag(user=4, step="parse"):
            assert labels() == {"route": "/x", "user": "4", "step": "parse"}
        assert labels() == {"route": "/x", "user": "3"}
    assert labels() == {}


def check_it_is_found_whatever_else_is_in_the_context():
    for context in _contexts._contexts(_tags._current):
        assert context.run(labels) == {}
        assert context.run(tagged) == {"route": "/y"}
        assert context.run(labels) == {}


def check_colliding_hashes_came_about():
    other = _contexts.colliding(_tags._current)
    if SANITIZED:  # which does not use memory again so soon
        return
    assert other is not None and hash(other) == hash(_tags._current)
    context = contextvars.Context()
    context.run(other.set, 1)
    assert context.run(tagged) == {"route": "/y"}


@plumb.tag(route="/y")
def tagged():
    return labels()


def check_each_thread_has_its_own():
    with plumb.tag(a=1):
        assert in_thread(labels) in ({}, {"a": "1"})  # 3.14 can be told to let threads inherit
        assert in_thread(tagged)["route"] == "/y"
        state, inside, go_on = [], threading.Event(), threading.Event()

        def wait():
            with plumb.tag(b=2):
                state.extend([_plumb.thread_state(), _tags._current.get().id])
                inside.set()
                go_on.wait()

        thread = threading.Thread(target=wait)
        thread.start()
        inside.wait()
        assert _plumb.find_tag(state[0]) == state[1] != number()
        go_on.set()
        thread.join()


def check_one_object_can_be_entered_by_many_at_once():
    one = plumb.tag(a=1)
    with one:
        with one:
            assert in_thread(lambda: one.__enter__() and labels()) == {"a": "1"}
        assert labels() == {"a": "1"}
    assert labels() == {}


def check_leaving_takes_along_what_was_not_left():
    with plumb.tag(a=1):
        with plumb.tag(b=1):
            plumb.tag(c=1).__enter__()
            plumb.tag(d=1).__enter__()
            assert labels() == {"a": "1", "b": "1", "c": "1", "d": "1"}
        assert labels() == {"a": "1"}


def check_leaving_elsewhere_does_no_harm():
    one = plumb.tag(a=1)
    contextvars.Context().run(one.__enter__)
    one.__exit__(None, None, None)
    assert labels() == {}
    with plumb.tag(b=1):
        contextvars.copy_context().run(one.__exit__, None, None, None)
        assert labels() == {"b": "1"}


def check_an_exception_goes_through():
    try:
        with plumb.tag(a=1):
            raise KeyError("x")
    except KeyError:
        assert labels() == {}
    else:
        raise AssertionError


def check_generators_are_tagged_while_they_run():
    @plumb.tag(g=1)
    def numbers(n):
        got = []
        try:
            for i in range(n):
                try:
                    got.append((yield (i, labels())))
                except KeyError:
                    got.append("error")
        finally:
            assert labels()["g"] == "1"
        return got

    def outer():
        return (yield from numbers(3))

    generator = outer()
    assert next(generator) == (0, {"g": "1"}) and labels() == {}
    assert generator.send("x") == (1, {"g": "1"}) and labels() == {}
    with plumb.tag(h=1):
        assert generator.throw(KeyError()) == (2, {"g": "1", "h": "1"}) and labels() == {"h": "1"}
    try:
        next(generator)
    except StopIteration as end:
        assert end.value == ["x", "error", None]
    else:
        raise AssertionError
    left = numbers(3)
    next(left)
    left.close()
    assert labels() == {} and inspect.isgeneratorfunction(numbers)


def check_what_a_decorated_generator_has_entered_is_its_own_between_its_steps():
    inner = plumb.tag(inner=1)

    @plumb.tag(outer=1)
    def numbers():
        with inner:
            with plumb.tag(outer=2):
                yield labels()
                yield labels()
            try:
                yield labels()
            except KeyError:
                with inner:
                    yield labels()
            yield labels()
        try:
            yield labels()
        finally:
            closed.append(labels())

    both, within, alone = {"outer": "2", "inner": "1"}, {"outer": "1", "inner": "1"}, {"outer": "1"}
    closed = []
    generator = numbers()
    assert next(generator) == both and labels() == {}
    with plumb.tag(caller=1, inner="caller's"):
        assert next(generator) == {**both, "caller": "1"} and labels() == {"caller": "1", "inner": "caller's"}
    assert next(generator) == within and labels() == {}
    assert generator.throw(KeyError()) == within and labels() == {}
    assert contextvars.copy_context().run(next, generator) == within and labels() == {}
    assert contextvars.Context().run(lambda: (next(generator), labels())) == (alone, {})
    generator.close()
    assert closed == [alone] and labels() == {}
    taken = [numbers(), numbers()]
    assert [next(generator) for generator in taken * 3] == [both] * 4 + [within] * 2 and labels() == {}
    with plumb.tag(later=1):
        del taken, generator
        gc.collect()
        assert labels() == {"later": "1"} and closed == [alone]


def check_what_a_decorated_asynchronous_generator_has_entered_is_its_own_between_its_steps():
    closed = []

    @plumb.tag(outer=1)
    async def numbers():
        with plumb.tag(inner=1):
            try:
                for _ in range(3):
                    await asyncio.sleep(0)
                    yield labels()
            finally:
                await asyncio.sleep(0)
                closed.append(labels())

    async def take(name):
        with plumb.tag(task=name):
            async for seen in numbers():
                assert seen == {"outer": "1", "inner": "1", "task": name} and labels() == {"task": name}
                await asyncio.sleep(0)
                assert labels() == {"task": name}

    async def main():
        await asyncio.gather(take("a"), take("b"))
        generator = numbers()
        assert await generator.__anext__() == {"outer": "1", "inner": "1"} and labels() == {}
        await asyncio.ensure_future(generator.aclose())
        assert labels() == {}

    asyncio.run(main())
    assert closed == [{"outer": "1", "inner": "1", "task": name} for name in "ab"] + [{"outer": "1", "inner": "1"}]


def check_without_the_decorator_it_is_the_caller_s_too():
    """As all variables of contexts, also in what is recorded."""
    def numbers():
        with plumb.tag(inner=1):
            yield labels()
            yield labels()

    for function in (numbers, plumb.profile(done=lambda p: None)(numbers)):
        generator = function()
        for _ in range(2):
            assert next(generator) == {"inner": "1"} == labels()
        generator.close()
        assert labels() == {}
        generator = function()
        assert [contextvars.copy_context().run(next, generator) for _ in range(2)] == [{"inner": "1"}, {}]
        generator.close()


def check_generators_that_end_in_any_order_leave_nothing_behind():
    def leaky(**of):
        with plumb.tag(**of):
            yield

    first, second = leaky(a=1), leaky(b=1)
    next(first), next(second)
    assert labels() == {"a": "1", "b": "1"}
    first.close()
    second.close()
    assert labels() == {}


def check_coroutines_and_tasks():
    @plumb.tag(own=1)
    async def work(name, log, turns):
        with plumb.tag(name=name):
            for _ in range(turns):
                log.append(labels())
                await asyncio.sleep(0)

    @plumb.tag(agen=1)
    async def numbers():
        try:
            for i in range(2):
                try:
                    yield i, labels()
                except KeyError:
                    yield "error", labels()
        finally:
            await asyncio.sleep(0)
            assert labels() == {"agen": "1"}

    async def main():
        logs = [[], []]
        with plumb.tag(all=1):
            tasks = [asyncio.ensure_future(work(name, log, 3)) for name, log in zip("ab", logs)]
        assert labels() == {}
        await asyncio.gather(*tasks)
        assert labels() == {}
        seen = [item async for item in numbers()]
        assert labels() == {}
        generator = numbers()
        await generator.__anext__()
        seen.append(await generator.athrow(KeyError()))
        await generator.aclose()
        assert labels() == {}
        return logs, seen

    logs, seen = asyncio.run(main())
    assert logs == [[{"all": "1", "own": "1", "name": name}] * 3 for name in "ab"]
    assert seen == [(0, {"agen": "1"}), (1, {"agen": "1"}), ("error", {"agen": "1"})]
    assert asyncio.iscoroutinefunction(work) if sys.version_info < (3, 14) else inspect.iscoroutinefunction(work)


def check_functions_stay_what_they_are():
    @plumb.tag(a=1)
    def function(x, *, y=2):
        "doc"
        return x, y, labels()

    assert function(1, y=3) == (1, 3, {"a": "1"})
    assert function.__name__ == "function" and function.__doc__ == "doc"
    assert list(inspect.signature(function).parameters) == ["x", "y"]

    class Thing:
        @plumb.tag(method=1)
        def method(self):
            return self, labels()

    thing = Thing()
    assert thing.method() == (thing, {"method": "1"})

    @plumb.tag(deep=1)
    def deep(n):
        return deep(n - 1) if n else labels()

    assert deep(50) == {"deep": "1"} and labels() == {}


def check_everything_is_bounded():
    with plumb.tag(text="x" * 10000, lines="a\nb\x00\ud800", **{"k%02d" % i: i for i in range(50)}):
        found = labels()
        assert len(found) == 16
    with plumb.tag(text="x" * 10000, lines="a\nb\x00\ud800"):
        found = labels()
        assert len(found["text"]) == 100 and found["lines"] == "a\ufffdb\ufffd\ufffd"
    with plumb.tag(**{"k%d" % i: "\U0001f600" * 100 for i in range(16)}):
        assert number() > 1
    with plumb.tag():
        assert labels() == {}
    # A chain of a million entries would be as deep to free.
    inner = plumb.tag(deep=1)
    for _ in range(100000):
        inner.__enter__()
    inner.__exit__(None, None, None)
    _tags._current.set(None)
    gc.collect()


def check_values_are_text():
    class Odd:
        def __str__(self):
            raise KeyError("odd")

    try:
        plumb.tag(odd=Odd())
    except KeyError:
        pass
    else:
        raise AssertionError
    assert repr(plumb.tag(b=None, a=1.5)) == "plumb.tag(a='1.5', b='None')"


def check_too_many_are_one():
    """The last check: it uses up all numbers."""
    for i in range(5000):
        with plumb.tag(i=i):
            found = number()
    assert found == 1
    with plumb.tag(route="/x", user=3):
        assert number() > 1  # it has its number already
    assert len(_tags._numbers) == 4096


IN_ANOTHER_INTERPRETER = """
import warnings
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    import plumb
    with plumb.tag(b=1):
        with plumb.tag(c=1):
            pass
assert ["another interpreter" in str(one.message) for one in told] == [True]
"""


def check_another_interpreter_has_none_and_says_so():
    if interpreters is None:
        return
    other = interpreters.create()
    with plumb.tag(a=1):
        assert interpreters.run_string(other, IN_ANOTHER_INTERPRETER) is None
        assert labels() == {"a": "1"}
    interpreters.destroy(other)


def check_a_tag_in_the_middle_of_finding_out_is_none():
    usable, find = _tags._usable, _contexts.find
    _tags._usable = None
    seen = []

    def interrupted(var, value_type):
        with plumb.tag(a=1):
            seen.append(_tags._current.get())
        return ""

    _contexts.find = interrupted
    try:
        with plumb.tag(b=1):
            assert labels() == {"b": "1"}
    finally:
        _tags._usable, _contexts.find = usable, find
    assert seen == [None]


def check_a_context_that_is_copied_in_the_middle_of_finding_out_is_as_good_as_another():
    """As by a signal handler that comes there, or begins a task."""
    copied, found = [], _contexts.find_tag

    def interrupted(state):
        copied.append(contextvars.copy_context())
        assert copied[-1].run(list, a_tagged_generator()) == [{}, {}]
        return found(state)

    usable, _tags._usable, _contexts.find_tag = _tags._usable, None, interrupted
    try:
        with plumb.tag(b=1):
            assert labels() == {"b": "1"}
    finally:
        _tags._usable, _contexts.find_tag = usable, found
    assert len(copied) > 10
    for context in copied:
        assert context.run(number) == 0
        assert context.run(tagged) == {"route": "/y"} and context.run(number) == 0


@plumb.tag(step="list")
def a_tagged_generator():
    yield labels()
    yield labels()


def check_what_is_raised_in_the_middle_of_finding_out_does_no_harm():
    """As by Ctrl-C, or by a handler of SIGALRM that limits a time: wherever that comes, tags are found out the next time."""
    for function in ("set_tag_place", "find_tag", "use_tag_place"):
        _tags._usable = None
        raised_behind(function)
    with plumb.tag(b=1):
        assert labels() == {"b": "1"}


def raised_behind(function):
    done = getattr(_contexts, function)

    def interrupted(*args, **kwargs):
        done(*args, **kwargs)
        raise KeyboardInterrupt

    setattr(_contexts, function, interrupted)
    try:
        with plumb.tag(a=1):
            raise AssertionError("nobody was interrupted")
    except KeyboardInterrupt:
        pass
    finally:
        setattr(_contexts, function, done)


def check_where_it_cannot_work_it_says_so_once():
    """It begins with a package that does not know yet."""
    usable, look = _tags._usable, _contexts._look
    _tags._usable = None

    def refuse(var, value_type):
        raise _contexts.Unknown("this Python is another one")

    _contexts._look = refuse
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            for _ in range(3):
                with plumb.tag(a=1):
                    assert _tags._current.get() is None
    finally:
        _tags._usable, _contexts._look = usable, look
    (one,) = told
    assert "another one" in str(one.message) and "with plumb.tag(a=1)" in linecache.getline(one.filename, one.lineno)


def main():
    checks = [name for name in globals() if name.startswith("check_")]
    first, last = "check_what_is_raised_in_the_middle_of_finding_out_does_no_harm", "check_too_many_are_one"
    checks.sort(key=lambda name: (name != first, name == last))
    for name in checks:
        globals()[name]()
        assert contextvars.copy_context().run(number) == 0, name
    print(json.dumps({"checks": checks}))


main()
