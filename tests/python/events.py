# SPDX-License-Identifier: Apache-2.0
"""plumb.event: what programs note is in their recordings. Each check_ is run; their names are told."""
import json
import os
import signal
import threading
import warnings

import plumb
from raising import refusal
from recorded import OUT, busy_inner, has, run_checks
from sanitizer import MAY_FORK


def told(profile):
    return json.loads(profile.write("json")).get("events", [])


def names(profile):
    return [event["name"] for event in told(profile)]


def check_without_a_recording_nothing_happens():
    plumb.event("nobody hears it", why="there is none")
    profiler = plumb.Profiler()
    profiler.event("nor this")


def check_threads_note_what_they_do_and_when():
    with plumb.profile() as p:
        busy_inner(has(p, 20))
        plumb.event("epoch", number=1, loss=0.5)

        def work():
            busy_inner(has(p, 50))
            plumb.event("in a thread")
            tids.append(threading.get_native_id())
            busy_inner(has(p, 50))

        tids = [threading.get_native_id()]
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    first, second = told(p)
    assert first["kind"] == "mark" and first["name"] == "epoch" and first["labels"] == {"number": "1", "loss": "0.5"}, first
    assert second["name"] == "in a thread" and "labels" not in second, second
    assert 0 < first["time_ns"] < second["time_ns"] < json.loads(p.write("json"))["duration_ns"]
    assert [event["tid"] for event in (first, second)] == tids and first["pid"] == second["pid"] == os.getpid(), told(p)


def check_they_are_saved_and_chosen_by_time():
    with plumb.profile() as p:
        busy_inner(has(p, 20))
        plumb.event("first")
        busy_inner(has(p, 200))
        plumb.event("second")
        busy_inner(has(p, 20))
    path = os.path.join(OUT, "events.plumb")
    p.save(path)
    again = plumb.open(path)
    assert told(again) == told(p) and names(again) == ["first", "second"]
    between = (told(p)[0]["time_ns"] + told(p)[1]["time_ns"]) / 2e9
    later = json.loads(again.write("json", time=(between, None)))
    assert [event["name"] for event in later["events"]] == ["second"], later["events"]
    assert later["events"][0]["time_ns"] < told(p)[1]["time_ns"]


def check_each_recording_gets_them_and_a_profiler_its_own():
    profiler, other = plumb.Profiler(), plumb.Profiler()
    with plumb.profile() as p:
        profiler.start()
        other.start()
        plumb.event("for all")
        profiler.event("for one", value="x")
        busy_inner(has(p, 20))
        profiler.stop()
        other.stop()
        plumb.event("later")
    profiler.event("too late")
    assert names(p) == ["for all", "later"]
    assert names(profiler.snapshot()) == ["for all", "for one"] and names(other.snapshot()) == ["for all"]


def check_a_pause_is_told_with_its_length():
    profiler = plumb.Profiler()
    profiler.start()
    for _ in range(2):  # the second time nothing changes
        profiler.pause()
    plumb.event("paused")
    with plumb.profile() as p:
        busy_inner(has(p, 50))
    for _ in range(2):
        profiler.resume()
    plumb.event("goes on")
    profiler.pause()
    profiler.stop()
    found = told(profiler.snapshot())
    first, last = [event for event in found if event["kind"] == "pause"]
    mark, goes_on = [event for event in found if event["kind"] == "mark"]
    assert len(found) == 4 and last["duration_ns"] > 0, found
    assert first["duration_ns"] > 50e6, "as long as 50 samples took"
    assert first["time_ns"] == mark["time_ns"] <= goes_on["time_ns"] <= last["time_ns"], "time stands still in a pause"


def check_a_child_of_a_fork_says_nothing_in_it():
    if not MAY_FORK:
        return
    with plumb.profile() as p:
        busy_inner(has(p, 10))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # that there are threads, from 3.12 on
            child = os.fork()
        if not child:
            try:
                plumb.event("of the child")
                with plumb.profile() as own:
                    plumb.event("its own")
                    busy_inner(has(own, 10))
                os._exit(0 if names(own) == ["its own"] else 1)
            finally:
                os._exit(2)
        assert os.waitpid(child, 0)[1] == 0
        plumb.event("of the parent")
    assert names(p) == ["of the parent"]


