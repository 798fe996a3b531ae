# SPDX-License-Identifier: Apache-2.0
"""What plumb.profile(), plumb.start() and plumb.open() do in the process that is sampled. Each check_ is run; their names are told."""
import collections
import contextlib
import gc
import importlib.util
import io
import json
import linecache
import os
import re
import signal
import sys
import threading
import time
import types
import warnings

import plumb
from plumb import _frames
from raising import raises
from recorded import OUT, busy_inner, descriptions, functions, has, run_checks, spin, tells_the_hottest


def busy_outer(until):
    while not until():
        spin()


def check_a_block_is_recorded_and_told_in_every_form():
    with plumb.profile() as p:
        busy_inner(has(p, 50, "busy_inner"))
    info = p.info()
    assert info["samples"] >= 50 and info["mode"] == "wall" and info["interval"] == 0.001
    assert tells_the_hottest(p), p.text()
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
    assert there.getvalue() == p.text()


def check_it_is_saved_and_opened_again():
    path = os.path.join(OUT, "a.plumb")
    with plumb.profile(output=path) as p:
        busy_inner(has(p, 30, "busy_inner"))
    for name in ("b.plumb", "c", "d.folded", "e.firefox.json", "f.svg", "a.plumb"):
        p.save(os.path.join(OUT, name))
    with plumb.profile(output=os.path.join(OUT, "b.plumb")) as first:
        busy_inner(has(first, 5, "busy_inner"))
    with plumb.profile(output=os.path.join(OUT, "b.plumb")) as second:  # `first` keeps what it has, and not the file
        busy_inner(has(second, 5, "busy_inner"))
    p.save(os.path.join(OUT, "b.plumb"))
    assert first.info()["samples"] >= 5 and b"busy_inner" in first.write("firefox")
    for name in ("a.plumb", "b.plumb", "c"):
        again = plumb.open(os.path.join(OUT, name))
        assert again.tree() == p.tree() and again.info()["samples"] == p.info()["samples"], name
        assert functions(again)["busy_inner"] == functions(p)["busy_inner"]
    assert "busy_inner" in functions(plumb.open(os.path.join(OUT, "d.folded")))
    assert "plumb report %s" % path in plumb.open(path).text(width=200)
    assert not [name for name in os.listdir(OUT) if re.search(r"\.[0-9a-f]{8}(\.new)?$", name)]


def lines(tree):
    return [tree["description"]["line"], *(line for child in tree["children"].values() for line in lines(child))]


def check_a_file_that_is_opened_names_no_file_to_be_read():
    """Whoever made it, or sent it, chose the names."""
    secret, made, saved = (os.path.join(OUT, name) for name in ("secret", "named.speedscope.json", "named.plumb"))
    with open(secret, "w") as file:
        file.write("hush\n")
    with open(made, "w") as file:
        json.dump({"$schema": "https://www.%s.app/file-format-schema.json" % "speedscope",  # this file is none
                   "shared": {"frames": [{"name": "f", "file": secret, "line": 1}]},
                   "profiles": [{"type": "sampled", "name": "t", "unit": "milliseconds", "startValue": 0, "endValue": 3,
                                 "samples": [[0], [0], [0]], "weights": [1, 1, 1]}]}, file)
    plumb.open(made).save(saved)
    for name in (made, saved):
        tree = plumb.open(name).tree()
        assert [child["description"]["filename"] for child in tree["children"].values()] == [secret], tree
        assert set(lines(tree)) == {""}, (name, tree)


def check_a_recording_has_the_lines_of_its_texts():
    kept, bare = os.path.join(OUT, "kept.plumb"), os.path.join(OUT, "bare.plumb")
    with plumb.profile(output=kept) as p:
        busy_inner(has(p, 30, "busy_inner"))
    with plumb.profile(output=bare, sources=False) as without:
        busy_inner(has(without, 30, "busy_inner"))
    there = lines(plumb.open(kept).tree())
    assert there == lines(p.tree()) and any(line.endswith("\n") for line in there), there
    assert any(lines(without.tree())) and not any(lines(plumb.open(bare).tree()))
    assert not any(lines(plumb.open(kept).tree(lines=False)))


def check_collections_go_on_while_lines_are_looked_up():
    """That runs Python, and other threads: to them, and to children that they fork, a pause would be the program's."""
    seen = []

    def get_source(name):
        seen.append(gc.isenabled())
        gc.disable()  # as another thread might

    names = {"__name__": "asked", "__file__": "/nowhere/asked.py", "__loader__": types.SimpleNamespace(get_source=get_source)}
    exec(compile("def asked(until):\n    while not until(): pass", names["__file__"], "exec"), names)
    module = sys.modules["asked"] = types.ModuleType("asked")
    _frames._modules_seen = 0  # else they are looked through when there are more or fewer
    vars(module).update(names)
    try:
        with plumb.profile() as p:
            names["asked"](has(p, 5, "asked"))
        p.tree()
        assert seen and seen[0] and not gc.isenabled(), seen
    finally:
        gc.enable()
        del sys.modules["asked"]


