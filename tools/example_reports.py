# SPDX-License-Identifier: Apache-2.0
"""Make the reports in docs/user/five-programs.md, and that in README.md, anew from real runs of the programs in examples/. On a
quiet machine:

    python3 tools/example_reports.py [build/plumb]"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent
PAGE = TOP / "docs" / "user" / "five-programs.md"
README = TOP / "README.md"


def report(binary, command):
    """What `plumb run ...` says at its end, without the commands that it proposes."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "examples").symlink_to(TOP / "examples")
        environment = {**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "80"}
        words = [binary if word == "plumb" else word for word in command.split()]
        said = subprocess.run(words, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True).stderr
    return said.partition("\nnext: ")[0].rstrip()


def main(binary="build/plumb"):
    binary = str(pathlib.Path(binary).resolve())
    text = PAGE.read_text(encoding="utf-8")
    for command in re.findall(r"^\$ (plumb run .*)$", text, re.M):
        said = report(binary, command)
        text = re.sub(r"(?<=\n\$ %s\n).*?(?=\n```\n)" % re.escape(command), lambda _: said, text, flags=re.S)
        print(command, said, "", sep="\n")
        if "pipeline.py" in command:
            readme = re.sub(r"(?<=\n```\n)pipeline\.py .*?(?=\n```\n)", lambda _: said, README.read_text(encoding="utf-8"), flags=re.S)
            README.write_text(readme, encoding="utf-8")
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
