# SPDX-License-Identifier: Apache-2.0
"""What is said of wrong calls: the table has how each sentence begins, and what is in it besides."""
import io
import json
import os
import sys
import tempfile
import warnings

import plumb
from plumb import web

functions = plumb.profile
there = io.StringIO()
os.chdir(tempfile.mkdtemp(prefix="plumb-test-"))
with plumb.profile() as p:
    while p.info()["samples"] < 5:
        sum(range(300))
profiler, tree = plumb.Profiler(), functions.create()
started = plumb.Profiler()
started.start()
started.stop()

ENGINES = 'ValueError: engine is "inprocess", '
MODES = 'ValueError: mode is "wall", "cpu" or "gil", not '
THREAD = "TypeError: a thread is given as a Thread, its ident or its name, not as "
NOBODY = "ValueError: no thread that runs is 'nobody'; there are MainThread"
NAMELESS = "ValueError: no samples of a thread 'nobody'; there are: "
REPORT = "TypeError: reports have no option foo: they have lines, functions, "
COMPARISON = "TypeError: comparisons have no option %s: they have lines, idle, threads, "
FILE = "Error: cannot write /nodir/x: "
NAME = "TypeError: path is the name of a file, not "
FRAME = "AttributeError: frame is a frame, as sys._getframe() gives one, not "
TREE = "TypeError: a tree is a dict, as create() makes one, not "
HISTORY = "TypeError: history has entries (time, tree) in the order of their times, and start and stop are such times: "
SEED = "seed is a whole number from 0 to 2**64 - 1, or None, not "

