/* SPDX-License-Identifier: Apache-2.0 */
/* Functions, locations and strings of the report page (layer export; one thread at a time). Those on most nodes come
 * first: so the numbers that nodes are made of are short, and mostly the same. */
#include "page_parts.h"

#include <stdlib.h>
#include <string.h>

#include "categories.h"
#include "frame_name.h"
#include "module_name.h"
#include "utf8.h"

#define TEXT_MAX ((size_t)1 << 31)

struct order {
	const struct plumb_profile *p;
	const struct pl_page_tables *t;
	const uint32_t *nodes, *places; /* kept stacks of each function, of each location */
};

static int compare_functions(const void *va, const void *vb, void *ctx)
{
	const struct order *o = ctx;
	uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;

	if (o->nodes[a] != o->nodes[b])
		return o->nodes[a] > o->nodes[b] ? -1 : 1;
	return (a > b) - (a < b);
}

static int compare_locations(const void *va, const void *vb, void *ctx)
{
	const struct order *o = ctx;
	uint32_t i_a = *(const uint32_t *)va, i_b = *(const uint32_t *)vb;
	const struct pl_location *a = &o->p->locations[i_a], *b = &o->p->locations[i_b];
	const int32_t x[] = {a->line, a->column, a->end_line, a->end_column, a->opcode, a->inlined},
		      y[] = {b->line, b->column, b->end_line, b->end_column, b->opcode, b->inlined};

	if (a->function != b->function)
		return o->t->function_of[a->function] < o->t->function_of[b->function] ? -1 : 1;
	if (o->places[i_a] != o->places[i_b])
		return o->places[i_a] > o->places[i_b] ? -1 : 1;
	for (size_t i = 0; i < sizeof x / sizeof x[0]; i++) {
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	}
	return 0;
}

/* The functions and locations of kept stacks, and of how many. */
static void collect(struct pl_page_tables *t, const struct plumb_profile *p, const struct pl_page_nodes *n,
		    uint32_t *nodes, uint32_t *places)
{
	for (uint32_t i = 1; i < p->stack_count; i++) {
		uint32_t location = p->stacks[i].location;

		if (!n->kept[i])
			continue;
		if (places[location]++ == 0)
			t->locations[t->location_count++] = location;
		if (nodes[p->locations[location].function]++ == 0)
			t->functions[t->function_count++] = p->locations[location].function;
	}
}

static void number(struct pl_page_tables *t, const struct plumb_profile *p, const uint32_t *nodes,
		   const uint32_t *places)
{
	struct order o = {.p = p, .t = t, .nodes = nodes, .places = places};

	qsort_r(t->functions, t->function_count, sizeof *t->functions, compare_functions, &o);
	for (uint32_t i = 0; i < t->function_count; i++)
		t->function_of[t->functions[i]] = i;
	qsort_r(t->locations, t->location_count, sizeof *t->locations, compare_locations, &o);
	for (uint32_t i = 0; i < t->location_count; i++) {
		uint32_t before = i ? t->locations[i - 1] : 0;
		bool same = i && p->locations[before].function == p->locations[t->locations[i]].function;

		t->location_of[t->locations[i]] = same ? t->location_of[before] + 1 : 0;
	}
}

static uint32_t *filled(size_t count)
{
	uint32_t *a = malloc((count + 1) * sizeof *a);

	if (a)
		memset(a, 0xff, (count + 1) * sizeof *a); /* PL_PAGE_NONE */
	return a;
}

static bool allocate(struct pl_page_tables *t, const struct plumb_profile *p)
{
	*t = (struct pl_page_tables){.function_of = filled(p->function_count),
				     .functions = filled(p->function_count),
				     .location_of = filled(p->location_count),
				     .locations = filled(p->location_count),
				     .string_of =
					     calloc((size_t)pl_strtab_count(p->strings) + 1, sizeof *t->string_of)};
	return t->function_of && t->functions && t->location_of && t->locations && t->string_of;
}

