# SPDX-License-Identifier: Apache-2.0
"""A thread whose C code does what is hard on stacks: it throws exceptions, handles signals, also on a stack of their own, calls
back into Python, and is closed for a library that comes to the same place. The libraries are those of native_odd.cc, --one
and --other. Runs on Python 3.6 and later."""
import _ctypes
import ctypes

import parley


def checked(result):
    if not result:
        raise SystemExit("it did not do what it was to do")


def exceptions(library):
    checked(library.catches(100) == 100)


def signals(library):
    checked(library.interrupted(2, 0))


def signals_on_a_stack_of_their_own(library):
    checked(library.interrupted(2, 1))


def compare(first, second):
    return sum(range(3000)) and first[0] - second[0]


def callbacks(library):
    integer = ctypes.POINTER(ctypes.c_int)
    numbers = (ctypes.c_int * 20)(*range(20, 0, -1))
    ctypes.CDLL(None).qsort(numbers, 20, 4, ctypes.CFUNCTYPE(ctypes.c_int, integer, integer)(compare))
    checked(list(numbers) == sorted(numbers))


def works_one(library):
    checked(library.works_one(100000))


def works_other(library):
    checked(library.works_other(100000))


def with_library(path, functions):
    library = ctypes.CDLL(path)
    for function in functions:
        end = parley.perf_counter() + 0.02
        while parley.perf_counter() < end:
            function(library)
    _ctypes.dlclose(library._handle)


def main():
    one, other = parley.argument("one", ""), parley.argument("other", "")
    parley.ready()
    while not parley.over():
        with_library(one, [works_one, exceptions, signals, signals_on_a_stack_of_their_own, callbacks])
        with_library(other, [works_other])
        parley.tick()


main()
