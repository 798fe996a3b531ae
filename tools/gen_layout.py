#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make src/cpython/layout_tables.c: where the fields of each CPython are.

For every interpreter named, a C probe is compiled against that interpreter's own headers with -DPy_BUILD_CORE and run; it
prints the offsets. Nothing is read from the interpreter itself, so headers of another system root will do:

    tools/gen_layout.py ~/.pyenv/versions/3.1?.*/bin/python /sysroot/usr/include/python3.15 > src/cpython/layout_tables.c

An argument is an interpreter (its include folder is taken from the place it is installed in) or an include folder that
holds Python.h. `NAME:t` adds the row of the free-threaded build (-DPy_GIL_DISABLED=1). --row prints bare rows only.
Below 3.13 a row is used as it is; from 3.13 on it is a reference only (see pl_layout_reference), and the positions of the
words of _Py_DebugOffsets are printed as a second table.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

OLD, NEW = 0x0000, 0xFFFF  # versions are (major << 8) | minor


def off(struct, member):
    return "offsetof(%s, %s)" % (struct, member)


INTERP, TSTATE, IFRAME, CODE = "PyInterpreterState", "PyThreadState", "_PyInterpreterFrame", "PyCodeObject"
RT, GIL, CHUNK, KEYS = "_PyRuntimeState", "struct _gil_runtime_state", "_PyStackChunk", "PyDictKeysObject"
ASCII, COMPACT, UNICODE = "PyASCIIObject", "PyCompactUnicodeObject", "PyUnicodeObject"

