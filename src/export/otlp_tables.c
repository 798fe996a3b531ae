/* SPDX-License-Identifier: Apache-2.0 */
/* Dictionaries of OTLP (layer export). They grow while samples are written and are written last. */
#include "otlp_tables.h"

#include <stdlib.h>
#include <string.h>

#include "otlp_fields.h"
#include "words.h"

/* OpenTelemetry's conventions name some kinds of frames; the others are ours. */
static struct plumb_error *add_origins(struct pl_otlp_tables *t)
{
	struct plumb_error *err = NULL;

	for (unsigned i = 0; i < PL_ORIGINS && !err; i++) {
		const char *type = i == PL_ORIGIN_PYTHON ? "cpython" : pl_kind_name(i);

		if (t->symbols.origins[i])
			err = pl_otlp_attribute(t, "profile.frame.type", type, strlen(type), 0,
						&t->origin_attributes[i]);
	}
	return err;
}

/* A mapping must say which build it is of, so there is one for each library of which that is known. */
static struct plumb_error *add_build_ids(struct pl_otlp_tables *t)
{
	struct plumb_error *err = NULL;

	for (size_t i = 0; i < t->symbols.libraries.len && !err; i++) {
		uint32_t key, attribute;

		err = pl_symbols_text(&t->symbols, "process.executable.build_id.gnu", &key);
		if (!err)
			err = pl_otlp_attribute_of(t, key, t->symbols.libraries.data[i].build_id, &attribute);
		if (!err && !pl_vec_push(&t->build_ids, attribute))
			err = &pl_err_no_memory;
	}
	return err;
}

struct plumb_error *pl_otlp_tables_init(struct pl_otlp_tables *t, const struct plumb_profile *p,
					const char *const *reserved)
{
	struct plumb_error *err;

	*t = (struct pl_otlp_tables){.p = p};
	err = pl_symbols_init(&t->symbols, p, reserved);
	t->stack_index = calloc((size_t)p->stack_count + 1, sizeof *t->stack_index);
	if (!err && (!t->stack_index || !pl_vec_push(&t->attributes, (struct pl_otlp_attribute){0}) ||
		     !pl_vec_push(&t->stacks, 0)))
		err = &pl_err_no_memory;
	if (!err)
		err = add_origins(t);
	if (!err)
		err = add_build_ids(t);
	if (err)
		pl_otlp_tables_deinit(t);
	return err;
}

void pl_otlp_tables_deinit(struct pl_otlp_tables *t)
{
	pl_symbols_deinit(&t->symbols);
	pl_vec_deinit(&t->attributes);
	pl_vec_deinit(&t->stacks);
	pl_vec_deinit(&t->build_ids);
	pl_map_deinit(&t->attribute_index);
	free(t->stack_index);
	*t = (struct pl_otlp_tables){0};
}

static struct plumb_error *intern(struct pl_otlp_tables *t, struct pl_otlp_attribute a, uint32_t *ret)
{
	uint64_t k0 = (uint64_t)a.key << 32 | a.text;

	if (pl_map_get(&t->attribute_index, k0, a.number, ret))
		return NULL;
	if (!pl_vec_push(&t->attributes, a) ||
	    !pl_map_set(&t->attribute_index, k0, a.number, (uint32_t)t->attributes.len - 1))
		return &pl_err_no_memory;
	*ret = (uint32_t)t->attributes.len - 1;
	return NULL;
}

struct plumb_error *pl_otlp_attribute_of(struct pl_otlp_tables *t, uint32_t key, uint32_t text, uint32_t *ret)
{
	return intern(t, (struct pl_otlp_attribute){.key = key, .text = text}, ret);
}

struct plumb_error *pl_otlp_attribute(struct pl_otlp_tables *t, const char *key, const char *text, size_t len,
				      uint64_t number, uint32_t *ret)
{
	struct pl_otlp_attribute a = {.number = text ? 0 : number};
	struct plumb_error *err = pl_symbols_text(&t->symbols, key, &a.key);

	if (!err && text)
		err = pl_symbols_bytes(&t->symbols, text, len, &a.text);
	return err ? err : intern(t, a, ret);
}

struct plumb_error *pl_otlp_stack(struct pl_otlp_tables *t, uint32_t stack, uint32_t *ret)
{
	if (stack == t->symbols.tag_nodes[stack])
		stack = 0;
	if (stack && !t->stack_index[stack]) {
		if (!pl_vec_push(&t->stacks, stack))
			return &pl_err_no_memory;
		t->stack_index[stack] = (uint32_t)t->stacks.len - 1;
	}
	*ret = t->stack_index[stack];
	return NULL;
}

/* One of the two is written even if it is empty: it says which it is. */
void pl_otlp_any(struct pl_pb *w, uint32_t field, const char *text, size_t len, uint64_t number)
{
	size_t m = pl_pb_begin(w, field);

	if (text) {
		pl_pb_item(w, ANY_TEXT, text, len);
	} else {
		pl_pb_raw_u64(w, ANY_INT << 3 | PL_PB_VARINT);
		pl_pb_raw_u64(w, number);
	}
	pl_pb_end(w, m);
}

