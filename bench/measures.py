# SPDX-License-Identifier: Apache-2.0
"""What is measured, each on one target at a time; every figure is a median over rounds in which all samplers take turns."""
import datetime
import os
import random
import select
import signal
import statistics
import subprocess
import time

from harness.target import started


def pause(seconds):
    select.select([], [], [], seconds)


def busy(places, python, depth, kind="loop"):
    """A program that never ends, `depth` calls below its main function; kind "calls" changes its stack all the time."""
    return started(places, python, "fixed_work.py", "--rounds", "1000000000", "--work", "2000", "--depth", str(depth - 5),
                   "--kind", kind, count=True)


def cost(sampler, pid, rate, short=1, long=4):
    """(CPU seconds per stack, stacks per second, peak memory): from the difference of two runs, so without the start."""
    first, second = sampler.run(pid, rate, short), sampler.run(pid, rate, long)
    stacks = second.stacks - first.stacks
    return (second.seconds - first.seconds) / stacks, stacks / (long - short), second.rss_bytes


def per_stack(places, python, samplers, rounds):
    """{(depth, rate): {sampler: {figure: median}}}"""
    results = {}
    for depth in (10, 100):
        with busy(places, python, depth) as target:
            for rate in (1000, None):
                taken = {sampler.name: [] for sampler in samplers}
                for _ in range(rounds):
                    for sampler in samplers:
                        taken[sampler.name].append(cost(sampler, target.pid, rate))
                results["depth %d, %s" % (depth, rate or "max")] = {
                    name: {"us_per_stack": 1e6 * statistics.median(r[0] for r in rows),
                           "stacks_per_s": statistics.median(r[1] for r in rows),
                           "rss_bytes": max(r[2] for r in rows)}
                    for name, rows in taken.items()}
    return results


def run_times(pid):
    """(now, time on a processor, time waiting for one) of the main thread, in ns."""
    with open("/proc/%d/schedstat" % pid) as f:
        ran, waited, _ = map(int, f.read().split())
    return time.monotonic_ns(), ran, waited


def pace(target, seconds):
    """Nanoseconds of a unit of work, without the time other programs had the processor. A stop by the sampler counts."""
    units, (start, _, waited) = target.progress, run_times(target.pid)
    pause(seconds)
    end, _, waited_then = run_times(target.pid)
    return (end - start - (waited_then - waited)) / (target.progress - units)


def sampled_pace(sampler, target, rate):
    """The pace with the sampler attached; its start and its end are not in it."""
    output = os.path.join(sampler.directory, "out")
    process = subprocess.Popen(sampler.command(target.pid, rate, 60, sampler.inside(output)), stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=sampler.directory)
    pause(sampler.start_seconds)
    taken = pace(target, 0.5)
    process.send_signal(signal.SIGINT)
    process.wait()
    return taken


def slowdown(places, python, samplers, rate, pairs, depth=10, kind="loop"):
    """{sampler: [(pace sampled / pace alone) - 1 of each pair]}. The program runs alone before and after each look, and what is
    compared lies a second apart: a shared machine changes its own pace by more than that from one minute to the next."""
    ratios = {sampler.name: [] for sampler in samplers}
    with busy(places, python, depth, kind) as target:
        for turn in range(pairs):
            for sampler in samplers:
                if turn >= sampler.pairs(pairs):
                    continue
                before = pace(target, 0.25)
                sampled = sampled_pace(sampler, target, rate)
                ratios[sampler.name].append(2 * sampled / (before + pace(target, 0.25)) - 1)
    return ratios


def median_interval(values, rounds=2000):
    """(median, half width of its 95 % interval) by resampling; the seed is fixed, so that equal values give equal figures."""
    rng = random.Random(0)
    medians = sorted(statistics.median(rng.choices(values, k=len(values))) for _ in range(rounds))
    return statistics.median(values), (medians[int(0.975 * rounds)] - medians[int(0.025 * rounds)]) / 2


def rounds_of_threads(places, python, samplers, threads=200):
    """{sampler: milliseconds of CPU for one look at all threads}; plumb only tells its rounds itself."""
    results = {}
    with started(places, python, "many_threads.py", "--threads", str(threads), "--depth", "10") as target:
        for sampler in samplers:
            run = sampler.run(target.pid, None, 3)
            report = getattr(sampler, "report", None)
            looks = report()["ticks"] if report else run.stacks / (threads + 1)
            results[sampler.name] = {"cpu_ms": 1000 * run.seconds / looks, "wall_ms": 1000 * 3 / looks}
    return results


def first_sample(places, python, plumb, rounds):
    """Milliseconds from starting plumb to its first sample (at most a period after the time the recording says)."""
    values = []
    with busy(places, python, 10) as target:
        for _ in range(rounds):
            started_at = time.time()
            plumb.run(target.pid, 1000, 0.1)
            report = plumb.report()
            began = datetime.datetime.fromisoformat(report["start"].replace("Z", "+00:00")).timestamp()
            values.append(1000 * (began - started_at) + report["period_ns"] / 1e6)
    return statistics.median(values)


def reason(done):
    """Why a program failed: the last line that it wrote to standard error, or its exit status."""
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "exit status %d" % done.returncode


def looks(target, samplers, rounds):
    """({sampler: milliseconds of its command that shows the stacks once}, {sampler: why runs of it failed, one each}).

    A run that failed is in no figure; a sampler whose runs all failed has none."""
    values, failures = {}, {}
    for _ in range(rounds):
        for sampler in samplers:
            began = time.monotonic()
            done = subprocess.run(sampler.once(target.pid), stdin=subprocess.DEVNULL, capture_output=True)
            if done.returncode == 0:
                values.setdefault(sampler.name, []).append(1000 * (time.monotonic() - began))
            else:
                failures.setdefault(sampler.name, []).append(reason(done))
    return {name: statistics.median(taken) for name, taken in values.items()}, failures


def one_look(places, python, samplers, rounds):
    """As looks(), at one busy thread: the nearest thing to a first sample among the peers."""
    with busy(places, python, 10) as target:
        return looks(target, samplers, rounds)


def one_dump(places, python, samplers, rounds, threads=10):
    """As looks(), at so many threads."""
    with started(places, python, "many_threads.py", "--threads", str(threads - 1), "--depth", "10") as target:
        return looks(target, samplers, rounds)


def bytes_of_a_minute(places, python, samplers, seconds=60):
    """{sampler: bytes} of a recording at 1 kHz and depth 100; one after the other, on the same program."""
    with busy(places, python, 100) as target:
        return {sampler.name: sampler.run(target.pid, 1000, seconds).file_bytes for sampler in samplers}
