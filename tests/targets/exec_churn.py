# SPDX-License-Identifier: Apache-2.0
"""Functions compiled, run and dropped, thousands of generations, so that code objects reuse addresses all the time.

Everything about generation K tells that it is of K: the file name "<generation K>", the names gen_K_outer_L, gen_K_inner_L
and the lambda and comprehension in that file; L is the line the function stands on. And generation K is only ever called
by slot_S with S = K mod 16. So one stack with two generations, a line other than L, or a slot that does not fit proves
that a dead function's name or lines were shown. Between generations nothing generated is alive."""
import parley  # -> *

SLOTS = 16
EXPECT = [["main", "between"]]
SOURCE = (
    "{blank}def gen_{k}_outer_{l0}(n): return gen_{k}_inner_{l1}(n) + same(n)\n"
    "def gen_{k}_inner_{l1}(n): return len([i * i for i in range(n)])\n"
    "same = lambda n: len([i for i in range(n)])\n"
)


def between(n):
    total = 0
    for i in range(n):
        total += i
    return total


def compiled(k):
    line = 1 + (k * 37) % 211
    names = {}
    source = SOURCE.format(blank="\n" * (line - 1), k=k, l0=line, l1=line + 1)
    exec(compile(source, "<generation %d>" % k, "exec"), names)  # -> <module>
    return names["gen_%d_outer_%d" % (k, line)]


def main():
    parley.ready()  # -> ready
    k = 0
    while not parley.over():  # -> over
        for _ in range(10):
            function = compiled(k)  # -> compiled
            slots[k % SLOTS](function, 1500 + k % 7 * 100)  # -> slot_*
            function.__globals__.clear()
            function = None
            between(500)  # -> between
            k += 1
        parley.tick()  # -> tick
    parley.tell(event="generations", count=k)  # -> tell


def slot_0(function, n):
    return function(n)  # -> gen_*_outer_*


def slot_1(function, n):
    return function(n)  # -> gen_*_outer_*


def slot_2(function, n):
    return function(n)  # -> gen_*_outer_*


def slot_3(function, n):
    return function(n)  # -> gen_*_outer_*


def slot_4(function, n):
    return function(n)  # -> gen_*_outer_*


def slot_5(function, n):
    return function(n)  # -> gen_*_outer_*


def slot_6(function, n):
    return function(n)  # -> gen_*_outer_*


def slot_7(function, n):
    return function(n)  # -> gen_*_outer_*


def slot_8(function, n):
    return function(n)  # -> gen_*_outer_*


def slot_9(function, n):
    return function(n)  # -> gen_*_outer_*


def slot_10(function, n):
    return function(n)  # -> gen_*_outer_*


def slot_11(function, n):
    return function(n)  # -> gen_*_outer_*


def slot_12(function, n):
    return function(n)  # -> gen_*_outer_*


def slot_13(function, n):
    return function(n)  # -> gen_*_outer_*


def slot_14(function, n):
    return function(n)  # -> gen_*_outer_*


def slot_15(function, n):
    return function(n)  # -> gen_*_outer_*


slots = [globals()["slot_%d" % s] for s in range(SLOTS)]  # -> <listcomp>

if __name__ == "__main__":
    main()  # -> main