# layout member: the C expression per range of versions; no range: the member does not exist there (PL_NONE).
FIELDS = [
    ("runtime.interp_head", [(0x307, NEW, off(RT, "interpreters.head"))]),
    ("runtime.tstate_current", [(0x307, 0x30B, off(RT, "gilstate.tstate_current"))]),
    ("runtime.gil_locked", [(0x307, 0x30B, off(RT, "ceval.gil.locked"))]),
    ("runtime.gil_last_holder", [(0x307, 0x30B, off(RT, "ceval.gil.last_holder"))]),
    ("runtime.gc_collecting", [(0x307, 0x308, off(RT, "gc.collecting"))]),
    ("interp.next", [(OLD, NEW, off(INTERP, "next"))]),
    ("interp.threads_head", [(OLD, 0x30A, off(INTERP, "tstate_head")), (0x30B, NEW, off(INTERP, "threads.head"))]),
    ("interp.threads_main", [(0x30D, NEW, off(INTERP, "threads.main"))]),
    ("interp.id", [(0x307, NEW, off(INTERP, "id"))]),
    ("interp.modules", [(OLD, 0x30B, off(INTERP, "modules")), (0x30C, NEW, off(INTERP, "imports.modules"))]),
    ("interp.gil", [(0x30C, NEW, off(INTERP, "ceval.gil"))]),
    ("interp.gc_collecting", [(0x309, NEW, off(INTERP, "gc.collecting"))]),
    ("interp.gc_frame", [(0x30F, NEW, off(INTERP, "gc.frame"))]),
    ("interp.code_generation", [(0x30E, NEW, off(INTERP, "_code_object_generation"))]),
    ("interp.size", [(0x30E, NEW, "sizeof(PyInterpreterState)")]),
    ("interp.tlbc_generation", [(0x30E, NEW, "TLBC_GENERATION")]),
    ("gil.last_holder", [(0x307, NEW, off(GIL, "last_holder"))]),
    ("gil.locked", [(0x307, NEW, off(GIL, "locked"))]),
    ("gil.enabled", [(0x30D, NEW, "GIL_ENABLED")]),
    ("tstate.next", [(OLD, NEW, off(TSTATE, "next"))]),
    ("tstate.interp", [(OLD, NEW, off(TSTATE, "interp"))]),
    ("tstate.frame", [(OLD, 0x30A, off(TSTATE, "frame")), (0x30D, NEW, off(TSTATE, "current_frame"))]),
    ("tstate.cframe", [(0x30B, 0x30C, off(TSTATE, "cframe"))]),
    ("tstate.base_frame", [(0x30F, NEW, off(TSTATE, "base_frame"))]),
    ("tstate.thread_id", [(OLD, NEW, off(TSTATE, "thread_id"))]),
    ("tstate.native_thread_id", [(0x30B, NEW, off(TSTATE, "native_thread_id"))]),
    ("tstate.datastack_chunk", [(0x30B, NEW, off(TSTATE, "datastack_chunk"))]),
    ("tstate.datastack_top", [(0x30B, NEW, off(TSTATE, "datastack_top"))]),
    ("tstate.holds_gil", [(0x30E, NEW, off(TSTATE, "holds_gil"))]),
    ("tstate.gil_requested", [(0x30F, NEW, off(TSTATE, "gil_requested"))]),
    ("tstate.current_exception", [(OLD, 0x30B, off(TSTATE, "curexc_type")),
                                  (0x30C, NEW, off(TSTATE, "current_exception"))]),
    # 2.7 has exc_type too, but keeps it until the function returns, long after the handler.
    ("tstate.exc_state", [(0x303, 0x306, off(TSTATE, "exc_type")), (0x307, NEW, off(TSTATE, "exc_state"))]),
    ("tstate.exc_info", [(0x307, NEW, off(TSTATE, "exc_info"))]),
    ("tstate.attach_state", [(0x30D, NEW, "ATTACH_STATE")]),
    ("cframe.current_frame", [(0x30B, 0x30C, off("_PyCFrame", "current_frame"))]),
    ("frame.previous", [(OLD, 0x30A, off("PyFrameObject", "f_back")), (0x30B, NEW, off(IFRAME, "previous"))]),
    ("frame.code", [(OLD, 0x30A, off("PyFrameObject", "f_code")), (0x30B, 0x30C, off(IFRAME, "f_code")),
                    (0x30D, NEW, off(IFRAME, "f_executable"))]),
    ("frame.instr", [(0x30B, 0x30C, off(IFRAME, "prev_instr")), (0x30D, NEW, off(IFRAME, "instr_ptr"))]),
    ("frame.lasti", [(OLD, 0x30A, off("PyFrameObject", "f_lasti"))]),
    ("frame.owner", [(0x30B, NEW, off(IFRAME, "owner"))]),
    ("frame.is_entry", [(0x30B, 0x30B, off(IFRAME, "is_entry"))]),
    ("frame.localsplus", [(OLD, 0x30A, off("PyFrameObject", "f_localsplus")), (0x30B, NEW, off(IFRAME, "localsplus"))]),
    ("frame.tlbc_index", [(0x30E, NEW, "TLBC_INDEX")]),
    ("frame.gen", [(0x303, 0x30A, off("PyFrameObject", "f_gen"))]),
    ("frame.valuestack", [(OLD, 0x30A, off("PyFrameObject", "f_valuestack"))]),
    ("frame.stacktop", [(OLD, 0x309, off("PyFrameObject", "f_stacktop")), (0x30A, 0x30A, off("PyFrameObject", "f_stackdepth")),
                        (0x30B, 0x30D, off(IFRAME, "stacktop")), (0x30E, NEW, off(IFRAME, "stackpointer"))]),
    # 2.7 to 3.10: the blocks that the frame is in (try, with, and a loop up to 3.7); later the exception table tells.
    ("frame.iblock", [(OLD, 0x30A, off("PyFrameObject", "f_iblock"))]),
    ("frame.blockstack", [(OLD, 0x30A, off("PyFrameObject", "f_blockstack"))]),
    ("chunk.previous", [(0x30B, NEW, off(CHUNK, "previous"))]),
    ("chunk.size", [(0x30B, NEW, off(CHUNK, "size"))]),
    ("chunk.top", [(0x30B, NEW, off(CHUNK, "top"))]),
    ("chunk.data", [(0x30B, NEW, off(CHUNK, "data"))]),
    ("code.name", [(OLD, NEW, off(CODE, "co_name"))]),
    ("code.qualname", [(0x30B, NEW, off(CODE, "co_qualname"))]),
    ("code.filename", [(OLD, NEW, off(CODE, "co_filename"))]),
    ("code.linetable", [(OLD, 0x309, off(CODE, "co_lnotab")), (0x30A, NEW, off(CODE, "co_linetable"))]),
    ("code.firstlineno", [(OLD, NEW, off(CODE, "co_firstlineno"))]),
    ("code.version", [(0x30C, NEW, off(CODE, "co_version"))]),
    ("code.code_bytes", [(OLD, 0x30A, off(CODE, "co_code")), (0x30B, NEW, off(CODE, "co_code_adaptive"))]),
    ("code.tlbc", [(0x30E, NEW, "CO_TLBC")]),
    ("code.firsttraceable", [(0x30B, NEW, off(CODE, "_co_firsttraceable"))]),
    ("code.flags", [(OLD, NEW, off(CODE, "co_flags"))]),
    ("code.size", [(OLD, NEW, "sizeof(PyCodeObject)")]),
    ("code.argcount", [(OLD, NEW, off(CODE, "co_argcount"))]),
    ("code.kwonlyargcount", [(0x300, NEW, off(CODE, "co_kwonlyargcount"))]),
    ("code.nlocals", [(OLD, NEW, off(CODE, "co_nlocals"))]),
    ("code.varnames", [(OLD, 0x30A, off(CODE, "co_varnames"))]),
    ("code.cellvars", [(OLD, 0x30A, off(CODE, "co_cellvars"))]),
    ("code.freevars", [(OLD, 0x30A, off(CODE, "co_freevars"))]),
    ("code.localsplusnames", [(0x30B, NEW, off(CODE, "co_localsplusnames"))]),
    ("code.localspluskinds", [(0x30B, NEW, off(CODE, "co_localspluskinds"))]),
    ("code.stacksize", [(OLD, NEW, off(CODE, "co_stacksize"))]),
    ("code.exceptiontable", [(0x30B, NEW, off(CODE, "co_exceptiontable"))]),
    ("object.type", [(OLD, NEW, off("PyObject", "ob_type"))]),
    ("object.size", [(OLD, NEW, "sizeof(PyObject)")]),
    ("bytes.ob_size", [(OLD, NEW, off("PyVarObject", "ob_size"))]),
    ("bytes.sval", [(OLD, NEW, off("PyBytesObject", "ob_sval"))]),
    ("unicode.length", [(OLD, 0x2FF, off(UNICODE, "length")), (0x303, NEW, off(ASCII, "length"))]),
    ("unicode.state", [(0x303, NEW, off(ASCII, "state"))]),
    ("unicode.ascii_size", [(0x303, NEW, "sizeof(PyASCIIObject)")]),
    ("unicode.compact_size", [(0x303, NEW, "sizeof(PyCompactUnicodeObject)")]),
    ("unicode.data", [(OLD, 0x2FF, off(UNICODE, "str")), (0x303, NEW, off(UNICODE, "data"))]),
    ("unicode.kind_shift", [(0x303, NEW, "STATE_BIT(kind)")]),
    ("unicode.compact_bit", [(0x303, NEW, "STATE_BIT(compact)")]),
    ("unicode.ascii_bit", [(0x303, NEW, "STATE_BIT(ascii)")]),
    ("err_stackitem.exc_value", [(0x303, 0x306, "0"), (0x307, 0x30A, off("_PyErr_StackItem", "exc_type")),
                                 (0x30B, NEW, off("_PyErr_StackItem", "exc_value"))]),
    ("err_stackitem.previous", [(0x307, NEW, off("_PyErr_StackItem", "previous_item"))]),
    ("type.tp_name", [(OLD, NEW, off("PyTypeObject", "tp_name"))]),
    ("type.tp_basicsize", [(OLD, NEW, off("PyTypeObject", "tp_basicsize"))]),
    ("type.tp_flags", [(OLD, NEW, off("PyTypeObject", "tp_flags"))]),
    ("type.tp_dictoffset", [(OLD, NEW, off("PyTypeObject", "tp_dictoffset"))]),
    ("type.ht_cached_keys", [(0x303, NEW, off("PyHeapTypeObject", "ht_cached_keys"))]),
    ("type.size", [(OLD, NEW, "sizeof(PyTypeObject)")]),
    ("type.tp_base", [(OLD, NEW, off("PyTypeObject", "tp_base"))]),
    ("type.tp_dict", [(OLD, NEW, off("PyTypeObject", "tp_dict"))]),
    ("dict.keys", [(OLD, 0x302, off("PyDictObject", "ma_table")), (0x303, NEW, off("PyDictObject", "ma_keys"))]),
    ("dict.values", [(0x303, NEW, off("PyDictObject", "ma_values"))]),
    ("dict.mask", [(OLD, 0x302, off("PyDictObject", "ma_mask"))]),
    ("dict.used", [(OLD, NEW, off("PyDictObject", "ma_used"))]),
    ("dictkeys.log2_size", [(0x303, 0x30A, off(KEYS, "dk_size")), (0x30B, NEW, off(KEYS, "dk_log2_size"))]),
    ("dictkeys.log2_index_bytes", [(0x30B, NEW, off(KEYS, "dk_log2_index_bytes"))]),
    ("dictkeys.kind", [(0x30B, NEW, off(KEYS, "dk_kind"))]),
    ("dictkeys.nentries", [(0x303, NEW, off(KEYS, "dk_nentries"))]),
    ("dictkeys.indices", [(0x303, NEW, off(KEYS, "dk_indices"))]),
    # MANAGED_DICT_OFFSET of pycore_object.h; below 3.13 its place is written out in that header's functions.
    ("instance.managed_dict", [(0x30B, 0x30C, "-3 * (int)sizeof(void *)"), (0x30D, NEW, "MANAGED_DICT_OFFSET")]),
    ("instance.values", [(0x30B, NEW, off("PyDictValues", "values"))]),
    ("instance.valid", [(0x30D, NEW, off("PyDictValues", "valid"))]),
    ("longobj.digits", [(OLD, 0x30B, off("PyLongObject", "ob_digit")), (0x30C, NEW, off("PyLongObject", "long_value.ob_digit"))]),
    ("longobj.tagged", [(0x30C, NEW, "1")]),
    ("longobj.tag", [(OLD, 0x30B, off("PyVarObject", "ob_size")), (0x30C, NEW, off("PyLongObject", "long_value.lv_tag"))]),
    ("longobj.small", [(OLD, 0x2FF, off("PyIntObject", "ob_ival"))]),
    # Objects that are shown as values, and generators with what they wait for.
    ("tuple.items", [(OLD, NEW, off("PyTupleObject", "ob_item"))]),
    ("list.items", [(OLD, NEW, off("PyListObject", "ob_item"))]),
    ("set.used", [(OLD, NEW, off("PySetObject", "used"))]),
    ("set.mask", [(OLD, NEW, off("PySetObject", "mask"))]),
    ("set.table", [(OLD, NEW, off("PySetObject", "table"))]),
    ("set.key", [(OLD, NEW, off("setentry", "key"))]),
    ("bytearray.start", [(OLD, 0x2FF, off("PyByteArrayObject", "ob_bytes")), (0x304, NEW, off("PyByteArrayObject", "ob_start"))]),
    ("cell.ref", [(OLD, NEW, off("PyCellObject", "ob_ref"))]),
    ("function.name", [(OLD, 0x302, off("PyFunctionObject", "func_name")),
                       (0x303, NEW, off("PyFunctionObject", "func_qualname"))]),
    ("function.closure", [(OLD, NEW, off("PyFunctionObject", "func_closure"))]),
    ("method.function", [(OLD, NEW, off("PyMethodObject", "im_func"))]),
    ("exception.args", [(OLD, NEW, off("PyBaseExceptionObject", "args"))]),
    ("weakref.object", [(OLD, NEW, off("PyWeakReference", "wr_object"))]),
    ("gen.frame", [(OLD, 0x30A, off("PyGenObject", "gi_frame"))]),
    ("gen.frame_state", [(0x30B, NEW, off("PyGenObject", "gi_frame_state"))]),
    ("gen.iframe", [(0x30B, NEW, off("PyGenObject", "gi_iframe"))]),
    ("gen.qualname", [(0x305, NEW, off("PyGenObject", "gi_qualname"))]),
    ("old_class.dict", [(OLD, 0x2FF, off("PyClassObject", "cl_dict"))]),
    ("old_class.name", [(OLD, 0x2FF, off("PyClassObject", "cl_name"))]),
    ("old_instance.type", [(OLD, 0x2FF, off("PyInstanceObject", "in_class"))]),
    ("old_instance.dict", [(OLD, 0x2FF, off("PyInstanceObject", "in_dict"))]),
]

