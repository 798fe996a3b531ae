# SPDX-License-Identifier: Apache-2.0
"""What plumb.profile does where the original loses, shares or refuses something. Each check_ is run; their names are told."""
import contextlib
import collections
import copy
import gc
import inspect
import json
import linecache
import operator
import os
import pickle
import random
import sys
import tempfile
import threading
import types
import weakref

import plumb.profile as profile
from plumb._trees import as_bytes, pack, packed
from raising import refusal

try:
    import _testcapi  # not every Python has it
except ImportError:
    _testcapi = None

DEEP = 20000


def frame_of(*names, back=None, filename="/srv/%s.py"):
    """The innermost frame of a stack of functions, outermost first."""
    for name in names:
        code = types.SimpleNamespace(co_name=name, co_filename=filename % name, co_firstlineno=1)
        back = types.SimpleNamespace(f_code=code, f_lineno=1, f_back=back, f_globals={}, f_lasti=0)
    return back


def key(name):
    return "%s;/srv/%s.py;1" % (name, name)


def counts(tree):
    """{identifier: count} of all nodes; the stacks of these tests have no name twice."""
    found, waiting = {}, [tree]
    while waiting:
        node = waiting.pop()
        found[node["identifier"]] = node["count"]
        waiting.extend(node["children"].values())
    return found


def depth_of(tree):
    depth = 0
    while tree["children"]:
        depth, (tree,) = depth + 1, tree["children"].values()
    return depth


def check_stacks_of_any_depth_are_kept_whole():
    tree = profile.create()
    frame = frame_of(*["f%d" % i for i in range(DEEP)])
    profile.process(frame, None, tree)
    assert depth_of(tree) == DEEP
    merged = profile.merge(tree, tree)
    assert depth_of(merged) == DEEP and merged["count"] == 2
    data = profile.plot_data(merged)
    assert len(data["left"]) == DEEP + 1 and data["top"][-1] == DEEP + 1
    assert len(profile.call_stack(frame)) == DEEP
    # Python's own clean-up of what is nested must not be what is tested.
    while frame is not None:
        frame.f_back, frame = None, frame.f_back


def check_real_frames_deeper_than_the_recursion_limit_allows_twice():
    tree = profile.create()

    def down(n):
        return down(n - 1) if n else profile.process(sys._getframe(), None, tree)

    limit = sys.getrecursionlimit()
    down(limit - 100)
    assert tree["count"] == 1 and depth_of(tree) >= limit - 100


def check_what_is_cut_off_is_shown_and_counted():
    tree, tally = profile.create(), {}
    frame = frame_of(*"abcd")
    profile.process(frame, None, tree, depth=1, tally=tally)
    assert list(tree["children"]) == ["<truncated>"]
    assert counts(tree) == {"root": 1, "<truncated>": 1, key("c"): 1, key("d"): 1}
    profile.process(frame, None, tree, depth=3, tally=tally)
    assert tree["children"][key("a")]["count"] == 1
    assert tally == {"truncated": 1, "whole": 1}
    assert profile.plot_data(tree)["name"][1] == "<truncated>"


def check_a_tally_tells_what_became_of_each_stack():
    tree, tally = profile.create(), {}
    frame = frame_of(*"ab")
    profile.process(frame, None, tree, omit=("b.py",), tally=tally)
    profile.process(frame, None, tree, omit=("a.py",), tally=tally)
    profile.process(frame, None, tree, depth=1, strict="2022.12.1", tally=tally)
    profile.process(frame, None, tree, depth=0, strict="2022.12.1", tally=tally)
    assert tally == {"omitted": 1, "whole": 1, "lost": 2}
    assert tree["count"] == 1


def check_one_str_to_omit_is_one_suffix():
    tree = profile.create()
    profile.process(frame_of("app"), None, tree, omit="not-app.py")
    assert tree["count"] == 1
    profile.process(frame_of("app"), None, tree, omit="app.py")
    assert tree["count"] == 1
    profile.process(frame_of("app"), None, tree, omit="xy", strict=True)
    assert tree["count"] == 1


