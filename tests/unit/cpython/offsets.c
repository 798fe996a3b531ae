/* SPDX-License-Identifier: Apache-2.0 */
/* A made-up _Py_DebugOffsets: see offsets.h. */
#include "offsets.h"

#include <assert.h>
#include <string.h>

bool offsets_set(int minor, enum pl_debug_word word, uint64_t value, uint8_t bytes[static PL_DEBUG_OFFSETS_MAX])
{
	uint16_t at = pl_debug_minor[minor - pl_debug_minor[0].minor].word[word];

	if (at)
		memcpy(bytes + at, &value, sizeof value);
	return at != 0;
}

void offsets_make(int minor, bool free_threaded, uint8_t bytes[static PL_DEBUG_OFFSETS_MAX])
{
	const struct pl_layout *r = pl_layout_reference(PL_PY_VERSION(3, minor, 0), free_threaded);
	const uint32_t gil = 7704, gc = r->interp.gc_collecting - 64;
	const struct {
		enum pl_debug_word word;
		uint64_t value;
	} words[] = {
		{PL_WORD_RUNTIME_STATE_SIZE, 400000},
		{PL_WORD_RUNTIME_STATE_INTERPRETERS_HEAD, r->runtime.interp_head},
		{PL_WORD_INTERPRETER_STATE_SIZE, 250000},
		{PL_WORD_INTERPRETER_STATE_ID, r->interp.id},
		{PL_WORD_INTERPRETER_STATE_NEXT, r->interp.next},
		{PL_WORD_INTERPRETER_STATE_THREADS_HEAD, r->interp.threads_head},
		{PL_WORD_INTERPRETER_STATE_THREADS_MAIN, r->interp.threads_main},
		{PL_WORD_INTERPRETER_STATE_GC, gc},
		{PL_WORD_INTERPRETER_STATE_IMPORTS_MODULES, r->interp.modules},
		{PL_WORD_INTERPRETER_STATE_CEVAL_GIL, r->interp.gil},
		{PL_WORD_INTERPRETER_STATE_GIL_RUNTIME_STATE, gil},
		{PL_WORD_INTERPRETER_STATE_GIL_RUNTIME_STATE_ENABLED, free_threaded ? r->gil.enabled : 0},
		{PL_WORD_INTERPRETER_STATE_GIL_RUNTIME_STATE_LOCKED, gil + r->gil.locked},
		{PL_WORD_INTERPRETER_STATE_GIL_RUNTIME_STATE_HOLDER, gil + r->gil.last_holder},
		{PL_WORD_INTERPRETER_STATE_CODE_OBJECT_GENERATION, r->interp.code_generation},
		{PL_WORD_INTERPRETER_STATE_TLBC_GENERATION, free_threaded ? r->interp.tlbc_generation : 0},
		{PL_WORD_THREAD_STATE_SIZE, 900},
		{PL_WORD_THREAD_STATE_NEXT, r->tstate.next},
		{PL_WORD_THREAD_STATE_INTERP, r->tstate.interp},
		{PL_WORD_THREAD_STATE_CURRENT_FRAME, r->tstate.frame},
		{PL_WORD_THREAD_STATE_BASE_FRAME, r->tstate.base_frame},
		{PL_WORD_THREAD_STATE_THREAD_ID, r->tstate.thread_id},
		{PL_WORD_THREAD_STATE_NATIVE_THREAD_ID, r->tstate.native_thread_id},
		{PL_WORD_THREAD_STATE_DATASTACK_CHUNK, r->tstate.datastack_chunk},
		{PL_WORD_THREAD_STATE_HOLDS_GIL, r->tstate.holds_gil},
		{PL_WORD_THREAD_STATE_GIL_REQUESTED, r->tstate.gil_requested},
		{PL_WORD_THREAD_STATE_CURRENT_EXCEPTION, r->tstate.current_exception},
		{PL_WORD_THREAD_STATE_EXC_STATE, r->tstate.exc_state},
		{PL_WORD_ERR_STACKITEM_EXC_VALUE, r->err_stackitem.exc_value},
		{PL_WORD_INTERPRETER_FRAME_SIZE, 88},
		{PL_WORD_INTERPRETER_FRAME_PREVIOUS, r->frame.previous},
		{PL_WORD_INTERPRETER_FRAME_EXECUTABLE, r->frame.code},
		{PL_WORD_INTERPRETER_FRAME_INSTR_PTR, r->frame.instr},
		{PL_WORD_INTERPRETER_FRAME_LOCALSPLUS, r->frame.localsplus},
		{PL_WORD_INTERPRETER_FRAME_OWNER, r->frame.owner},
		{PL_WORD_INTERPRETER_FRAME_TLBC_INDEX, free_threaded ? r->frame.tlbc_index : 0},
		{PL_WORD_CODE_OBJECT_SIZE, r->code.size},
		{PL_WORD_CODE_OBJECT_FILENAME, r->code.filename},
		{PL_WORD_CODE_OBJECT_NAME, r->code.name},
		{PL_WORD_CODE_OBJECT_QUALNAME, r->code.qualname},
		{PL_WORD_CODE_OBJECT_LINETABLE, r->code.linetable},
		{PL_WORD_CODE_OBJECT_FIRSTLINENO, r->code.firstlineno},
		{PL_WORD_CODE_OBJECT_CO_CODE_ADAPTIVE, r->code.code_bytes},
		{PL_WORD_CODE_OBJECT_CO_TLBC, free_threaded ? r->code.tlbc : 0},
		{PL_WORD_PYOBJECT_SIZE, r->object.size},
		{PL_WORD_PYOBJECT_OB_TYPE, r->object.type},
		{PL_WORD_TYPE_OBJECT_SIZE, r->type.size},
		{PL_WORD_TYPE_OBJECT_TP_NAME, r->type.tp_name},
		{PL_WORD_TYPE_OBJECT_TP_FLAGS, r->type.tp_flags},
		{PL_WORD_TYPE_OBJECT_TP_BASICSIZE, r->type.tp_basicsize},
		{PL_WORD_TYPE_OBJECT_TP_DICTOFFSET, r->type.tp_dictoffset},
		{PL_WORD_HEAP_TYPE_OBJECT_SIZE, 1000},
		{PL_WORD_HEAP_TYPE_OBJECT_HT_CACHED_KEYS, r->type.ht_cached_keys},
		{PL_WORD_DICT_OBJECT_SIZE, r->dict.values + 8},
		{PL_WORD_DICT_OBJECT_MA_KEYS, r->dict.keys},
		{PL_WORD_DICT_OBJECT_MA_VALUES, r->dict.values},
		{PL_WORD_LONG_OBJECT_SIZE, r->longobj.digits + 8},
		{PL_WORD_LONG_OBJECT_LV_TAG, r->longobj.tag},
		{PL_WORD_LONG_OBJECT_OB_DIGIT, r->longobj.digits},
		{PL_WORD_BYTES_OBJECT_SIZE, r->bytes.sval + 8},
		{PL_WORD_BYTES_OBJECT_OB_SIZE, r->bytes.ob_size},
		{PL_WORD_BYTES_OBJECT_OB_SVAL, r->bytes.sval},
		{PL_WORD_UNICODE_OBJECT_SIZE, r->unicode.data + 8},
		{PL_WORD_UNICODE_OBJECT_STATE, r->unicode.state},
		{PL_WORD_UNICODE_OBJECT_LENGTH, r->unicode.length},
		{PL_WORD_UNICODE_OBJECT_ASCIIOBJECT_SIZE, r->unicode.ascii_size},
		{PL_WORD_UNICODE_OBJECT_COMPACTUNICODEOBJECT_SIZE, r->unicode.compact_size},
		{PL_WORD_GC_SIZE, 200},
		{PL_WORD_GC_COLLECTING, r->interp.gc_collecting - gc},
		{PL_WORD_GC_FRAME, r->interp.gc_frame - gc},
	};
	const uint64_t version = (uint64_t)PL_PY_VERSION(3, minor, 7) << 8 | 0xf0, free_word = free_threaded;

	_Static_assert(sizeof words / sizeof words[0] == PL_WORDS, "a word is missing");
	memset(bytes, 0, PL_DEBUG_OFFSETS_MAX);
	memcpy(bytes, "xdebugpy", 8);
	memcpy(bytes + 8, &version, 8);
	memcpy(bytes + 16, &free_word, 8);
	for (size_t i = 0; i < PL_WORDS; i++) {
		assert(words[i].word == i);
		offsets_set(minor, words[i].word, words[i].value, bytes);
	}
}