# Members whose absence is not PL_NONE.
ABSENT = {"instance.managed_dict": "0", "unicode.kind_shift": "0", "unicode.compact_bit": "0", "unicode.ascii_bit": "0",
          "longobj.tagged": "0"}

OWNERS = [
    ("owner_thread", [(0x30B, NEW, "FRAME_OWNED_BY_THREAD")]),
    ("owner_generator", [(0x30B, NEW, "FRAME_OWNED_BY_GENERATOR")]),
    ("owner_frame_object", [(0x30B, NEW, "FRAME_OWNED_BY_FRAME_OBJECT")]),
    ("owner_interpreter", [(0x30E, NEW, "FRAME_OWNED_BY_INTERPRETER")]),
    ("owner_cstack", [(0x30C, 0x30E, "FRAME_OWNED_BY_CSTACK")]),
]

# Words of _Py_DebugOffsets that are used, in the order of src/cpython/debug_offsets.h: enum pl_debug_word.
WORDS = """
runtime_state.size runtime_state.interpreters_head
interpreter_state.size interpreter_state.id interpreter_state.next interpreter_state.threads_head
interpreter_state.threads_main interpreter_state.gc interpreter_state.imports_modules interpreter_state.ceval_gil
interpreter_state.gil_runtime_state interpreter_state.gil_runtime_state_enabled
interpreter_state.gil_runtime_state_locked interpreter_state.gil_runtime_state_holder
interpreter_state.code_object_generation interpreter_state.tlbc_generation
thread_state.size thread_state.next thread_state.interp thread_state.current_frame thread_state.base_frame
thread_state.thread_id thread_state.native_thread_id thread_state.datastack_chunk thread_state.holds_gil
thread_state.gil_requested thread_state.current_exception thread_state.exc_state err_stackitem.exc_value
interpreter_frame.size interpreter_frame.previous interpreter_frame.executable interpreter_frame.instr_ptr
interpreter_frame.localsplus interpreter_frame.owner interpreter_frame.tlbc_index
code_object.size code_object.filename code_object.name code_object.qualname code_object.linetable
code_object.firstlineno code_object.co_code_adaptive code_object.co_tlbc
pyobject.size pyobject.ob_type
type_object.size type_object.tp_name type_object.tp_flags type_object.tp_basicsize type_object.tp_dictoffset
heap_type_object.size heap_type_object.ht_cached_keys
dict_object.size dict_object.ma_keys dict_object.ma_values
long_object.size long_object.lv_tag long_object.ob_digit
bytes_object.size bytes_object.ob_size bytes_object.ob_sval
unicode_object.size unicode_object.state unicode_object.length unicode_object.asciiobject_size
unicode_object.compactunicodeobject_size
gc.size gc.collecting gc.frame
""".split()