def check_both_signatures_are_taken():
    frame, trees = frame_of(*"abc"), [profile.create() for _ in range(4)]
    profile.process(frame, None, trees[0], "a.py", None)
    profile.process(frame, None, trees[1], "a.py", ("zz",))
    profile.process(frame, None, trees[2], stop="a.py", omit=None)
    profile.process(frame=frame, child=None, state=trees[3], stop="a.py", omit=[], depth=None)
    assert trees[0] == trees[1] == trees[2] == trees[3]
    assert counts(trees[0]) == {"root": 1, key("b"): 1, key("c"): 1}
    assert list(inspect.signature(profile.process).parameters)[:6] == ["frame", "child", "state", "stop", "omit", "depth"]


def check_an_exception_counts_nothing():
    tree = profile.create()
    profile.process(frame_of(*"ab"), None, tree)
    before = counts(tree)
    broken = frame_of("c", back=frame_of(*"ab"))
    del broken.f_lineno
    refusal(AttributeError, profile.process, broken, None, tree)
    assert counts(tree) == before
    refusal(ValueError, profile.process, broken, None, tree, strict="2019")


def check_merge_does_not_mind_a_tree_that_grows():
    tree, stop, done = profile.create(), threading.Event(), []

    def grow():
        n = 0
        while not stop.is_set():
            n += 1
            profile.process(frame_of("f%d" % (n % 5000), "g%d" % n), None, tree)
        done.append(n)

    thread = threading.Thread(target=grow)
    thread.start()
    try:
        while tree["count"] < 2000:
            merged = profile.merge(tree, tree)
            assert len(merged["children"]) <= len(tree["children"])
    finally:
        stop.set()
        thread.join()
    assert tree["count"] == done[0]


def check_merge_shares_a_description_only_when_strict():
    tree = profile.create()
    profile.process(frame_of("a"), None, tree)
    node = tree["children"][key("a")]
    assert profile.merge(tree)["children"][key("a")]["description"] is not node["description"]
    assert profile.merge(tree, strict=True)["children"][key("a")]["description"] is node["description"]


def check_trees_of_other_mappings_are_taken():
    class Node(dict):
        pass

    tree = profile.create()
    profile.process(frame_of(*"ab"), None, tree)
    node = tree["children"][key("a")]
    proxied = {**tree, "children": types.MappingProxyType({key("a"): types.MappingProxyType(node)})}
    assert profile.merge(proxied, Node(tree)) == profile.merge(tree, tree)
    assert profile.plot_data(types.MappingProxyType(tree))["name"] == ["", "a", "b"]
    state = Node(profile.create())
    profile.process(frame_of("a"), None, state)
    assert counts(state) == {"root": 1, key("a"): 1}


def check_keys_with_hashes_of_their_own_are_told_apart():
    class Key:
        def __init__(self, name):
            self.name = name

        def __hash__(self):
            return 7

        def __eq__(self, other):
            if self.name == "bad" or other.name == "bad":
                raise RuntimeError("cannot compare")
            return self.name == other.name

    def tree(*names):
        children = {Key(name): {**profile.create(), "count": 1, "identifier": name} for name in names}
        return {**profile.create(), "children": children}

    merged = profile.merge(tree("a", "b"), tree("b", "c"))
    assert [(k.name, v["count"]) for k, v in merged["children"].items()] == [("a", 1), ("b", 2), ("c", 1)]
    assert refusal(RuntimeError, profile.merge, tree("a"), tree("bad")) == "cannot compare"


def check_frames_of_builtins_have_an_identifier():
    frame = types.SimpleNamespace(f_code=[].append, f_lineno=3, f_back=frame_of("a"), f_globals={}, f_lasti=0)
    assert profile.identifier(frame) == "list.append:3"
    tree = profile.create()
    profile.process(frame, None, tree, stop="zz", omit=("zz",))
    described = tree["children"][key("a")]["children"]["list.append:3"]["description"]
    assert described == {"filename": "<built-in>", "name": "list.append", "line_number": 3, "line": ""}
    frame.f_code = len
    assert profile.identifier(frame) == "builtins.len:3"
    assert profile.identifier(None) == "None"


