# SPDX-License-Identifier: Apache-2.0
"""%plumb and %%plumb for IPython and Jupyter: `%load_ext plumb`.

Nothing of IPython is imported before the extension is loaded. The cell runs as IPython's own %%time runs one: in the namespace of the
user, its last expression is its value.
"""
from __future__ import annotations

import ast
import functools
import inspect
import re
import sys
import threading
from typing import Any, Dict, List, Optional, Tuple

import plumb
from plumb import _imports, _jupyter_options as options

_HEIGHT = 640  # of the page in the notebook
_KERNEL = ("IPython", "ipykernel", "zmq")
_CELL = re.compile(r"%%plumb(?=\s|\Z)")
_SHARES = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0)  # percent: what is tried to make a page fit


def _compiled(shell: Any, text: str, line: int) -> Tuple[Any, Any]:
    """(all but the last expression, the last expression or None) as code objects, known to tracebacks as this cell, of which it begins in
    that line."""
    source = "\n" * (line - 1) + shell.transform_cell(text)
    name = shell.compile.cache(source, len(shell.history_manager.input_hist_raw) - 1)
    tree = shell.transform_ast(ast.parse(source, name))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    flags = shell.compile.flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    first = compile(tree, name, "exec", flags, dont_inherit=True)
    value = last and compile(ast.Expression(last.value), name, "eval", flags, dont_inherit=True)
    return first, value


def _awaits(code: Tuple[Any, Any]) -> bool:
    return any(part and part.co_flags & inspect.CO_COROUTINE for part in code)


def _awaited(shell: Any, lines: List[str]) -> List[str]:
    """A %%plumb cell that awaits, as IPython is to run it: nothing else awaits what a magic gives, and run_cell_magic() drops it where
    the cell ends with a semicolon."""
    found = _CELL.match(lines[0]) if lines else None
    if not found:
        return lines
    line, cell = lines[0][found.end() :].strip(), "".join(lines[1:])
    try:
        awaits = _awaits(_compiled(shell, cell, 2))
    except (SyntaxError, ValueError):  # for the magic to tell of
        return lines
    silent = ";" if cell.rstrip().endswith(";") else ""
    return ["await get_ipython().find_cell_magic('plumb')(%r, %r)%s\n" % (line, cell, silent)] if awaits else lines


async def _value(part: Any, names: Dict[str, Any]) -> Any:
    __tracebackhide__ = True
    found: Any = eval(part, names) if part else None
    return await found if part and part.co_flags & inspect.CO_COROUTINE else found


def _page(profile: Any, chosen: Dict[str, Any]) -> Tuple[str, str]:
    """(the page or "", what is to be said of it): with so little left out that it fits."""
    shares = _SHARES if chosen["min_share"] is None else (chosen["min_share"],)
    for share in shares:
        page = profile.html(threads=chosen["threads"], min_share=share)
        size = len(page.encode()) / 1e6
        if size <= chosen["largest"]:
            said = "What was called in less than %g %% of its caller's time counts there (--min-share %g)." % (share, share)
            return page, said if share else ""
    return "", "The page has %.1f MB, more than --largest %g: p.open_in_browser() shows it in a window of its own." % (size, chosen["largest"])


_FRAME = (
    '<iframe sandbox="allow-scripts" title="plumb: report" style="width: 100%%; height: %dpx; border: 1px solid #8888" srcdoc="%s">'
    "</iframe>"
)


def frame(page: str) -> str:
    """A page that may run its own script, but reaches nothing of the notebook."""
    return _FRAME % (_HEIGHT, page.replace("&", "&amp;").replace('"', "&quot;"))


class _Shown:
    """What a frontend takes of it: the page, or a line of text where there are no pages."""

    def __init__(self, profile: Any, page: str) -> None:
        self._samples, self._page = profile.info()["samples"], page

    def _repr_html_(self) -> str:
        return frame(self._page)

    def __repr__(self) -> str:
        return "<a report page of %d samples: p.open_in_browser() shows it, p.html(FILE) writes it>" % self._samples


