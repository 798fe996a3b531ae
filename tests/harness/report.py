# SPDX-License-Identifier: Apache-2.0
"""Reading what `plumb report --json` writes (docs/user/json.md)."""
import dataclasses
import functools
import json

SCHEMA = "plumb.report/1"
SURE = ("exact", "stopped")


@dataclasses.dataclass(frozen=True)
class Frame:
    name: str
    file: str
    line: int
    kind: str  # "python", "marker", ...

    def __str__(self):
        return "%s:%d" % (self.name, self.line)


@dataclasses.dataclass(frozen=True)
class Stack:
    frames: tuple  # root first
    thread: dict
    samples: int
    weight_ns: int
    quality: str

    @property
    def python(self):
        return [frame for frame in self.frames if frame.kind == "python"]

    @property
    def sure(self):
        return self.quality in SURE

    def has(self, *names):
        """Whether functions of all these names are on the stack."""
        present = {frame.name for frame in self.frames}
        return all(name in present for name in names)

    def __str__(self):
        frames = [str(frame) for frame in self.frames]
        if len(frames) > 40:
            frames[20:-20] = ["... %d frames ..." % (len(frames) - 40)]
        return " > ".join(frames)


class Profile:
    def __init__(self, text):
        self.json = json.loads(text)
        assert self.json["schema"] == SCHEMA, self.json["schema"]

    @property
    def samples(self):
        return self.json["samples"]["total"]

    @property
    def quality(self):
        """{"exact": n, "stopped": n, "doubtful": n, "partial": n}"""
        return self.json["samples"]

    @property
    def losses(self):
        return self.json["losses"]

    @property
    def complete(self):
        return self.json["complete"]

    @property
    def duration_s(self):
        return self.json["duration_ns"] / 1e9

    @functools.cached_property
    def stacks(self):
        functions = self.json["functions"]
        locations = []
        for row in self.json["locations"]:
            function = functions[row["function"]]
            locations.append(Frame(function["name"], function["file"], row["line"], function["kind"]))
        stacks = []
        for row in self.json["stacks"]:
            frames = tuple(locations[index] for index in row["frames"])
            thread = self.json["threads"][row["thread"]]
            assert sum(row["quality"].values()) == row["samples"], row
            for quality, samples in row["quality"].items():
                weight_ns = row["weight_ns"] * samples // row["samples"]
                stacks.append(Stack(frames, thread, samples, weight_ns, quality))
        return stacks

    @property
    def functions(self):
        return self.json["functions"]

    def function(self, name):
        """The first function of that name; None if there is none."""
        return next((f for f in self.functions if f["name"] == name), None)

    def half_width(self, name):
        """95 % half width of a function's inclusive share, 0 if it does not occur."""
        function = self.function(name)
        return function["total"]["half_width"] if function else 0.0

    @property
    def threads(self):
        return self.json["threads"]
