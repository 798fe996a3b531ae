# SPDX-License-Identifier: Apache-2.0
"""%plumb and %%plumb in a notebook that a real kernel executes, and in a terminal's IPython."""
import html
import re

import pytest

from harness import notebook

BUSY = """import gc, plumb
def running():
    return [r for r in gc.get_objects() if issubclass(type(r), plumb.Recording) and r._outcome is None and r._session is not None][0]
def busy(samples, p=None):
    p = p or running()
    end = p._session.status()["samples"] + samples
    while p._session.status()["samples"] < end:
        for _ in range(100): sum(range(200))
"""
MANY = """
names = {"busy": busy}
for i in range(300):
    exec("def function_%d(p):\\n    busy(1, p)\\n" % i, names)
"""

CELLS = {
    "load": "%load_ext plumb",
    "busy": BUSY + "x = 3",
    "line": "%plumb busy(100)",
    "value": "y = %plumb -f none {'a  b': [x, '$x {x}']}\ny",
    "cell": "%%plumb -o p --interval 0.002\nbusy(100)\nz = x\nz + 1",
    "assigned": "max(p.stats()['functions'], key=lambda r: r['self']['share'])['name'], p.info()['interval'], z",
    "threads": "[t['name'] for t in p.stats()['threads']]",
    "no value": "%%plumb -f none\nx;",
    "raises": "%%plumb -o broken -f text\nbusy(20)\nraise KeyError('of the cell')",
    "after": "broken.info()['samples'] > 0",
    "stopped": "%%plumb -o stopped -f none\nimport os, signal, threading\n"
    "threading.Thread(target=lambda: (busy(20), os.kill(os.getpid(), signal.SIGINT))).start()\nbusy(10**9)",
    "interrupted": "stopped.info()['samples'] > 0",
    "last": "%plumb",
    "pool": "%%plumb -o pool -f none\nt = threading.Thread(target=busy, args=(100,), name='mine')\nt.start()\nt.join()",
    "pool's threads": "sorted(t['name'] for t in pool.stats()['threads'])",
    "named": "%%plumb -t mine -f text\nt = threading.Thread(target=busy, args=(100,), name='mine')\nt.start()\nt.join()",
    "lines": "%%plumb -f none\nimport linecache, sys\nframe = sys._getframe()\n"
    "linecache.getline(frame.f_code.co_filename, frame.f_lineno), frame.f_lineno",
    "many": MANY + "%plumb -f none -o wide [names['function_%d' % i](p) for p in [running()] for i in range(300)];",
    "sizes": "import plumb._jupyter as j\nsizes = [len(wide.html(min_share=share).encode()) / 1e6 for share in (0, 10)]\n"
    "sizes[0] > sizes[1] + 0.001",
    "pruned": "page, said = j._page(wide, {'threads': None, 'min_share': None, 'largest': sum(sizes) / 2})\n"
    "len(page.encode()) / 1e6 <= sum(sizes) / 2, said",
    "too large": "%plumb -f html --largest 0.1 busy(1)",
    "unknown": "%plumb --colour red x",
    "no value given": "%plumb x -i\n%plumb -i",
    "no number": "%plumb -i soon x",
    "no word": "%plumb -f pdf x",
    "no name": "%plumb -o 3 x",
    "code in the first line": "%%plumb x\nx",
    "awaits": "%%plumb -o awaited -f text\nimport asyncio\nasync def later():\n    await asyncio.sleep(0)\n    busy(100)\n    return 7\n"
    "seen = await later()\nawait later()",
    "awaited": "seen, max(awaited.stats()['functions'], key=lambda r: r['self']['share'])['name']",
    "awaits silently": "%%plumb -f none\nawait later();",
    "awaits and raises": "%%plumb -f none -o fallen\nasync def fall():\n    raise KeyError('of the task')\nawait fall()",
    "fallen": "fallen.info()['duration'] > 0",
    "a line that awaits": "%plumb -f none await later()",
    "no directory": "%plumb -f none -s /nowhere/at/all.plumb x",
    "saved": "%plumb -f none -s kept.plumb busy(20)\nimport plumb\nplumb.open('kept.plumb').info()['samples'] > 0",
    "minus": "%plumb -f none -- -x",
    "terminal": "import subprocess\ncode = '%%load_ext plumb\\n%s%%plumb busy(100)'\n" % BUSY.replace("\n", "\\n")
    + "shell = [sys.executable, '-m', 'IPython', '--no-banner', '--simple-prompt', '-c', code]\n"
    "print(subprocess.run(shell, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout)",
    "help": "print(get_ipython().find_line_magic('plumb').__doc__)",
}  # fmt: skip