def check_signal_handlers_may_note():
    def handler(number, frame):
        plumb.event("signal", number=number)

    before = signal.signal(signal.SIGALRM, handler)
    with plumb.profile() as p:
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        for number in range(1000):
            plumb.event("main", number=number)
        busy_inner(lambda: "signal" in names(p))
        signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)
    assert names(p).count("main") == 1000 and p.info()["losses"]["events"] == 0


def check_those_that_are_too_many_are_counted():
    with plumb.profile() as p:
        for number in range(40000):
            plumb.event("x")
        busy_inner(has(p, 10))
    kept, lost = len(told(p)), p.info()["losses"]["events"]
    assert kept + lost == 40000 and 0 < kept <= 16384, (kept, lost)


def check_texts_are_cut_and_are_one_line():
    values, profiler = {"v%02d" % i: i for i in range(20)}, plumb.Profiler()
    with plumb.profile() as p:
        profiler.start()
        for event in (plumb.event, profiler.event):
            event("n" * 1000, text="a\nb\0c", surrogate="\ud800", long="x" * 1000)
            event("many", **values)
            assert refusal(TypeError, event, 7) == "the name of an event is a text, not 7"
        busy_inner(has(p, 10))
    profiler.stop()
    first, second = told(p)
    assert len(first["name"]) == 100 and first["labels"]["text"] == "a\ufffdb\ufffdc" and first["labels"]["surrogate"] == "\ufffd"
    assert len(first["labels"]["long"]) == 100 and len(second["labels"]) == 16
    both = [(event["name"], event["labels"]) for event in told(profiler.snapshot())]
    assert both[:2] == both[2:] == [(event["name"], event["labels"]) for event in told(p)]


def check_merged_recordings_have_them_in_real_time():
    parts = []
    for name in "ab":
        with plumb.profile() as p:
            busy_inner(has(p, 20))
            plumb.event(name)
        parts.append(p)
    alone = [told(p)[0]["time_ns"] for p in parts]
    first, second = told(plumb.merge(*reversed(parts)))
    assert first["name"] == "a" and first["time_ns"] == alone[0] and second["name"] == "b" and second["time_ns"] > alone[1]


def of_formats():
    """A recording with three events of the main thread, and what each of its formats tells of them."""
    with plumb.profile() as p:
        busy_inner(has(p, 50))
        plumb.event("epoch", number=1)
        plumb.event("epoch", number=2)
        plumb.event("saved")
        busy_inner(has(p, 50))
    return p


def check_reports_count_them():
    p = of_formats()
    line = [line.split() for line in p.text().splitlines() if line.startswith(" events ")]
    assert line in ([["events", "epoch", "2", "\u00b7", "saved", "1"]], [["events", "epoch", "2", "|", "saved", "1"]]), p.text()
    assert "- events: epoch 2" in p.write("markdown").decode()
    with plumb.profile() as none:
        busy_inner(has(none, 10))
    assert " events " not in none.text() and "events" not in json.loads(none.write("json"))


def check_chrome_has_instants():
    p = of_formats()
    found = [event for event in json.loads(p.write("chrome-trace"))["traceEvents"] if event["ph"] == "i"]
    assert [(event["name"], event["tid"], event["s"]) for event in found] == [(name, os.getpid(), "t") for name in names(p)]
    assert [round(event["ts"] * 1000) for event in found] == [event["time_ns"] for event in told(p)], found
    assert found[0]["args"] == {"kind": "mark", "labels": {"number": "1"}}


def check_firefox_has_markers():
    p = of_formats()
    told_there = json.loads(p.write("firefox"))
    columns = told_there["threads"][0]["markers"]
    found = [(data["what"], data.get("values"), round(start * 1e6)) for data, start in zip(columns["data"], columns["startTime"])
             if data and data["type"] == "event"]  # fmt: skip
    values = ["number=1", "number=2", None]
    assert found == [(event["name"], value, event["time_ns"]) for event, value in zip(told(p), values)], (found, told(p))
    assert len(set(map(len, [columns[name] for name in ("data", "name", "startTime", "endTime", "phase", "category")]))) == 1
    assert columns["length"] == len(columns["data"])
    assert "event" in [schema["name"] for schema in told_there["meta"]["markerSchema"]]


run_checks(globals())
