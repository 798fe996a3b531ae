/* SPDX-License-Identifier: Apache-2.0 */
/* The variables of a frame. Layer: cpython. Pure over pl_mem; one thread; allocates two short texts.
 *
 * A frame holds its variables in one array of slots. <= 3.10: those of co_varnames, then a cell for each of co_cellvars
 * and co_freevars; a parameter that is also a cell has an empty slot among the first (2.7: a slot with a stale
 * value). 3.11+: co_localsplusnames names all slots and co_localspluskinds says which of them hold cells. */
#include "locals.h"

#include "pick.h"
#include "text.h"

#define NAME_MAX_BYTES 256
#define TEXT_MAX_BYTES (64 * 1024)
#define BATCH	       32
#define CO_VARARGS     0x4
#define CO_VARKEYWORDS 0x8
#define KIND_CELL      0x40
#define KIND_FREE      0x80
#define TAG_INT	       3 /* of a _PyStackRef: a small int without an object, 3.14+ */

/** A tuple of names. */
struct names {
	pl_addr first;
	uint32_t count;
};

struct reader {
	struct pl_values *v;
	pl_local_fn *fn;
	void *ctx;
	pl_addr slots;
	uint32_t args; /* how many of the first slots are parameters */
	struct pl_buf name, text;
	bool stop;
};

/** A variable before it is read. `value` is the raw slot. */
struct slot {
	pl_addr name;
	uint64_t value;
	bool is_arg, is_cell, is_free;
};

static struct plumb_error *open_names(struct pl_values *v, pl_addr tuple, struct names *ret)
{
	uint64_t count;
	struct plumb_error *err;

	if (!pl_pointer_ok(tuple))
		return &pl_err_corrupt;
	err = pl_mem_read_u64(v->mem, tuple + v->py->layout.bytes.ob_size, &count);
	if (err)
		return err;
	if (count > PL_MAX_LOCALS)
		return &pl_err_corrupt;
	*ret = (struct names){.first = tuple + v->py->layout.tuple.items, .count = (uint32_t)count};
	return NULL;
}

/* The contents of a cell; NULL (unbound) or an object. */
static struct plumb_error *follow_cell(const struct reader *r, pl_addr cell, pl_addr *ret)
{
	return pl_pointer_ok(cell) ? pl_mem_read_u64(r->v->mem, cell + r->v->py->layout.cell.ref, ret)
				   : &pl_err_corrupt;
}

/* Is it a cell? 3.11+: a slot of that kind holds the bare value until the function's first instructions have run. */
static bool is_cell(struct reader *r, pl_addr obj)
{
	struct plumb_error *err = pl_value_add_type(r->v, obj, &r->text);
	bool yes = !err && r->text.len == 4 && !memcmp(r->text.data, "cell", 4);

	plumb_error_destroy(err);
	pl_buf_clear(&r->text);
	return yes;
}

static struct plumb_error *add_slot_value(struct reader *r, const struct slot *s)
{
	const struct pl_layout *lay = &r->v->py->layout;
	pl_addr obj = s->value & ~lay->tag_mask;
	struct plumb_error *err = NULL;

	if (lay->tag_mask && (s->value & lay->tag_mask) == TAG_INT)
		return pl_buf_printf(&r->text, "%lld", (long long)((int64_t)s->value >> 2));
	if (s->is_cell && (lay->frame_model == PL_FRAME_OBJECT || is_cell(r, obj)))
		err = follow_cell(r, obj, &obj);
	if (err) {
		plumb_error_destroy(err);
		return pl_buf_add_str(&r->text, "<unreadable>");
	}
	return obj ? pl_value_add(r->v, obj, (const char *)r->name.data, r->name.len, &r->text) : NULL;
}

static struct plumb_error *tell(struct reader *r, const struct slot *s)
{
	struct plumb_error *err;

