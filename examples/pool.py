# SPDX-License-Identifier: Apache-2.0
"""A program of several processes: two workers count the primes of ranges that the first process hands out, for about three
seconds.

    build/plumb run -- python3 examples/pool.py
"""
import multiprocessing
import sys
import time

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0
WORKERS = 2
RANGE = 4000


def is_prime(number):
    if number < 4:
        return number > 1
    return number % 2 == 1 and all(number % divisor for divisor in range(3, int(number**0.5) + 1, 2))


def count(first):
    return sum(is_prime(number) for number in range(first, first + RANGE))


def main():
    until, first, primes = time.monotonic() + SECONDS, 0, 0
    with multiprocessing.Pool(WORKERS) as pool:
        while time.monotonic() < until:
            primes += sum(pool.map(count, range(first, first + 20 * RANGE, RANGE)))
            first += 20 * RANGE
    print(primes, "primes below", first)


if __name__ == "__main__":
    main()
