# SPDX-License-Identifier: Apache-2.0
# -*- coding: utf-8 -*-
# As target_values.py, for Python 2.7, with what only that has: two ints, two texts, two kinds of classes. Its dicts and sets
# are in the order of their hash tables.
import collections
import json
import re
import sys
import threading

started = []
release = threading.Event()


def park():
    started.append(1)
    release.wait()


class Old:
    def __init__(self):
        self.x = 1


class OldSecret:
    def __init__(self):
        self.password = "hunter2"


class OldEmpty():
    pass


class OldChild(Old):
    pass


class Point(object):
    def __init__(self):
        self.x = 1


class Secret(object):
    def __init__(self):
        self.token = "hunter2"


class Slots(object):
    __slots__ = ("a", "token", "_unset", "inner")

    def __init__(self):
        self.a = 1
        self.token = "t"
        self.inner = []


class Empty(object):
    pass


class Text(unicode):
    pass


class Raw(str):
    pass


class Count(int):
    pass


class Failure(ValueError):
    pass


def nothing():
    yield


Pair = collections.namedtuple("Pair", "left right")


def numbers():
    zero = 0  # = 0
    small = -7  # = -7
    word = 2 ** 62  # = 4611686018427387904
    least = -sys.maxint - 1  # = -9223372036854775808
    long_zero, long_one = 0L, 1L  # long_zero = 0L; long_one = 1L
    big = 10 ** 40 + 1  # = 10000000000000000000000000000000000000001L
    minus = -10 ** 19  # = -10000000000000000000L
    huge = 1 << 3000  # = <int, 3001 bits>
    yes, no, nothing, dots = True, False, None, Ellipsis  # yes = True; no = False; nothing = None; dots = Ellipsis
    third = 1.0 / 3  # = 0.3333333333333333
    whole, large = 2.0, 1e16  # whole = 2.0; large = 1e+16
    z = 1.5 - 2j  # = (1.5-2j)
    park()


def texts():
    empty, empty_unicode = "", u""  # empty = ''; empty_unicode = u''
    both = "it's"  # = "it's"
    control = "a\n\t\x1b[31m\x85"  # = 'a\n\t\x1b[31m\x85'
    raw = "\x00\xff"  # = '\x00\xff'
    utf8 = "é"  # = '\xc3\xa9'
    latin, wide, astral = u"été", u"漢字", u"🐍x"  # latin = u'été'; wide = u'漢字'; astral = u'🐍x'
    hidden = u"a\u202eb\n"  # = u'a\u202eb\n'
    surrogate = u"a\udc80"  # = u'a\udc80'
    half = u"a\ud83d"  # = u'a\ud83d'
    quoted = u"it's"  # = u"it's"
    cut = "x" * 81  # = 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'... (81 bytes)
    cut_unicode = u"y" * 200  # = u'yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy'... (200 characters)
    array = bytearray(b"abcdef")  # = bytearray(b'abcdef')
    park()


def containers():
    tuples = [(), (1,), (1, 2)]  # = [(), (1,), (1, 2)]
    many = list(range(100))  # = [0, 1, 2, 3, 4, 5, 6, 7, ... 92 more]
    nested = [[[1]], [[]], {"a": {}}]  # = [[[...]], [[]], {'a': {}}]
    cycle = [1]  # = [1, [...]]
    cycle.append(cycle)
    ring = {"self": None}  # = {'self': {...}}
    ring["self"] = ring
    one, none = {5}, set()  # one = {5}; none = set()
    removed = {1, 2, 3}  # = {3}
    removed.discard(1), removed.discard(2)
    words = set(["<dummy key>"])  # = {'<dummy key>'}
    frozen = frozenset([7])  # = frozenset({7})
    empty = {}  # = {}
    table = {1: "a", 2: u"b", 3: [None]}  # = {1: 'a', 2: u'b', 3: [None]}
    holes = dict((i, i) for i in range(10))  # = {8: 8, 9: 9}
    for i in range(8):
        del holes[i]
    great = dict((i, i) for i in range(1000))  # = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7, ... 992 more}
    queue = collections.deque([1])  # = <collections.deque>
    del i
    park()


