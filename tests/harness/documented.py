# SPDX-License-Identifier: Apache-2.0
"""The commands and the Python that README.md and docs/user show, as they stand there."""
import dataclasses
import re

from harness.plumb import TOP

PAGES = ["README.md", *sorted(str(path.relative_to(TOP)) for path in (TOP / "docs" / "user").glob("*.md"))]

# A block that begins with one of these holds commands, one a line; any other one is what a program prints.
_PLUMB = r"(?:build/)?plumb "
_OTHERS = r"(?:\./dev|\(cd|curl|docker|gunicorn|kubectl|mkdir|perf|pip|PYTHONPATH=\S+|pprof|pytest|sudo) "
# In inline code plumb may stand behind what starts it. `plumb` alone is a name.
_INLINE = re.compile(r"(?:(?:nice|source <\(|python3? -m) ?)?%s|%s" % (_PLUMB, _OTHERS))


@dataclasses.dataclass(frozen=True)
class Command:
    page: str
    line: int
    text: str
    inline: bool  # it may be a mention: `plumb report --json`

    def __str__(self):
        return "%s:%d: %s" % (self.page, self.line, self.text)


@dataclasses.dataclass(frozen=True)
class Block:
    """A fenced block, or one that is indented by four columns."""

    line: int  # of its first line
    language: str
    text: str


def _parts(page):
    """(blocks, [(number, line), ...] of the rest)"""
    blocks, rest, inside = [], [], None
    before = ""
    for number, line in enumerate((TOP / page).read_text(encoding="utf-8").splitlines(), 1):
        fence = re.match(r"( *)```(\w*)$", line)
        if inside is not None:
            if fence:
                blocks.append(Block(first, language, "".join(inside)))
                inside = None
            else:
                inside.append(line[indent:] + "\n")
        elif fence:
            inside, first, indent, language = [], number + 1, len(fence[1]), fence[2]
        elif line.startswith("    ") and (not before or before.startswith("    ")):
            blocks.append(Block(number, "", line.strip() + "\n"))
        else:
            rest.append((number, line))
        before = line
    assert inside is None, "%s: a block has no end" % page
    return blocks, rest


def blocks(page, language):
    return [block for block in _parts(page)[0] if block.language == language]


def _shown(lines):
    """The commands among the lines of a block: after a prompt; all of them; or those that a report proposes."""
    prompted = [(n, line[2:]) for n, line in lines if line.startswith("$ ")]
    if prompted:
        return prompted
    if re.match("%s|%s" % (_PLUMB, _OTHERS), lines[0][1]):
        return [(n, line) for n, line in lines if line.strip() and not line.startswith("#")]
    proposed = [(n, re.sub(r"^(?:next:)? *", "", line)) for n, line in lines]
    return [(n, line) for n, line in proposed if re.match(_PLUMB, line)]


def commands(page):
    """All of a page, in their order in blocks, then in inline code; what is there twice once."""
    found = {}
    in_blocks, rest = _parts(page)
    for block in in_blocks:
        if not block.language:
            for number, line in _shown(list(enumerate(block.text.splitlines(), block.line))):
                text = line.split("  #")[0].rstrip()
                found.setdefault(text, Command(page, number, text, False))
    for number, line in rest:
        for code in re.findall(r"`([^`]+)`", line):
            code = code.replace("\\|", "|")
            if _INLINE.match(code):
                found.setdefault(code, Command(page, number, code, True))
    return list(found.values())


def options(page):
    """(line, option) for each long option that is named alone in inline code: `--top 40`."""
    return [(number, option) for number, line in _parts(page)[1] for code in re.findall(r"`([^`]+)`", line)
            if code.startswith("-") for option in re.findall(r"(?<![\w-])--[a-z][\w-]*", code)]
