/* SPDX-License-Identifier: Apache-2.0 */
/* Made by tools/gen_layout.py; do not edit. The fields of each CPython, from its headers. Layer: cpython. Constants.
 *
 * Rows below 3.13 are used as they are, after the checks of detect.c. Rows from 3.13 on only supply what
 * _Py_DebugOffsets leaves out. To add a release: run the tool with the interpreters of all rows and the new one. */
#include "layout_data.h"

/* clang-format off */
const struct pl_layout pl_layout_row[] = {
	/* CPython 2.7.18, x86-64, from the headers in its own python2.7 */
	{
		.version = PL_PY_VERSION(2, 7, 18), .free_threaded = false, .frame_model = PL_FRAME_OBJECT,
		.line_table = PL_LINES_LNOTAB_U8, .attrs = PL_ATTRS_DICT, .runtime_size = 0, .instr_scale = 1,
		.tag_mask = 0, .owner_thread = PL_NO_OWNER, .owner_generator = PL_NO_OWNER,
		.owner_frame_object = PL_NO_OWNER, .owner_interpreter = PL_NO_OWNER, .owner_cstack = PL_NO_OWNER,
		.runtime = {
			.interp_head = PL_NONE, .tstate_current = PL_NONE, .gil_locked = PL_NONE,
			.gil_last_holder = PL_NONE, .gc_collecting = PL_NONE,
		},
		.interp = {
			.next = 0, .threads_head = 8, .threads_main = PL_NONE, .id = PL_NONE, .modules = 16,
			.gil = PL_NONE, .gc_collecting = PL_NONE, .gc_frame = PL_NONE, .code_generation = PL_NONE,
		},
		.gil = {.last_holder = PL_NONE, .locked = PL_NONE, .enabled = PL_NONE},
		.tstate = {
			.next = 0, .interp = 8, .frame = 16, .cframe = PL_NONE, .base_frame = PL_NONE, .thread_id = 144,
			.native_thread_id = PL_NONE, .datastack_chunk = PL_NONE, .datastack_top = PL_NONE,
			.holds_gil = PL_NONE, .gil_requested = PL_NONE, .current_exception = 72, .exc_state = PL_NONE,
		},
		.cframe = {.current_frame = PL_NONE},
		.frame = {
			.previous = 24, .code = 32, .instr = PL_NONE, .lasti = 120, .owner = PL_NONE, .is_entry = PL_NONE,
			.localsplus = 376, .tlbc_index = PL_NONE, .gen = PL_NONE,
		},
		.chunk = {.previous = PL_NONE, .size = PL_NONE, .top = PL_NONE, .data = PL_NONE},
		.code = {
			.name = 88, .qualname = PL_NONE, .filename = 80, .linetable = 104, .firstlineno = 96,
			.version = PL_NONE, .code_bytes = 32, .tlbc = PL_NONE, .firsttraceable = PL_NONE, .flags = 28,
			.size = 128,
		},
		.object = {.type = 8, .size = 16},
		.bytes = {.ob_size = 16, .sval = 36},
		.unicode = {
			.length = PL_NONE, .state = PL_NONE, .ascii_size = PL_NONE, .compact_size = PL_NONE,
			.data = PL_NONE, .kind_shift = 0, .compact_bit = 0, .ascii_bit = 0,
		},
		.err_stackitem = {.exc_value = PL_NONE},
		.type = {
			.tp_name = 24, .tp_basicsize = 32, .tp_flags = 168, .tp_dictoffset = 288,
			.ht_cached_keys = PL_NONE, .size = 392,
		},
		.dict = {.keys = PL_NONE, .values = PL_NONE},
		.dictkeys = {
			.log2_size = PL_NONE, .log2_index_bytes = PL_NONE, .kind = PL_NONE, .nentries = PL_NONE,
			.indices = PL_NONE,
		},
		.instance = {.managed_dict = 0, .values = PL_NONE, .valid = PL_NONE},
		.longobj = {.digits = 24, .tagged = 0, .tag = 16},
	},
	/* CPython 3.6.15, x86-64, from the headers in its own python3.6m */
	{
		.version = PL_PY_VERSION(3, 6, 15), .free_threaded = false, .frame_model = PL_FRAME_OBJECT,
		.line_table = PL_LINES_LNOTAB, .attrs = PL_ATTRS_DICT, .runtime_size = 0, .instr_scale = 1,
		.tag_mask = 0, .owner_thread = PL_NO_OWNER, .owner_generator = PL_NO_OWNER,
		.owner_frame_object = PL_NO_OWNER, .owner_interpreter = PL_NO_OWNER, .owner_cstack = PL_NO_OWNER,
		.runtime = {
			.interp_head = PL_NONE, .tstate_current = PL_NONE, .gil_locked = PL_NONE,
			.gil_last_holder = PL_NONE, .gc_collecting = PL_NONE,
		},
		.interp = {
			.next = 0, .threads_head = 8, .threads_main = PL_NONE, .id = PL_NONE, .modules = 16,
			.gil = PL_NONE, .gc_collecting = PL_NONE, .gc_frame = PL_NONE, .code_generation = PL_NONE,
		},
		.gil = {.last_holder = PL_NONE, .locked = PL_NONE, .enabled = PL_NONE},
		.tstate = {
			.next = 8, .interp = 16, .frame = 24, .cframe = PL_NONE, .base_frame = PL_NONE, .thread_id = 152,
			.native_thread_id = PL_NONE, .datastack_chunk = PL_NONE, .datastack_top = PL_NONE,
			.holds_gil = PL_NONE, .gil_requested = PL_NONE, .current_exception = 80, .exc_state = PL_NONE,
		},
		.cframe = {.current_frame = PL_NONE},
		.frame = {
			.previous = 24, .code = 32, .instr = PL_NONE, .lasti = 120, .owner = PL_NONE, .is_entry = PL_NONE,
			.localsplus = 376, .tlbc_index = PL_NONE, .gen = 112,
		},
		.chunk = {.previous = PL_NONE, .size = PL_NONE, .top = PL_NONE, .data = PL_NONE},
		.code = {
			.name = 104, .qualname = PL_NONE, .filename = 96, .linetable = 112, .firstlineno = 36,
			.version = PL_NONE, .code_bytes = 40, .tlbc = PL_NONE, .firsttraceable = PL_NONE, .flags = 32,
			.size = 144,
		},
		.object = {.type = 8, .size = 16},
		.bytes = {.ob_size = 16, .sval = 32},
		.unicode = {
			.length = 16, .state = 32, .ascii_size = 48, .compact_size = 72, .data = 72, .kind_shift = 2,
			.compact_bit = 5, .ascii_bit = 6,
		},
		.err_stackitem = {.exc_value = PL_NONE},
		.type = {
			.tp_name = 24, .tp_basicsize = 32, .tp_flags = 168, .tp_dictoffset = 288, .ht_cached_keys = 856,
			.size = 400,
		},
		.dict = {.keys = 32, .values = 40},
		.dictkeys = {
			.log2_size = 8, .log2_index_bytes = PL_NONE, .kind = PL_NONE, .nentries = 32, .indices = 40,
		},
		.instance = {.managed_dict = 0, .values = PL_NONE, .valid = PL_NONE},
		.longobj = {.digits = 24, .tagged = 0, .tag = 16},
	},
	/* CPython 3.7.16, x86-64, from the headers in its own python3.7m */
	{
		.version = PL_PY_VERSION(3, 7, 16), .free_threaded = false, .frame_model = PL_FRAME_OBJECT,
		.line_table = PL_LINES_LNOTAB, .attrs = PL_ATTRS_DICT, .runtime_size = 1520, .instr_scale = 1,
		.tag_mask = 0, .owner_thread = PL_NO_OWNER, .owner_generator = PL_NO_OWNER,
		.owner_frame_object = PL_NO_OWNER, .owner_interpreter = PL_NO_OWNER, .owner_cstack = PL_NO_OWNER,
		.runtime = {
			.interp_head = 24, .tstate_current = 1480, .gil_locked = 1280, .gil_last_holder = 1272,
			.gc_collecting = 632,
		},
		.interp = {
			.next = 0, .threads_head = 8, .threads_main = PL_NONE, .id = 16, .modules = 40, .gil = PL_NONE,
			.gc_collecting = PL_NONE, .gc_frame = PL_NONE, .code_generation = PL_NONE,
		},
		.gil = {.last_holder = 8, .locked = 16, .enabled = PL_NONE},
		.tstate = {
			.next = 8, .interp = 16, .frame = 24, .cframe = PL_NONE, .base_frame = PL_NONE, .thread_id = 176,
			.native_thread_id = PL_NONE, .datastack_chunk = PL_NONE, .datastack_top = PL_NONE,
			.holds_gil = PL_NONE, .gil_requested = PL_NONE, .current_exception = 88, .exc_state = 112,
		},
		.cframe = {.current_frame = PL_NONE},
		.frame = {
			.previous = 24, .code = 32, .instr = PL_NONE, .lasti = 104, .owner = PL_NONE, .is_entry = PL_NONE,
			.localsplus = 360, .tlbc_index = PL_NONE, .gen = 96,
		},
		.chunk = {.previous = PL_NONE, .size = PL_NONE, .top = PL_NONE, .data = PL_NONE},
		.code = {
			.name = 104, .qualname = PL_NONE, .filename = 96, .linetable = 112, .firstlineno = 36,
			.version = PL_NONE, .code_bytes = 40, .tlbc = PL_NONE, .firsttraceable = PL_NONE, .flags = 32,
			.size = 144,
		},
		.object = {.type = 8, .size = 16},
		.bytes = {.ob_size = 16, .sval = 32},
		.unicode = {
			.length = 16, .state = 32, .ascii_size = 48, .compact_size = 72, .data = 72, .kind_shift = 2,
			.compact_bit = 5, .ascii_bit = 6,
		},
		.err_stackitem = {.exc_value = 0},
		.type = {
			.tp_name = 24, .tp_basicsize = 32, .tp_flags = 168, .tp_dictoffset = 288, .ht_cached_keys = 856,
			.size = 400,
		},
		.dict = {.keys = 32, .values = 40},
		.dictkeys = {
			.log2_size = 8, .log2_index_bytes = PL_NONE, .kind = PL_NONE, .nentries = 32, .indices = 40,
		},
		.instance = {.managed_dict = 0, .values = PL_NONE, .valid = PL_NONE},
		.longobj = {.digits = 24, .tagged = 0, .tag = 16},
	},
	/* CPython 3.8.18, x86-64, from the headers in its own python3.8 */
	{
		.version = PL_PY_VERSION(3, 8, 18), .free_threaded = false, .frame_model = PL_FRAME_OBJECT,
		.line_table = PL_LINES_LNOTAB, .attrs = PL_ATTRS_DICT, .runtime_size = 1464, .instr_scale = 1,
		.tag_mask = 0, .owner_thread = PL_NO_OWNER, .owner_generator = PL_NO_OWNER,
		.owner_frame_object = PL_NO_OWNER, .owner_interpreter = PL_NO_OWNER, .owner_cstack = PL_NO_OWNER,
		.runtime = {
			.interp_head = 32, .tstate_current = 1368, .gil_locked = 1168, .gil_last_holder = 1160,
			.gc_collecting = 544,
		},
		.interp = {
			.next = 0, .threads_head = 8, .threads_main = PL_NONE, .id = 16, .modules = 56, .gil = PL_NONE,
			.gc_collecting = PL_NONE, .gc_frame = PL_NONE, .code_generation = PL_NONE,
		},
		.gil = {.last_holder = 8, .locked = 16, .enabled = PL_NONE},
		.tstate = {
			.next = 8, .interp = 16, .frame = 24, .cframe = PL_NONE, .base_frame = PL_NONE, .thread_id = 176,
			.native_thread_id = PL_NONE, .datastack_chunk = PL_NONE, .datastack_top = PL_NONE,
			.holds_gil = PL_NONE, .gil_requested = PL_NONE, .current_exception = 88, .exc_state = 112,
		},
		.cframe = {.current_frame = PL_NONE},
		.frame = {
			.previous = 24, .code = 32, .instr = PL_NONE, .lasti = 104, .owner = PL_NONE, .is_entry = PL_NONE,
			.localsplus = 360, .tlbc_index = PL_NONE, .gen = 96,
		},
		.chunk = {.previous = PL_NONE, .size = PL_NONE, .top = PL_NONE, .data = PL_NONE},
		.code = {
			.name = 112, .qualname = PL_NONE, .filename = 104, .linetable = 120, .firstlineno = 40,
			.version = PL_NONE, .code_bytes = 48, .tlbc = PL_NONE, .firsttraceable = PL_NONE, .flags = 36,
			.size = 176,
		},
		.object = {.type = 8, .size = 16},
		.bytes = {.ob_size = 16, .sval = 32},
		.unicode = {
			.length = 16, .state = 32, .ascii_size = 48, .compact_size = 72, .data = 72, .kind_shift = 2,
			.compact_bit = 5, .ascii_bit = 6,
		},
		.err_stackitem = {.exc_value = 0},
		.type = {
			.tp_name = 24, .tp_basicsize = 32, .tp_flags = 168, .tp_dictoffset = 288, .ht_cached_keys = 872,
			.size = 416,
		},
		.dict = {.keys = 32, .values = 40},
		.dictkeys = {
			.log2_size = 8, .log2_index_bytes = PL_NONE, .kind = PL_NONE, .nentries = 32, .indices = 40,
		},
		.instance = {.managed_dict = 0, .values = PL_NONE, .valid = PL_NONE},
		.longobj = {.digits = 24, .tagged = 0, .tag = 16},
	},
	/* CPython 3.9.18, x86-64, from the headers in its own python3.9 */
	{
		.version = PL_PY_VERSION(3, 9, 18), .free_threaded = false, .frame_model = PL_FRAME_OBJECT,
		.line_table = PL_LINES_LNOTAB, .attrs = PL_ATTRS_DICT, .runtime_size = 656, .instr_scale = 1,
		.tag_mask = 0, .owner_thread = PL_NO_OWNER, .owner_generator = PL_NO_OWNER,
		.owner_frame_object = PL_NO_OWNER, .owner_interpreter = PL_NO_OWNER, .owner_cstack = PL_NO_OWNER,
		.runtime = {
			.interp_head = 32, .tstate_current = 568, .gil_locked = 368, .gil_last_holder = 360,
			.gc_collecting = PL_NONE,
		},
		.interp = {
			.next = 0, .threads_head = 8, .threads_main = PL_NONE, .id = 24, .modules = 856, .gil = PL_NONE,
			.gc_collecting = 816, .gc_frame = PL_NONE, .code_generation = PL_NONE,
		},
		.gil = {.last_holder = 8, .locked = 16, .enabled = PL_NONE},
		.tstate = {
			.next = 8, .interp = 16, .frame = 24, .cframe = PL_NONE, .base_frame = PL_NONE, .thread_id = 176,
			.native_thread_id = PL_NONE, .datastack_chunk = PL_NONE, .datastack_top = PL_NONE,
			.holds_gil = PL_NONE, .gil_requested = PL_NONE, .current_exception = 88, .exc_state = 112,
		},
		.cframe = {.current_frame = PL_NONE},
		.frame = {
			.previous = 24, .code = 32, .instr = PL_NONE, .lasti = 104, .owner = PL_NONE, .is_entry = PL_NONE,
			.localsplus = 360, .tlbc_index = PL_NONE, .gen = 96,
		},
		.chunk = {.previous = PL_NONE, .size = PL_NONE, .top = PL_NONE, .data = PL_NONE},
		.code = {
			.name = 112, .qualname = PL_NONE, .filename = 104, .linetable = 120, .firstlineno = 40,
			.version = PL_NONE, .code_bytes = 48, .tlbc = PL_NONE, .firsttraceable = PL_NONE, .flags = 36,
			.size = 176,
		},
		.object = {.type = 8, .size = 16},
		.bytes = {.ob_size = 16, .sval = 32},
		.unicode = {
			.length = 16, .state = 32, .ascii_size = 48, .compact_size = 72, .data = 72, .kind_shift = 2,
			.compact_bit = 5, .ascii_bit = 6,
		},
		.err_stackitem = {.exc_value = 0},
		.type = {
			.tp_name = 24, .tp_basicsize = 32, .tp_flags = 168, .tp_dictoffset = 288, .ht_cached_keys = 864,
			.size = 408,
		},
		.dict = {.keys = 32, .values = 40},
		.dictkeys = {
			.log2_size = 8, .log2_index_bytes = PL_NONE, .kind = PL_NONE, .nentries = 32, .indices = 40,
		},
		.instance = {.managed_dict = 0, .values = PL_NONE, .valid = PL_NONE},
		.longobj = {.digits = 24, .tagged = 0, .tag = 16},
	},
	/* CPython 3.10.13, x86-64, from the headers in its own python3.10 */
	{
		.version = PL_PY_VERSION(3, 10, 13), .free_threaded = false, .frame_model = PL_FRAME_OBJECT,
		.line_table = PL_LINES_PEP626, .attrs = PL_ATTRS_DICT, .runtime_size = 672, .instr_scale = 2,
		.tag_mask = 0, .owner_thread = PL_NO_OWNER, .owner_generator = PL_NO_OWNER,
		.owner_frame_object = PL_NO_OWNER, .owner_interpreter = PL_NO_OWNER, .owner_cstack = PL_NO_OWNER,
		.runtime = {
			.interp_head = 32, .tstate_current = 568, .gil_locked = 368, .gil_last_holder = 360,
			.gc_collecting = PL_NONE,
		},
		.interp = {
			.next = 0, .threads_head = 8, .threads_main = PL_NONE, .id = 24, .modules = 856, .gil = PL_NONE,
			.gc_collecting = 816, .gc_frame = PL_NONE, .code_generation = PL_NONE,
		},
		.gil = {.last_holder = 8, .locked = 16, .enabled = PL_NONE},
		.tstate = {
			.next = 8, .interp = 16, .frame = 24, .cframe = PL_NONE, .base_frame = PL_NONE, .thread_id = 176,
			.native_thread_id = PL_NONE, .datastack_chunk = PL_NONE, .datastack_top = PL_NONE,
			.holds_gil = PL_NONE, .gil_requested = PL_NONE, .current_exception = 88, .exc_state = 112,
		},
		.cframe = {.current_frame = PL_NONE},
		.frame = {
			.previous = 24, .code = 32, .instr = PL_NONE, .lasti = 96, .owner = PL_NONE, .is_entry = PL_NONE,
			.localsplus = 352, .tlbc_index = PL_NONE, .gen = 88,
		},
		.chunk = {.previous = PL_NONE, .size = PL_NONE, .top = PL_NONE, .data = PL_NONE},
		.code = {
			.name = 112, .qualname = PL_NONE, .filename = 104, .linetable = 120, .firstlineno = 40,
			.version = PL_NONE, .code_bytes = 48, .tlbc = PL_NONE, .firsttraceable = PL_NONE, .flags = 36,
			.size = 176,
		},
		.object = {.type = 8, .size = 16},
		.bytes = {.ob_size = 16, .sval = 32},
		.unicode = {
			.length = 16, .state = 32, .ascii_size = 48, .compact_size = 72, .data = 72, .kind_shift = 2,
			.compact_bit = 5, .ascii_bit = 6,
		},
		.err_stackitem = {.exc_value = 0},
		.type = {
			.tp_name = 24, .tp_basicsize = 32, .tp_flags = 168, .tp_dictoffset = 288, .ht_cached_keys = 872,
			.size = 408,
		},
		.dict = {.keys = 32, .values = 40},
		.dictkeys = {
			.log2_size = 8, .log2_index_bytes = PL_NONE, .kind = PL_NONE, .nentries = 32, .indices = 40,
		},
		.instance = {.managed_dict = 0, .values = PL_NONE, .valid = PL_NONE},
		.longobj = {.digits = 24, .tagged = 0, .tag = 16},
	},
	/* CPython 3.11.7, x86-64, from the headers in its own python3.11 */
	{
		.version = PL_PY_VERSION(3, 11, 7), .free_threaded = false, .frame_model = PL_FRAME_CFRAME,
		.line_table = PL_LINES_PEP657, .attrs = PL_ATTRS_MANAGED, .runtime_size = 166688, .instr_scale = 1,
		.tag_mask = 0, .owner_thread = 0, .owner_generator = 1, .owner_frame_object = 2,
		.owner_interpreter = PL_NO_OWNER, .owner_cstack = PL_NO_OWNER,
		.runtime = {
			.interp_head = 40, .tstate_current = 576, .gil_locked = 376, .gil_last_holder = 368,
			.gc_collecting = PL_NONE,
		},
		.interp = {
			.next = 0, .threads_head = 16, .threads_main = PL_NONE, .id = 48, .modules = 888, .gil = PL_NONE,
			.gc_collecting = 848, .gc_frame = PL_NONE, .code_generation = PL_NONE,
		},
		.gil = {.last_holder = 8, .locked = 16, .enabled = PL_NONE},
		.tstate = {
			.next = 8, .interp = 16, .frame = PL_NONE, .cframe = 56, .base_frame = PL_NONE, .thread_id = 152,
			.native_thread_id = 160, .datastack_chunk = 296, .datastack_top = 304, .holds_gil = PL_NONE,
			.gil_requested = PL_NONE, .current_exception = 96, .exc_state = 320,
		},
		.cframe = {.current_frame = 8},
		.frame = {
			.previous = 48, .code = 32, .instr = 56, .lasti = PL_NONE, .owner = 69, .is_entry = 68,
			.localsplus = 72, .tlbc_index = PL_NONE, .gen = PL_NONE,
		},
		.chunk = {.previous = 0, .size = 8, .top = 16, .data = 24},
		.code = {
			.name = 120, .qualname = 128, .filename = 112, .linetable = 136, .firstlineno = 72,
			.version = PL_NONE, .code_bytes = 184, .tlbc = PL_NONE, .firsttraceable = 168, .flags = 48,
			.size = 192,
		},
		.object = {.type = 8, .size = 16},
		.bytes = {.ob_size = 16, .sval = 32},
		.unicode = {
			.length = 16, .state = 32, .ascii_size = 48, .compact_size = 72, .data = 72, .kind_shift = 2,
			.compact_bit = 5, .ascii_bit = 6,
		},
		.err_stackitem = {.exc_value = 0},
		.type = {
			.tp_name = 24, .tp_basicsize = 32, .tp_flags = 168, .tp_dictoffset = 288, .ht_cached_keys = 872,
			.size = 408,
		},
		.dict = {.keys = 32, .values = 40},
		.dictkeys = {.log2_size = 8, .log2_index_bytes = 9, .kind = 10, .nentries = 24, .indices = 32},
		.instance = {.managed_dict = -24, .values = 0, .valid = PL_NONE},
		.longobj = {.digits = 24, .tagged = 0, .tag = 16},
	},
	/* CPython 3.12.1, x86-64, from the headers in its own python3.12 */
	{
		.version = PL_PY_VERSION(3, 12, 1), .free_threaded = false, .frame_model = PL_FRAME_CFRAME,
		.line_table = PL_LINES_PEP657, .attrs = PL_ATTRS_TAGGED, .runtime_size = 459944, .instr_scale = 1,
		.tag_mask = 0, .owner_thread = 0, .owner_generator = 1, .owner_frame_object = 2,
		.owner_interpreter = PL_NO_OWNER, .owner_cstack = 3,
		.runtime = {
			.interp_head = 40, .tstate_current = PL_NONE, .gil_locked = PL_NONE, .gil_last_holder = PL_NONE,
			.gc_collecting = PL_NONE,
		},
		.interp = {
			.next = 0, .threads_head = 72, .threads_main = PL_NONE, .id = 8, .modules = 944, .gil = 384,
			.gc_collecting = 312, .gc_frame = PL_NONE, .code_generation = PL_NONE,
		},
		.gil = {.last_holder = 8, .locked = 16, .enabled = PL_NONE},
		.tstate = {
			.next = 8, .interp = 16, .frame = PL_NONE, .cframe = 56, .base_frame = PL_NONE, .thread_id = 136,
			.native_thread_id = 144, .datastack_chunk = 232, .datastack_top = 240, .holds_gil = PL_NONE,
			.gil_requested = PL_NONE, .current_exception = 96, .exc_state = 256,
		},
		.cframe = {.current_frame = 0},
		.frame = {
			.previous = 8, .code = 0, .instr = 56, .lasti = PL_NONE, .owner = 70, .is_entry = PL_NONE,
			.localsplus = 72, .tlbc_index = PL_NONE, .gen = PL_NONE,
		},
		.chunk = {.previous = 0, .size = 8, .top = 16, .data = 24},
		.code = {
			.name = 120, .qualname = 128, .filename = 112, .linetable = 136, .firstlineno = 68, .version = 92,
			.code_bytes = 192, .tlbc = PL_NONE, .firsttraceable = 176, .flags = 48, .size = 200,
		},
		.object = {.type = 8, .size = 16},
		.bytes = {.ob_size = 16, .sval = 32},
		.unicode = {
			.length = 16, .state = 32, .ascii_size = 40, .compact_size = 56, .data = 56, .kind_shift = 2,
			.compact_bit = 5, .ascii_bit = 6,
		},
		.err_stackitem = {.exc_value = 0},
		.type = {
			.tp_name = 24, .tp_basicsize = 32, .tp_flags = 168, .tp_dictoffset = 288, .ht_cached_keys = 880,
			.size = 416,
		},
		.dict = {.keys = 32, .values = 40},
		.dictkeys = {.log2_size = 8, .log2_index_bytes = 9, .kind = 10, .nentries = 24, .indices = 32},
		.instance = {.managed_dict = -24, .values = 0, .valid = PL_NONE},
		.longobj = {.digits = 24, .tagged = 1, .tag = 16},
	},
	/* CPython 3.13.0, x86-64, from the headers in its own python3.13 */
	{
		.version = PL_PY_VERSION(3, 13, 0), .free_threaded = false, .frame_model = PL_FRAME_CURRENT,
		.line_table = PL_LINES_PEP657, .attrs = PL_ATTRS_INLINE, .runtime_size = 283320, .instr_scale = 1,
		.tag_mask = 0, .owner_thread = 0, .owner_generator = 1, .owner_frame_object = 2,
		.owner_interpreter = PL_NO_OWNER, .owner_cstack = 3,
		.runtime = {
			.interp_head = 632, .tstate_current = PL_NONE, .gil_locked = PL_NONE, .gil_last_holder = PL_NONE,
			.gc_collecting = PL_NONE,
		},
		.interp = {
			.next = 7264, .threads_head = 7344, .threads_main = 7352, .id = 7272, .modules = 7656, .gil = 16,
			.gc_collecting = 7600, .gc_frame = PL_NONE, .code_generation = PL_NONE,
		},
		.gil = {.last_holder = 8, .locked = 16, .enabled = PL_NONE},
		.tstate = {
			.next = 8, .interp = 16, .frame = 72, .cframe = PL_NONE, .base_frame = PL_NONE, .thread_id = 152,
			.native_thread_id = 160, .datastack_chunk = 232, .datastack_top = 240, .holds_gil = PL_NONE,
			.gil_requested = PL_NONE, .current_exception = 112, .exc_state = 256,
		},
		.cframe = {.current_frame = PL_NONE},
		.frame = {
			.previous = 8, .code = 0, .instr = 56, .lasti = PL_NONE, .owner = 70, .is_entry = PL_NONE,
			.localsplus = 72, .tlbc_index = PL_NONE, .gen = PL_NONE,
		},
		.chunk = {.previous = 0, .size = 8, .top = 16, .data = 24},
		.code = {
			.name = 120, .qualname = 128, .filename = 112, .linetable = 136, .firstlineno = 68, .version = 92,
			.code_bytes = 200, .tlbc = PL_NONE, .firsttraceable = 184, .flags = 48, .size = 208,
		},
		.object = {.type = 8, .size = 16},
		.bytes = {.ob_size = 16, .sval = 32},
		.unicode = {
			.length = 16, .state = 32, .ascii_size = 40, .compact_size = 56, .data = 56, .kind_shift = 2,
			.compact_bit = 5, .ascii_bit = 6,
		},
		.err_stackitem = {.exc_value = 0},
		.type = {
			.tp_name = 24, .tp_basicsize = 32, .tp_flags = 168, .tp_dictoffset = 288, .ht_cached_keys = 880,
			.size = 416,
		},
		.dict = {.keys = 32, .values = 40},
		.dictkeys = {.log2_size = 8, .log2_index_bytes = 9, .kind = 10, .nentries = 24, .indices = 32},
		.instance = {.managed_dict = -24, .values = 8, .valid = 3},
		.longobj = {.digits = 24, .tagged = 1, .tag = 16},
	},
	/* CPython 3.13.0t, x86-64, from the headers in its own python3.13 */
	{
		.version = PL_PY_VERSION(3, 13, 0), .free_threaded = true, .frame_model = PL_FRAME_CURRENT,
		.line_table = PL_LINES_PEP657, .attrs = PL_ATTRS_INLINE, .runtime_size = 328256, .instr_scale = 1,
		.tag_mask = 0, .owner_thread = 0, .owner_generator = 1, .owner_frame_object = 2,
		.owner_interpreter = PL_NO_OWNER, .owner_cstack = 3,
		.runtime = {
			.interp_head = 632, .tstate_current = PL_NONE, .gil_locked = PL_NONE, .gil_last_holder = PL_NONE,
			.gc_collecting = PL_NONE,
		},
		.interp = {
			.next = 7264, .threads_head = 7344, .threads_main = 7352, .id = 7272, .modules = 7664, .gil = 16,
			.gc_collecting = 7600, .gc_frame = PL_NONE, .code_generation = PL_NONE,
		},
		.gil = {.last_holder = 16, .locked = 24, .enabled = 0},
		.tstate = {
			.next = 8, .interp = 16, .frame = 72, .cframe = PL_NONE, .base_frame = PL_NONE, .thread_id = 152,
			.native_thread_id = 160, .datastack_chunk = 232, .datastack_top = 240, .holds_gil = PL_NONE,
			.gil_requested = PL_NONE, .current_exception = 112, .exc_state = 256,
		},
		.cframe = {.current_frame = PL_NONE},
		.frame = {
			.previous = 8, .code = 0, .instr = 56, .lasti = PL_NONE, .owner = 70, .is_entry = PL_NONE,
			.localsplus = 72, .tlbc_index = PL_NONE, .gen = PL_NONE,
		},
		.chunk = {.previous = 0, .size = 8, .top = 16, .data = 24},
		.code = {
			.name = 136, .qualname = 144, .filename = 128, .linetable = 152, .firstlineno = 84, .version = 108,
			.code_bytes = 216, .tlbc = PL_NONE, .firsttraceable = 200, .flags = 64, .size = 224,
		},
		.object = {.type = 24, .size = 32},
		.bytes = {.ob_size = 32, .sval = 48},
		.unicode = {
			.length = 32, .state = 48, .ascii_size = 56, .compact_size = 72, .data = 72, .kind_shift = 2,
			.compact_bit = 5, .ascii_bit = 6,
		},
		.err_stackitem = {.exc_value = 0},
		.type = {
			.tp_name = 40, .tp_basicsize = 48, .tp_flags = 184, .tp_dictoffset = 304, .ht_cached_keys = 896,
			.size = 432,
		},
		.dict = {.keys = 48, .values = 56},
		.dictkeys = {.log2_size = 8, .log2_index_bytes = 9, .kind = 10, .nentries = 24, .indices = 32},
		.instance = {.managed_dict = -8, .values = 8, .valid = 3},
		.longobj = {.digits = 40, .tagged = 1, .tag = 32},
	},
	/* CPython 3.14.10, x86-64, from the headers in its own python3.14 */
	{
		.version = PL_PY_VERSION(3, 14, 10), .free_threaded = false, .frame_model = PL_FRAME_CURRENT,
		.line_table = PL_LINES_PEP657, .attrs = PL_ATTRS_INLINE, .runtime_size = 316616, .instr_scale = 1,
		.tag_mask = 3, .owner_thread = 0, .owner_generator = 1, .owner_frame_object = 2,
		.owner_interpreter = 3, .owner_cstack = 4,
		.runtime = {
			.interp_head = 808, .tstate_current = PL_NONE, .gil_locked = PL_NONE, .gil_last_holder = PL_NONE,
			.gc_collecting = PL_NONE,
		},
		.interp = {
			.next = 7272, .threads_head = 7344, .threads_main = 7360, .id = 7280, .modules = 7688, .gil = 16,
			.gc_collecting = 7600, .gc_frame = PL_NONE, .code_generation = 7992,
		},
		.gil = {.last_holder = 8, .locked = 16, .enabled = PL_NONE},
		.tstate = {
			.next = 8, .interp = 16, .frame = 72, .cframe = PL_NONE, .base_frame = PL_NONE, .thread_id = 152,
			.native_thread_id = 160, .datastack_chunk = 232, .datastack_top = 240, .holds_gil = 36,
			.gil_requested = PL_NONE, .current_exception = 112, .exc_state = 256,
		},
		.cframe = {.current_frame = PL_NONE},
		.frame = {
			.previous = 8, .code = 0, .instr = 56, .lasti = PL_NONE, .owner = 74, .is_entry = PL_NONE,
			.localsplus = 80, .tlbc_index = PL_NONE, .gen = PL_NONE,
		},
		.chunk = {.previous = 0, .size = 8, .top = 16, .data = 24},
		.code = {
			.name = 120, .qualname = 128, .filename = 112, .linetable = 136, .firstlineno = 68, .version = 92,
			.code_bytes = 208, .tlbc = PL_NONE, .firsttraceable = 192, .flags = 48, .size = 216,
		},
		.object = {.type = 8, .size = 16},
		.bytes = {.ob_size = 16, .sval = 32},
		.unicode = {
			.length = 16, .state = 32, .ascii_size = 40, .compact_size = 56, .data = 56, .kind_shift = 2,
			.compact_bit = 5, .ascii_bit = 6,
		},
		.err_stackitem = {.exc_value = 0},
		.type = {
			.tp_name = 24, .tp_basicsize = 32, .tp_flags = 168, .tp_dictoffset = 288, .ht_cached_keys = 880,
			.size = 416,
		},
		.dict = {.keys = 32, .values = 40},
		.dictkeys = {.log2_size = 8, .log2_index_bytes = 9, .kind = 10, .nentries = 24, .indices = 32},
		.instance = {.managed_dict = -24, .values = 8, .valid = 3},
		.longobj = {.digits = 24, .tagged = 1, .tag = 16},
	},
	/* CPython 3.14.10t, x86-64, from the headers in its own python3.14 */
	{
		.version = PL_PY_VERSION(3, 14, 10), .free_threaded = true, .frame_model = PL_FRAME_CURRENT,
		.line_table = PL_LINES_PEP657, .attrs = PL_ATTRS_INLINE, .runtime_size = 365624, .instr_scale = 1,
		.tag_mask = 3, .owner_thread = 0, .owner_generator = 1, .owner_frame_object = 2,
		.owner_interpreter = 3, .owner_cstack = 4,
		.runtime = {
			.interp_head = 808, .tstate_current = PL_NONE, .gil_locked = PL_NONE, .gil_last_holder = PL_NONE,
			.gc_collecting = PL_NONE,
		},
		.interp = {
			.next = 7272, .threads_head = 7344, .threads_main = 7360, .id = 7280, .modules = 7712, .gil = 16,
			.gc_collecting = 7600, .gc_frame = PL_NONE, .code_generation = 8024,
		},
		.gil = {.last_holder = 16, .locked = 24, .enabled = 0},
		.tstate = {
			.next = 8, .interp = 16, .frame = 72, .cframe = PL_NONE, .base_frame = PL_NONE, .thread_id = 152,
			.native_thread_id = 160, .datastack_chunk = 232, .datastack_top = 240, .holds_gil = 36,
			.gil_requested = PL_NONE, .current_exception = 112, .exc_state = 256,
		},
		.cframe = {.current_frame = PL_NONE},
		.frame = {
			.previous = 8, .code = 0, .instr = 56, .lasti = PL_NONE, .owner = 78, .is_entry = PL_NONE,
			.localsplus = 80, .tlbc_index = 72, .gen = PL_NONE,
		},
		.chunk = {.previous = 0, .size = 8, .top = 16, .data = 24},
		.code = {
			.name = 136, .qualname = 144, .filename = 128, .linetable = 152, .firstlineno = 84, .version = 108,
			.code_bytes = 232, .tlbc = 224, .firsttraceable = 208, .flags = 64, .size = 240,
		},
		.object = {.type = 24, .size = 32},
		.bytes = {.ob_size = 32, .sval = 48},
		.unicode = {
			.length = 32, .state = 48, .ascii_size = 56, .compact_size = 72, .data = 72, .kind_shift = 8,
			.compact_bit = 11, .ascii_bit = 12,
		},
		.err_stackitem = {.exc_value = 0},
		.type = {
			.tp_name = 40, .tp_basicsize = 48, .tp_flags = 184, .tp_dictoffset = 304, .ht_cached_keys = 896,
			.size = 432,
		},
		.dict = {.keys = 48, .values = 56},
		.dictkeys = {.log2_size = 8, .log2_index_bytes = 9, .kind = 10, .nentries = 24, .indices = 32},
		.instance = {.managed_dict = -8, .values = 8, .valid = 3},
		.longobj = {.digits = 40, .tagged = 1, .tag = 32},
	},
	/* CPython 3.15.2, x86-64, from the headers in its own python3.15 */
	{
		.version = PL_PY_VERSION(3, 15, 2), .free_threaded = false, .frame_model = PL_FRAME_CURRENT,
		.line_table = PL_LINES_PEP657, .attrs = PL_ATTRS_INLINE, .runtime_size = 346560, .instr_scale = 1,
		.tag_mask = 3, .owner_thread = 0, .owner_generator = 1, .owner_frame_object = 2,
		.owner_interpreter = 3, .owner_cstack = PL_NO_OWNER,
		.runtime = {
			.interp_head = 936, .tstate_current = PL_NONE, .gil_locked = PL_NONE, .gil_last_holder = PL_NONE,
			.gc_collecting = PL_NONE,
		},
		.interp = {
			.next = 7264, .threads_head = 7336, .threads_main = 7352, .id = 7272, .modules = 7592, .gil = 16,
			.gc_collecting = 7512, .gc_frame = 7520, .code_generation = 7944,
		},
		.gil = {.last_holder = 8, .locked = 16, .enabled = PL_NONE},
		.tstate = {
			.next = 8, .interp = 16, .frame = 72, .cframe = PL_NONE, .base_frame = 80, .thread_id = 176,
			.native_thread_id = 184, .datastack_chunk = 256, .datastack_top = 264, .holds_gil = 36,
			.gil_requested = 40, .current_exception = 136, .exc_state = 288,
		},
		.cframe = {.current_frame = PL_NONE},
		.frame = {
			.previous = 8, .code = 0, .instr = 56, .lasti = PL_NONE, .owner = 74, .is_entry = PL_NONE,
			.localsplus = 80, .tlbc_index = PL_NONE, .gen = PL_NONE,
		},
		.chunk = {.previous = 0, .size = 8, .top = 16, .data = 24},
		.code = {
			.name = 120, .qualname = 128, .filename = 112, .linetable = 136, .firstlineno = 68, .version = 92,
			.code_bytes = 208, .tlbc = PL_NONE, .firsttraceable = 192, .flags = 48, .size = 216,
		},
		.object = {.type = 8, .size = 16},
		.bytes = {.ob_size = 16, .sval = 32},
		.unicode = {
			.length = 16, .state = 32, .ascii_size = 40, .compact_size = 56, .data = 56, .kind_shift = 2,
			.compact_bit = 5, .ascii_bit = 6,
		},
		.err_stackitem = {.exc_value = 0},
		.type = {
			.tp_name = 24, .tp_basicsize = 32, .tp_flags = 168, .tp_dictoffset = 288, .ht_cached_keys = 888,
			.size = 424,
		},
		.dict = {.keys = 32, .values = 40},
		.dictkeys = {.log2_size = 8, .log2_index_bytes = 9, .kind = 10, .nentries = 24, .indices = 32},
		.instance = {.managed_dict = -24, .values = 8, .valid = 3},
		.longobj = {.digits = 24, .tagged = 1, .tag = 16},
	},
	/* CPython 3.15.2t, x86-64, from the headers in its own python3.15 */
	{
		.version = PL_PY_VERSION(3, 15, 2), .free_threaded = true, .frame_model = PL_FRAME_CURRENT,
		.line_table = PL_LINES_PEP657, .attrs = PL_ATTRS_INLINE, .runtime_size = 409296, .instr_scale = 1,
		.tag_mask = 3, .owner_thread = 0, .owner_generator = 1, .owner_frame_object = 2,
		.owner_interpreter = 3, .owner_cstack = PL_NO_OWNER,
		.runtime = {
			.interp_head = 936, .tstate_current = PL_NONE, .gil_locked = PL_NONE, .gil_last_holder = PL_NONE,
			.gc_collecting = PL_NONE,
		},
		.interp = {
			.next = 7264, .threads_head = 7336, .threads_main = 7352, .id = 7272, .modules = 7592, .gil = 16,
			.gc_collecting = 7512, .gc_frame = 7520, .code_generation = 7952,
		},
		.gil = {.last_holder = 16, .locked = 24, .enabled = 0},
		.tstate = {
			.next = 8, .interp = 16, .frame = 72, .cframe = PL_NONE, .base_frame = 80, .thread_id = 176,
			.native_thread_id = 184, .datastack_chunk = 256, .datastack_top = 264, .holds_gil = 36,
			.gil_requested = 40, .current_exception = 136, .exc_state = 288,
		},
		.cframe = {.current_frame = PL_NONE},
		.frame = {
			.previous = 8, .code = 0, .instr = 56, .lasti = PL_NONE, .owner = 78, .is_entry = PL_NONE,
			.localsplus = 80, .tlbc_index = 72, .gen = PL_NONE,
		},
		.chunk = {.previous = 0, .size = 8, .top = 16, .data = 24},
		.code = {
			.name = 136, .qualname = 144, .filename = 128, .linetable = 152, .firstlineno = 84, .version = 108,
			.code_bytes = 232, .tlbc = 224, .firsttraceable = 208, .flags = 64, .size = 240,
		},
		.object = {.type = 24, .size = 32},
		.bytes = {.ob_size = 32, .sval = 48},
		.unicode = {
			.length = 32, .state = 48, .ascii_size = 56, .compact_size = 72, .data = 72, .kind_shift = 8,
			.compact_bit = 11, .ascii_bit = 12,
		},
		.err_stackitem = {.exc_value = 0},
		.type = {
			.tp_name = 40, .tp_basicsize = 48, .tp_flags = 184, .tp_dictoffset = 304, .ht_cached_keys = 904,
			.size = 440,
		},
		.dict = {.keys = 48, .values = 56},
		.dictkeys = {.log2_size = 8, .log2_index_bytes = 9, .kind = 10, .nentries = 24, .indices = 32},
		.instance = {.managed_dict = -8, .values = 8, .valid = 3},
		.longobj = {.digits = 40, .tagged = 1, .tag = 32},
	},
};
const size_t pl_layout_row_count = sizeof pl_layout_row / sizeof pl_layout_row[0];