def objects():
    old, child = Old(), OldChild()  # old = <__main__.Old x=1>; child = <__main__.OldChild x=1>
    old_keeper, old_empty = OldSecret(), OldEmpty()  # old_keeper = <__main__.OldSecret password=***>; old_empty = <__main__.OldEmpty>
    old_kind = Old  # = <class '__main__.Old'>
    point, keeper = Point(), Secret()  # point = <__main__.Point x=1>; keeper = <__main__.Secret token=***>
    slots, empty = Slots(), Empty()  # slots = <__main__.Slots a=1, token=***, ...>; empty = <__main__.Empty>
    pair = Pair(1, "b")  # = <__main__.Pair (1, 'b')>
    counted = collections.Counter("a")  # = <collections.Counter {'a': 1}>
    text, raw, count = Text("abc"), Raw("d"), Count(3)  # text = <__main__.Text u'abc'>; raw = <__main__.Raw 'd'>; count = <__main__.Count 3>
    error = ValueError("no", 2)  # = ValueError('no', 2)
    failure = Failure(u"why")  # = __main__.Failure(u'why')
    kind, meta, number = Point, type, int  # kind = <class '__main__.Point'>; meta = <class 'type'>; number = <class 'int'>
    module = sys  # = <module 'sys'>
    function, method = park, Point().__init__  # function = <function park>; method = <bound method __init__>
    old_method, loose = Old().__init__, Old.__init__  # old_method = <bound method __init__>; loose = <unbound method __init__>
    lines = nothing()  # = <generator>
    nested = [Point(), Old()]  # = [<__main__.Point x=1>, <__main__.Old x=1>]
    span = xrange(3)  # = <xrange>
    park()


def secrets():
    password = "hunter2"  # = ***
    api_key = [u"a"]  # = ***
    author = "Ann"  # = 'Ann'
    token = None  # = None
    headers = [("authorization", "Bearer x"), ("accept", u"*")]  # = [('authorization', ***), ('accept', u'*')]
    config = {u"db_password": "x"}  # = {u'db_password': ***}
    plain = {"AuthToken": 1}  # = {'AuthToken': ***}
    park()


def parameters(first, second=2, *rest, **more):  # arg first = 1; arg second = 2; arg rest = (3, 4); arg more = {'m': 5}
    unset = 1
    del unset
    local = first  # = 1
    park()


def closure():
    outer = ["o"]
    secret_key = "k"

    def inside(arg):  # arg arg = 1; free outer = ['o']; free secret_key = ***
        own = 2  # = 2
        park()
        return outer, secret_key
    inside(1)


def cells(moved, kept):  # arg moved = 5; arg kept = 2
    inner = 3  # = 3

    def function():  # = <function function>
        return moved + inner
    moved = 5
    park()


def generator():
    def numbers_of(limit):  # arg limit = 3
        for i in range(limit):  # = 0
            park()
            yield i
    list(numbers_of(3))


WORK = {"numbers": numbers, "texts": texts, "containers": containers, "objects": objects, "secrets": secrets,
        "parameters": lambda: parameters(1, 2, 3, 4, m=5), "cells": lambda: cells(1, 2), "inside": closure,
        "numbers_of": generator}


def expectations():
    """{function: ["x = 1", "arg y = 2", ...]} from the comments of this file."""
    result, function = {}, None
    with open(__file__) as f:
        lines = f.read().decode("utf-8").splitlines()
    for line in lines:
        head = re.match(r"\s*def (\w+)\(", line)
        code, _, comment = line.partition("  # ")
        if head and not comment.startswith("= "):
            function = head.group(1)
        if not comment or not code.strip():
            continue
        name = re.match(r"\s*(?:for |def )?(\w+)", code).group(1)
        for said in comment.split("; "):
            said = name + " " + said if said.startswith("= ") else said
            result.setdefault(function, []).append(said)
    return dict((name, said) for name, said in result.items() if name in WORK)


def main():
    wanted = sys.argv[1].split(",") if sys.argv[1] != "all" else list(WORK)
    for w in wanted:
        thread = threading.Thread(target=WORK[w], name=w)
        thread.daemon = True
        thread.start()
        while len(started) <= wanted.index(w):
            pass
    for _ in range(3000000):  # the threads have counted themselves, but may still be on their way into the lock
        pass
    said = expectations()
    print(json.dumps(dict((w, said[w]) for w in wanted)))
    print("ready")
    sys.stdout.flush()
    sys.stdin.readline()


main()