static void write_mapping(const struct pl_otlp_tables *t, struct pl_pb *w, size_t i)
{
	size_t m = pl_pb_begin(w, TABLE_MAPPING), packed;

	pl_pb_u64(w, MAPPING_FILE, t->symbols.libraries.data[i].file);
	packed = pl_pb_begin(w, MAPPING_ATTRIBUTES);
	pl_pb_raw_u64(w, t->build_ids.data[i]);
	pl_pb_end(w, packed);
	pl_pb_end(w, m);
}

static void write_location(const struct pl_otlp_tables *t, struct pl_pb *w, size_t i)
{
	const struct pl_symbol_location *l = &t->symbols.locations.data[i];
	const struct pl_symbol_function *f = &t->symbols.functions.data[l->function];
	size_t m = pl_pb_begin(w, TABLE_LOCATION), inner;

	pl_pb_u64(w, LOCATION_MAPPING, f->library);
	inner = pl_pb_begin(w, LOCATION_LINES);
	pl_pb_u64(w, LINE_FUNCTION, l->function + 1ull);
	pl_pb_u64(w, LINE_NUMBER, l->line > 0 ? (uint64_t)l->line : 0);
	pl_pb_u64(w, LINE_COLUMN, l->column >= 0 ? (uint64_t)l->column + 1 : 0);
	pl_pb_end(w, inner);
	inner = pl_pb_begin(w, LOCATION_ATTRIBUTES);
	pl_pb_raw_u64(w, t->origin_attributes[f->origin]);
	pl_pb_end(w, inner);
	pl_pb_end(w, m);
}

static void write_function(const struct pl_otlp_tables *t, struct pl_pb *w, size_t i)
{
	const struct pl_symbol_function *f = &t->symbols.functions.data[i];
	size_t m = pl_pb_begin(w, TABLE_FUNCTION);

	pl_pb_u64(w, FUNCTION_NAME, f->name);
	pl_pb_u64(w, FUNCTION_SYSTEM_NAME, f->system_name);
	pl_pb_u64(w, FUNCTION_FILE, f->file);
	pl_pb_u64(w, FUNCTION_START, f->firstline);
	pl_pb_end(w, m);
}

static void write_attribute(const struct pl_otlp_tables *t, struct pl_pb *w, size_t i)
{
	const struct pl_otlp_attribute *a = &t->attributes.data[i];
	size_t m = pl_pb_begin(w, TABLE_ATTRIBUTE), len = 0;
	const char *text = a->text ? pl_strtab_get(t->symbols.strings, a->text, &len) : NULL;

	if (i) {
		pl_pb_u64(w, ATTRIBUTE_KEY, a->key);
		pl_otlp_any(w, ATTRIBUTE_VALUE, text, len, a->number);
	}
	pl_pb_end(w, m);
}

/* The innermost frame first. */
static void write_stack(const struct pl_otlp_tables *t, struct pl_pb *w, size_t i)
{
	size_t m = pl_pb_begin(w, TABLE_STACK), packed;

	if (i) {
		packed = pl_pb_begin(w, STACK_LOCATIONS);
		for (uint32_t s = t->stacks.data[i], tag = t->symbols.tag_nodes[s]; s != tag;
		     s = t->p->stacks[s].parent)
			pl_pb_raw_u64(w, t->symbols.location_of[t->p->stacks[s].location] + 1ull);
		pl_pb_end(w, packed);
	}
	pl_pb_end(w, m);
}

static void write_string(const struct pl_otlp_tables *t, struct pl_pb *w, size_t i)
{
	size_t len;
	const char *text = pl_strtab_get(t->symbols.strings, (uint32_t)i, &len);

	pl_pb_item(w, TABLE_STRING, text, len);
}

struct rows {
	void (*write)(const struct pl_otlp_tables *t, struct pl_pb *w, size_t i);
	size_t count;
	uint32_t nothing; /* number of the table, if its row 0 is not among them */
};

static struct plumb_error *write_rows(const struct pl_otlp_tables *t, struct pl_pb *w, const struct rows *rows,
				      struct plumb_error *(*next)(void *ctx), void *ctx)
{
	struct plumb_error *err = NULL;

	if (rows->nothing)
		pl_pb_item(w, rows->nothing, "", 0);
	for (size_t i = 0; i < rows->count && !err; i++) {
		rows->write(t, w, i);
		err = next(ctx);
	}
	return err;
}

struct plumb_error *pl_otlp_tables_write(struct pl_otlp_tables *t, struct pl_pb *w,
					 struct plumb_error *(*next)(void *ctx), void *ctx)
{
	const struct rows all[] = {
		{write_mapping, t->symbols.libraries.len, TABLE_MAPPING},
		{write_location, t->symbols.locations.len, TABLE_LOCATION},
		{write_function, t->symbols.functions.len, TABLE_FUNCTION},
		{NULL, 0, TABLE_LINK},
		{write_string, pl_strtab_count(t->symbols.strings), 0},
		{write_attribute, t->attributes.len, 0},
		{write_stack, t->stacks.len, 0},
	};
	struct plumb_error *err = NULL;

	for (size_t i = 0; i < sizeof all / sizeof *all && !err; i++)
		err = write_rows(t, w, &all[i], next, ctx);
	return err;
}
