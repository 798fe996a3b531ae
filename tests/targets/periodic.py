# SPDX-License-Identifier: Apache-2.0
"""A program in step with the clock: in every period of --period microseconds three functions follow each other for 50, 30
and 20 % of it, each spinning until its absolute deadline. A sampler with the same period and a fixed phase would see one
of them only. The one reading of the clock that ends a part begins the next, so the parts cover all time."""
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
    parley.ready()
    start, ends = parley.perf_counter_ns(), []
    while len(ends) % 192 or not parley.over():
        begin = start + len(ends) // 3 * period
        ends.append(part_half(begin + period // 2))
        ends.append(part_third(begin + period * 4 // 5))
        ends.append(part_fifth(begin + period))
    zero = parley.time_of_day_at_zero()
    names = ["part_half", "part_third", "part_fifth"] * (len(ends) // 3)
    times = [zero + at for pair in zip([start] + ends, ends) for at in pair]
    parley.tell(event="truth", names=names, times=times)


if __name__ == "__main__":
    main()