# First minor that has the word; those not named here: 3.13.
WORD_SINCE = {
    "interpreter_state.threads_main": 0x30E, "interpreter_state.code_object_generation": 0x30E,
    "interpreter_state.tlbc_generation": 0x30E,
    "interpreter_frame.tlbc_index": 0x30E, "code_object.co_tlbc": 0x30E,
    "thread_state.base_frame": 0x30F, "thread_state.holds_gil": 0x30F, "thread_state.gil_requested": 0x30F,
    "thread_state.current_exception": 0x30F, "thread_state.exc_state": 0x30F, "err_stackitem.exc_value": 0x30F,
    "type_object.tp_basicsize": 0x30F, "type_object.tp_dictoffset": 0x30F, "heap_type_object.size": 0x30F, "heap_type_object.ht_cached_keys": 0x30F,
    "unicode_object.compactunicodeobject_size": 0x30F, "gc.frame": 0x30F,
}

INCLUDES = [
    (0x307, 0x307, ["internal/pystate.h", "internal/gil.h", "internal/ceval.h"]),
    (0x308, 0x308, ["internal/pycore_pystate.h", "internal/pycore_gil.h"]),
    (0x309, 0x30A, ["internal/pycore_interp.h", "internal/pycore_runtime.h", "internal/pycore_gil.h"]),
    (0x30B, NEW, ["internal/pycore_interp.h", "internal/pycore_runtime.h", "internal/pycore_gil.h",
                  "internal/pycore_frame.h", "internal/pycore_dict.h", "internal/pycore_code.h"]),
    (0x30C, NEW, ["internal/pycore_object.h"]),
    (0x30E, NEW, ["internal/pycore_interpframe.h"]),
    (OLD, 0x30A, ["frameobject.h", "longintrepr.h"]),
    (OLD, 0x30A, ["code.h"]),
]

