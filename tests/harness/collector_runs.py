# SPDX-License-Identifier: Apache-2.0
"""Random runs of a collector: what it is told, and its samples, in the form that `--from samples` reads."""
import random

NASTY = ["", ";", "a;b", "two words 7", "line\nbreak", "tab\there", "quote\"d", "back\\slash", "</script>", "\u2028", "größe 関数",
         "\x00nul", "gc_collect", "<GC>", "x" * 300, "<lambda>", "~", "(a:1)", "é" * 60, "\U0001f40d", "\x7f", "%s%n", "<x>", "a:b:3"]
FILES = ["/srv/app.py", "/srv/app2.py", "/other/app.py", "~", "<string>", "<frozen importlib._bootstrap>", "", "rel.py", "./a/../b.py",
         "/usr/lib/python3.15/nothere/decoder.py", "/usr/lib/python3.15/nothere/__init__.py", "/usr/lib/python3/dist-packages/x/y.py",
         "/a/very/long/path/with/many/parts/that/is/longer/than/fifty/characters.py", "x" * 51, "/" + "é" * 49, "/" + "é" * 50,
         "__init__.py", "/__init__.py", "//a//b/./c.py", ".py", "a.pyc", "dir/", "/", ".", "..py", "a.b.py", "/q/__init__.py/z"]
LAUNCHER = "/usr/lib/python3.15/profiling/sampling/_sync_coordinator.py"


class Runs:
    def __init__(self, seed, sources=()):
        self.random = random.Random(seed)
        self.sources = list(sources)

    def location(self):
        r = self.random
        line = r.choice([0, 1, 2, 3, 9, 10, 11, 1000, 2**31 - 1])
        return r.choice([None, line, [line, line, 0, 10], [line, line + 1 if line < 2**31 - 1 else line, 4, 5]])

    def frame(self, nasty, opcodes):
        r = self.random
        file = r.choice(FILES + self.sources if nasty else ["/srv/app.py", "/srv/lib.py", *self.sources])
        name = r.choice(NASTY) if nasty and r.random() < 0.5 else "f%d" % r.randrange(5)
        return [file, self.location(), name, r.choice([None, 0, r.randrange(256), 116]) if opcodes else None]

    def stack(self, nasty, opcodes):
        r = self.random
        frames = [self.frame(nasty, opcodes) for _ in range(r.choice([1, 1, 2, 3, 5, 8]))]
        if r.random() < 0.2:
            frames.insert(0, ["~", None, r.choice(["<GC>", "<native>"]), None])
        if r.random() < 0.1:
            frames.append([LAUNCHER, 3, "main", None])
        if r.random() < 0.02:
            frames = [[LAUNCHER, 3, "main", None]]
        if r.random() < 0.05:
            frames = [["/srv/deep.py", 7 + i % 2, "again", None] for i in range(r.choice([50, 300]))] + frames
        return frames if r.random() < 0.9 else []

    def threads(self, stacks):
        r = self.random
        ids = [1, 2, 17, 140737353000000 + r.randrange(3), 2**63 + 5]
        return [{"id": r.choice(ids), "status": r.randrange(64), "frames": r.choice(stacks)} for _ in range(r.choice([0, 1, 1, 2, 4]))]

    def awaited(self, ordered):
        """Tasks; @ordered: their ids are such that a set of them is in their order."""
        r = self.random
        ids = r.sample(range(1, 8) if ordered else range(1, 1 << 20), r.randrange(1, 6))
        tasks = []
        for i, task in enumerate(ids):
            parents = r.sample(ids, min(len(ids), r.choice([0, 0, 1, 1, 2])))
            parents = [p for p in parents if r.random() < 0.1 or p > task]  # seldom a ring
            if r.random() < 0.1:
                parents.append(99 if not ordered else 7)
            coros = [{"name": "", "frames": [self.frame(False, False) for _ in range(r.randrange(3))]} for _ in range(r.randrange(3))]
            tasks.append({"id": task, "name": r.choice(["", "Task-%d" % i, "worker;x"]), "coros": coros, "awaited_by": parents})
        cut = r.randrange(len(tasks) + 1)
        return [{"thread_id": 1, "tasks": tasks[:cut]}, {"thread_id": 2, "tasks": tasks[cut:]}]

    def run(self, tasks=None):
        """One run; @tasks: None, "ordered" or "any"."""
        r = self.random
        nasty, opcodes, heavy = r.random() < 0.6, r.random() < 0.5, r.random() < 0.5
        stacks = [self.stack(nasty, opcodes) for _ in range(r.choice([1, 3, 20, 60]))]
        samples = []
        for _ in range(r.choice([0, 1, 5, 40, 120])):
            sample = {}
            if r.random() < 0.5:
                sample["weight"] = r.choice([1, 2, 7, 1000, 50000]) if heavy else r.choice([0, 1, 2])
            if tasks and r.random() < 0.5:
                sample["awaited"] = self.awaited(tasks == "ordered")
            else:
                sample["interpreters"] = [{"id": i, "threads": self.threads(stacks)} for i in range(r.choice([0, 1, 1, 2]))]
            samples.append(sample)
        run = {"sample_interval_usec": r.choice([1, 1000, 10000]), "skip_idle": r.random() < 0.3, "samples": samples}
        if r.random() < 0.5:
            run["stats"] = {"sample_interval_usec": 1000, "duration_sec": r.random() * 10, "sample_rate": 998.5,
                            "error_rate": r.choice([None, 0.0, 1 / 3]), "missed_samples": r.choice([None, 0.1]), "mode": r.choice([None, 0, 1, 2, 3, 4])}
        return run


def sole(seed):
    """Runs in which all begins in one frame; half of them lose it to nothing but the frames that are dropped."""
    r = random.Random(seed)
    root = ["/srv/app.py", 1, "<module>", None]
    samples = []
    for i in range(r.choice([3, 50])):
        frames = [["/srv/app.py", 5, "f%d" % r.randrange(4), None], root]
        if r.random() < 0.05:
            frames = [["/srv/odd.py", i, "odd", None]]
        samples.append({"weight": r.choice([1, 4000]), "interpreters": [{"id": 0, "threads": [{"id": r.choice([5, 6]), "status": 3, "frames": frames}]}]})
    return {"sample_interval_usec": 1000, "samples": samples}
