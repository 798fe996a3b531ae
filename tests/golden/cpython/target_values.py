# SPDX-License-Identifier: Apache-2.0
# The program whose variables the golden images hold: each function ends in park(), and says here in comments what its
# variables must be told as. "# arg x = 1" on the line of a variable; main() prints them all as JSON, then "ready". Runs on
# 3.6 and later.
import collections
import enum
import json
import re
import sys
import threading

started = []
release = threading.Event()


def park():
    started.append(1)
    release.wait()


class Point:
    def __init__(self):
        self.x = 1
        self.label = "p"
        self.inner = [1]
        self.password = "hunter2"


class Slots:
    __slots__ = ("a", "token", "_unset", "inner")

    def __init__(self):
        self.a = 1
        self.token = "t"
        self.inner = []


class MoreSlots(Slots):
    __slots__ = ("b", "__dict__")

    def __init__(self):
        super().__init__()
        self.b = "b"
        self.c = 3


class Empty:
    pass


class Many:
    def __init__(self):
        for i in range(20):
            setattr(self, "a%d" % i, i)


class Text(str):
    pass


class Count(int):
    def __init__(self, value):
        self.note = "unused"


class Failure(ValueError):
    pass


class Color(enum.Enum):
    RED = 1


def nothing():
    yield


async def empty_coroutine():
    pass


Pair = collections.namedtuple("Pair", "left right")


def numbers():
    zero = 0  # = 0
    small = -7  # = -7
    word = 2 ** 30  # = 1073741824
    big = 10 ** 40 + 1  # = 10000000000000000000000000000000000000001
    minus = -10 ** 18  # = -1000000000000000000
    huge = 1 << 3000  # = <int, 3001 bits>
    long = 10 ** 100  # = <int, 333 bits>
    yes, no, nothing, dots = True, False, None, ...  # yes = True; no = False; nothing = None; dots = Ellipsis
    third = 1 / 3  # = 0.3333333333333333
    whole, tiny, large = 2.0, 5e-324, 1e16  # whole = 2.0; tiny = 5e-324; large = 1e+16
    plain, sixteen = 0.0001, 123456789012345.6  # plain = 0.0001; sixteen = 123456789012345.6
    nan, inf = float("nan"), -float("inf")  # nan = nan; inf = -inf
    z = 1.5 - 2j  # = (1.5-2j)
    j = 3j  # = 3j
    park()


def texts():
    empty = ""  # = ''
    both = "it's"  # = "it's"
    three = "it's \"so\""  # = 'it\'s "so"'
    control = "a\n\t\x1b[31m\x85"  # = 'a\n\t\x1b[31m\x85'
    latin, wide, astral = "été", "漢字", "🐍"  # latin = 'été'; wide = '漢字'; astral = '🐍'
    hidden = "a\u202eb\u200b"  # = 'a\u202eb\u200b'
    surrogate = "a\udc80"  # = 'a\udc80'
    backslash = "a\\b"  # = 'a\\b'
    cut = "x" * 200  # = 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'... (200 characters)
    raw = b"\x00a'\xff"  # = b"\x00a'\xff"
    array = bytearray(b"abcdef")[2:]  # = bytearray(b'cdef')
    moved = bytearray(b"abcdef")  # = bytearray(b'cdef')
    del moved[:2]
    kilo = bytes(1000)[:81]  # = b'@'... (81 bytes)
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
    frozen = frozenset([7])  # = frozenset({7})
    table = {"a": 1, 2: "b", None: [3]}  # = {'a': 1, 2: 'b', None: [3]}
    holes = {i: i for i in range(10)}  # = {8: 8, 9: 9}
    for i in range(8):
        del holes[i]
    queue = collections.deque(range(100), 70)  # = deque([30, 31, 32, 33, 34, 35, 36, 37, ... 62 more])
    turned = collections.deque([1, 2])  # = deque([0, 1, 2])
    turned.appendleft(0)
    del i
    park()