struct plumb_error *pl_page_tables_init(struct pl_page_tables *t, const struct plumb_profile *p,
					const struct pl_page_nodes *n)
{
	uint32_t *nodes = calloc((size_t)p->function_count + 1, sizeof *nodes);
	uint32_t *places = calloc((size_t)p->location_count + 1, sizeof *places);
	struct plumb_error *err = allocate(t, p) && nodes && places ? NULL : &pl_err_no_memory;

	if (!err)
		err = pl_strtab_create(&t->strings);
	if (!err) {
		collect(t, p, n, nodes, places);
		number(t, p, nodes, places);
	}
	free(nodes);
	free(places);
	return err;
}

void pl_page_tables_deinit(struct pl_page_tables *t)
{
	pl_strtab_destroy(t->strings);
	free(t->function_of);
	free(t->functions);
	free(t->location_of);
	free(t->locations);
	free(t->string_of);
	*t = (struct pl_page_tables){0};
}

static struct plumb_error *add_valid(struct pl_page_tables *t, struct pl_text text, uint32_t *ret)
{
	struct pl_buf valid = PL_BUF_INIT(TEXT_MAX);
	struct plumb_error *err = pl_utf8_add_valid(&valid, text.s, text.len);

	if (!err)
		err = pl_strtab_add(t->strings, valid.len ? (const void *)valid.data : "", valid.len, ret);
	pl_buf_deinit(&valid);
	return err;
}

struct plumb_error *pl_page_string(struct pl_page_tables *t, const struct plumb_profile *p, uint32_t string,
				   uint32_t *ret)
{
	struct plumb_error *err = NULL;

	if (!t->string_of[string]) {
		err = add_valid(t, pl_text_of(p, string), ret);
		if (!err)
			t->string_of[string] = *ret + 1;
	}
	if (!err)
		*ret = t->string_of[string] - 1;
	return err;
}

static struct plumb_error *add_module(struct pl_page_tables *t, struct pl_text file, uint32_t *ret)
{
	struct pl_buf name = PL_BUF_INIT(TEXT_MAX);
	struct plumb_error *err = pl_module_name_add(&name, file);

	if (!err)
		err = add_valid(t, (struct pl_text){(const char *)name.data, name.len}, ret);
	pl_buf_deinit(&name);
	return err;
}

enum { NAME, QUALNAME, FILE_NAME, MODULE, TEXTS };

/* The texts of function @p f, one in each column. */
static struct plumb_error *add_texts(struct pl_page_tables *t, const struct plumb_profile *p,
				     const struct pl_function *f, struct pl_page_columns *columns, uint64_t *last)
{
	uint32_t id[TEXTS] = {0};
	struct plumb_error *err = pl_page_string(t, p, f->name, &id[NAME]);

	if (!err)
		err = pl_page_string(t, p, f->qualname ? f->qualname : f->name, &id[QUALNAME]);
	if (!err)
		err = pl_page_string(t, p, pl_function_source(f), &id[FILE_NAME]);
	if (!err)
		err = add_module(t, pl_text_of(p, f->file), &id[MODULE]);
	for (int i = 0; i < TEXTS && !err; i++)
		pl_page_column_delta(&columns[i], &last[i], id[i]);
	return err;
}

struct plumb_error *pl_page_functions_write(struct pl_page_tables *t, const struct plumb_profile *p, FILE *out)
{
	struct pl_page_columns all, texts[TEXTS];
	uint64_t last[TEXTS] = {0}, last_line = 0;
	struct plumb_error *err = NULL;

