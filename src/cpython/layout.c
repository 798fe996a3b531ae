/* SPDX-License-Identifier: Apache-2.0 */
/* Finding a row and computing how little of each struct has to be read. Layer: cpython. Pure; any thread.
 *
 * A sample copies a handful of words per thread; what is copied is decided once here, not at each sample. */
#include "layout.h"

#include "layout_data.h"
#include "minors.h"

#define READ_GAP 256 /* two words closer than this are cheaper in one read than in two */

const struct pl_layout *pl_layout_rows(size_t *count_ret)
{
	*count_ret = pl_layout_row_count;
	return pl_layout_row;
}

static const struct pl_layout *find_minor(uint32_t version, bool free_threaded)
{
	for (size_t i = 0; i < pl_layout_row_count; i++) {
		const struct pl_layout *row = &pl_layout_row[i];
		if (row->version >> 8 == version >> 8 && row->free_threaded == free_threaded)
			return row;
	}
	return NULL;
}

static bool is_reference(uint32_t version)
{
	const struct pl_minor *minor = pl_minor_of(version);

	return minor && minor->offsets;
}

const struct pl_layout *pl_layout_find(uint32_t version, bool free_threaded)
{
	return is_reference(version) ? NULL : find_minor(version, free_threaded);
}

void pl_layout_refine(struct pl_layout *lay)
{
	if (lay->version < PL_PY_VERSION(3, 7, 0) || lay->version >= PL_PY_VERSION(3, 7, 4))
		return;
	/* 3.7.4 made _PyRuntime 88 bytes longer, somewhere in front of this word; of those that lie there only this
	 * one's old place is known. */
	lay->runtime.tstate_current = 1392;
	lay->runtime.gil_locked = lay->runtime.gil_last_holder = lay->runtime.gc_collecting = PL_NONE;
}

const struct pl_layout *pl_layout_reference(uint32_t version, bool free_threaded)
{
	return is_reference(version) ? find_minor(pl_minor_of(version)->version, free_threaded) : NULL;
}

#define REFS_BYTES 16 /* _ob_next, _ob_prev */
#define AT(member) offsetof(struct pl_layout, member)

/* The members that count from the start of an object. */
static const uint16_t in_objects[] = {
	AT(code.name),	     AT(code.qualname),	      AT(code.filename),
	AT(code.linetable),  AT(code.firstlineno),    AT(code.version),
	AT(code.code_bytes), AT(code.firsttraceable), AT(code.flags),
	AT(code.size),	     AT(object.type),	      AT(object.size),
	AT(bytes.ob_size),   AT(bytes.sval),	      AT(unicode.length),
	AT(unicode.state),   AT(unicode.ascii_size),  AT(unicode.compact_size),
	AT(unicode.data),    AT(type.tp_name),	      AT(type.tp_basicsize),
	AT(type.tp_flags),   AT(type.tp_dictoffset),  AT(type.ht_cached_keys),
	AT(type.size),	     AT(dict.keys),	      AT(dict.values),
	AT(dict.mask),	     AT(dict.used),	      AT(longobj.digits),
	AT(longobj.tag),     AT(longobj.small),
};

/* The same, for values and tasks. */
static const uint16_t in_shown_objects[] = {
	AT(code.argcount),
	AT(code.kwonlyargcount),
	AT(code.nlocals),
	AT(code.varnames),
	AT(code.cellvars),
	AT(code.freevars),
	AT(type.tp_base),
	AT(type.tp_dict),
	AT(code.localsplusnames),
	AT(code.localspluskinds),
	AT(code.stacksize),
	AT(tuple.items),
	AT(list.items),
	AT(set.used),
	AT(set.mask),
	AT(set.table),
	AT(bytearray.start),
	AT(cell.ref),
	AT(function.name),
	AT(function.closure),
	AT(method.function),
	AT(exception.args),
	AT(weakref.object),
	AT(gen.frame),
	AT(gen.frame_state),
	AT(gen.iframe),
	AT(gen.qualname),
	AT(old_class.dict),
	AT(old_class.name),
	AT(old_instance.type),
	AT(old_instance.dict),
};

/* From 3.11 on these frames are no objects. */
static const uint16_t in_frame_objects[] = {AT(frame.previous),	  AT(frame.code),   AT(frame.lasti),
					    AT(frame.localsplus), AT(frame.gen),    AT(frame.valuestack),
					    AT(frame.stacktop),	  AT(frame.iblock), AT(frame.blockstack)};

static void move_members(struct pl_layout *lay, const uint16_t *members, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t *at = (uint32_t *)((char *)lay + members[i]);
		if (*at != PL_NONE)
			*at += REFS_BYTES;
	}
}

void pl_layout_trace_refs(const struct pl_layout *row, struct pl_layout *ret)
{
	*ret = *row;
	move_members(ret, in_objects, sizeof in_objects / sizeof in_objects[0]);
	move_members(ret, in_shown_objects, sizeof in_shown_objects / sizeof in_shown_objects[0]);
	if (row->frame_model == PL_FRAME_OBJECT)
		move_members(ret, in_frame_objects, sizeof in_frame_objects / sizeof in_frame_objects[0]);
}

/* A word that must be in some span: where and how wide. */
struct word {
	uint32_t at, width;
};

