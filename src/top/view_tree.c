/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: the call tree, of own code or of all, and what other trees have of it. */
#include <stdlib.h>

#include "views.h"
#include "cell_text.h"

#define MAX_INDENT 1000

static const struct column columns[TABLE_COLUMNS] = {
	{"5 s %", 5, 0}, {"total %", 7, 0}, {"95 %", 6, 60}, {"self %", 6, 50}};

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

/* ---- what rows took in the last seconds -------------------------------------------------------------------------- */

static int by_key(const void *va, const void *vb)
{
	const struct view_share *a = va, *b = vb;

	return (a->key > b->key) - (a->key < b->key);
}

struct plumb_error *view_shares_of(struct plumb_view *v, enum plumb_view_tree which, struct view_shares *ret)
{
	struct plumb_view_tree_row row = {.size = sizeof row};
	struct keys keys = {0};
	struct plumb_error *err = v ? plumb_view_tree(v, which, 0, &ret->count) : NULL;

	if (err || !v || !ret->count)
		return err;
	ret->list = calloc(ret->count, sizeof *ret->list);
	for (size_t i = 0; ret->list && plumb_view_tree_at(v, i, &row); i++)
		ret->list[i] = (struct view_share){key_of(&keys, &row), row.function.total};
	if (ret->list)
		qsort(ret->list, ret->count, sizeof *ret->list, by_key);
	free(keys.of_depth);
	return NULL;
}

void view_tree_figures(const void *ctx, struct row *r, const struct plumb_view_tree_row *row)
{
	const struct view_shares *shares = ctx;
	struct view_share sought = {.key = r->key}, *now = NULL;
	const struct plumb_view_function *f = &row->function;

	if (shares->list)
		now = bsearch(&sought, shares->list, shares->count, sizeof sought, by_key);
	view_percent(r->figures[0], now ? &now->total : &sought.total);
	view_percent(r->figures[1], &f->total);
	view_interval(r->figures[2], &f->total, shares->unicode);
	view_percent(r->figures[3], &f->self);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static const char *sign_of(const struct row *r, const struct plumb_view_tree_row *row, bool unicode)
{
	if (row->kind == PLUMB_VIEW_ROW_SELF)
		return "itself: ";
	if (r->has_children)
		return r->open ? (unicode ? "\xe2\x96\xbe " : "- ") : (unicode ? "\xe2\x96\xb8 " : "+ ");
	return row->kind == PLUMB_VIEW_ROW_LIBRARY ? "library: " : "  ";
}

static void fill(struct row *r, const struct plumb_view_tree_row *row)
{
	const struct plumb_view_function *f = &row->function;

	r->function = *f;
	r->has_function = true;
	r->depth = row->depth;
	r->indent = (int)(row->depth < MAX_INDENT ? row->depth : MAX_INDENT) * 2;
	r->name = f->qualname;
	r->weight = f->total.share;
	cell_place(f, r->tail, sizeof r->tail);
	r->tone = row->kind == PLUMB_VIEW_ROW_LIBRARY ? TONE_FAINT : f->self.share >= VIEW_HOT ? TONE_HOT : TONE_PLAIN;
}

void view_tree_rows(struct table *t, const struct view_tree *tree, const struct plumb_view *v)
{
	struct plumb_view_tree_row row = {.size = sizeof row}, next = {.size = sizeof next};
	uint32_t shut_below = UINT32_MAX;
	struct keys keys = {0};

	table_clear(t);
	for (size_t i = 0; tree->at(v, i, &row); i++) {
		uint64_t key = key_of(&keys, &row);

		if (row.depth > shut_below)
			continue;
		shut_below = UINT32_MAX;
		struct row *r = table_add(t);
		if (!r)
			break;
		r->key = key;
		fill(r, &row);
		r->has_children = tree->at(v, i + 1, &next) && next.depth > row.depth;
		r->open = !tree->shut || !shut_has(tree->shut, r->key);
		r->sign = sign_of(r, &row, tree->unicode);
		tree->more(tree->ctx, r, &row);
		if (r->has_children && !r->open)
			shut_below = row.depth;
	}
	free(keys.of_depth);
	table_ready(t);
}

struct plumb_error *view_tree(struct table *t, const struct choice *c, const struct look *l,
			      const struct strips *strips, bool unicode)
{
	enum plumb_view_tree which = c->all_code ? PLUMB_VIEW_TREE_ALL : PLUMB_VIEW_TREE_OWN;
	struct view_shares now = {.unicode = unicode};
	const struct view_tree tree = {plumb_view_tree_at, view_tree_figures, &now, &c->shut, unicode};
	size_t count;

	t->columns = columns;
	t->title = c->all_code ? "calls, all code" : "calls, own code";
	struct plumb_error *err = view_shares_of(l->recent, which, &now);
	if (!err)
		err = plumb_view_tree(l->all, which, VIEW_TREE_MIN_SHARE, &count);
	if (!err)
		view_tree_rows(t, &tree, l->all);
	free(now.list);
	return err;
}
