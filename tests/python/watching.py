# SPDX-License-Identifier: Apache-2.0
"""What plumb.profile.watch() promises. Each check_ is run; their names are told. checks.py says how."""
import copy
import datetime
import gc
import inspect
import os
import pickle
import sys
import threading
import time

import plumb.profile as profile
from checks import ENGINE, IN_PROCESS, run_all, spin, spin_until
from trees import nodes

HERE = os.path.basename(__file__)


def watch(*arguments, **options):
    options = {"interval": 0.002, "cycle": 0.05, "engine": ENGINE, **options}
    return profile.watch(*arguments, **options)


def sampled(history, least=5):
    """Whether so many samples are in it."""
    return sum(tree["count"] for _, tree in list(history)) >= least


def names(history):
    return {node["description"]["name"] for node in nodes(profile.get_profile(history))}


def own(tree):
    """{name: samples in which it was innermost}"""
    counts = {}
    for node in nodes(tree):
        name = node["description"]["name"]
        counts[name] = counts.get(name, 0) + node["count"] - sum(child["count"] for child in node["children"].values())
    return counts


def ended(history):
    """When it has ended by itself."""
    spin_until(lambda: history.status()["ended"])
    for thread in threading.enumerate():
        if thread.name == "Profile":
            thread.join()


class Busy(threading.Thread):
    """Runs a function again and again, as a with statement."""

    def __init__(self, function, name=None):
        super().__init__(name=name, daemon=True)
        self.function, self.done = function, False

    def run(self):
        while not self.done:
            self.function()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.done = True
        self.join()


def check_the_signature_begins_as_that_of_distributed():
    parameters = list(inspect.signature(profile.watch).parameters.values())
    found = [(parameter.name, parameter.default) for parameter in parameters[:5]]
    assert found == [("thread_id", None), ("interval", "20ms"), ("cycle", "2s"), ("maxlen", 1000), ("omit", None)]
    assert parameters[5].name == "stop" and parameters[5].default() is False
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters[6:])


