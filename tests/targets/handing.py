# SPDX-License-Identifier: Apache-2.0
"""Two threads that hand one piece of work to each other, which takes each of them --microseconds. At the end, as JSON: the CPU time that
each part took, of both."""
import threading

import parley

if parley.sys.version_info[0] > 2:
    from queue import Queue
else:
    from Queue import Queue


def spin(n):
    total = 0
    for i in range(n):
        total += i & 7
    return total


def part_work(n):
    spin(n)


def part_get(inbox, _):
    return inbox.get()


def part_put(outbox, piece):
    outbox.put(piece)


def side(inbox, outbox, n, cpu):
    def call(function, *arguments):
        began = parley.thread_time_ns()
        result = function(*arguments)
        cpu[function.__name__] = cpu.get(function.__name__, 0) + parley.thread_time_ns() - began
        return result

    while call(part_get, inbox, None) and not parley.over():
        call(part_work, n)
        call(part_put, outbox, True)
    outbox.put(False)


def main():
    n = parley.repeat_for(parley.argument("microseconds", 200) / 1000.0, lambda: spin(10)) * 10
    queues, measured = [Queue(), Queue()], [{}, {}]
    parley.ready()
    queues[0].put(True)
    threads = [threading.Thread(target=side, args=(queues[i], queues[1 - i], n, measured[i])) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    parley.tell(event="truth", cpu={name: sum(cpu.get(name, 0) for cpu in measured) for name in measured[0]})


if __name__ == "__main__":
    main()