@pytest.fixture(scope="module")
def said():
    return dict(zip(CELLS, notebook.executed(list(CELLS.values()))))


def test_a_cell_shows_text_and_the_page_and_keeps_its_value(said):
    assert said["cell"]["value"] == "4"
    assert re.search(r"\d%  .*busy", said["cell"]["text"]), said["cell"]["text"]
    (page,) = said["cell"]["html"]
    assert re.match('<iframe sandbox="allow-scripts" ', page)
    inside = html.unescape(re.search('srcdoc="([^"]*)"', page)[1])
    assert inside.startswith("<!doctype html>") and "Content-Security-Policy" in inside
    assert said["assigned"]["value"] == "('busy', 0.002, 3)"
    assert said["line"]["html"] and "busy" in said["line"]["text"]


def test_an_expression_is_taken_as_it_stands(said):
    assert said["value"]["value"] == "{'a  b': [3, '$x {x}']}"
    assert said["minus"]["value"] == "-3"
    assert said["no value"]["value"] is None and not said["no value"]["error"]


def test_exceptions_and_interrupts_keep_the_profile(said):
    assert said["raises"]["raised"] == "KeyError: 'of the cell'"
    assert "busy" in said["raises"]["text"] and "_jupyter" not in said["raises"]["traceback"]
    assert said["after"]["value"] == "True"
    assert said["stopped"]["raised"].startswith("KeyboardInterrupt")
    assert said["interrupted"]["value"] == "True"
    assert said["last"]["value"].startswith("<plumb")


def test_a_cell_may_await(said):
    assert said["awaits"]["value"] == "7" and re.search(r"\d%  .*busy", said["awaits"]["text"]), said["awaits"]
    assert said["awaited"]["value"] == "(7, 'busy')"
    assert said["awaits silently"]["value"] is None and not said["awaits silently"]["error"], said["awaits silently"]
    assert said["awaits and raises"]["raised"] == "KeyError: 'of the task'" and "_jupyter" not in said["awaits and raises"]["traceback"]
    assert said["fallen"]["value"] == "True"


def test_threads_of_the_kernel_are_not_the_users(said):
    assert said["threads"]["value"] == "['MainThread']"
    assert said["pool's threads"]["value"] == "['MainThread', 'mine']"
    assert re.search(r"\d%  .*busy", said["named"]["text"]) and "join" not in said["named"]["text"]


def test_lines_are_those_of_the_cell(said):
    assert said["lines"]["value"] == r"('frame = sys._getframe()\n', 3)"


def test_a_large_page_is_pruned_and_that_is_told(said):
    assert said["sizes"]["value"] == "True", said["sizes"]
    assert re.match(r"\(True,\s+.What was called in less than [\d.]+ % .*--min-share", said["pruned"]["value"]), said["pruned"]
    assert not said["too large"]["html"] and "more than --largest 0.1" in said["too large"]["text"]


SENTENCES = {
    "unknown": "UsageError: there is no option --colour; ",
    "no value given": "UsageError: -i needs a value: SECONDS",
    "no number": "UsageError: the interval is a number from 0.00001 to 10, not 'soon'",
    "no word": "UsageError: the format is text, html, both or none, not 'pdf'",
    "no name": "UsageError: '3' is no name of a variable",
    "code in the first line": "UsageError: 'x' is no option; the cell begins in the next line",
    "a line that awaits": "UsageError: %plumb does not await: write it as a cell, with %%plumb in the line above",
    "no directory": "plumb: ",
}


def test_what_is_wrong_is_said_in_a_sentence(said):
    for cell, sentence in SENTENCES.items():
        assert sentence in said[cell]["error"] and "Traceback" not in said[cell]["error"], (cell, said[cell])


def test_profiles_are_saved_and_the_help_names_all_options(said):
    assert said["saved"]["value"] == "True", said["saved"]
    for option in ("--interval", "--threads", "--mode", "--format", "--variable", "--save", "--min-share", "--largest"):
        assert option in said["help"]["text"]


def test_a_terminal_has_the_text(said):
    assert re.search(r"\d%  .*busy", said["terminal"]["text"]) and "<a report page of " in said["terminal"]["text"], said["terminal"]
