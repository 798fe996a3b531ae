/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: the call tree for a flame graph: where each call begins, of all from left to right. flame.c draws it. */
#include <stdlib.h>

#include "views.h"

static const struct column columns[TABLE_COLUMNS] = {{NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}};

/* Those that one calls stand beside each other, below it. */
static void place(struct table *t)
{
	double *next = calloc((size_t)t->count + 1, sizeof *next); /* of each depth */

	for (size_t i = 0; next && i < t->count; i++) {
		struct row *r = &t->rows[i];

		if (r->depth >= t->count) /* there is a row for each depth above it */
			break;
		r->left = next[r->depth];
		next[r->depth] += r->weight;
		next[r->depth + 1] = r->left;
	}
	free(next);
}

/* What a call took itself is what is free below it. */
static void add_figures(const void *shares, struct row *r, const struct plumb_view_tree_row *row)
{
	view_tree_figures(shares, r, row);
	if (row->kind == PLUMB_VIEW_ROW_SELF)
		r->weight = 0;
}

struct plumb_error *view_flame(struct table *t, const struct choice *c, const struct look *l,
			       const struct strips *strips, bool unicode)
{
	enum plumb_view_tree which = c->all_code ? PLUMB_VIEW_TREE_ALL : PLUMB_VIEW_TREE_OWN;
	struct view_shares now = {.unicode = unicode};
	const struct view_tree tree = {plumb_view_tree_at, add_figures, &now, NULL, unicode};
	size_t count;

	t->columns = columns;
	t->title = "";
	struct plumb_error *err = view_shares_of(l->recent, which, &now);
	if (!err)
		err = plumb_view_tree(l->all, which, VIEW_TREE_MIN_SHARE, &count);
	if (!err) {
		view_tree_rows(t, &tree, l->all);
		place(t);
	}
	free(now.list);
	return err;
}