def check_source_that_appears_later_is_found():
    frame = frame_of("later", filename="made-up-%s.py")
    assert profile.info_frame(frame)["line"] == ""
    assert profile.info_frame(frame)["line"] == ""
    linecache.cache["made-up-later.py"] = (1, None, ["  x = 1\n"], "made-up-later.py")
    assert profile.info_frame(frame)["line"] == "x = 1\n"


def check_only_plain_files_are_opened_for_lines():
    """A name is whatever was given to compile(). Who waited here for the end of one of these would wait for ever."""
    with tempfile.TemporaryDirectory() as folder:
        fifo, noted, huge, plain = (os.path.join(folder, name) for name in ("fifo", "noted", "huge.py", "plain.py"))
        os.mkfifo(fifo)
        os.mkfifo(noted)
        for path, size in ((huge, 17 << 20), (plain, 8)):
            with open(path, "w") as file:
                file.write("  x = 1\n")
                file.truncate(size)
        # As traceback notes who may know.
        loader = types.SimpleNamespace(get_source=lambda name: None)
        assert linecache.lazycache(noted, {"__name__": "m", "__loader__": loader, "__spec__": types.SimpleNamespace(name="m", loader=loader)})
        sys.path.append(folder)
        try:
            for name in (fifo, "fifo", noted, "/dev/zero", "/proc/self/mem", huge):
                assert profile.info_frame(frame_of(name, filename="%s"))["line"] == "", name
            for name in (plain, "plain.py"):
                assert profile.info_frame(frame_of(name, filename="%s"))["line"] == "x = 1\n", name
        finally:
            sys.path.remove(folder)


def check_the_picture_can_be_cut_and_told_more_of():
    tree = profile.create()
    for _ in range(99):
        profile.process(frame_of(*"ab"), None, tree)
    profile.process(frame_of(*"ac"), None, tree)
    data = profile.plot_data(tree, extra=True, min_width=0.05)
    assert data["name"] == ["", "a", "b"]
    assert data["count"] == [100, 100, 99] and data["self"] == [0, 0, 99]
    assert len(profile.plot_data(tree)["name"]) == 4 and "self" not in profile.plot_data(tree)
    assert profile.plot_data(profile.create())["left"] == []


def check_a_tree_may_go_while_its_picture_is_made():
    """The count of one node is of a class whose code takes away all nodes of its level while others of them wait for their turn."""
    class Count(int):
        def __bool__(self):
            for parent in parents:
                parent["children"].clear()
            return True

    def node(name, count, *children):
        description = {"filename": "/srv/%s.py" % name, "name": name, "line_number": 1, "line": "x = %s\n" % name}
        return {"identifier": name, "count": count, "description": description, "children": {c["identifier"]: c for c in children}}

    def level(name, count):
        return [node("%s%d" % (name, i), count(i)) for i in range(100)]

    for place in (0, 31, 32, 50, 99):
        root = node("root", 10000, *level("a", lambda i: Count(7) if i == place else 7))
        parents = [root]
        assert len(profile.plot_data(root)["name"]) == 101 and not root["children"]
        parents = level("a", lambda i: 7)
        parents[50]["children"] = {c["identifier"]: c for c in level("b", lambda i: Count(1) if i == place else 1)}
        root = node("root", 10000, *parents)
        assert len(profile.plot_data(root)["name"]) == 201 and not parents[50]["children"]


def check_what_is_recent_is_not_lost_while_the_history_is_empty():
    tree = profile.create()
    profile.process(frame_of("a"), None, tree)
    assert profile.get_profile([], recent=tree) == profile.merge(tree)
    assert profile.get_profile([], recent=tree, strict=True) == profile.create()
    assert profile.get_profile([], recent={}) == profile.create()