# Objects/dict-common.h is not installed before 3.11; its first members have not changed from 3.6 to 3.10.
OLD_KEYS = """
struct _dictkeysobject {
	Py_ssize_t dk_refcnt, dk_size;
	void *dk_lookup;
	Py_ssize_t dk_usable, dk_nentries;
	char dk_indices[];
};
#define PyDictKeysObject struct _dictkeysobject
"""

PROBE_HELP = r"""
#include <stddef.h>
#include <stdio.h>
#include <string.h>
/* Lowest bit that a bit-field of PyASCIIObject.state occupies. */
#define STATE_BIT(field) ({ PyASCIIObject o; memset(&o, 0, sizeof o); o.state.field = 1; unsigned w; \
	memcpy(&w, &o.state, sizeof w); (long long)__builtin_ctz(w); })
#ifdef Py_GIL_DISABLED
#define GIL_ENABLED (long long)offsetof(struct _gil_runtime_state, enabled)
#define TLBC_INDEX (long long)offsetof(_PyInterpreterFrame, tlbc_index)
#define CO_TLBC (long long)offsetof(PyCodeObject, co_tlbc)
#define TLBC_GENERATION (long long)offsetof(PyInterpreterState, tlbc_indices.tlbc_generation)
#define ATTACH_STATE (long long)offsetof(PyThreadState, state)
#else
#define GIL_ENABLED -1LL
#define TLBC_INDEX -1LL
#define CO_TLBC -1LL
#define TLBC_GENERATION -1LL
#define ATTACH_STATE -1LL
#endif
#define SHOW(name, value) printf("%s %lld\n", name, (long long)(value))
"""


