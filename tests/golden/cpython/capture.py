#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run a target under an interpreter, let capture_image look at it, compare with what the program says of itself.

    capture.py CAPTURE_IMAGE PYTHON WORK[,WORK...] [--print WHAT] [--image FILE] [--text FILE] [--root DIR] [--depth N]

WHAT is stacks (target.py), variables (target_values.py; WORK may be "all") or tasks (target_tasks.py; WORK is "all").
PYTHON may be several words. --root: the interpreter is inside this system root (run with chroot). Exit status 0: they
agree.
"""
import argparse
import json
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
WORDS = ("runtime", "runtime_size", "version", "code_type", "name", "tstate_current")
SYMBOLS = {"_PyRuntime": "runtime", "Py_Version": "version", "PyCode_Type": "code_type",
           "_PyThreadState_Current": "tstate_current"}


def symbols(path):
    """{name: (value, size)} of the dynamic symbols we know."""
    out = subprocess.run(["readelf", "-W", "--dyn-syms", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = {}
    for line in out.splitlines():
        part = line.split()
        if len(part) >= 8 and part[7].split("@")[0] in SYMBOLS and part[6] != "UND":
            found[part[7].split("@")[0]] = int(part[1], 16), int(part[2], 0)
    return found


def first_load(path):
    out = subprocess.run(["readelf", "-W", "-h", "-l", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    if re.search(r"Type:\s+EXEC", out):
        return None
    return int(re.search(r"LOAD\s+\S+\s+(0x\w+)", out).group(1), 16) & ~4095


def facts_of(pid, root):
    with open("/proc/%d/maps" % pid) as f:
        maps = [line.split(None, 5) for line in f]
    for m in maps:
        path = m[5].strip() if len(m) > 5 else ""
        if "python" not in path or not path.startswith("/"):
            continue
        path = path if not root or path.startswith(root) else root + path
        found = symbols(path)
        if "_PyRuntime" not in found and "_PyThreadState_Current" not in found:
            continue
        start = first_load(path)
        bias = 0 if start is None else int(m[0].split("-")[0], 16) - start
        facts = ["%s=%x" % (SYMBOLS[n], v + bias) for n, (v, _) in found.items()]
        if "_PyRuntime" in found:
            facts.append("runtime_size=%x" % found["_PyRuntime"][1])
        version = re.search(r"python(\d)\.(\d+)", path)
        return facts + (["name=%x" % (int(version.group(1)) << 16 | int(version.group(2)) << 8)] if version else [])
    sys.exit("no Python in pid %d" % pid)


def compact(path, prefix, facts):
    """Rewrite an image with every byte once, in as few ranges as there are gaps, and without the place of installation. The
    facts go to address 16, where no process has anything: six words, see image_facts in stacks.h."""
    with open(path, "rb") as f:
        data = f.read()
    known, at = {}, 7
    while at < len(data):
        addr, length = struct.unpack_from("<QI", data, at)
        for i in range(length):
            known.setdefault(addr + i, data[at + 12 + i])
        at += 12 + length
    out, last = [], None
    for addr in sorted(known):
        if addr - 1 != last:
            out.append((addr, bytearray()))
        out[-1][1].append(known[addr])
        last = addr
    words = dict(f.split("=") for f in facts)
    out.insert(0, (16, struct.pack("<6Q", *(int(words.get(n, "0"), 16) for n in WORDS))))
    hidden = prefix.encode()
    neutral = b"/opt/python".ljust(len(hidden), b"_")[:len(hidden)]
    with open(path, "wb") as f:
        f.write(data[:7] + b"".join(struct.pack("<QI", a, len(b)) + bytes(b).replace(hidden, neutral) for a, b in out))


def parse(text):
    """{thread: [[name, line], ...]} of the frames that Python would show too."""
    result, frames = {}, None
    for line in text.splitlines():
        thread = re.match(r"  thread (.*?)(?: native)?(?: gil)?(?: exception)? frames=\d+$", line)
        if thread:
            frames = result.setdefault(thread.group(1), [])
        elif line.startswith("    ") and "<shim>" not in line and not line.endswith(" hidden"):
            frame = re.match(r"    (.*) (.*?):(\d+):-?\d+-\d+:-?\d+ first=", line)
            frames.append([frame.group(1).split(".")[-1], int(frame.group(3))] if frame else [line, 0])
    return result


def stacks_differ(expected, text):
    """Lines of what is not as Python says."""
    seen, wrong = parse(text), []
    for name, frames in expected.items():
        ours = seen.get(name)
        if ours != frames[:200] and (len(frames) <= 200 or ours != frames[:len(ours or [])]):
            wrong.append("thread %s\n  python: %s\n  ours:   %s" % (name, frames[:20], (ours or [])[:20]))
    return wrong


def variables_differ(expected, text):
    """What the comments of target_values.py say of each function, and nothing else, in any order within arguments and
    within variables; "x contains TEXT" is a part of the line."""
    seen, wrong = {}, []
    for line in text.splitlines():
        if line.startswith("    "):
            frame.append(line.strip())
        else:
            frame = seen.setdefault(line.strip(), [])
    for function, said in expected.items():
        lines = seen.get(function, [])
        for line in said:
            name, _, part = line.partition(" contains ")
            found = [l for l in lines if l == line or (part and l.startswith(name + " = ") and part in l)]
            if not found:
                wrong.append("%s: no '%s' in\n  %s" % (function, line, "\n  ".join(lines)))
        named = [re.sub(r" (=|contains) .*", "", line) for line in said]
        wrong += ["%s: '%s' is not expected" % (function, l) for l in lines if l.split(" = ")[0] not in named]
        if lines != sorted(lines, key=lambda l: not l.startswith("arg ")):
            wrong.append("%s: arguments are not first" % function)
    return wrong


def tasks_differ(expected, text):
    """Every task that the program knows, and no other one but those that asyncio makes by itself."""
    seen, wrong = {}, []
    for line in text.splitlines():
        if line.startswith("task "):
            name, *rest = line[5:].split("; ")
            task = seen[name] = dict(word.partition("=")[::2] for word in rest)
            task["frames"] = []
            task["waiters"] = sorted(w for w in task["waiters"].split(",") if w in expected)
        elif line.startswith("    "):
            function, _, number = line.strip().rpartition(":")
            task["frames"].append([function, int(number)])
        else:
            wrong.append(line)
    for name, said in expected.items():
        ours = {key: seen.get(name, {}).get(key) for key in said}
        if ours != said or "cut" in seen[name]:
            wrong.append("task %s\n  python: %s\n  ours:   %s" % (name, said, seen.get(name)))
    return wrong + ["task %s is not expected" % name for name in seen if name not in expected and name[:5] != "Task-"]


PRINTS = {"tasks": ("target_tasks.py", tasks_differ),
          "stacks": ("target.py", stacks_differ),
          "variables": ("target_values.py", variables_differ)}


def look(a, source):
    """(what the program says, what capture_image says, facts)"""
    command = ["chroot", a.root, a.python] if a.root else shlex.split(a.python)
    old = subprocess.run([*command, "-c", "import sys; sys.exit(sys.version_info < (3,))"]).returncode
    root = a.root or ""
    with tempfile.TemporaryDirectory(dir=root + "/tmp") as folder:
        os.chmod(folder, 0o755)
        # The name is part of an image, which is to be the same each time it is made.
        target = "/tmp/" + source if a.image else folder[len(root):] + "/" + source
        shutil.copyfile(os.path.join(HERE, source.replace(".py", "27.py") if old else source), root + target)
        options = ["-E", "-s", "-S", "-B"] if old else ["-I", "-S", "-B", "-X", "utf8"]
        return look_at(a, command + options + [target, a.work] + ([a.depth] if a.depth else []))


def look_at(a, command):
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        expected = json.loads(child.stdout.readline())
        assert child.stdout.readline() == "ready\n"
        facts = [f for f in facts_of(child.pid, a.root) if f.split("=")[0] not in (a.drop_facts or "").split(",")]
        text = subprocess.run([a.capture_image, a.print, str(child.pid), a.image or "-"] + facts, stdout=subprocess.PIPE,
                              encoding="utf-8", errors="surrogatepass", check=True).stdout
        child.stdin.close()
    return expected, text, facts


def main():
    p = argparse.ArgumentParser()
    for name in ("capture_image", "python", "work"):
        p.add_argument(name)
    for name in ("--image", "--text", "--root", "--depth", "--drop-facts"):
        p.add_argument(name)
    p.add_argument("--print", choices=PRINTS, default="stacks")
    a = p.parse_args()
    source, differ = PRINTS[a.print]
    expected, text, facts = look(a, source)
    if a.image:
        compact(a.image, os.path.dirname(os.path.dirname(a.python)), facts)
    if a.text:
        with open(a.text, "w", encoding="utf-8", errors="surrogatepass") as f:
            f.write(text)
    else:
        print(text, end="")
    wrong = differ(expected, text)
    for w in wrong:
        print("%s: %s" % (a.python, w))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