/* Where each word is inside _Py_DebugOffsets; 0: this minor lacks it. */
const struct pl_debug_minor pl_debug_minor[PL_DEBUG_MINORS] = {
	{.minor = 13, .size = 584},
	{.minor = 14, .size = 760},
	{.minor = 15, .size = 888},
};

const uint16_t pl_debug_word[PL_WORDS][PL_DEBUG_MINORS] = {
	/* 3.13 (3.13.0), 3.14 (3.14.10), 3.15 (3.15.2) */
	[PL_WORD_RUNTIME_STATE_SIZE] = {24, 24, 24},
	[PL_WORD_RUNTIME_STATE_INTERPRETERS_HEAD] = {40, 40, 40},
	[PL_WORD_INTERPRETER_STATE_SIZE] = {48, 48, 48},
	[PL_WORD_INTERPRETER_STATE_ID] = {56, 56, 56},
	[PL_WORD_INTERPRETER_STATE_NEXT] = {64, 64, 64},
	[PL_WORD_INTERPRETER_STATE_THREADS_HEAD] = {72, 72, 72},
	[PL_WORD_INTERPRETER_STATE_THREADS_MAIN] = {0, 80, 80},
	[PL_WORD_INTERPRETER_STATE_GC] = {80, 88, 88},
	[PL_WORD_INTERPRETER_STATE_IMPORTS_MODULES] = {88, 96, 96},
	[PL_WORD_INTERPRETER_STATE_CEVAL_GIL] = {112, 120, 120},
	[PL_WORD_INTERPRETER_STATE_GIL_RUNTIME_STATE] = {120, 128, 128},
	[PL_WORD_INTERPRETER_STATE_GIL_RUNTIME_STATE_ENABLED] = {128, 136, 136},
	[PL_WORD_INTERPRETER_STATE_GIL_RUNTIME_STATE_LOCKED] = {136, 144, 144},
	[PL_WORD_INTERPRETER_STATE_GIL_RUNTIME_STATE_HOLDER] = {144, 152, 152},
	[PL_WORD_INTERPRETER_STATE_CODE_OBJECT_GENERATION] = {0, 160, 160},
	[PL_WORD_THREAD_STATE_SIZE] = {152, 176, 176},
	[PL_WORD_THREAD_STATE_NEXT] = {168, 192, 192},
	[PL_WORD_THREAD_STATE_INTERP] = {176, 200, 200},
	[PL_WORD_THREAD_STATE_CURRENT_FRAME] = {184, 208, 208},
	[PL_WORD_THREAD_STATE_BASE_FRAME] = {0, 0, 216},
	[PL_WORD_THREAD_STATE_THREAD_ID] = {192, 216, 240},
	[PL_WORD_THREAD_STATE_NATIVE_THREAD_ID] = {200, 224, 248},
	[PL_WORD_THREAD_STATE_DATASTACK_CHUNK] = {208, 232, 256},
	[PL_WORD_THREAD_STATE_HOLDS_GIL] = {0, 0, 272},
	[PL_WORD_THREAD_STATE_GIL_REQUESTED] = {0, 0, 280},
	[PL_WORD_THREAD_STATE_CURRENT_EXCEPTION] = {0, 0, 288},
	[PL_WORD_THREAD_STATE_EXC_STATE] = {0, 0, 296},
	[PL_WORD_ERR_STACKITEM_EXC_VALUE] = {0, 0, 304},
	[PL_WORD_INTERPRETER_FRAME_SIZE] = {224, 248, 312},
	[PL_WORD_INTERPRETER_FRAME_PREVIOUS] = {232, 256, 320},
	[PL_WORD_INTERPRETER_FRAME_EXECUTABLE] = {240, 264, 328},
	[PL_WORD_INTERPRETER_FRAME_INSTR_PTR] = {248, 272, 336},
	[PL_WORD_INTERPRETER_FRAME_LOCALSPLUS] = {256, 280, 344},
	[PL_WORD_INTERPRETER_FRAME_OWNER] = {264, 288, 352},
	[PL_WORD_INTERPRETER_FRAME_TLBC_INDEX] = {0, 304, 368},
	[PL_WORD_CODE_OBJECT_SIZE] = {272, 312, 376},
	[PL_WORD_CODE_OBJECT_FILENAME] = {280, 320, 384},
	[PL_WORD_CODE_OBJECT_NAME] = {288, 328, 392},
	[PL_WORD_CODE_OBJECT_QUALNAME] = {296, 336, 400},
	[PL_WORD_CODE_OBJECT_LINETABLE] = {304, 344, 408},
	[PL_WORD_CODE_OBJECT_FIRSTLINENO] = {312, 352, 416},
	[PL_WORD_CODE_OBJECT_CO_CODE_ADAPTIVE] = {344, 384, 448},
	[PL_WORD_CODE_OBJECT_CO_TLBC] = {0, 392, 456},
	[PL_WORD_PYOBJECT_SIZE] = {352, 400, 464},
	[PL_WORD_PYOBJECT_OB_TYPE] = {360, 408, 472},
	[PL_WORD_TYPE_OBJECT_SIZE] = {368, 416, 480},
	[PL_WORD_TYPE_OBJECT_TP_NAME] = {376, 424, 488},
	[PL_WORD_TYPE_OBJECT_TP_FLAGS] = {392, 440, 504},
	[PL_WORD_TYPE_OBJECT_TP_BASICSIZE] = {0, 0, 512},
	[PL_WORD_TYPE_OBJECT_TP_DICTOFFSET] = {0, 0, 520},
	[PL_WORD_HEAP_TYPE_OBJECT_SIZE] = {0, 0, 528},
	[PL_WORD_HEAP_TYPE_OBJECT_HT_CACHED_KEYS] = {0, 0, 536},
	[PL_WORD_DICT_OBJECT_SIZE] = {448, 528, 624},
	[PL_WORD_DICT_OBJECT_MA_KEYS] = {456, 536, 632},
	[PL_WORD_DICT_OBJECT_MA_VALUES] = {464, 544, 640},
	[PL_WORD_LONG_OBJECT_SIZE] = {488, 568, 664},
	[PL_WORD_LONG_OBJECT_LV_TAG] = {496, 576, 672},
	[PL_WORD_LONG_OBJECT_OB_DIGIT] = {504, 584, 680},
	[PL_WORD_BYTES_OBJECT_SIZE] = {512, 592, 688},
	[PL_WORD_BYTES_OBJECT_OB_SIZE] = {520, 600, 696},
	[PL_WORD_BYTES_OBJECT_OB_SVAL] = {528, 608, 704},
	[PL_WORD_UNICODE_OBJECT_SIZE] = {536, 616, 712},
	[PL_WORD_UNICODE_OBJECT_STATE] = {544, 624, 720},
	[PL_WORD_UNICODE_OBJECT_LENGTH] = {552, 632, 728},
	[PL_WORD_UNICODE_OBJECT_ASCIIOBJECT_SIZE] = {560, 640, 736},
	[PL_WORD_UNICODE_OBJECT_COMPACTUNICODEOBJECT_SIZE] = {0, 0, 744},
	[PL_WORD_GC_SIZE] = {568, 648, 752},
	[PL_WORD_GC_COLLECTING] = {576, 656, 760},
	[PL_WORD_GC_FRAME] = {0, 0, 768},
};