static uint32_t span_of(const struct word *words, size_t n)
{
	uint32_t end = 0;

	for (size_t i = 0; i < n; i++) {
		if (words[i].at != PL_NONE && words[i].at + words[i].width > end)
			end = words[i].at + words[i].width;
	}
	return end;
}

static uint32_t tstate_span(const struct pl_layout *lay)
{
	/* datastack_top is followed by datastack_limit: 16 bytes. */
	const struct word words[] = {
		{lay->tstate.next, 8},		{lay->tstate.interp, 8},	   {lay->tstate.frame, 8},
		{lay->tstate.cframe, 8},	{lay->tstate.base_frame, 8},	   {lay->tstate.thread_id, 8},
		{lay->tstate.holds_gil, 4},	{lay->tstate.native_thread_id, 8}, {lay->tstate.datastack_chunk, 8},
		{lay->tstate.gil_requested, 4}, {lay->tstate.datastack_top, 16},   {lay->tstate.current_exception, 8},
		{lay->tstate.attach_state, 4},	{lay->tstate.exc_info, 8},
	};
	uint32_t end = span_of(words, sizeof words / sizeof words[0]);
	const struct word handled = {lay->tstate.exc_state, lay->err_stackitem.exc_value + 8};
	uint32_t more = lay->err_stackitem.exc_value == PL_NONE ? 0 : span_of(&handled, 1);

	return more > end ? more : end;
}

static uint32_t frame_span(const struct pl_layout *lay)
{
	const struct word words[] = {
		{lay->object.type, lay->frame_model == PL_FRAME_OBJECT ? 8 : 0},
		{lay->frame.previous, 8},
		{lay->frame.code, 8},
		{lay->frame.instr, 8},
		{lay->frame.lasti, 4},
		{lay->frame.owner, 1},
		{lay->frame.is_entry, 1},
		{lay->frame.tlbc_index, 4},
	};

	return span_of(words, sizeof words / sizeof words[0]);
}

static uint32_t code_span(const struct pl_layout *lay)
{
	const struct word words[] = {
		{lay->object.type, 8},	  {lay->code.name, 8},	      {lay->code.filename, 8},
		{lay->code.linetable, 8}, {lay->code.firstlineno, 4}, {lay->code.version, 4},
	};

	return span_of(words, sizeof words / sizeof words[0]);
}

/* The words that prove a code object are read from its type word on. */
static bool code_begins_with_type(const struct pl_layout *lay)
{
	const uint32_t after[] = {lay->code.name, lay->code.filename, lay->code.linetable, lay->code.firstlineno,
				  lay->code.version};

	for (size_t i = 0; i < sizeof after / sizeof after[0]; i++)
		if (after[i] < lay->object.type)
			return false;
	return true;
}

static void sort_words(struct word *words, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		for (size_t k = i; k && words[k - 1].at > words[k].at; k--) {
			struct word t = words[k];
			words[k] = words[k - 1];
			words[k - 1] = t;
		}
	}
}

static void plan_gil_read(struct pl_layout *lay)
{
	struct word words[] = {{lay->gil.last_holder, 8}, {lay->gil.locked, 4}, {lay->gil.enabled, 4}};
	size_t n = sizeof words / sizeof words[0];

	sort_words(words, n);
	lay->gil_at = words[0].at;
	lay->gil_span = lay->gil_at == PL_NONE ? 0 : span_of(words, n) - lay->gil_at;
}

/* Group the words of PyInterpreterState (hundreds of KB large) into few small reads. */
static bool plan_interp_reads(struct pl_layout *lay)
{
	struct word words[] = {
		{lay->interp.next, 8},
		{lay->interp.threads_head, 8},
		{lay->interp.threads_main, 8},
		{lay->interp.modules, 8},
		{lay->interp.gil, 8},
		{lay->interp.gc_collecting, 4},
		{lay->interp.gc_frame, 8},
		{lay->interp.code_generation, 8},
		{lay->interp.tlbc_generation, 4},
	};
	size_t n = sizeof words / sizeof words[0], reads = 0;

	sort_words(words, n);
	for (size_t i = 0; i < n && words[i].at != PL_NONE; i++) {
		uint32_t end = words[i].at + words[i].width;
		uint32_t last = reads ? lay->interp_reads[reads - 1].at + lay->interp_reads[reads - 1].len : 0;
		if (reads && words[i].at <= last + READ_GAP &&
		    end - lay->interp_reads[reads - 1].at <= PL_INTERP_READ_MAX) {
			if (end > last)
				lay->interp_reads[reads - 1].len = end - lay->interp_reads[reads - 1].at;
			continue;
		}
		if (reads == PL_INTERP_READS)
			return false;
		lay->interp_reads[reads].at = words[i].at;
		lay->interp_reads[reads].len = words[i].width;
		reads++;
	}
	for (; reads < PL_INTERP_READS; reads++)
		lay->interp_reads[reads].len = 0;
	return true;
}

bool pl_layout_finish(struct pl_layout *lay)
{
	lay->tstate_span = tstate_span(lay);
	lay->frame_span = frame_span(lay);
	lay->code_span = code_span(lay);
	plan_gil_read(lay);
	return plan_interp_reads(lay) && lay->tstate_span <= PL_TSTATE_MAX && lay->frame_span <= PL_FRAME_MAX &&
	       lay->code_span <= PL_CODE_MAX && lay->code.size <= PL_CODE_MAX && code_begins_with_type(lay);
}
