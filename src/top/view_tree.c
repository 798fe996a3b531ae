/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: the call tree, of own code or of all. */
#include <stdlib.h>

#include "views.h"
#include "cell_text.h"

#define MIN_SHARE 0.005

static const struct column columns[TABLE_COLUMNS] = {
	{"5 s %", 5, 0}, {"total %", 7, 0}, {"95 %", 6, 60}, {"self %", 6, 50}};

struct known {
	uint64_t key;
	struct plumb_share total;
};

struct keys {
	uint64_t *of_depth; /* of the row that is open there */
	size_t room;
};

/* What a row is: itself, below what called it. */
static uint64_t key_of(struct keys *k, const struct plumb_view_tree_row *row)
{
	if (row->depth >= k->room) {
		size_t room = (size_t)row->depth * 2 + 64;
		uint64_t *grown = realloc(k->of_depth, room * sizeof *grown);

		if (!grown)
			return 0;
		k->of_depth = grown;
		k->room = room;
	}
	uint64_t seed = (row->depth ? k->of_depth[row->depth - 1] : 0) + (uint64_t)row->kind;
	return k->of_depth[row->depth] = table_function_key(seed, &row->function);
}

static int by_key(const void *va, const void *vb)
{
	const struct known *a = va, *b = vb;

	return (a->key > b->key) - (a->key < b->key);
}

/* All rows of @p v; NULL: there are none. */
static struct known *know(struct plumb_view *v, enum plumb_view_tree which, size_t *count, struct plumb_error **err)
{
	struct plumb_view_tree_row row = {.size = sizeof row};
	struct keys keys = {0};

	*count = 0;
	*err = v ? plumb_view_tree(v, which, 0, count) : NULL;
	struct known *known = *err || !*count ? NULL : calloc(*count, sizeof *known);
	for (size_t i = 0; known && plumb_view_tree_at(v, i, &row); i++)
		known[i] = (struct known){key_of(&keys, &row), row.function.total};
	if (known)
		qsort(known, *count, sizeof *known, by_key);
	free(keys.of_depth);
	return known;
}

static void fill(struct row *r, const struct plumb_view_tree_row *row, const struct plumb_share *now, bool unicode)
{
	const struct plumb_view_function *f = &row->function;

	r->function = *f;
	r->has_function = true;
	r->indent = (int)(row->depth < 1000 ? row->depth : 1000) * 2;
	r->name = f->qualname;
	cell_place(f, r->tail, sizeof r->tail);
	view_percent(r->figures[0], now);
	view_percent(r->figures[1], &f->total);
	view_interval(r->figures[2], &f->total, unicode);
	view_percent(r->figures[3], &f->self);
	r->tone = row->kind == PLUMB_VIEW_ROW_LIBRARY ? TONE_FAINT : f->self.share >= VIEW_HOT ? TONE_HOT : TONE_PLAIN;
}

static const char *sign_of(const struct row *r, const struct plumb_view_tree_row *row, bool unicode)
{
	if (row->kind == PLUMB_VIEW_ROW_SELF)
		return "itself: ";
	if (r->has_children)
		return r->open ? (unicode ? "\xe2\x96\xbe " : "- ") : (unicode ? "\xe2\x96\xb8 " : "+ ");
	return row->kind == PLUMB_VIEW_ROW_LIBRARY ? "library: " : "  ";
}

static void add_rows(struct table *t, const struct choice *c, struct plumb_view *v, const struct known *known,
		     size_t known_count, bool unicode)
{
	struct plumb_view_tree_row row = {.size = sizeof row}, next = {.size = sizeof next};
	uint32_t shut_below = UINT32_MAX;
	struct keys keys = {0};

	for (size_t i = 0; plumb_view_tree_at(v, i, &row); i++) {
		struct known sought = {.key = key_of(&keys, &row)};

		if (row.depth > shut_below)
			continue;
		shut_below = UINT32_MAX;
		const struct known *now = known ? bsearch(&sought, known, known_count, sizeof *known, by_key) : NULL;
		struct row *r = table_add(t);
		if (!r)
			break;
		r->key = sought.key;
		fill(r, &row, now ? &now->total : &sought.total, unicode);
		r->has_children = plumb_view_tree_at(v, i + 1, &next) && next.depth > row.depth;
		r->open = !shut_has(&c->shut, r->key);
		r->sign = sign_of(r, &row, unicode);
		if (r->has_children && !r->open)
			shut_below = row.depth;
	}
	free(keys.of_depth);
}

struct plumb_error *view_tree(struct table *t, const struct choice *c, const struct look *l,
			      const struct strips *strips, bool unicode)
{
	enum plumb_view_tree which = c->all_code ? PLUMB_VIEW_TREE_ALL : PLUMB_VIEW_TREE_OWN;
	struct plumb_error *err;
	size_t count, known_count;

	t->columns = columns;
	t->title = c->all_code ? "calls, all code" : "calls, own code";
	struct known *known = know(l->recent, which, &known_count, &err);
	if (!err)
		err = plumb_view_tree(l->all, which, MIN_SHARE, &count);
	if (!err) {
		table_clear(t);
		add_rows(t, c, l->all, known, known_count, unicode);
		table_ready(t);
	}
	free(known);
	return err;
}