def check_each_cycle_is_a_tree_with_the_time_of_its_end():
    """Of many ends the middle one counts: two clocks are read for each, and who reads them may lose the processor between the two. That takes less than
    a microsecond of 50 ms; if it happened to one in a hundred, the middle one of eleven would be off once in a thousand million runs."""
    before = time.time()
    history = watch()
    after = time.time()
    spin_until(lambda: len(history) >= 12)
    history.stop()
    ends = [end for end, _ in list(history)[:-1]]
    begins = sorted(end - 0.05 * (i + 1) for i, end in enumerate(ends))
    gaps = sorted(after - end for end, after in zip(ends, ends[1:]))
    assert abs(gaps[len(gaps) // 2] - 0.05) < 0.002, gaps
    assert before - 0.002 < begins[len(begins) // 2] < after + 0.002, (before, begins, after)
    tree = history[1][1]
    assert list(tree) == list(profile.create()) and tree["identifier"] == "root"
    assert {"spin_until", "spin"} <= names(history)
    assert not history.status()["ended"] is False


def check_a_tree_has_keys_and_descriptions_as_process_makes_them():
    history = watch()
    spin_until(lambda: sampled(history, 10))
    history.stop()
    watched = {key: node for node in nodes(profile.get_profile(history)) for key, node in node["children"].items()}
    expected = profile.create()
    profile.process(sys._getframe(), None, expected)
    made = {key: node for node in nodes(profile.merge(expected)) for key, node in node["children"].items()}
    assert set(made) <= set(watched), (sorted(made), sorted(watched))
    for key, node in made.items():
        assert list(watched[key]) == list(node) and watched[key]["identifier"] == key
        about, wanted = watched[key]["description"], node["description"]
        assert list(about) == list(wanted)
        assert (about["filename"], about["name"]) == (wanted["filename"], wanted["name"])
    assert any(node["description"]["line"] in ("while n:\n", "n -= 1\n") for node in watched.values())


def check_what_is_published_does_not_change():
    history = watch()
    spin_until(lambda: len(history) >= 2)
    first = list(history)[:2]
    copies = copy.deepcopy(first)
    spin_until(lambda: len(history) >= 4)
    assert list(history)[0][1] is first[0][1]
    history.stop()
    assert first == copies


def check_stopping_flushes():
    history = watch(cycle="1h")
    spin_until(lambda: history.status()["samples"] >= 10)
    assert not history
    history.stop()
    assert len(history) == 1 and history[0][1]["count"] == history.status()["samples"] >= 10
    assert history.status()["ended"]
    history.stop()
    assert len(history) == 1


def check_recent_and_history_are_all_there_is():
    history = watch(cycle=0.03)
    for _ in range(50):
        spin_until(lambda: history.status()["samples"] >= 10)
        low, before = history.status()["samples"], {end for end, _ in list(history)}
        count = profile.get_profile(history, history.recent())["count"]
        high = history.status()["samples"]
        # What ends between the answer and the sum may be in both.
        twice = sum(tree["count"] for end, tree in list(history) if end not in before)
        assert low <= count <= high + twice, (low, count, high, twice)
    history.stop()
    assert profile.get_profile(history)["count"] == history.status()["samples"]
    assert history.recent() == profile.create()


def check_a_cycle_that_ends_between_two_questions_is_in_one_of_the_answers():
    history, other = watch(cycle="1h"), watch(cycle="1h")
    spin_until(lambda: history.status()["samples"] >= 10)
    session, begun, ended = history._publisher._session, other._publisher._session.recent(), []

    class Ending:
        """When it is asked for the cycle that has not ended, that has just done so."""

        def cycles(self):
            answer, ended[:] = ended[:], []
            return answer

        def recent(self):
            if not history:
                ended.append((time.time(), session.recent()))
            return begun

    low = history.status()["samples"]
    history._publisher._session = Ending()
    assert profile.get_profile(history, history.recent())["count"] >= low
    history._publisher._session = session
    history.stop()
    other.stop()


def check_one_thread_several_or_all():
    def one():
        spin()

    def other():
        spin()

    with Busy(one) as a, Busy(other, "the other one") as b:
        histories = {
            "one": watch(a.ident), "other": watch("the other one"), "both": watch([1, a.ident, b]), "all": watch("all"), "me": watch(),
        }  # fmt: skip
        spin_until(lambda: all(sampled(history, 20) and {"one", "both", "other", "all", "me"} for history in histories.values()))
        for history in histories.values():
            history.stop()
    found = {name: names(history) & {"one", "other", "spin_until"} for name, history in histories.items()}
    assert found["one"] == {"one"} and found["other"] == {"other"} and found["me"] == {"spin_until"}, found
    assert found["both"] == {"one", "other"} and found["all"] == {"one", "other", "spin_until"}, found


def check_the_thread_is_called_profile_and_is_not_sampled():
    history = watch("all")
    spin_until(lambda: sampled(history, 20))
    assert "Profile" in [thread.name for thread in threading.enumerate()]
    history.stop()
    spin_until(lambda: "Profile" not in [thread.name for thread in threading.enumerate()])
    assert "_wait_seconds" not in names(history) and "_turn" not in names(history)


def check_omit_is_about_the_innermost_function_and_drops_the_whole_sample():
    from threading import Event

    def waiting():
        Event().wait(0.001)

    with Busy(waiting) as thread:
        histories = [watch(thread.ident, omit=omit) for omit in (None, (), "threading.py", ["nothing.py", HERE])]
        spin_until(lambda: all(history.status()["samples"] >= 30 for history in histories))
        for history in histories:
            history.stop()
    default, none, without_threading, without_this = map(profile.get_profile, histories)
    assert own(default).get("wait") and own(none).get("wait")
    assert not own(without_threading).get("wait")
    assert without_threading["count"] < histories[2].status()["samples"] and without_this["count"]
    assert not any(count for name, count in own(without_this).items() if name in ("run", "waiting"))


def check_stop_is_asked_and_may_end_it_from_within():
    asked = []
    history = watch(cycle="1h", stop=lambda: asked.append(threading.current_thread().name) or len(asked) == 3)
    ended(history)
    assert asked == ["Profile"] * 3
    known = threading.Event()
    inner = watch(stop=lambda: known.is_set() and inner.stop())
    spin_until(lambda: sampled(inner))
    known.set()
    ended(inner)
    assert inner


def check_it_ends_if_stop_raises():
    told, hook = [], threading.excepthook
    threading.excepthook = told.append
    ready = threading.Event()
    history = watch(stop=lambda: ready.is_set() and 1 / 0)
    spin_until(lambda: sampled(history))
    ready.set()
    ended(history)
    spin_until(lambda: told)
    threading.excepthook = hook
    assert told[0].exc_type is ZeroDivisionError and history
    history.stop()


def check_it_ends_with_its_thread():
    ready = threading.Event()

    def finite():
        ready.wait()
        spin_until(lambda: history.status()["samples"] >= 20)

    thread = threading.Thread(target=finite)
    thread.start()
    history = watch(thread.ident)
    ready.set()
    thread.join()
    ended(history)
    assert "finite" in names(history)
    length = len(history)
    with Busy(spin):  # it has the ident of the other one, most likely
        again = watch(thread.ident) if not thread.is_alive() else None
        spin_until(lambda: again.status()["samples"] > 10 or again.status()["ended"])
        again.stop()
    assert len(history) == length


def check_a_thread_that_is_not_there_has_an_empty_history():
    history = watch(1)
    assert not history and history.status()["ended"] and history.recent() == profile.create()
    history.stop()
    assert profile.get_profile(history) == profile.create()


def check_the_history_has_a_maximum():
    history = watch(maxlen=2, cycle=0.01)
    spin_until(lambda: history.status()["samples"] > 100)
    history.stop()
    assert len(history) == 2 and history.maxlen == 2
    assert watch(1, maxlen=None).maxlen is None


def check_copies_are_histories_that_have_ended():
    history = watch()
    spin_until(lambda: len(history) >= 2)
    history.stop()
    for other in (pickle.loads(pickle.dumps(history)), copy.copy(history), copy.deepcopy(history)):
        assert list(other) == list(history) and other.maxlen == 1000
        assert other.status()["ended"] and other.recent() == profile.create()
        other.stop()


def check_times_are_what_dask_takes_for_times():
    from plumb._watch import seconds

    assert seconds("20ms") == 0.02 and seconds(3) == 3 and seconds(" 1.5 minutes") == 90 and seconds("ms") == 0.001
    assert seconds(datetime.timedelta(milliseconds=5)) == 0.005 and seconds("2") == 2 and seconds("1 H") == 3600
    for bad in ("", "x", "1 fortnight", "1x2s", "--1s"):
        refused(ValueError, seconds, bad)


def refused(kind, function, *arguments, **options):
    try:
        function(*arguments, **options)
    except kind as error:
        return str(error)
    raise AssertionError("%r, %r are taken" % (arguments, options))


def check_wrong_arguments_are_refused_and_leave_no_thread():
    spin_until(lambda: threading.active_count() == 1)
    for name in ("interval", "cycle"):
        for bad in (0, -1, "0ms", "soon", float("nan"), float("inf")):
            assert name in refused(ValueError, watch, **{name: bad})
    refused(ValueError, watch, engine="steam")
    refused(ValueError, watch, maxlen=-1)
    refused(TypeError, watch, interval=None)
    assert "stop is a function without arguments" in refused(TypeError, watch, stop=3)
    assert "stop is a function without arguments" in refused(TypeError, watch, stop=None)
    spin_until(lambda: threading.active_count() == 1)


def check_the_lock_stops_nobody_but_those_who_hold_frames():
    with profile.lock:
        history = watch(cycle=0.02)
        if IN_PROCESS:
            spin_until(lambda: sampled(history, 10))
            assert history.recent()
        else:
            spin()
            gc.collect()
            assert history.status()["samples"] == 0
        history.stop()


def check_ten_readers_at_a_time():
    history, counts, errors = watch(interval=0.001, cycle=0.01), [[] for _ in range(10)], []

    def read(which):
        try:
            counts[which].append(profile.get_profile(history)["count"])
            history.recent()
            history.status()
        except Exception as error:
            errors.append(error)

    readers = [Busy(lambda which=which: read(which)) for which in range(10)]
    for reader in readers:
        reader.__enter__()
    spin_until(lambda: errors or len(history) > 20 and all(map(len, counts)))
    history.stop()
    for reader in readers:
        reader.__exit__()
    assert not errors, errors
    assert all(list(seen) == sorted(seen) for seen in counts)
    assert profile.get_profile(history)["count"] == history.status()["samples"]


def check_cycles_may_be_shorter_than_it_takes_to_fetch_one():
    """Others end while those that have ended are fetched. So it is for longer ones where a thread keeps the GIL."""
    history = watch(cycle=1e-5)
    spin_until(lambda: history)
    history.recent()
    history.stop()
    assert history.status()["ended"]


def check_functions_are_seen_after_many_others_were():
    """Only in the process is there a limit to what is known at a time. The history is looked through once for each of its states: who
    looks ever longer calls ever less of what is to be seen."""
    if not IN_PROCESS:
        return
    history, number, looked, found = watch(max_nodes=50, interval=0.001, cycle=0.03), 0, 0, False

    def made_up():
        space = {"spin": spin}
        exec("def made_up_%d():\n    spin()\n" % number, space)
        space["made_up_%d" % number]()

    while number < 150 or not found:
        number += 1
        made_up()
        if number >= 150 and len(history) != looked:
            looked, found = len(history), any(is_late(name) for name in names(history))
    history.stop()


def is_late(name):
    """Of those that were made up, one after the first hundred."""
    return name.startswith("made_up_") and int(name[len("made_up_") :]) >= 100


def depths(tree, name):
    """At which a function is called."""
    waiting = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        if node["description"]["name"] == name:
            yield depth
        waiting.extend((child, depth + 1) for child in node["children"].values())


def check_deep_stacks_are_whole():
    def down(n):
        if n:
            return down(n - 1)
        spin_until(lambda: (sampled(history, 5) and "spin_until" in names(history)) or history.status()["ended"])

    sys.setrecursionlimit(2000)
    history = watch(interval=0.005)
    threading.stack_size(64 << 20)
    down(900)
    history.stop()
    found = list(depths(profile.get_profile(history), "spin_until"))
    assert found and min(found) > 900, found


run_all(globals())
