/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of functions, locations and strings for binary formats (layer export). One thread at a time. */
#include "symbols.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "frame_name.h"
#include "index.h"
#include "map.h"
#include "size_limit.h"
#include "utf8.h"

#define TEXT_MAX   ((size_t)1 << 31)
#define FRAMES_MAX 1e9 /* of all stacks that are written; readers of protobuf take no more than 2 GiB */

struct plumb_error *pl_symbols_bytes(struct pl_symbols *s, const void *text, size_t len, uint32_t *ret)
{
	struct pl_buf valid = PL_BUF_INIT(TEXT_MAX);
	struct plumb_error *err = pl_utf8_add_valid(&valid, text, len);

	if (!err)
		err = pl_strtab_add(s->strings, valid.len ? (const void *)valid.data : "", valid.len, ret);
	pl_buf_deinit(&valid);
	return err;
}

struct plumb_error *pl_symbols_text(struct pl_symbols *s, const char *text, uint32_t *ret)
{
	return pl_symbols_bytes(s, text, strlen(text), ret);
}

struct plumb_error *pl_symbols_string(struct pl_symbols *s, uint32_t string, uint32_t *ret)
{
	struct pl_text t = pl_text_of(s->p, string);
	struct plumb_error *err;
	uint32_t id;

	if (s->string_of[string]) {
		*ret = s->string_of[string] - 1;
		return NULL;
	}
	err = pl_symbols_bytes(s, t.s, t.len, &id);
	if (err)
		return err;
	s->string_of[string] = id + 1;
	*ret = id;
	return NULL;
}

/* *ret: 1 + the index of the file of @p f, where its build is known. */
static struct plumb_error *library_of(struct pl_symbols *s, const struct pl_function *f, uint32_t *ret)
{
	const uint32_t build_id = f->origin == PL_ORIGIN_NATIVE ? pl_profile_build_id(s->p, f->file) : 0;
	struct pl_symbol_library l = {0};
	uint32_t index = (uint32_t)s->libraries.len;

	*ret = 0;
	if (!build_id)
		return NULL;
	struct plumb_error *err = pl_symbols_string(s, f->file, &l.file);
	if (err)
		return err;
	if (!pl_map_get(&s->library_of, l.file, 0, &index)) {
		err = pl_symbols_string(s, build_id, &l.build_id);
		if (err)
			return err;
		if (!pl_vec_push(&s->libraries, l) || !pl_map_set(&s->library_of, l.file, 0, index))
			return &pl_err_no_memory;
	}
	*ret = 1 + index;
	return NULL;
}

static struct plumb_error *describe(struct pl_symbols *s, const struct pl_function *f, struct pl_symbol_function *ret)
{
	struct plumb_error *err = pl_symbols_string(s, f->qualname ? f->qualname : f->name, &ret->name);

	if (!err)
		err = pl_symbols_string(s, f->name, &ret->system_name);
	if (!err)
		err = pl_symbols_string(s, pl_function_source(f), &ret->file);
	if (!err)
		err = library_of(s, f, &ret->library);
	if (ret->system_name == ret->name)
		ret->system_name = 0;
	ret->firstline = f->firstline;
	ret->origin = f->origin;
	return err;
}

static struct plumb_error *add_function(struct pl_symbols *s, struct pl_map *seen, uint32_t function, uint32_t *ret)
{
	struct pl_symbol_function f = {0};
	struct plumb_error *err = describe(s, &s->p->functions[function], &f);
	/* String ids have 31 bits: the origin's three fit beside them. */
	uint64_t k0 = (uint64_t)(f.name | (f.origin & 1u) << 31) << 32 | f.file | (uint32_t)(f.origin & 2) << 30;
	uint64_t k1 = (uint64_t)f.firstline << 32 | f.system_name | (uint32_t)(f.origin & 4) << 29;

	if (err || pl_map_get(seen, k0, k1, ret))
		return err;
	if (!pl_vec_push(&s->functions, f) || !pl_map_set(seen, k0, k1, (uint32_t)s->functions.len - 1))
		return &pl_err_no_memory;
	s->origins[f.origin] = true;
	*ret = (uint32_t)s->functions.len - 1;
	return NULL;
}

static struct plumb_error *add_location(struct pl_symbols *s, struct pl_map *seen, uint32_t function, uint32_t location)
{
	const struct pl_location *l = &s->p->locations[location];
	struct pl_symbol_location out = {.function = function, .line = l->line, .column = l->column};
	uint64_t k0 = (uint64_t)function << 32 | (uint32_t)l->line, k1 = (uint32_t)l->column;