CALLS = {
    'plumb.start("soon")': "TypeError: interval is a number of seconds, not 'soon'",
    "plumb.start(True)": "TypeError: interval is a number of seconds, not True",
    "plumb.start(0)": "ValueError: interval is at least 0.000001 s and less than 100 s, not 0",
    'plumb.start(float("nan"))': "ValueError: interval is at least ",
    "plumb.start(1000)": "ValueError: interval is at least ",
    "plumb.start(intervall=3)": "TypeError: start() got an unexpected keyword argument 'intervall'",
    "plumb.start(done=print)": "TypeError: start() got an unexpected keyword argument 'done'",
    "plumb.profile(intervall=3)": "TypeError: profile() has no option intervall: it has interval, done, print, threads, hidden, mode, ",
    'plumb.start(mode="gpu")': MODES + "'gpu'",
    "plumb.start(mode=3)": MODES + "3",
    'plumb.start(engine="steam")': ENGINES,
    'plumb.start(threads="nobody")': NOBODY,
    'plumb.start(threads=["MainThread", "nobody"])': NOBODY,
    'plumb.start(hidden="nobody")': NOBODY,
    "plumb.start(threads=3)": "ValueError: no thread that runs is 3; there are MainThread",
    "plumb.start(threads=3.5)": THREAD + "3.5",
    "plumb.start(threads=[None])": THREAD + "None",
    'plumb.start(threads=b"x")': THREAD + "b'x'",
    'plumb.start(seed="x")': "TypeError: " + SEED + "'x'",
    "plumb.start(seed=True)": "TypeError: " + SEED + "True",
    "plumb.start(seed=-1)": "ValueError: " + SEED + "-1",
    "plumb.start(seed=2**64)": "ValueError: " + SEED + "18446744073709551616",
    'plumb.start(tags="yes")': "TypeError: tags is True or False, not 'yes'",
    'plumb.start(jitter="no")': "TypeError: jitter is True or False, not 'no'",
    "plumb.start(sources=3)": "TypeError: sources is True or False, not 3",
    'plumb.start(native="x")': "ValueError: native is True, False, \"leaf\", \"callable\" or \"all\", not 'x'",
    'plumb.start(kernel="x")': "TypeError: kernel is True or False, not 'x'",
    'plumb.start(native_threads="x")': "TypeError: native_threads is True or False, not 'x'",
    'plumb.start(kernel=True, engine="gil")': "ValueError: a thread cannot read the registers of another one in its own process: ",
    'p.text(native="x")': "ValueError: native is one of off, leaf, callable, all, not 'x'",
    "p.text(native=True)": "TypeError: native is a text, not True",
    'p.write("collapsed", annotate="x")': "TypeError: annotate is True or False, not 'x'",
    'plumb.start(opcodes="x")': "TypeError: opcodes is True or False, not 'x'",
    'plumb.start(tasks="x")': "TypeError: tasks is True or False, not 'x'",
    'plumb.profile(force="x")': "TypeError: force is True or False, not 'x'",
    "plumb.start(max_overhead=3)": "ValueError: max_overhead is a share from 0.0001 to 1, math.inf for no limit, or None, not 3",
    'plumb.start(max_overhead="a")': "TypeError: max_overhead is a share ",
    'plumb.start(output="x.svg")': "ValueError: output is the name of the recording; save('x.svg') writes it as svg",
    'plumb.start(output="/nodir/x")': FILE,
    "plumb.start(output=3)": "TypeError: output is the name of a file, not 3",
    'plumb.start(output="")': "ValueError: output is the name of a file, which '' cannot be",
    r'plumb.start(output="a\0b")': r"ValueError: output is the name of a file, which 'a\x00b' cannot be",
    "plumb.profile(done=3)": "TypeError: done is a function that takes the recording, not 3",
    'plumb.profile(print="yes")': "TypeError: print is True (to standard error), False or a text file, not 'yes'",
    "plumb.profile()(3)": "TypeError: a function or a class is decorated, not 3",
    "plumb.profile()(Plain)": "TypeError: the class Plain has no __init__(): decorate its methods, each by itself",
    "plumb.profile().stop()": "RuntimeError: nothing has been recorded yet: ",
    "plumb.profile().text()": "RuntimeError: nothing has been recorded yet: ",
    "p.start()": "RuntimeError: this recording was begun already; ",
    'plumb.open("/nowhere")': "Error: there is no file /nowhere",
    "plumb.open(None)": NAME + "None",
    'plumb.open(__file__, "foo")': "ValueError: format is one of plumb, pprof, ",
    "plumb.open(__file__, [])": "ValueError: format is one of plumb, pprof, ",
    'p.text(focus="(")': "ValueError: '(' is no regular expression: ",
    "p.text(focus=3)": "TypeError: focus is a text, not 3",
    "p.text(names=3)": "TypeError: names is a text, not 3",
    "p.text(threads=3.5)": "TypeError: threads is a word or several, not 3.5",
    "p.text(threads=[3.5])": "TypeError: threads is a word or several, not 3.5",
    'p.text(state=b"gil")': "TypeError: state is a word or several, not b'gil'",
    'p.text(lines="no")': "TypeError: lines is True or False, not 'no'",
    'p.text(functions="no")': "TypeError: functions is True or False, not 'no'",
    'p.text(quality="x")': "TypeError: quality is True or False, not 'x'",
    'p.text(color="maybe")': "TypeError: color is True or False, not 'maybe'",
    "p.text(ascii=3)": "TypeError: ascii is True or False, not 3",
    'p.write("collapsed", no_escape="x")': "TypeError: no_escape is True or False, not 'x'",
    'p.text(idle="maybe")': "ValueError: idle is one of hide, keep, skip, not 'maybe'",
    'p.text(state="x")': "ValueError: state is one of on-cpu, waiting, ",
    'p.text(kind="x")': "ValueError: kind is one of python, native, ",
    'p.text(names="x")': "ValueError: names is one of short, full, not 'x'",
    "p.text(time=3)": "TypeError: time is a tuple: (from, to) in seconds ",
    "p.text(time=(1,))": "TypeError: time is a tuple: (from, to) in seconds ",
    'p.text(time=("a", 2))': "TypeError: time is (from, to), two numbers ",
    "p.text(time=(-1, 2))": "ValueError: time is (from, to), two numbers ",
    "p.text(time=(5, 2))": "ValueError: time ends before it begins",
    "p.text(min_share=200)": "ValueError: min_share is a percentage from 0 to 100, not 200",
    "p.text(min_share=-1)": "ValueError: min_share is a percentage from 0 to 100, not -1",
    'p.text(min_share="x")': "TypeError: min_share is a percentage, not 'x'",
    "p.text(top=-1)": "ValueError: top is not negative, as -1 is",
    'p.text(top="x")': "TypeError: top is a whole number, not 'x'",
    "p.text(width=3)": "ValueError: width is a number of columns from 20 to 1000, not 3",
    "p.text(foo=1)": REPORT,
    "p.stats(foo=1)": REPORT,
    "p.html(foo=1)": REPORT,
    'p.save("x.json", foo=1)': REPORT,
    'p.text(format="svg")': "ValueError: format is one of text, tree, markdown, not 'svg'",
    'p.print("x")': "TypeError: file is a text file, not 'x'",
    'p.write("pdf")': "ValueError: format is one of text, tree, json, ",
    "p.write([])": "ValueError: format is one of text, tree, json, ",
    'p.write("json", 3)': NAME + "3",
    'p.write("json", "x.json", force="x")': "TypeError: force is True or False, not 'x'",
    "p.html(3)": NAME + "3",
    "p.open_in_browser(3)": NAME + "3",
    "p.open_in_browser(force=3)": "TypeError: force is True or False, not 3",
    "p.save(3)": NAME + "3",
    'p.save("")': "ValueError: path is the name of a file, which '' cannot be",
    r'p.save("a\0b")': r"ValueError: path is the name of a file, which 'a\x00b' cannot be",
    'p.save("x", format="json")': "TypeError: save() takes the format from the end of the name; write(format, path) takes it as an argument",
    'p.write("flamegraph-json", flavour="x")': "ValueError: flavour is one of cpython, seed, not 'x'",
    'p.save("x.foo")': "ValueError: no format ends in .foo: there are .txt, .tree, .json, ",
    'p.save("/nodir/x")': FILE,
    "p.tree(omit=3)": "TypeError: omit is the end of a file's name, or several, not 3",
    "p.tree(omit=[3])": "TypeError: omit is the end of a file's name, or several, not [3]",
    'p.tree(lines="x")': "TypeError: lines is True or False, not 'x'",
    "p.tree(stop=3)": "TypeError: stop is the end of a file's name, not 3",
    "p.tree(depth=-1)": "ValueError: depth is not negative, as -1 is",
    'p.tree(depth="x")': "TypeError: depth is a whole number, not 'x'",
    "plumb.merge()": "TypeError: merge() needs at least one recording",
    "plumb.merge(p, 3)": "TypeError: merge() takes each recording, a profile or a file, as an argument of its own, not 3",
    "plumb.merge([p, p])": "TypeError: merge() takes each recording, a profile or a file, as an argument of its own, not [",
    "plumb.diff(3, p)": "TypeError: before is a profile, a file, or several of these, not 3",
    "plumb.diff(p, [3])": "TypeError: after is a profile, a file, or several of these, not [3]",
    'plumb.diff(p, p, paths="x")': "TypeError: paths is True or False, not 'x'",
    "plumb.diff(p, p, normalize=3)": 'TypeError: normalize is the name of a function, "none", "total", "samples" or None, not 3',
    "plumb.diff(p, p).fails(-1)": "ValueError: above is a percentage, 0 or more, not -1",
    "plumb.diff(p, p).fails(5, top=1)": COMPARISON % "top",
    "plumb.diff(p, p).text(foo=1)": COMPARISON % "foo",
    'plumb.tag("x")': "TypeError: a tag takes labels by their names, as in ",
    "plumb.tag(1, 2)": 'TypeError: a tag takes labels by their names, as in plumb.tag(job="nightly"), not 1, 2 alone',
    'plumb.tag(a="b")(3)': "TypeError: a function or a class is decorated, not 3",
    "plumb.Profiler(interval=0)": "ValueError: interval is at least 0.000001 s and less than 10 s, not 0",
    'plumb.Profiler(max_nodes="x")': "TypeError: max_nodes is a whole number, not 'x'",
    'plumb.Profiler(jitter="x")': "TypeError: jitter is True or False, not 'x'",
    "plumb.Profiler(mode=3)": MODES + "3",
    'plumb.Profiler(engine="x")': ENGINES,
    'plumb.Profiler(threads="nobody").start()': NOBODY,
    "profiler.pause()": "RuntimeError: nothing is sampled: start() was not called",
    "profiler.query()": "RuntimeError: nothing was sampled: start() was not called",
    "started.query(3)": "TypeError: regex is a text, not 3",
    'started.query("(")': "ValueError: '(' is no regular expression: ",
    'started.query(max_records="x")': "TypeError: max_records is a whole number, not 'x'",
    'started.query(sort="x")': 'ValueError: sort is "self" or "total", not ',
    "started.query(foo=1)": REPORT,
    "started.show(limit=-1)": "ValueError: limit is not negative, as -1 is",
    'functions.watch("nobody")': NOBODY,
    "functions.watch(3.5)": THREAD + "3.5",
    'functions.watch(interval="x")': "ValueError: interval: not a time: 'x'; ",
    "functions.watch(interval=None)": "TypeError: interval: not a time: None; ",
    'functions.watch(interval="1d")': "ValueError: interval is at least 0.000001 s and less than 100 s, not 86400.0",
    'functions.watch(jitter="x")': "TypeError: jitter is True or False, not 'x'",
    "functions.watch(omit=[3])": "TypeError: omit is the end of a file's name, or several, not [3]",
    "functions.watch(cycle=0)": "ValueError: cycle is longer than 0, not 0",
    'functions.watch(maxlen="x")': "TypeError: maxlen is a whole number, not 'x'",
    "functions.watch(max_nodes=-1)": "ValueError: max_nodes is not negative, as -1 is",
    "functions.watch(omit=3)": "TypeError: omit is the end of a file's name, or several, not 3",
    "functions.watch(stop=3)": "TypeError: stop is a function without arguments, ",
    'functions.watch(engine="x")': 'ValueError: engine is "inprocess", "gil" or None, not ',
    "functions.get_profile([tree])": "ValueError: history has entries (time, tree) in the order ",
    'functions.get_profile([(1, tree)], start="x")': "TypeError: history has entries (time, tree) in the order ",
    "functions.get_profile(3)": HISTORY,
    "functions.get_profile(functions.History([3] * 9))": HISTORY,
    'functions.get_profile([(1, 3)], key="a")': HISTORY,
    "functions.get_profile([(1, tree)], recent=3)": TREE + "3",
    "functions.get_profile([(1, {})])": "KeyError: ",
    "functions.merge(tree, 3)": TREE + "3",
    "functions.merge(None, tree)": TREE + "None",
    "functions.merge(tree, {})": "KeyError: \"a tree is a dict, as create() makes one: this one has no 'count'\"",
    "functions.merge([tree, tree])": "TypeError: each tree is an argument of its own: merge(*trees)",
    "functions.process(None, None, tree)": "AttributeError: frame is None: there is no such thread, or it has ended",
    "functions.process(3, None, tree)": FRAME + "3",
    "functions.process(sys._getframe(), None, 3)": TREE + "3",
    "functions.process(sys._getframe(), None, {})": "KeyError: \"a tree is a dict, as create() makes one: this one has no 'count'\"",
    'functions.process(sys._getframe(), None, tree, depth="x")': "TypeError: depth is a whole number or None, not 'x'",
    "functions.process(sys._getframe(), None, tree, stop=3)": "TypeError: stop is the end of a file's name, not 3",
    "functions.process(sys._getframe(), None, tree, omit=3)": "TypeError: omit is the end of a file's name, or several, not 3",
    "functions.process(sys._getframe(), None, tree, omit=[3])": "TypeError: omit is the end of a file's name, or several, not [3]",
    "functions.process(sys._getframe(), None, tree, tally=3)": "TypeError: tally is a dict or None, not 3",
    "functions.identifier(3)": FRAME + "3",
    "functions.info_frame(None)": FRAME + "None",
    "functions.repr_frame(3)": FRAME + "3",
    "functions.call_stack(3)": FRAME + "3",
    "functions.plot_data(3)": TREE + "3",
    "functions.plot_data({})": "KeyError: \"a tree is a dict, as create() makes one: this one has no 'count'\"",
    'functions.plot_data(tree, "x")': "TypeError: profile_interval is a number of seconds, not 'x'",
    "functions.plot_data(tree, None)": "TypeError: profile_interval is a number of seconds, not None",
    'functions.plot_data(tree, min_width="x")': "TypeError: min_width is a number from 0 to 1, not 'x'",
    'functions.process(sys._getframe(), None, tree, strict="x")': "ValueError: strict is False, True or ",
    'p.text(threads="nobody")': NAMELESS,
    'p.stats(threads=["MainThread", "nobody"])': NAMELESS,
    'p.save("x.folded", threads=["nobody", "MainThread"])': NAMELESS,
    'plumb.diff(p, p).text(threads=["MainThread", "nobody"])': NAMELESS,
    'p.write("json", process="nobody")': "ValueError: no samples of a process 'nobody'; there are: ",
    "web.WSGIMiddleware(None)": "TypeError: app is an application of WSGI, which can be called, not None",
    "web.ASGIMiddleware(None)": "TypeError: app is an application of ASGI, which can be called, not None",
    "web.WSGIMiddleware(print, times=3)": "TypeError: times is a plumb.web.RequestTimes or None, not 3",
    "web.control(None)": "TypeError: profiler is a plumb.Profiler, not None",
    "web.control_asgi(p)": "TypeError: profiler is a plumb.Profiler, not ",
    'web.control(profiler, token="x")': "ValueError: token is a text of at least 8 characters",
    'web.control(profiler, allow_loopback="x")': "TypeError: allow_loopback is True or False, not 'x'",
    "web.WSGIMiddleware(print, control=3)": "TypeError: control is what plumb.web.control() or control_asgi() gives, not 3",
    "web.flask_blueprint(3)": "TypeError: profiler is a plumb.Profiler, not 3",
    "web.django_middleware(3)": "TypeError: get_response is a function, which Django gives, not 3",
    "web.control(profiler, allow=True)": "TypeError: allow is a function that is asked about each request, not True",
    "web.control(profiler, foo=True)": "TypeError: control() got an unexpected keyword argument 'foo'",
    "web.RequestTimes(0)": "ValueError: max_routes is at least 1, not 0",
    'web.RequestTimes().add("GET", "/", "slow", 200)': "TypeError: seconds is a number, not 'slow'",
    'web.RequestTimes().add("GET", "/", 1.0, "200")': "TypeError: status is a number, as 200, or None, not '200'",
}  # fmt: skip

# What is right, and chooses nothing: a warning.
EMPTY = {
    'p.text(focus="no such function")': "no sample passes the filters",
}  # fmt: skip


class Plain:
    pass


def said(call):
    try:
        eval(call)
    except Exception as error:
        return "%s: %s" % (type(error).__name__, error)
    return "nothing"


for call, sentence in CALLS.items():
    assert said(call).startswith(sentence), (call, said(call))
    assert os.listdir(".") == [], (call, os.listdir("."))
for call, sentence in EMPTY.items():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        eval(call)
    assert [str(one.message) for one in told][0].startswith("plumb: " + sentence) and len(told) == 1, (call, told)
    assert told[0].filename in ("<string>", __file__), told[0]
print(json.dumps({"calls": len(CALLS) + len(EMPTY)}))