class Headers:
    """An include folder with Python.h, and the version it says it is of."""

    def __init__(self, arg):
        self.free_threaded = arg.endswith(":t")
        path = arg[:-2] if self.free_threaded else arg
        self.include = path if os.path.exists(os.path.join(path, "Python.h")) else include_of(path)
        with open(os.path.join(self.include, "patchlevel.h")) as f:
            text = f.read()
        part = lambda name: int(re.search(r"#define PY_%s_VERSION\s+(\d+)" % name, text).group(1))
        self.number = tuple(part(n) for n in ("MAJOR", "MINOR", "MICRO"))
        self.minor = self.number[0] << 8 | self.number[1]
        self.text = "%d.%d.%d%s" % (self.number + ("t" if self.free_threaded else "",))

    def flags(self, scratch):
        """Compiler flags. Debian's pyconfig.h includes <x86_64-linux-gnu/pythonX.Y/pyconfig.h>: that folder alone is made
        visible, because its neighbours are the C library's headers, perhaps of another system."""
        base, name = os.path.split(self.include)
        arch = os.path.join(base, "x86_64-linux-gnu", name)
        if os.path.exists(arch):
            os.mkdir(os.path.join(scratch, "x86_64-linux-gnu"))
            os.symlink(arch, os.path.join(scratch, "x86_64-linux-gnu", name))
        return ["-I" + self.include, "-I" + os.path.join(self.include, "internal"), "-I" + scratch]