	if (pl_map_get(seen, k0, k1, &s->location_of[location]))
		return NULL;
	s->location_of[location] = (uint32_t)s->locations.len;
	return pl_vec_push(&s->locations, out) && pl_map_set(seen, k0, k1, s->location_of[location])
		       ? NULL
		       : &pl_err_no_memory;
}

/* Parents have smaller ids than their children: from the last to the first, marks reach the roots. */
static struct plumb_error *mark_used(const struct plumb_profile *p, bool *locations)
{
	bool *stacks = calloc(p->stack_count + 1, 1);

	if (!stacks)
		return &pl_err_no_memory;
	for (uint32_t i = 0; i < p->cell_count; i++)
		stacks[p->cells[i].stack] |= p->cells[i].samples > 0;
	for (uint32_t i = p->stack_count; i-- > 1;) {
		const struct pl_stack *node = &p->stacks[i];

		if (!stacks[i])
			continue;
		stacks[node->parent] = true;
		locations[node->location] |=
			node->parent || !p->functions[p->locations[node->location].function].labels;
	}
	free(stacks);
	return NULL;
}

static struct plumb_error *add_used(struct pl_symbols *s, const bool *used)
{
	struct pl_map functions = PL_MAP_INIT, locations = PL_MAP_INIT;
	struct plumb_error *err = NULL;
	uint32_t function = 0;

	for (uint32_t i = 0; i < s->p->location_count && !err; i++) {
		if (!used[i])
			continue;
		err = add_function(s, &functions, s->p->locations[i].function, &function);
		if (!err)
			err = add_location(s, &locations, function, i);
	}
	pl_map_deinit(&functions);
	pl_map_deinit(&locations);
	return err;
}

/* A label that is called as something of the format gets another name, which is told from all names. */
static struct plumb_error *label_name(struct pl_symbols *s, const struct pl_label *l, uint32_t *ret)
{
	bool taken = strncmp(l->name, PL_SYMBOLS_PREFIX, strlen(PL_SYMBOLS_PREFIX)) == 0;

	for (const char *const *r = s->reserved; *r && !taken; r++)
		taken = strcmp(l->name, *r) == 0;
	if (!taken)
		return pl_symbols_bytes(s, l->name, l->name_len, ret);
	struct pl_buf name = PL_BUF_INIT(TEXT_MAX);
	struct plumb_error *err = pl_buf_printf(&name, PL_SYMBOLS_PREFIX "%s", l->name);
	if (!err)
		err = pl_symbols_bytes(s, name.data, name.len, ret);
	pl_buf_deinit(&name);
	return err;
}

static struct plumb_error *add_tag(struct pl_symbols *s, uint32_t function)
{
	struct pl_label labels[PL_LABELS_MAX];
	struct pl_symbol_tag tag = {.count = pl_function_labels(s->p, function, labels)};
	struct plumb_error *err = NULL;

	for (unsigned i = 0; i < tag.count && !err; i++) {
		err = label_name(s, &labels[i], &tag.labels[i].name);
		if (!err)
			err = pl_symbols_bytes(s, labels[i].value, labels[i].value_len, &tag.labels[i].value);
	}
	if (!err && !pl_vec_push(&s->tags, tag))
		err = &pl_err_no_memory;
	s->tag_of[function] = (uint32_t)s->tags.len;
	return err;
}

struct plumb_error *pl_symbols_tag(struct pl_symbols *s, uint32_t node, const struct pl_symbol_tag **ret)
{
	static const struct pl_symbol_tag none;
	uint32_t function = node ? s->p->locations[s->p->stacks[node].location].function : 0;
	struct plumb_error *err = node && !s->tag_of[function] ? add_tag(s, function) : NULL;

	*ret = node && !err ? &s->tags.data[s->tag_of[function] - 1] : &none;
	return err;
}

struct plumb_error *pl_symbols_init(struct pl_symbols *s, const struct plumb_profile *p, const char *const *reserved)
{
	bool *used = calloc(p->location_count + 1, 1);
	struct plumb_error *err;

	*s = (struct pl_symbols){.p = p, .reserved = reserved};
	err = used ? mark_used(p, used) : &pl_err_no_memory;
	s->location_of = calloc(p->location_count + 1, sizeof *s->location_of);
	s->string_of = calloc(pl_strtab_count(p->strings) + 1, sizeof *s->string_of);
	s->tag_of = calloc((size_t)p->function_count + 1, sizeof *s->tag_of);
	s->tag_nodes = calloc((size_t)p->stack_count + 1, sizeof *s->tag_nodes);
	if (!err && (!s->location_of || !s->string_of || !s->tag_of || !s->tag_nodes))
		err = &pl_err_no_memory;
	if (!err)
		pl_tag_nodes(p, s->tag_nodes);
	if (!err)
		err = pl_strtab_create(&s->strings);
	if (!err)
		err = add_used(s, used);
	free(used);
	if (err)
		pl_symbols_deinit(s);
	return err;
}

