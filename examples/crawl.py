# SPDX-License-Identifier: Apache-2.0
"""A program of asyncio: eight tasks ask a server, which is in it as well, for pages, and count their words, for about three
seconds.

    build/plumb run --tasks -- python3 examples/crawl.py
"""
import asyncio
import collections
import re
import sys
import time

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0
TASKS = 8
PAGE = b"the quick brown fox jumps over the lazy dog and reads page %d of the book\n" * 300


async def answer(reader, writer):
    """The server: a page for each line, after 20 milliseconds."""
    while line := await reader.readline():
        await asyncio.sleep(0.02)
        writer.write(PAGE.replace(b"%d", line.strip()) + b"\0")
        await writer.drain()
    writer.close()


async def fetch(reader, writer, number):
    writer.write(b"%d\n" % number)
    await writer.drain()
    return await reader.readuntil(b"\0")


def count(page):
    return collections.Counter(re.findall(r"\w+", page.decode()))


async def crawl(port, until, totals):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    number = 0
    while time.monotonic() < until:
        page = await fetch(reader, writer, number)
        totals.update(count(page))
        number += 1
    writer.close()


async def main():
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port, until, totals = server.sockets[0].getsockname()[1], time.monotonic() + SECONDS, collections.Counter()
    await asyncio.gather(*(crawl(port, until, totals) for _ in range(TASKS)))
    server.close()
    print(totals.most_common(3))


if __name__ == "__main__":
    asyncio.run(main())