	pl_buf_clear(&r->name);
	pl_buf_clear(&r->text);
	if (!s->value)
		return NULL;
	err = pl_text_read_str(r->v->mem, r->v->py, s->name, NAME_MAX_BYTES, &r->name);
	if (err == &pl_err_no_memory)
		return err;
	/* One name that cannot be read must not cost the others; ".0" is what a comprehension calls its iterator. */
	if (err || !r->name.len || r->name.data[0] == '.') {
		plumb_error_destroy(err);
		return NULL;
	}
	err = add_slot_value(r, s);
	if (err || !r->text.len)
		return err;
	const struct pl_local local = {
		.name = (const char *)r->name.data,
		.name_len = r->name.len,
		.text = (const char *)r->text.data,
		.text_len = r->text.len,
		.is_arg = s->is_arg,
		.is_free = s->is_free,
	};
	r->stop = !r->fn(r->ctx, &local);
	return NULL;
}

/* Position of the very name object @p name; names of variables are interned. */
static bool find_name(struct reader *r, const struct names *n, pl_addr name, uint32_t *ret)
{
	uint64_t batch[BATCH];

	for (uint32_t at = 0; at < n->count; at += BATCH) {
		uint32_t len = n->count - at < BATCH ? n->count - at : BATCH;
		struct plumb_error *err = pl_mem_read(r->v->mem, n->first + at * 8, batch, len * 8);
		if (err) {
			plumb_error_destroy(err);
			return false;
		}
		for (uint32_t i = 0; i < len; i++) {
			if (batch[i] == name) {
				*ret = at + i;
				return true;
			}
		}
	}
	return false;
}

/* <= 3.10: what @p code says of its variables. */
struct old_names {
	struct names vars, cells, free;
};

/* A parameter that an inner function uses has moved into its cell; 2.7 leaves what it was at first in its slot. */
static struct plumb_error *find_moved(struct reader *r, const struct old_names *n, struct slot *s)
{
	uint32_t cell;

	if ((s->value && !pl_layout_str_is_bytes(&r->v->py->layout)) || !s->is_arg ||
	    !find_name(r, &n->cells, s->name, &cell))
		return NULL;
	s->is_cell = true;
	return pl_mem_read_u64(r->v->mem, r->slots + (uint64_t)(n->vars.count + cell) * 8, &s->value);
}

static bool told_as_arg(struct reader *r, const struct old_names *n, pl_addr name)
{
	uint32_t at;

	return find_name(r, &n->vars, name, &at) && at < r->args;
}

/* @p names: one of the three of @p n; its slots begin with number @p first. */
static struct plumb_error *each_old(struct reader *r, const struct old_names *n, const struct names *names,
				    uint32_t first)
{
	struct plumb_error *err = NULL;

	for (uint32_t i = 0; !err && !r->stop && i < names->count; i++) {
		struct slot s = {.is_cell = names != &n->vars, .is_free = names == &n->free};
		s.is_arg = !s.is_cell && i < r->args;
		err = pl_mem_read_u64(r->v->mem, names->first + (uint64_t)i * 8, &s.name);
		if (!err)
			err = pl_mem_read_u64(r->v->mem, r->slots + (uint64_t)(first + i) * 8, &s.value);
		if (!err)
			err = find_moved(r, n, &s);
		if (!err && !(names == &n->cells && told_as_arg(r, n, s.name)))
			err = tell(r, &s);
	}
	return err;
}

static struct plumb_error *each_of_object(struct reader *r, const uint8_t *code)
{
	const struct pl_layout *lay = &r->v->py->layout;
	struct old_names n;
	struct plumb_error *err = open_names(r->v, pl_pick_u64(code, lay->code.varnames), &n.vars);

	if (!err)
		err = open_names(r->v, pl_pick_u64(code, lay->code.cellvars), &n.cells);
	if (!err)
		err = open_names(r->v, pl_pick_u64(code, lay->code.freevars), &n.free);
	if (!err && n.vars.count != pl_pick_u32(code, lay->code.nlocals))
		err = &pl_err_corrupt;
	if (!err)
		err = each_old(r, &n, &n.vars, 0);
	if (!err)
		err = each_old(r, &n, &n.cells, n.vars.count);
	if (!err)
		err = each_old(r, &n, &n.free, n.vars.count + n.cells.count);
	return err;
}

/* 3.11+: up to BATCH slots from number @p at on. */
static struct plumb_error *batch_new(struct reader *r, const struct names *names, pl_addr kinds, uint32_t at)
{
	uint64_t name[BATCH], value[BATCH];
	uint8_t kind[BATCH];
	uint32_t n = names->count - at < BATCH ? names->count - at : BATCH;
	struct plumb_error *err = pl_mem_read(r->v->mem, names->first + (uint64_t)at * 8, name, n * 8);

