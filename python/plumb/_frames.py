# SPDX-License-Identifier: Apache-2.0
"""What can be said of a frame: its line, the text of that line. Real frames, and whatever has the same attributes."""
from __future__ import annotations

import dis
import linecache
import os
import stat
import sys
import time
import types
from typing import Any, Dict, List, Optional, Tuple

# linecache forgets what it did not find, and a search through sys.path takes longer than a sample. What is not there now is
# not looked for again at once.
_RETRY_SECONDS = 1.0
_MISSES_KEPT = 1000
_misses: Dict[Tuple[str, int], float] = {}

_FILE_MAX_BYTES = 16 << 20


def line_number(frame: Any) -> int:
    """f_lineno; where there is none, the last line that begins before the instruction; -1 if that cannot be told either."""
    line: Optional[int] = frame.f_lineno
    if line is not None:
        return line
    code = frame.f_code
    try:
        line = code.co_firstlineno
        for offset, starting in dis.findlinestarts(code):
            if frame.f_lasti < offset:
                break
            line = starting or line
        return -1 if line is None else line
    except Exception:
        return -1


def _is_cached(filename: str) -> bool:
    """Whether linecache has the lines, and not only who is to be asked for them."""
    entries: Dict[str, Any] = linecache.cache
    try:
        return len(entries[filename]) > 1
    except KeyError:
        return False


def _may_be_opened(filename: str) -> bool:
    """The name is whatever was given to compile(). Of what is no plain file, or made up by the kernel, the end may never come."""
    places = [filename] if os.path.isabs(filename) else [filename, *(os.path.join(str(path), filename) for path in sys.path)]
    for place in places:
        try:
            about = os.stat(place)
        except (OSError, ValueError):
            continue
        return stat.S_ISREG(about.st_mode) and 0 < about.st_size <= _FILE_MAX_BYTES
    return True  # a loader may have it


def _getline(filename: str, line: int, module_globals: Optional[Dict[str, Any]]) -> str:
    """linecache.getline(): it may look for an entry that another thread has just taken away."""
    try:
        return linecache.getline(filename, line, module_globals)
    except KeyError:
        return linecache.getline(filename, line, module_globals)


class _Loader:
    """One that may be anybody's: that it fails means that it has no source."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def get_source(self, name: str) -> Any:
        try:
            return self._loader.get_source(name)
        except Exception:
            return None


def _with_loader(module_globals: Dict[str, Any]) -> Dict[str, Any]:
    """What linecache asks for of the globals of a module."""
    spec, name = module_globals.get("__spec__"), module_globals.get("__name__")
    loader = _Loader(getattr(spec, "loader", None) or module_globals.get("__loader__"))
    return {"__name__": name, "__loader__": loader, "__spec__": types.SimpleNamespace(name=getattr(spec, "name", name), loader=loader)}


def source_line(filename: str, line: int, module_globals: Optional[Dict[str, Any]], loader_may_fail: bool = False) -> str:
    """The text of a line without what it begins with; "" if there is none."""
    if _is_cached(filename):
        return _getline(filename, line, module_globals).lstrip()
    key, now = (filename, id(module_globals)), time.monotonic()
    if now < _misses.get(key, 0.0):
        return ""
    if module_globals is not None and loader_may_fail:
        module_globals = _with_loader(module_globals)
    text = _getline(filename, line, module_globals) if _may_be_opened(filename) else ""
    if filename not in linecache.cache:
        if len(_misses) >= _MISSES_KEPT:
            _misses.clear()
        _misses[key] = now + _RETRY_SECONDS
    return text.lstrip()


def _code(frame: Any) -> Any:
    try:
        return frame.f_code
    except AttributeError:
        raise AttributeError("frame is a frame, as sys._getframe() gives one, not %r" % (frame,)) from None


def _location(frame: Any) -> Tuple[str, str, int, str]:
    """file, function, line number, line"""
    code, number = _code(frame), line_number(frame)
    try:
        name, filename = code.co_name, code.co_filename
    except AttributeError:  # a builtin in the place of a code object
        return "<built-in>", code.__qualname__, number, ""
    return filename, name, number, source_line(filename, number, frame.f_globals)


def info_frame(frame: Any) -> Dict[str, Any]:
    """The description of a frame in a tree."""
    filename, name, number, line = _location(frame)
    return {"filename": filename, "name": name, "line_number": number, "line": line}


def repr_frame(frame: Any) -> str:
    """A frame as two lines of a traceback."""
    filename, name, number, line = _location(frame)
    return '  File "%s", line %s, in %s\n\t%s' % (filename, number, name, line)


def call_stack(frame: Any) -> List[str]:
    """Each frame as repr_frame() gives it, the outermost first."""
    lines = []
    while frame:
        lines.append(repr_frame(frame))
        frame = frame.f_back
    lines.reverse()
    return lines


def builtin_identifier(frame: Any) -> str:
    """The identifier of a frame whose code object is a builtin."""
    code = frame.f_code
    module = code.__module__ + "." if code.__module__ else ""
    return "%s%s:%s" % (module, code.__qualname__, line_number(frame))


# vars() of a module. Not of its class, which may do something when it is asked: importlib.util.LazyLoader executes the module.
_names_of = vars(types.ModuleType)["__dict__"].__get__


def _file_of(module: Any) -> str:
    try:
        file = _names_of(module)["__file__"]
    except (KeyError, TypeError):  # what is no module may stand among them
        return ""
    return file if isinstance(file, str) else ""


_modules: Dict[str, Any] = {}
_modules_seen = 0


def _globals_of(filename: str) -> Optional[Dict[str, Any]]:
    """Those of the module that was loaded from a file: its loader may have the source."""
    global _modules, _modules_seen
    modules = _modules
    if len(sys.modules) != _modules_seen:
        loaded = list(sys.modules.values())
        # Other threads have the old ones until all are there.
        modules = _modules = {_file_of(module): module for module in loaded}
        _modules_seen = len(loaded)
    try:
        # Not get(), which in CPython 3.13 without a GIL may wait for its own lock, and yields 80 times to any thread that computes.
        found: Dict[str, Any] = _names_of(modules[filename])
    except (KeyError, TypeError):
        return None
    return found


def recorded_line(filename: str, line: int) -> str:
    """source_line() where there is no frame to ask for its globals."""
    if line <= 0 or not filename:
        return ""
    try:
        return source_line(filename, line, None if filename in linecache.cache else _globals_of(filename), True)
    except (KeyError, SyntaxError, ValueError):  # No more: a signal's handler may raise anything, to end this.
        return ""
