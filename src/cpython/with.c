/* SPDX-License-Identifier: Apache-2.0 */
/* The `with` statements that a frame stands inside. Layer: cpython. Pure over pl_mem; one thread; allocates one short
 * text.
 *
 * While its block runs, a `with` statement keeps the exit method of its object on the value stack: bound, or from 3.14
 * on the method and then the object. Slots above the top of the stack hold what was there before, and where the top is
 * no frame says while it calls something. But what is to be unwound says how much of the stack is in use for certain:
 * <= 3.10 each block that the frame is in has its level, just above the exit method; 3.11+ the exception table of the
 * code has a depth for each instruction. Neither covers the call of `__enter__`. */
#include "with.h"

#include <string.h>

#include "code.h"
#include "pick.h"
#include "slots.h"
#include "text.h"

#define BLOCKS_MAX	    20 /* CO_MAXBLOCKS */
#define BLOCK_LEVEL	    2  /* of three ints */
#define TABLE_MAX_BYTES	    (64 * 1024)
#define VARINT_MORE	    0x40
#define VARINT_BITS	    6
#define CODE_UNIT_BYTES	    2
#define DEPTH_MAX	    64 /* slots looked at in one frame */
#define METHOD_NAME_MAX	    256
#define SEPARATE_SELF_SINCE PL_PY_VERSION(3, 14, 0)

struct walk {
	struct pl_values *v;
	struct pl_slots slots;
	pl_with_fn *fn;
	void *ctx;
};

/* ---- exit methods ------------------------------------------------------------------------------------------------ */

static const char *const exits[] = {"__exit__", "__aexit__"};

/* A name in C. */
static bool is_exit_c_name(struct pl_mem *mem, pl_addr name)
{
	char text[16];
	bool found = false;

	for (size_t i = 0; i < 2 && !found && name; i++) {
		size_t len = strlen(exits[i]) + 1; /* and not a byte more: the page may end there */
		struct plumb_error *err = pl_mem_read(mem, name, text, len);
		found = !err && memcmp(text, exits[i], len) == 0;
		plumb_error_destroy(err);
	}
	return found;
}

/* A str: "__exit__", or a qualified name that ends so. */
static bool is_exit_str(struct pl_values *v, pl_addr str)
{
	struct pl_buf text = PL_BUF_INIT(METHOD_NAME_MAX + 8);
	struct plumb_error *err = pl_text_read_str(v->mem, v->py, str, METHOD_NAME_MAX, &text);
	bool found = false;

	for (size_t i = 0; i < 2 && !err && !found; i++) {
		size_t len = strlen(exits[i]);
		found = text.len >= len && memcmp(text.data + text.len - len, exits[i], len) == 0 &&
			(text.len == len || text.data[text.len - len - 1] == '.');
	}
	plumb_error_destroy(err);
	pl_buf_deinit(&text);
	return found;
}

static pl_addr word_at(struct pl_values *v, pl_addr addr)
{
	pl_addr word = 0;
	struct plumb_error *err = pl_pointer_ok(addr) ? pl_mem_read_u64(v->mem, addr, &word) : &pl_err_corrupt;

	plumb_error_destroy(err);
	return err ? 0 : word;
}

static bool is_exit_function(struct pl_values *v, pl_addr function)
{
	return pl_pointer_ok(function) && is_exit_str(v, word_at(v, function + v->py->layout.function.name));
}

/* 3.14+: the method alone; what it is to be called with is in the next slot. */
static bool is_loose_exit(struct pl_values *v, pl_addr obj)
{
	char type[PL_TYPE_NAME];

	if (v->py->layout.version < SEPARATE_SELF_SINCE || !obj || !pl_value_type_name(v, obj, type))
		return false;
	if (strcmp(type, "method_descriptor") == 0) /* its class, then its name */
		return is_exit_str(v, word_at(v, obj + v->py->layout.method.function + 8));
	return strcmp(type, "function") == 0 && is_exit_function(v, obj);
}

/* Is it a bound exit method? Then *self_ret is what to. */
static bool is_bound_exit(struct pl_values *v, pl_addr obj, pl_addr *self_ret)
{
	pl_addr function;

	switch (pl_bound_method(v, obj, self_ret)) {
	case PL_METHOD_IN_C: /* a PyMethodDef, whose first word is the name */
		function = word_at(v, obj + v->py->layout.method.function);
		return is_exit_c_name(v->mem, word_at(v, function));
	case PL_METHOD_IN_PYTHON:
		return is_exit_function(v, word_at(v, obj + v->py->layout.method.function));
	case PL_METHOD_NONE:
		break;
	}
	return false;
}

/* The slots from number @p from to before @p end are in use. */
static void tell_slots(const struct walk *w, uint32_t from, uint32_t end)
{
	for (uint32_t i = from; i < end; i++) {
		pl_addr obj = pl_slot_object(w->v->mem, w->v->py, w->slots.stack, i), self = 0;

		if (is_loose_exit(w->v, obj) && i + 1 < end)
			self = pl_slot_object(w->v->mem, w->v->py, w->slots.stack, i + 1);
		else if (!is_bound_exit(w->v, obj, &self))
			self = 0;
		if (self)
			w->fn(w->ctx, self);
	}
}