def check_a_loader_may_fail_and_a_handler_may_raise():
    class Limit(Exception):
        pass

    def handler(number, frame):
        raise Limit

    def get_source(name):
        asked.append(name)
        raise RuntimeError("no source of " + name)

    def updatecache(*_):
        os.kill(os.getpid(), signal.SIGUSR1)
        return []

    asked, original, file = [], linecache.updatecache, "/nowhere/failing.py"
    module = sys.modules["failing"] = types.ModuleType("failing")
    _frames._modules_seen = 0  # else they are looked through when there are more or fewer
    vars(module).update(__file__=file, __loader__=types.SimpleNamespace(get_source=get_source))
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        exec(compile("def failing(until):\n    while not until(): pass", file, "exec"), vars(module))
        with plumb.profile() as p:
            module.failing(has(p, 5, "failing"))
        assert functions(p)["failing"] and asked[0] == "failing", asked
        linecache.clearcache()
        linecache.updatecache = updatecache
        raises(Limit, p.tree)
    finally:
        linecache.updatecache = original
        signal.signal(signal.SIGUSR1, before)
        del sys.modules["failing"]


def check_a_module_that_is_loaded_lazily_stays_unloaded():
    class Odd:
        """May stand in sys.modules as well."""
        __slots__ = ()

        def __getattribute__(self, name):
            raise RuntimeError("it was asked for %s" % name)

    path = os.path.join(OUT, "put_off.py")
    with open(path, "w") as file:
        file.write("executed = True\n")
    spec = importlib.util.spec_from_file_location("put_off", path)
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = sys.modules["put_off"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules["odd"] = Odd()
    _frames._modules_seen = 0  # else they are looked through when there are more or fewer
    names = {}
    exec(compile("def asked(until):\n    while not until(): pass", "/nowhere/odd.py", "exec"), names)
    try:
        with plumb.profile() as p:
            names["asked"](has(p, 5, "asked"))
        assert p.tree()["count"] and "executed" not in object.__getattribute__(module, "__dict__")
        assert module.executed
    finally:
        del sys.modules["put_off"], sys.modules["odd"]


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


def check_a_recording_with_samples_is_not_replaced_by_one_without():
    path = os.path.join(OUT, "older.plumb")
    with plumb.profile() as p:
        busy_inner(has(p, 5))
    before, none = p.info()["samples"], plumb.Profiler()
    none.start()
    none.pause()
    none.reset()
    none.stop()
    empty = none.snapshot()
    assert empty.info()["samples"] == 0
    for save in (empty.save, lambda path, **force: empty.write("plumb", path, **force)):
        p.save(path)
        error = raises(plumb.Error, save, path)
        assert error.code == "exists" and "there is no sample to replace it" in str(error) and "force=True" in error.hint, error
        assert plumb.open(path).info()["samples"] == before
        save(path, force=True)
        assert plumb.open(path).info()["samples"] == 0
        save(path)  # there is nothing to be lost


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
    os.close(theirs)
    with os.fdopen(ours, "rb") as file:
        assert b"busy_inner" in file.read()  # there was room for all of it in the pipe


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
    for early in (p.print, p.stop, p.tree, p.stats, lambda: p.__exit__(None, None, None)):
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
    share = 100 * part["states"]["has_gil"]["share"]  # of the time, as in text: samples may stand for more than others
    p.save(path, focus="busy_inner")
    for text in (p.text(focus="busy_inner", quality=True), plumb.open(path).text(quality=True)):
        told = re.search(r"GIL +held in ([\d.]+) %", text)
        assert told and abs(float(told[1]) - share) <= 0.5, (share, text)


def check_trees_are_those_of_process():
    with plumb.profile() as p:
        busy_inner(has(p, 30, "spin"))  # it is in the same file, where else all of them may be in plumb's own functions
    whole, file = p.tree(), busy_inner.__code__.co_filename
    assert list(whole) == list(plumb.profile.create()) and whole["identifier"] == "root"
    node = whole
    while node["children"]:
        assert list(node["children"]) == [child["identifier"] for child in node["children"].values()]
        assert node["count"] >= sum(child["count"] for child in node["children"].values())
        node = max(node["children"].values(), key=lambda child: child["count"])
        if node["description"]["name"] == "busy_inner":
            assert node["description"]["filename"] == file
            assert node["description"]["line"].strip() in ("while not until():", "spin()")
            assert node["identifier"] == "busy_inner;%s;%d" % (file, busy_inner.__code__.co_firstlineno)
    own = os.path.basename(file)
    left = p.tree(omit=own)
    assert left["count"] < whole["count"] and not [d for d in descriptions(left, leaves=True) if d["filename"] == file]
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


if __name__ == "__main__":
    run_checks(globals())