def include_of(interpreter):
    prefix = os.path.dirname(os.path.dirname(os.path.realpath(interpreter)))
    base = os.path.join(prefix, "include")
    for name in sorted(os.listdir(base)):
        if name.startswith("python") and os.path.exists(os.path.join(base, name, "Python.h")):
            return os.path.join(base, name)
    sys.exit("no Python.h belongs to %s" % interpreter)


def pick(ranges, minor):
    for low, high, value in ranges:
        if low <= minor <= high:
            return value
    return None


def probe_source(headers):
    lines = ["#define Py_BUILD_CORE 1"]
    if headers.free_threaded:
        lines.append("#define Py_GIL_DISABLED 1")
    lines.append('#include "Python.h"')
    for low, high, names in INCLUDES:
        if low <= headers.minor <= high:
            lines += ['#include "%s"' % n for n in names]
    if 0x303 <= headers.minor <= 0x30A:
        lines.append(OLD_KEYS)
    lines += [PROBE_HELP, "int main(void)\n{"]
    for name, ranges in OWNERS + FIELDS:
        expr = pick(ranges, headers.minor)
        if expr:
            lines.append('\tSHOW("%s", %s);' % (name, expr))
    lines.append('\tSHOW("instr_scale", %s);' % ("sizeof(_Py_CODEUNIT)" if headers.minor == 0x30A else "1"))
    lines.append('\tSHOW("tag_mask", %s);' % ("3" if headers.minor >= 0x30E else "0"))
    lines.append('\tSHOW("runtime_size", %s);' % ("sizeof(_PyRuntimeState)" if headers.minor >= 0x307 else "0"))
    if headers.minor >= 0x30D:
        lines += ['\tSHOW("word %s", offsetof(_Py_DebugOffsets, %s));' % (w, w)
                  for w in WORDS if WORD_SINCE.get(w, 0x30D) <= headers.minor]
        lines.append('\tSHOW("words", sizeof(_Py_DebugOffsets));')
    return "\n".join(lines + ["\treturn 0;", "}", ""])


def run_probe(headers, compiler):
    with tempfile.TemporaryDirectory() as folder:
        source, binary = os.path.join(folder, "probe.c"), os.path.join(folder, "probe")
        with open(source, "w") as f:
            f.write(probe_source(headers))
        subprocess.run([compiler, "-w", "-O0"] + headers.flags(folder) + ["-o", binary, source], check=True)
        output = subprocess.run([binary], check=True, stdout=subprocess.PIPE, text=True).stdout
    values = {}
    for line in output.splitlines():
        name, value = line.rsplit(" ", 1)
        values[name] = int(value)
    return values


def model(minor):
    if minor <= 0x30A:
        return "PL_FRAME_OBJECT"
    return "PL_FRAME_CFRAME" if minor <= 0x30C else "PL_FRAME_CURRENT"


def lines_kind(minor):
    if minor < 0x300:
        return "PL_LINES_LNOTAB_U8"
    if minor <= 0x309:
        return "PL_LINES_LNOTAB"
    return "PL_LINES_PEP626" if minor == 0x30A else "PL_LINES_PEP657"


def attrs(minor):
    if minor <= 0x30A:
        return "PL_ATTRS_DICT"
    return {0x30B: "PL_ATTRS_MANAGED", 0x30C: "PL_ATTRS_TAGGED"}.get(minor, "PL_ATTRS_INLINE")


def fill(words, width=116):
    """Comma-separated words as lines of at most @width columns, two tabs deep."""
    lines, line = [], ""
    for word in words:
        if line and 16 + len(line) + len(word) + 2 > width:
            lines.append("\t\t" + line.rstrip())
            line = ""
        line += word + ", "
    return "\n".join(lines + ["\t\t" + line.rstrip()])