/* ---- up to 3.10: blocks ------------------------------------------------------------------------------------------ */

static void tell_blocks(struct walk *w, const struct pl_frame *f)
{
	const struct pl_layout *lay = &w->v->py->layout;
	int32_t count = 0, blocks[BLOCKS_MAX][3];
	struct plumb_error *err = pl_mem_read(w->v->mem, f->addr + lay->frame.iblock, &count, sizeof count);

	if (!err && (count < 0 || count > BLOCKS_MAX))
		err = &pl_err_corrupt;
	if (!err && count)
		err = pl_mem_read(w->v->mem, f->addr + lay->frame.blockstack, blocks, (size_t)count * sizeof blocks[0]);
	if (!err && count)
		err = pl_slots_of(w->v->mem, w->v->py, f, &w->slots);
	for (int32_t i = 0; i < count && !err; i++) {
		int32_t level = blocks[i][BLOCK_LEVEL];
		if (level > 0 && (uint32_t)level <= w->slots.stack_size)
			tell_slots(w, (uint32_t)level - 1, (uint32_t)level);
	}
	plumb_error_destroy(err);
}

/* ---- from 3.11 on: the exception table --------------------------------------------------------------------------- */

/* Six bits a byte, the highest first. False at the end of the table. */
static bool read_varint(const struct pl_buf *table, size_t *at, uint32_t *ret)
{
	uint64_t value = 0;
	uint8_t byte = VARINT_MORE;

	while (byte & VARINT_MORE && *at < table->len && value <= UINT32_MAX) {
		byte = table->data[(*at)++];
		value = value << VARINT_BITS | (byte & (VARINT_MORE - 1));
	}
	*ret = (uint32_t)value;
	return !(byte & VARINT_MORE) && value <= UINT32_MAX;
}

/* How deep the stack is at the instruction @p unit (in code units), as far as it would be unwound. */
static uint32_t depth_at(const struct pl_buf *table, uint32_t unit)
{
	size_t at = 0;
	uint32_t start, size, target, depth;

	while (read_varint(table, &at, &start) && read_varint(table, &at, &size) && read_varint(table, &at, &target) &&
	       read_varint(table, &at, &depth)) {
		if (start > unit)
			break;
		if (unit - start < size)
			return depth >> 1; /* the lowest bit: the handler is also told the instruction */
	}
	return 0;
}

static struct plumb_error *read_depth(struct pl_values *v, const struct pl_frame *f, uint32_t *ret)
{
	const struct pl_layout *lay = &v->py->layout;
	struct pl_buf table = PL_BUF_INIT(TABLE_MAX_BYTES);
	pl_addr bytes = 0, base = 0;
	struct plumb_error *err = pl_mem_read_u64(v->mem, f->code + lay->code.exceptiontable, &bytes);

	if (!err)
		err = pl_text_read_bytes(v->mem, v->py, bytes, TABLE_MAX_BYTES, &table);
	if (!err)
		err = pl_code_copy_base(v->mem, v->py, f, &base);
	if (!err && (f->instr < base || f->instr - base > UINT32_MAX))
		err = &pl_err_corrupt;
	if (!err)
		*ret = depth_at(&table, (uint32_t)(f->instr - base) / CODE_UNIT_BYTES);
	pl_buf_deinit(&table);
	return err;
}

/* False: nothing is there to be unwound at this instruction. */
static bool tell_depth(struct walk *w, const struct pl_frame *f)
{
	uint32_t depth = 0;
	struct plumb_error *err = read_depth(w->v, f, &depth);
	bool none = !err && !depth;

	if (!err && depth)
		err = pl_slots_of(w->v->mem, w->v->py, f, &w->slots);
	if (!err && depth && depth <= w->slots.stack_size)
		tell_slots(w, 0, depth < DEPTH_MAX ? depth : DEPTH_MAX);
	plumb_error_destroy(err);
	return !none;
}

/* Without an exception table nothing is ever left by an exit method. */
bool pl_with_may_be(struct pl_values *v, pl_addr code)
{
	const struct pl_layout *lay = &v->py->layout;
	pl_addr table = lay->code.exceptiontable == PL_NONE ? 0 : word_at(v, code + lay->code.exceptiontable);

	return !table || word_at(v, table + lay->bytes.ob_size) != 0;
}

bool pl_with_each(struct pl_values *v, const struct pl_frame *f, pl_with_fn *fn, void *ctx)
{
	struct walk w = {.v = v, .fn = fn, .ctx = ctx};

	if (f->kind != PL_FRAME_PYTHON || !pl_pointer_ok(f->addr) || !pl_pointer_ok(f->code))
		return true;
	if (v->py->layout.frame_model == PL_FRAME_OBJECT)
		tell_blocks(&w, f);
	else if (v->py->layout.code.exceptiontable != PL_NONE)
		return tell_depth(&w, f);
	return true;
}
