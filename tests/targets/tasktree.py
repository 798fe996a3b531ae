# SPDX-License-Identifier: Apache-2.0
"""asyncio tasks that wait for one another: outer -> (left, right) by gather, left -> innermost, and one that waits for a
future nobody sets."""
import asyncio

import parley


async def innermost(future):
    # By now all others wait.
    asyncio.get_running_loop().call_soon(parley.ready)
    await future


async def middle(future):
    await innermost(future)


async def left(future):
    task = asyncio.get_running_loop().create_task(middle(future))
    name(task, "innermost")
    await task


async def right():
    await asyncio.sleep(3600)


def name(task, text):
    if hasattr(task, "set_name"):
        task.set_name(text)


async def outer(loop):
    future = loop.create_future()
    tasks = [loop.create_task(left(future)), loop.create_task(right())]
    name(tasks[0], "left")
    name(tasks[1], "right")
    await asyncio.gather(*tasks)


async def main():
    loop = asyncio.get_running_loop()
    task = loop.create_task(outer(loop))
    name(task, "outer")
    loop.run_in_executor(None, parley.wait_over).add_done_callback(lambda _: task.cancel())
    try:
        await task
    except asyncio.CancelledError:
        pass


if __name__ == "__main__":
    asyncio.run(main())