def objects():
    point = Point()  # = <__main__.Point x=1, label='p', password=***, ...>
    dict_made = Point()  # = <__main__.Point x=1, label='p', password=***, ...>
    vars(dict_made)
    slots, empty = Slots(), Empty()  # slots = <__main__.Slots a=1, token=***, ...>; empty = <__main__.Empty>
    more_slots = MoreSlots()  # = <__main__.MoreSlots b='b', a=1, token=***, c=3, ...>
    many = Many()  # = <__main__.Many a0=0, a1=1, a2=2, a3=3, a4=4, a5=5, a6=6, a7=7, ...>
    pair = Pair(1, "b")  # = <__main__.Pair (1, 'b')>
    ordered = collections.OrderedDict(a=1)  # = <collections.OrderedDict {'a': 1}>
    counted = collections.Counter("a")  # = <collections.Counter {'a': 1}>
    text, count = Text("abc"), Count(3)  # text = <__main__.Text 'abc'>; count = <__main__.Count 3>
    error = ValueError("no", 2)  # = ValueError('no', 2)
    failure = Failure("why")  # = __main__.Failure('why')
    kind, meta = Point, type  # kind = <class '__main__.Point'>; meta = <class 'type'>
    module = sys  # = <module 'sys'>
    function, method = park, Point().__init__  # function = <function park>; method = <bound method Point.__init__>
    nested = [Point()]  # = [<__main__.Point x=1, label='p', password=***, ...>]
    lines, coroutine = nothing(), empty_coroutine()  # lines = <generator nothing>; coroutine = <coroutine empty_coroutine>
    color = Color.RED  # contains _name_='RED'
    park()


def secrets():
    password = "hunter2"  # = ***
    api_key = ["a"]  # = ***
    author = "Ann"  # = 'Ann'
    token = None  # = None
    headers = [(b"authorization", b"Bearer x"), (b"accept", b"*")]  # = [(b'authorization', ***), (b'accept', b'*')]
    config = {"db_password": "x", "user": "me", "nested": {"AuthToken": 1}}  # = {'db_password': ***, 'user': 'me', 'nested': {'AuthToken': ***}}
    park()


def parameters(first, second=2, *rest, only, **more):  # arg first = 1; arg second = 2; arg only = 'o'; arg rest = (3, 4); arg more = {'m': 5}
    unset = 1
    del unset
    local = first  # = 1
    park()


def cells(moved, kept):  # arg moved = 5; arg kept = 2
    inner = 3  # = 3
    late = None

    def function():  # = <function cells.<locals>.function>
        return moved + inner + late
    del late
    moved = 5
    park()


def closure():
    outer = ["o"]
    secret_key = "k"

    def inside(arg):  # arg arg = 1; free outer = ['o']; free secret_key = ***
        own = 2  # = 2
        park()
        return outer, secret_key
    inside(1)


def generator():
    def numbers_of(limit):  # arg limit = 3
        for i in range(limit):  # = 0
            park()
            yield i
    list(numbers_of(3))


WORK = {"numbers": numbers, "texts": texts, "containers": containers, "objects": objects, "secrets": secrets,
        "parameters": lambda: parameters(1, 2, 3, 4, only="o", m=5), "cells": lambda: cells(1, 2), "inside": closure,
        "numbers_of": generator}


def expectations():
    """{function: ["x = 1", "arg y = 2", ...]} from the comments of this file."""
    result, function = {}, None
    with open(__file__, encoding="utf-8") as f:
        lines = f.read().splitlines()
    for line in lines:
        head = re.match(r"\s*def (\w+)\(", line)
        code, _, comment = line.partition("  # ")
        if head and not comment.startswith("= "):
            function = head.group(1)
        if not comment or not code.strip():
            continue
        name = re.match(r"\s*(?:for |def )?(\w+)", code).group(1)
        for said in comment.split("; "):
            said = name + " " + said if said.startswith(("= ", "contains ")) else said
            result.setdefault(function, []).append(said.replace("'@'", "'" + "\\x00" * 80 + "'"))
    return {name: said for name, said in result.items() if name in WORK}


def main():
    wanted = sys.argv[1].split(",") if sys.argv[1] != "all" else list(WORK)
    for w in wanted:
        threading.Thread(target=WORK[w], name=w, daemon=True).start()
        while len(started) <= wanted.index(w):
            pass
    for _ in range(3000000):  # the threads have counted themselves, but may still be on their way into the lock
        pass
    said = expectations()
    print(json.dumps({w: said[w] for w in wanted}))
    print("ready", flush=True)
    sys.stdin.readline()


main()