void pl_symbols_deinit(struct pl_symbols *s)
{
	pl_strtab_destroy(s->strings);
	pl_vec_deinit(&s->functions);
	pl_vec_deinit(&s->locations);
	pl_vec_deinit(&s->libraries);
	pl_map_deinit(&s->library_of);
	free(s->location_of);
	free(s->string_of);
	free(s->tag_of);
	free(s->tag_nodes);
	pl_vec_deinit(&s->tags);
	*s = (struct pl_symbols){0};
}

typedef PL_VEC(struct pl_symbol_group) pl_symbol_groups;

static int compare_groups(const void *a, const void *b)
{
	const struct pl_symbol_group *x = a, *y = b;

	if (x->stack != y->stack)
		return x->stack < y->stack ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->state != y->state ? x->state - y->state : x->quality - y->quality;
}

/* Neighbours that are equal become one. */
static void unite(pl_symbol_groups *groups)
{
	size_t n = 0;

	for (size_t i = 0; i < groups->len; i++) {
		struct pl_symbol_group *g = &groups->data[i];

		if (n && compare_groups(&groups->data[n - 1], g) == 0) {
			struct pl_symbol_group *last = &groups->data[n - 1];

			last->samples = pl_sum_u64(last->samples, g->samples);
			last->weight_ns = pl_sum_u64(last->weight_ns, g->weight_ns);
		} else {
			groups->data[n++] = *g;
		}
	}
	groups->len = n;
}

/* The cells with samples, by stack: those of stack n are cells[start[n]] to cells[start[n + 1] - 1]. */
struct by_stack {
	uint32_t *start, *cells;
};

/* Counting sort: four bytes for each cell and each stack. */
static bool sort_by_stack(const struct plumb_profile *p, struct by_stack *b)
{
	b->start = calloc((size_t)p->stack_count + 2, sizeof *b->start);
	b->cells = calloc((size_t)p->cell_count + 1, sizeof *b->cells);
	if (!b->start || !b->cells)
		return false;
	for (uint32_t i = 0; i < p->cell_count; i++)
		b->start[p->cells[i].stack + 2] += p->cells[i].samples > 0;
	for (uint32_t i = 2; i < p->stack_count + 1; i++)
		b->start[i + 1] += b->start[i];
	for (uint32_t i = 0; i < p->cell_count; i++)
		if (p->cells[i].samples)
			b->cells[b->start[p->cells[i].stack + 1]++] = i;
	return true;
}

static struct plumb_error *give_stack(const struct plumb_profile *p, const uint32_t *cells, uint32_t count,
				      pl_symbol_groups *groups, pl_symbol_group_fn *fn, void *ctx)
{
	struct plumb_error *err = NULL;

	pl_vec_clear(groups);
	if (!pl_vec_reserve(groups, count))
		return &pl_err_no_memory;
	for (uint32_t i = 0; i < count; i++) {
		const struct pl_cell *c = &p->cells[cells[i]];

		groups->data[groups->len++] =
			(struct pl_symbol_group){c->stack, c->thread, c->state, c->quality, c->samples, c->weight_ns};
	}
	if (groups->len)
		qsort(groups->data, groups->len, sizeof *groups->data, compare_groups);
	unite(groups);
	for (size_t i = 0; i < groups->len && !err; i++)
		err = fn(ctx, &groups->data[i]);
	return err;
}

struct plumb_error *pl_symbol_groups_each(const struct plumb_profile *p, pl_symbol_group_fn *fn, void *ctx)
{
	struct by_stack b = {0};
	pl_symbol_groups groups = {0};
	struct plumb_error *err = sort_by_stack(p, &b) ? NULL : &pl_err_no_memory;

	for (uint32_t i = 0; i < p->stack_count && !err; i++)
		err = give_stack(p, b.cells + b.start[i], b.start[i + 1] - b.start[i], &groups, fn, ctx);
	pl_vec_deinit(&groups);
	free(b.start);
	free(b.cells);
	return err;
}

struct plumb_error *pl_symbols_check_frames(double frames)
{
	if (frames <= FRAMES_MAX)
		return NULL;
	return pl_size_limit_exceeded(
		pl_error(PLUMB_ERR_LIMIT, "it would be the %.0f thousand million frames of the stacks of all samples",
			 frames / 1e9));
}