def check_what_is_recent_is_of_the_time_after_the_last_cycle():
    names = "a", "b", "recent"
    trees = [profile.create() for _ in names]
    for name, tree in zip(names, trees):
        profile.process(frame_of(name), None, tree)
    entries = [(10.0, trees[0]), (20.0, trees[1])]
    for history in (entries, profile.History(entries)):

        def found(**options):
            tree = profile.get_profile(history, trees[2], **options)
            return "+".join(child["description"]["name"] for child in tree["children"].values())

        assert found() == "a+b+recent" and found(start=15) == found(start=20) == "b+recent"
        assert found(start=21) == found(start=21, stop=22) == "recent"
        assert found(stop=21) == "a+b+recent" and found(start=15, stop=21) == "b+recent"
        assert found(stop=20) == found(stop=15) == "a+b" and found(stop=5) == "a" and found(start=15, stop=15) == "b"
        assert found(start=21, stop=5) == ""
        assert found(stop=5, strict=True) == "a+recent" and found(start=21, strict=True) == ""


def check_a_key_chooses_where_there_are_keys():
    one, two = profile.create(), profile.create()
    profile.process(frame_of("a"), None, one)
    profile.process(frame_of("b"), None, two)
    history = [(1.0, {"x": one, "y": two}), (2.0, {"x": one})]
    assert counts(profile.get_profile(history, key="x")) == {"root": 2, key("a"): 2}
    assert counts(profile.get_profile(history, recent={"y": two}, key="y")) == {"root": 2, key("b"): 2}
    assert profile.get_profile(history, key="z") == profile.create()
    assert set(history[1][1]) == {"x"}


def check_any_part_of_a_history_adds_up_as_it_grows_and_loses_its_oldest():
    r = random.Random(1)
    history, appended = profile.History(maxlen=50), []
    for time in range(300):
        tree = profile.create()
        for _ in range(3):
            profile.process(frame_of(*r.sample("abcdefgh", 3)), None, tree)
        history.append((time, tree))
        appended.append((time, tree))
        start, stop = sorted(r.randrange(time - 60, time + 5) for _ in range(2))
        plain = profile.get_profile(appended[-50:], start=start, stop=stop)
        assert json.dumps(profile.get_profile(history, start=start, stop=stop)) == json.dumps(plain)
    assert list(history) == appended[-50:]
    assert json.dumps(profile.get_profile(history, appended[0][1])) == json.dumps(profile.get_profile(appended[-50:], appended[0][1]))