	if (!err)
		err = pl_mem_read(r->v->mem, r->slots + (uint64_t)at * 8, value, n * 8);
	if (!err)
		err = pl_mem_read(r->v->mem, kinds + r->v->py->layout.bytes.sval + at, kind, n);
	for (uint32_t i = 0; !err && !r->stop && i < n; i++) {
		const struct slot s = {
			.name = name[i],
			.value = value[i],
			.is_arg = at + i < r->args,
			.is_cell = kind[i] & (KIND_CELL | KIND_FREE),
			.is_free = kind[i] & KIND_FREE,
		};
		err = tell(r, &s);
	}
	return err;
}

static struct plumb_error *each_of_interpreter_frame(struct reader *r, const uint8_t *code)
{
	const struct pl_layout *lay = &r->v->py->layout;
	pl_addr kinds = pl_pick_u64(code, lay->code.localspluskinds);
	struct names names;
	uint64_t len;
	struct plumb_error *err = open_names(r->v, pl_pick_u64(code, lay->code.localsplusnames), &names);

	if (!err && !pl_pointer_ok(kinds))
		err = &pl_err_corrupt;
	if (!err)
		err = pl_mem_read_u64(r->v->mem, kinds + lay->bytes.ob_size, &len);
	if (!err && len != names.count)
		err = &pl_err_corrupt;
	for (uint32_t at = 0; !err && !r->stop && at < names.count; at += BATCH)
		err = batch_new(r, &names, kinds, at);
	return err;
}

/* Positional, then keyword-only, then *args and **kwargs: the first slots are the parameters. */
static uint32_t count_args(const struct pl_layout *lay, const uint8_t *code)
{
	uint32_t flags = pl_pick_u32_if(code, lay->code.flags);
	uint64_t n = (uint64_t)pl_pick_u32(code, lay->code.argcount) + pl_pick_u32_if(code, lay->code.kwonlyargcount);

	n += (flags & CO_VARARGS) != 0;
	n += (flags & CO_VARKEYWORDS) != 0;
	return n < PL_MAX_LOCALS ? (uint32_t)n : PL_MAX_LOCALS;
}

static struct plumb_error *check_supported(const struct pl_py *py)
{
	const struct pl_layout *lay = &py->layout;
	uint32_t names = lay->frame_model == PL_FRAME_OBJECT ? lay->code.varnames : lay->code.localsplusnames;
	char version[PL_VERSION_TEXT];

	if (names != PL_NONE && lay->frame.localsplus != PL_NONE && lay->code.size <= PL_CODE_MAX)
		return NULL;
	return pl_error(PLUMB_ERR_NOT_SUPPORTED, "variables of CPython %s are not read",
			pl_py_version_text(py, version));
}

struct plumb_error *pl_locals_each(struct pl_values *v, const struct pl_frame *f, pl_local_fn *fn, void *ctx)
{
	const struct pl_layout *lay = &v->py->layout;
	struct reader r = {.v = v, .fn = fn, .ctx = ctx};
	uint8_t code[PL_CODE_MAX];
	pl_addr type = 0;
	struct plumb_error *err = check_supported(v->py);

	if (err || f->kind == PL_FRAME_SHIM)
		return err;
	if (!pl_pointer_ok(f->code) || !pl_pointer_ok(f->addr))
		return &pl_err_corrupt;
	err = pl_mem_read(v->mem, f->code, code, lay->code.size);
	if (!err)
		type = pl_pick_u64(code, lay->object.type);
	if (!err && v->py->code_type && type != v->py->code_type)
		err = &pl_err_corrupt;
	if (err)
		return err;
	r.slots = f->addr + lay->frame.localsplus;
	r.args = count_args(lay, code);
	r.name.max = NAME_MAX_BYTES + 8;
	r.text.max = TEXT_MAX_BYTES;
	err = lay->frame_model == PL_FRAME_OBJECT ? each_of_object(&r, code) : each_of_interpreter_frame(&r, code);
	pl_buf_deinit(&r.name);
	pl_buf_deinit(&r.text);
	return err;
}
