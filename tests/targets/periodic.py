# SPDX-License-Identifier: Apache-2.0
"""A program in step with the clock: in every period of --period microseconds three functions follow each other for 50, 30
and 20 % of it, each spinning until its absolute deadline. A sampler with the same period and a fixed phase would see one
of them only. The one reading of the clock that ends a part begins the next, so the sums cover all time."""
import parley


def part_half(until):
    now = parley.perf_counter_ns()
    while now < until:
        now = parley.perf_counter_ns()
    return now


def part_third(until):
    now = parley.perf_counter_ns()
    while now < until:
        now = parley.perf_counter_ns()
    return now


def part_fifth(until):
    now = parley.perf_counter_ns()
    while now < until:
        now = parley.perf_counter_ns()
    return now


def main():
    period = int(parley.argument("period", 1000.0) * 1000)
    sums = [0, 0, 0]
    parley.ready()
    start = last = parley.perf_counter_ns()
    turn = 0
    while turn % 64 or not parley.over():
        begin = start + turn * period
        first = part_half(begin + period // 2)
        second = part_third(begin + period * 4 // 5)
        third = part_fifth(begin + period)
        sums[0] += first - last
        sums[1] += second - first
        sums[2] += third - second
        last = third
        turn += 1
    names = ("part_half", "part_third", "part_fifth")
    parley.tell(event="truth", wall=dict(zip(names, sums)), cpu={}, turns=turn)


if __name__ == "__main__":
    main()
