# SPDX-License-Identifier: Apache-2.0
"""What users meet of the package: its names, what decorators make, what is printed by itself. Each check_ is run; their names are told."""
import asyncio
import contextlib
import inspect
import io
import json
import os
import pydoc
import sys
import tempfile
import threading
import warnings

import plumb
from raising import raises
from sanitizer import MAY_FORK

OUT = tempfile.mkdtemp(prefix="plumb-test-")


def work(n):
    """Of work."""
    return sum(range(n))


@contextlib.contextmanager
def told_on_stderr():
    with contextlib.redirect_stderr(io.StringIO()) as told:
        yield told


@contextlib.contextmanager
def one_warning():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        yield told
    assert len(told) == 1, [str(one.message) for one in told]


# ---- decorators ----


def check_a_function_is_decorated_without_parentheses():
    decorated = plumb.profile(work)
    with told_on_stderr() as told:
        assert decorated(9) == 36
    assert told.getvalue() == decorated.profile.text()
    assert decorated.__doc__ == "Of work." and isinstance(decorated.profile, plumb.Recording)

    @plumb.profile
    async def later(n):
        return work(n)

    @plumb.profile
    def numbers():
        yield 1

    assert inspect.iscoroutinefunction(later) and inspect.isgeneratorfunction(numbers)
    with told_on_stderr() as told:
        assert asyncio.run(later(9)) == 36 and list(numbers()) == [1]
    # asyncio's debug mode (-X dev) says something, too, if a step takes long.
    assert later.profile.text() in told.getvalue() and told.getvalue().endswith(numbers.profile.text())


def decorators():
    """Each with what tells how many recordings there were."""
    done = []
    yield plumb.profile(done=done.append), lambda: len(done)
    yield plumb.tag(of="test"), None


def check_a_decorated_class_stays_a_class():
    for decorate, count in decorators():

        @decorate
        class Base:
            def __init__(self, n):
                self.n = n

            @decorate
            @staticmethod
            def static(n):
                return n + 1

            @decorate
            @classmethod
            def of(cls, n):
                return cls(n)

        class Derived(Base):
            pass

        assert isinstance(Base, type) and Base.__name__ == "Base" and list(inspect.signature(Base).parameters) == ["n"]
        assert isinstance(Derived(3), Base) and Derived(3).n == 3
        assert Base.static(1) == 2 and Base.of(4).n == 4 and Derived.of(5).n == 5
        assert count is None or count() == 7  # each way to make one, by of() two, and static()

        class Plain:
            pass

        assert str(raises(TypeError, decorate, Plain)).startswith("the class ")
        assert "is decorated, not 3" in str(raises(TypeError, decorate, 3))


def check_what_fails_after_a_function_keeps_what_it_returned_or_raised():
    def failing(p):
        raise ZeroDivisionError("of done")

    @plumb.profile(done=failing)
    def function(error=None):
        if error:
            raise error
        return "result"

    with one_warning() as told:
        assert function() == "result"
    assert "ZeroDivisionError: of done" in str(told[0].message) and told[0].filename == __file__, told[0]
    with one_warning():
        assert str(raises(KeyError, function, KeyError("mine"))) == "'mine'"
    with contextlib.redirect_stderr(io.StringIO()) as closed:
        closed.close()
        with one_warning() as told:
            assert plumb.profile(work)(9) == 36
    assert "closed file" in str(told[0].message), told[0]


# ---- printing ----


def check_a_block_prints_by_itself_if_it_is_told_to():
    there = io.StringIO()
    with told_on_stderr() as told:
        with plumb.profile(print=there) as p:
            work(9)
        assert there.getvalue() == p.text() and not told.getvalue()
        with plumb.profile(print=True) as p:
            work(9)
        assert told.getvalue() == p.text()
        with plumb.profile(), plumb.profile(print=False):
            work(9)
        assert told.getvalue() == p.text()
        with contextlib.suppress(KeyError), plumb.profile(print=there) as p:
            raise KeyError
        assert there.getvalue().endswith(p.text())
    there.close()
    with contextlib.suppress(KeyError), plumb.profile(print=there):
        raise KeyError


def check_a_function_prints_where_it_is_told_to():
    there, done = io.StringIO(), []
    with told_on_stderr() as told:
        plumb.profile(print=False)(work)(9)
        plumb.profile(done=done.append)(work)(9)
        plumb.profile(output=os.path.join(OUT, "a.plumb"))(work)(9)
        plumb.profile(print=there)(work)(9)
        assert not told.getvalue() and there.getvalue()
        plumb.profile(done=done.append, print=True)(work)(9)
        assert told.getvalue() == done[1].text()


def check_a_block_prints_nothing_in_the_child_of_a_fork():
    if not MAY_FORK:
        return
    warnings.simplefilter("ignore", DeprecationWarning)  # of fork() beside threads
    there = io.StringIO()
    with plumb.profile(print=there):
        child = os.fork()
    if child == 0:
        os._exit(there.getvalue() != "")
    assert os.waitpid(child, 0)[1] == 0
    assert there.getvalue()


# ---- names ----

OPTIONS = ["interval", "threads", "hidden", "mode", "engine", "tags", "output", "force", "jitter", "seed", "sources", "opcodes", "tasks", "native", "kernel", "native_threads", "max_overhead"]


def check_signatures_name_all_options():
    assert list(inspect.signature(plumb.start).parameters) == OPTIONS
    assert list(inspect.signature(plumb.profile).parameters) == [*OPTIONS, "done", "print"]
    error = str(raises(TypeError, plumb.profile, intervall=3))
    assert "intervall" in error and all(name in error for name in [*OPTIONS, "done", "print"]), error
    assert "intervall" in str(raises(TypeError, plumb.start, intervall=3))
    assert "done" in str(raises(TypeError, plumb.start, done=print))


def shown(thing):
    return {name for name in dir(thing) if not name.startswith("_")}


def check_names_that_are_public_are_those_that_are_shown():
    assert sorted(dir(plumb)) == sorted([*plumb.__all__, "__version__"])
    assert dir(plumb.profile) == sorted(plumb.profile.__all__)
    told = pydoc.plain(pydoc.render_doc(plumb))
    assert "class Profile(" in told and "__getattr__" not in told and "importlib" not in told and "VERSION\n    %s" % plumb.__version__ in told, told[:2000]
    with plumb.profile() as p:
        pass
    assert plumb.__version__ == p.info()["version"]
    assert shown(plumb.profile.History) == shown(__import__("collections").deque)
    assert shown(plumb.profile.watch(123456789)) - shown(plumb.profile.History) == {"engine", "recent", "status", "stop"}
    assert "forked" not in shown(plumb.Profiler)
    methods = {"html", "info", "open_in_browser", "print", "save", "stats", "text", "tree", "write"}
    assert shown(plumb.Profile) == methods and shown(p) == methods | {"output", "start", "stop"}


def main():
    checks = {name: check for name, check in globals().items() if name.startswith("check_")}
    for name in sys.argv[1:] or checks:
        checks[name]()
    assert threading.active_count() == 1
    print(json.dumps({"checks": list(checks)}))


main()
