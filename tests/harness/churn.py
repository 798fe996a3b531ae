# SPDX-License-Identifier: Apache-2.0
"""Whether a profile of targets/exec_churn.py shows a function that was dead when it was sampled."""
import re

_FILE = re.compile(r"<generation (\d+)>")
_NAME = re.compile(r"gen_(\d+)_(outer|inner)_(\d+)")
SLOTS = 16


class Generations:
    """Reads the generation out of file, name, line and slot of each stack; they must be one and the same."""

    def __init__(self, profile):
        self.samples = 0
        self.wrong = 0
        self.seen = set()
        self.examples = []
        for stack in profile.stacks:
            if stack.sure:
                self._add(stack)

    def _add(self, stack):
        generations, problem = set(), None
        slot = None
        for frame in stack.python:
            file, name = _FILE.search(frame.file), _NAME.fullmatch(frame.name)
            if frame.name.startswith("slot_"):
                slot = int(frame.name[len("slot_") :])
            if file:
                generations.add(int(file.group(1)))
                problem = problem or self._line(int(file.group(1)), frame, name)
            elif name:
                problem = "%s is said to be in %s" % (frame.name, frame.file)
        if not generations:
            return
        self.samples += stack.samples
        self.seen |= generations
        if len(generations) > 1:
            problem = "two generations in one stack"
        elif slot is not None and min(generations) % SLOTS != slot:
            problem = "generation %d in slot %d" % (min(generations), slot)
        if problem:
            self.wrong += stack.samples
            if len(self.examples) < 5:
                self.examples.append("%s: %s" % (problem, stack))

    @staticmethod
    def _line(generation, frame, name):
        first = 1 + (generation * 37) % 211
        if name and int(name.group(1)) != generation:
            return "%s in the file of generation %d" % (frame.name, generation)
        if name and frame.line != int(name.group(3)):
            return "%s at line %d" % (frame.name, frame.line)
        if not name and frame.name != "<module>" and not first <= frame.line <= first + 2:
            return "%s at line %d of generation %d" % (frame.name, frame.line, generation)
        return None

    def __str__(self):
        return "%d samples of %d generations, %d wrong: %s" % (
            self.samples, len(self.seen), self.wrong, "; ".join(self.examples))

    __repr__ = __str__