def _show(profile: Any, chosen: Dict[str, Any]) -> None:
    if chosen["save"]:
        profile.save(chosen["save"])
    if chosen["format"] in ("text", "both"):
        profile.print(threads=chosen["threads"], min_share=chosen["min_share"] or 0.0)
    if chosen["format"] in ("html", "both"):
        page, said = _page(profile, chosen)
        if page:
            _imports.imported("IPython.display").display(_Shown(profile, page))
        if said:
            print(said)


class _Magic:
    """What %plumb does in one shell."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._threads = {thread for thread in threading.enumerate() if thread is not threading.current_thread()}
        self.last: Any = None

    def prepared(self, line: str, cell: Optional[str]) -> Tuple[Dict[str, Any], Any]:
        """(options, code or None)"""
        chosen, rest = options.parse(line)
        if cell is None:
            return chosen, _compiled(self._shell, rest, 1) if rest else None
        if rest:
            raise ValueError("'%s' is no option; the cell begins in the next line" % rest)
        return chosen, _compiled(self._shell, cell, 2)

    def start(self, chosen: Dict[str, Any]) -> Any:
        hidden = [thread for thread in threading.enumerate() if self._is_kernels(thread)] if chosen["threads"] is options.OWN_THREADS else ()
        return plumb.start(interval=chosen["interval"], mode=chosen["mode"], hidden=hidden)

    def _is_kernels(self, thread: threading.Thread) -> bool:
        """It was there before us, or is of a class of its own that the kernel's libraries have, like zmq's, which begins with the first
        large message."""
        return thread in self._threads or type(thread).__module__.partition(".")[0] in _KERNEL

    def end(self, recording: Any, chosen: Dict[str, Any]) -> None:
        """Whatever the cell did. What cannot be shown is said, so that the exception that is seen is the cell's own."""
        try:
            recording.stop()
            self.last = recording
            if chosen["variable"]:
                self._shell.user_ns[chosen["variable"]] = recording
            _show(recording, {**chosen, "threads": chosen["threads"] or None})
        except (plumb.Error, ValueError, OSError) as error:
            print("plumb: %s" % error, file=sys.stderr)


def load(shell: Any) -> None:
    """For IPython's %load_ext."""
    marks, errors = _imports.imported("IPython.core.magic"), _imports.imported("IPython.core.error")
    magic = _Magic(shell)

    def run(line: str, cell: Optional[str] = None, local_ns: Optional[Dict[str, Any]] = None) -> Any:
        __tracebackhide__ = True
        try:
            chosen, code = magic.prepared(line, cell)
            if code and _awaits(code):
                if cell is None:
                    raise ValueError("%plumb does not await: write it as a cell, with %%plumb in the line above")
                return awaited(chosen, code)
            recording = magic.start(chosen) if code else None
        except (plumb.Error, ValueError) as error:
            raise errors.UsageError(str(error)) from None
        if not code:
            return magic.last
        try:
            exec(code[0], shell.user_ns, local_ns)
            return eval(code[1], shell.user_ns, local_ns) if code[1] else None
        finally:
            magic.end(recording, chosen)

    async def awaited(chosen: Dict[str, Any], code: Tuple[Any, Any]) -> Any:
        __tracebackhide__ = True
        recording = magic.start(chosen)
        try:
            await _value(code[0], shell.user_ns)
            return await _value(code[1], shell.user_ns)
        finally:
            magic.end(recording, chosen)

    run.__doc__ = options.help_text()
    # { and $ are the expression's own. IPython 8.11 knows of a semicolon at the end, which keeps the output away.
    for mark in ("no_var_expand", "needs_local_scope", "output_can_be_silenced"):
        if hasattr(marks, mark):
            run = getattr(marks, mark)(run)
    shell.register_magic_function(run, magic_kind="line_cell", magic_name="plumb")
    shell.input_transformers_cleanup.append(functools.partial(_awaited, shell))