def check_a_history_that_is_changed_otherwise_forgets_its_sums():
    r = random.Random(2)

    def entry():
        tree = profile.create()
        profile.process(frame_of(*r.sample("abcdefgh", 3)), None, tree)
        return 0.0, tree

    changes = [
        lambda h: h.reverse(), lambda h: h.rotate(3), lambda h: h.pop(), lambda h: h.popleft(), lambda h: h.clear(),
        lambda h: h.appendleft(entry()), lambda h: h.extend([entry() for _ in range(30)]), lambda h: h.insert(5, entry()),
        lambda h: h.extendleft([entry(), entry()]), lambda h: h.remove(h[len(h) // 2]), lambda h: operator.delitem(h, 1),
        lambda h: operator.setitem(h, 2, entry()), lambda h: operator.iadd(h, [entry()]), lambda h: operator.imul(h, 2),
    ]
    history = profile.History()
    for change in changes * 3:
        while len(history) < 40:
            history.append(entry())
        assert profile.get_profile(history) == profile.get_profile(list(history))
        change(history)
        assert profile.get_profile(history) == profile.get_profile(list(history))
    more = collections.deque(entry() for _ in range(30))
    for made, plain in ((history + more, [*history, *more]), (history * 2, [*history] * 2), (3 * history, [*history] * 3)):
        assert type(made) is profile.History and list(made) == plain
        assert profile.get_profile(made) == profile.get_profile(plain)
        made.extend(more)
        assert profile.get_profile(made) == profile.get_profile([*plain, *more])
    for copied in (copy.copy(history), history.copy(), pickle.loads(pickle.dumps(history))):
        assert type(copied) is profile.History and copied == history
        assert profile.get_profile(copied) == profile.get_profile(history)


def check_what_a_history_gives_is_not_its_own():
    tree = profile.create()
    profile.process(frame_of("a"), None, tree)
    history = profile.History((float(i), tree) for i in range(16))
    profile.get_profile(history)["children"].clear()
    assert profile.get_profile(history)["children"][key("a")]["count"] == 16


def check_a_history_nobody_asks_keeps_no_more_sums_than_entries():
    tree = profile.create()
    profile.process(frame_of("a"), None, tree)
    history = profile.History(maxlen=100)
    for time in range(2000):
        history.append((time, tree))
        assert len(history._sums) < 20
    assert profile.get_profile(history)["count"] == 100


def check_a_history_may_grow_between_any_two_steps_of_reading_it():
    """As it does where a signal handler interrupts who reads it."""
    history = profile.History((float(i), profile.create()) for i in range(5))

    def grow(frame, event, _):
        frame.f_trace_opcodes = True
        if event == "opcode" and frame.f_code is profile.History.__iter__.__code__ and len(history) < 60:
            history.append((float(len(history)), profile.create()))
        return grow

    before = sys.gettrace()
    sys.settrace(grow)
    try:
        read = [when for when, _ in history]
    finally:
        sys.settrace(before)
    assert read == [float(i) for i in range(len(read))] and len(read) >= 5, read


def check_entries_that_are_no_trees_are_told_of_when_they_are_added_up():
    history = profile.History((float(i), {"x": profile.create()}) for i in range(64))
    assert refusal(KeyError, profile.get_profile, history)
    assert profile.get_profile(history, key="x") == profile.create()


def check_counts_are_of_their_own_tree():
    one, two = profile.create(), profile.create()

    def take(tree, times):
        for _ in range(times):
            profile.process(sys._getframe(), None, tree)

    take(one, 300)
    kept = one["count"]
    two["count"] = kept
    copied = copy.deepcopy(one)
    take(one, 5)
    assert (one["count"], copied["count"], two["count"], kept) == (305, 300, 300, 300)
    copied["count"] = 2.5
    take(copied, 2)
    assert copied["count"] == 4.5
    two["count"] = (1 << 63) - 1
    take(two, 2)
    assert two["count"] == (1 << 63) + 1


def check_low_level_stacks_are_counted_if_there_are_any():
    state = profile.create()
    for none in (None, []):  # as distributed's worker asks at each tick
        assert profile.llprocess(none, None, state) is None
    assert state == profile.create()
    stack = [types.SimpleNamespace(name=name, addr=0x1234, offset=0x34, is_python=False) for name in "fg"]
    for _ in range(3):
        assert profile.llprocess(stack, None, state) is None
    assert state["count"] == 3 and len(stack) == 2 and "state is a tree" in refusal(TypeError, lambda: profile.llprocess(stack, None, None))
    f = state["children"]["f;<low-level>;0x1200"]
    assert f["count"] == f["children"]["g;<low-level>;0x1200"]["count"] == 3 and f["description"]["filename"] == "<low-level>"


def check_no_trees_that_are_packed_are_an_empty_one():
    tree = {**profile.create(), "count": 3}
    nothing, something = pack(), pack(tree)
    assert profile.merge(nothing) == profile.merge(pack(nothing, nothing)) == profile.create()
    assert profile.merge(nothing, something) == profile.merge(pack(something, nothing)) == tree


def check_bytes_are_what_is_packed():
    """What is sent between processes; what comes from elsewhere may be anything."""
    draw = random.Random(5)
    odd = {**profile.create(), "count": -(2**63), "description": {**profile.create()["description"], "name": "\0\udc80é", "line_number": -7}}
    trees = [{**profile.create(), "count": 2**63 - 1}, odd, profile.create(), *(sampled_tree(draw) for _ in range(20))]
    known = {}
    for tree in trees:
        sent = as_bytes(tree)
        for stand_in in (packed(sent), packed(sent, known), packed(sent, known)):
            assert profile.merge(stand_in) == tree and json.dumps(profile.merge(stand_in)) == json.dumps(profile.merge(tree))
            assert as_bytes(stand_in) == sent == as_bytes(pack(tree))
    together = [packed(as_bytes(tree), known) for tree in trees]
    assert json.dumps(profile.merge(*together)) == json.dumps(profile.merge(*trees))
    assert profile.merge(*together, *trees) == profile.merge(*trees, *trees)
    made = profile.merge(*together)
    made["description"]["name"] = "another"
    assert profile.merge(*together) == profile.merge(*trees)


def check_other_bytes_are_refused():
    tree = sampled_tree(random.Random(5))
    sent = as_bytes(tree)
    place = [b"\1a", b"\1b", b"\1c", b"\1d", b"\2"]  # four texts, and line 1

    def of(places, nodes):
        return bytes([len(places)]) + b"".join(bytes([len(one)]) + one for one in places) + bytes([len(nodes) // 3]) + bytes(nodes)

    def refused(wrong):
        return "bytes of a tree" in refusal(ValueError, packed, wrong)

    whole = b"".join(place)
    assert profile.merge(packed(of([whole], [0, 0, 2, 0, 1, 2])))["children"]["a"]["count"] == 1
    assert all(map(refused, (None, 7, "", [], {}, b"", bytearray(sent), sent + b"\0")))
    assert all(refused(sent[:size]) for size in range(len(sent)))
    assert all(refused(of([wrong], [0, 0, 2])) for wrong in (b"", whole[:-1], whole + b"\0", b"\7" + whole[1:], b"\1\xff" + whole[2:]))
    assert refused(b"\xff" * 9 + b"\2") and refused(b"\xff" * 20) and refused(of([whole], []))
    for nodes in ([1, 0, 2], [0, 1, 2], [0, 0, 2, 1, 1, 2], [0, 0, 2, 0, 0, 2], [0, 0, 2, 0, 2, 2]):
        assert refused(of([whole], nodes)), nodes
    draw, accepted = random.Random(6), 0
    for _ in range(2000):  # whatever one byte is: a tree, or refused
        at = draw.randrange(len(sent))
        with contextlib.suppress(ValueError):
            profile.merge(packed(sent[:at] + bytes([draw.randrange(256)]) + sent[at + 1 :]))
            accepted += 1
    assert 0 < accepted < 2000
    for known in ({}, dict.fromkeys([whole], (1, 2)), dict.fromkeys([whole], ())):
        with contextlib.suppress(SystemError, IndexError):
            packed(of([whole], [0, 0, 2]), known)
    refusal(TypeError, packed, sent, None)


def check_only_trees_can_be_sent():
    empty = profile.create()
    assert "identifier" in refusal(ValueError, as_bytes, {**empty, "children": {"a": {**empty, "identifier": "b"}}})
    for count in (2**63, -(2**63) - 1, 1.5, True):
        assert "count" in refusal(ValueError, as_bytes, {**empty, "count": count})
    refusal(KeyError, as_bytes, {**empty, "description": {}})
    for wrong in ({"line": []}, {"line": b""}, {"name": None}, {"line_number": "1"}):
        refusal(TypeError, as_bytes, {**empty, "description": {**empty["description"], **wrong}})
    refusal(OverflowError, as_bytes, {**empty, "description": {**empty["description"], "line_number": 2**63}})
    refusal(TypeError, as_bytes, None)


def sampled_tree(draw):
    tree = profile.create()
    for _ in range(30):
        profile.process(frame_of(*draw.choices("abcdef", k=draw.randrange(1, 6))), None, tree)
    return tree


def check_the_garbage_collector_is_left_as_it_was():
    tree = profile.create()
    broken = {**tree, "count": None}
    for switch, wanted in ((gc.disable, False), (gc.enable, True)):
        switch()
        profile.merge(tree)
        profile.plot_data(tree)
        refusal(TypeError, profile.merge, broken, broken)
        refusal(ValueError, profile.merge, tree, {**tree, "identifier": "x"})
        refusal(TypeError, profile.plot_data, {**tree, "count": "x"})
        assert gc.isenabled() is wanted


def check_frames_are_not_held():
    class Mark:
        pass

    tree = profile.create()

    def work():
        mark = Mark()
        profile.process(sys._getframe(), None, tree)
        return weakref.ref(mark)

    reference = work()
    gc.collect()
    assert reference() is None


def check_code_objects_that_come_and_go_are_told_apart():
    tree = profile.create()
    for n in range(20000):
        # Most of these have the address of one that is gone.
        name = "f%d" % (n % 7)
        namespace = {"take": lambda: profile.process(sys._getframe(1), None, tree, stop="better.py")}
        exec(compile("def %s(): take()\n%s()" % (name, name), "/srv/x.py", "exec"), namespace)
    functions = tree["children"]["<module>;/srv/x.py;1"]["children"]
    assert sorted(functions) == ["f%d;/srv/x.py;1" % i for i in range(7)]
    assert sum(node["count"] for node in functions.values()) == 20000


def check_no_memory_is_lost():
    tree = profile.create()
    broken = frame_of("c", back=frame_of(*"ab"))
    del broken.f_lineno

    def everything():
        profile.process(frame_of(*"abcdef", *["g%d" % i for i in range(300)]), None, tree)
        profile.process(sys._getframe(), None, tree, stop="no", omit=("no",), tally={})
        refusal(AttributeError, profile.process, broken, None, profile.create())
        profile.merge(tree, tree)
        refusal(ValueError, profile.merge, tree, {**tree, "identifier": "x"})
        refusal(KeyError, profile.merge, tree, {"identifier": "root", "count": 1})
        profile.plot_data(tree, extra=True)
        refusal(TypeError, profile.plot_data, {**tree, "description": "x"})
        refusal(TypeError, profile.plot_data, {**tree, "count": "x"})
        profile.get_profile([(1, tree), (2, tree)], tree)
        known = {}
        profile.merge(packed(as_bytes(tree), known), packed(as_bytes(tree), known))
        refusal(ValueError, packed, as_bytes(tree)[:-1])
        refusal(ValueError, as_bytes, {**tree, "count": 1.5})

    for _ in range(20):
        everything()
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(200):
        everything()
    gc.collect()
    # A block for each round and each thing that is lost would be hundreds.
    assert sys.getallocatedblocks() - before < 100, (before, sys.getallocatedblocks())


def fail_each_allocation(function):
    """Call it with its first allocation failing, then its second, ... until there are no more; how often it failed."""
    failures = passes = allocation = 0
    while passes < 20:
        _testcapi.set_nomemory(allocation, allocation + 1)
        try:
            function()
            passed = True
        except MemoryError:
            passed = False
        finally:
            _testcapi.remove_mem_hooks()
        failures += not passed
        passes = passes + 1 if passed else 0
        allocation += 1
    return failures


def check_each_allocation_may_fail():
    if _testcapi is None:
        return
    frame, tree = frame_of(*["f%d" % i for i in range(120)]), profile.create()
    profile.process(frame, None, tree)
    profile.process(frame_of(*"abc"), None, tree)
    before = json.dumps(tree)
    assert fail_each_allocation(lambda: profile.merge(tree, tree)) > 300
    assert fail_each_allocation(lambda: profile.merge(packed(as_bytes(tree)))) > 300
    assert fail_each_allocation(lambda: profile.plot_data(tree, extra=True)) > 300
    assert fail_each_allocation(lambda: profile.process(frame, None, profile.create())) > 300
    assert fail_each_allocation(lambda: profile.identifier(frame)) > 0
    assert json.dumps(tree) == before and gc.isenabled()


def check_another_interpreter_can_have_it_too():
    try:
        import _interpreters as interpreters
    except ImportError:
        try:
            import _xxsubinterpreters as interpreters
        except ImportError:
            return
    # One with a GIL of its own takes no module that does not say that it may.
    if sys.version_info >= (3, 13):
        other = interpreters.create("legacy")
    elif sys.version_info >= (3, 12):
        other = interpreters.create(isolated=False)
    else:
        other = interpreters.create()
    code = "import sys; sys.path[:] = %r; import plumb.profile as p; t = p.create(); p.process(sys._getframe(), None, t); assert t['count'] == 1" % sys.path
    failed = interpreters.run_string(other, code)
    assert not failed, failed
    interpreters.destroy(other)
    assert profile.create()["count"] == 0


CHECKS = {name: function for name, function in list(globals().items()) if name.startswith("check_")}
for check in CHECKS.values():
    check()
print(json.dumps({"checks": list(CHECKS)}))