	pl_page_columns_init(&all);
	for (int i = 0; i < TEXTS; i++)
		pl_page_columns_init(&texts[i]);
	for (uint32_t i = 0; i < t->function_count && !err; i++)
		err = add_texts(t, p, &p->functions[t->functions[i]], texts, last);
	pl_page_column_u64(&all, t->function_count);
	for (int i = 0; i < TEXTS; i++)
		pl_page_columns_join(&all, &texts[i]);
	for (uint32_t i = 0; i < t->function_count; i++)
		pl_page_column_delta(&all, &last_line, p->functions[t->functions[i]].firstline);
	for (uint32_t i = 0; i < t->function_count; i++)
		pl_page_column_u64(&all, pl_category_of_function(p, &p->functions[t->functions[i]]));
	for (uint32_t i = 0; i < t->function_count; i++)
		pl_page_column_u64(&all, p->functions[t->functions[i]].origin);
	if (!err)
		return pl_page_columns_end(&all, PL_PAGE_FUNCTIONS, out);
	pl_page_columns_deinit(&all);
	return err;
}

static void write_counts(struct pl_page_columns *c, const struct pl_page_tables *t, const struct plumb_profile *p)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < t->function_count; i++) {
		uint32_t begin = at;

		while (at < t->location_count && p->locations[t->locations[at]].function == t->functions[i])
			at++;
		pl_page_column_u64(c, at - begin);
	}
}

static void write_lines(struct pl_page_columns *c, const struct pl_page_tables *t, const struct plumb_profile *p)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < t->location_count; i++) {
		const struct pl_location *l = &p->locations[t->locations[i]];

		if (t->location_of[t->locations[i]] == 0)
			last = p->functions[l->function].firstline;
		pl_page_column_delta(c, &last, (uint64_t)(int64_t)l->line);
	}
}

/* Most profiles have none. */
static void write_inlined(struct pl_page_columns *c, const struct pl_page_tables *t, const struct plumb_profile *p)
{
	bool any = false;

	for (uint32_t i = 0; i < t->location_count && !any; i++)
		any = p->locations[t->locations[i]].inlined;
	for (uint32_t i = 0; i < t->location_count && any; i++)
		pl_page_column_u64(c, p->locations[t->locations[i]].inlined);
}

struct plumb_error *pl_page_locations_write(const struct pl_page_tables *t, const struct plumb_profile *p, FILE *out)
{
	struct pl_page_columns c, end_lines, columns, end_columns, opcodes;

	pl_page_columns_init(&c);
	pl_page_columns_init(&end_lines);
	pl_page_columns_init(&columns);
	pl_page_columns_init(&end_columns);
	pl_page_columns_init(&opcodes);
	write_counts(&c, t, p);
	write_lines(&c, t, p);
	for (uint32_t i = 0; i < t->location_count; i++) {
		const struct pl_location *l = &p->locations[t->locations[i]];

		pl_page_column_i64(&end_lines, (int64_t)l->end_line - l->line);
		pl_page_column_i64(&columns, l->column);
		pl_page_column_i64(&end_columns, (int64_t)l->end_column - l->column);
		pl_page_column_u64(&opcodes, l->opcode);
	}
	pl_page_columns_join(&c, &end_lines);
	pl_page_columns_join(&c, &columns);
	pl_page_columns_join(&c, &end_columns);
	pl_page_columns_join(&c, &opcodes);
	write_inlined(&c, t, p);
	return pl_page_columns_end(&c, PL_PAGE_LOCATIONS, out);
}

struct plumb_error *pl_page_strings_write(const struct pl_page_tables *t, FILE *out)
{
	uint32_t count = pl_strtab_count(t->strings);
	struct pl_page_columns c;
	size_t len;

	pl_page_columns_init(&c);
	pl_page_column_u64(&c, count);
	for (uint32_t i = 0; i < count; i++) {
		pl_strtab_get(t->strings, i, &len);
		pl_page_column_u64(&c, len);
	}
	for (uint32_t i = 0; i < count; i++) {
		const char *text = pl_strtab_get(t->strings, i, &len);

		pl_page_columns_bytes(&c, text, len);
	}
	return pl_page_columns_end(&c, PL_PAGE_STRINGS, out);
}