def row(headers, values):
    def number(name):
        value = values.get(name)
        return ABSENT.get(name, "PL_NONE") if value is None or (value < 0 and name not in ABSENT) else str(value)

    simple = [".version = PL_PY_VERSION(%d, %d, %d)" % headers.number,
              ".free_threaded = %s" % ("true" if headers.free_threaded else "false"),
              ".frame_model = " + model(headers.minor), ".line_table = " + lines_kind(headers.minor),
              ".attrs = " + attrs(headers.minor), ".runtime_size = %d" % values["runtime_size"],
              ".instr_scale = %d" % values["instr_scale"], ".tag_mask = %d" % values["tag_mask"]]
    simple += [".%s = %s" % (n, values.get(n, "PL_NO_OWNER")) for n, _ in OWNERS]
    out = ["\t/* CPython %s, x86-64, from the headers in its own %s */" % (headers.text, os.path.basename(headers.include)),
           "\t{", fill(simple)]
    group = None
    members = []
    for name, _ in FIELDS + [("end.", None)]:
        struct, member = name.split(".")
        if struct != group:
            if members:
                out.append(fill([".%s = {%s}" % (group, ", ".join(members))]) if len(", ".join(members)) < 90 else
                           "\t\t.%s = {\n\t%s\n\t\t}," % (group, fill(members).replace("\n", "\n\t")))
            group, members = struct, []
        if member:
            members.append(".%s = %s" % (member, number(name)))
    return "\n".join(out + ["\t},"])


def words_of_minor(headers, values):
    """The positions of the words in the table of one minor; one that is not listed it lacks."""
    out = ["\t/* %d.%d (%s) */" % (*headers.number[:2], headers.text), "\t{",
           "\t\t.minor = %d, .size = %d," % (headers.number[1], values["words"]), "\t\t.word = {"]
    for word in WORDS:
        if "word " + word in values:
            out.append("\t\t\t[PL_WORD_%s] = %s," % (word.replace(".", "_").upper(), values["word " + word]))
    return "\n".join(out + ["\t\t},", "\t},"])


def words_table(all_values):
    return "\n".join(words_of_minor(h, v) for h, v in all_values if h.minor >= 0x30D and not h.free_threaded)


HEAD = """/* SPDX-License-Identifier: Apache-2.0 */
/* Made by tools/gen_layout.py; do not edit. The fields of each CPython, from its headers. Layer: cpython. Constants.
 *
 * Rows below 3.13 are used as they are, after the checks of detect.c. Rows from 3.13 on only supply what
 * _Py_DebugOffsets leaves out. To add a release: run the tool with the interpreters of all rows and the new one. */
#include "layout_data.h"

"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("headers", nargs="+", help="interpreter or include folder, ':t' appended for free-threaded")
    parser.add_argument("--row", action="store_true", help="print only the rows")
    parser.add_argument("--cc", default=os.environ.get("CC", "cc"), help="compiler (default: $CC or cc)")
    args = parser.parse_args()

    done = []
    for arg in args.headers:
        headers = Headers(arg)
        done.append((headers, run_probe(headers, args.cc)))
    done.sort(key=lambda item: (item[0].number, item[0].free_threaded))
    rows = "\n".join(row(h, v) for h, v in done)
    if args.row:
        print("/* clang-format off */\n" + rows)
        return
    sys.stdout.write(HEAD + "/* clang-format off */\nconst struct pl_layout pl_layout_row[] = {\n" + rows + "\n};\n")
    sys.stdout.write("const size_t pl_layout_row_count = sizeof pl_layout_row / sizeof pl_layout_row[0];\n\n")
    sys.stdout.write("/* Where each word is inside _Py_DebugOffsets, the oldest minor first; 0: it lacks it. */\n")
    sys.stdout.write("const struct pl_debug_minor pl_debug_minor[] = {\n" + words_table(done) + "\n};\n")
    sys.stdout.write("const size_t pl_debug_minor_count = sizeof pl_debug_minor / sizeof pl_debug_minor[0];\n")


if __name__ == "__main__":
    main()
