# SPDX-License-Identifier: Apache-2.0
# Source whose line tables have the awkward cases: jumps back, long jumps, wide columns, many lines per instruction.


def back_and_forth(a,
                   b):
    return (b
            +
            a(
                b,
                a)
            )


def loops(items):
    for i in items:
        while i:
            i -= 1
            if i == 3: continue
            if i == 4: break
        else:
            try:
                yield i
            except (ValueError,
                    TypeError) as e:
                raise RuntimeError from e
            finally:
                i = None
    with open("x") as f, \
            open("y") as g:
        return [x
                for x in f
                if x in g]


async def waits(x):
    async with x as y:
        async for z in y:
            await z
    return {k: v for k, v in x}, {
        k for k in y}, (lambda q:
                        q)


class Big:
    a = 1; b = 2; c = [1, 2, 3,
                       4]

    @property
    @staticmethod
    def f(): pass








































































































































    def far_down(self, wide=None): return self.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.b(wide)


def long_one(x):
    if x: return "%s" % (x,)
    return (x.a + x.b + x.c + x.d + x.e + x.f + x.g + x.h + x.i + x.j + x.k + x.l + x.m + x.n + x.o + x.p + x.q + x.r +
            x.a * x.b * x.c * x.d * x.e * x.f * x.g * x.h * x.i * x.j * x.k * x.l * x.m * x.n * x.o * x.p * x.q * x.r +
            x.été + x.Кириллица.漢字("🐍", x.y) + x(
                1, 2, 3) + x[1:2, ::3] + x(*[2], **{"a": 1}) + f"{x!r:>{10}} {x.y}" + (x and x.z or not x is None))


























































































































































































    x = 1
