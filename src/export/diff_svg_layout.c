/* SPDX-License-Identifier: Apache-2.0 */
/* The geometry of a differential flame graph. Layer export; any thread.
 *
 * Two trees stand side by side in one measure. The first is the profile after. The second is what it cannot show: the
 * paths that only the profile before has, as wide as they were there, on top of callers that may still be there and are
 * as wide as what they no longer call. */
#include "diff_svg_layout.h"

#include <stdlib.h>
#include <string.h>

#include "frame_name.h"

#define NO_ROW	   PL_DIFF_NO_ROW
#define GAP	   0.005  /* of the picture, between the trees */
#define ROOT_LEAST 0.0025 /* the second one is not overlooked */

/* One of the trees. Rows without samples are not in it. */
struct tree {
	const struct pl_diff *d;
	struct pl_share *rows; /* per row */
	struct pl_share root;
	uint32_t *order;	/* the rows, siblings side by side, the heaviest first */
	uint32_t *first, *next; /* child, sibling; NO_ROW: none */
	uint32_t outermost;
};

bool pl_diff_svg_is_gone(const struct pl_diff_row *r)
{
	return r->total.after_samples == 0;
}

static void add(struct pl_share *into, const struct pl_share *s)
{
	into->samples += s->samples;
	into->share += s->share;
}

static struct pl_share *parent_of(struct tree *t, uint32_t row)
{
	uint32_t parent = t->d->table[row].parent;

	return parent == NO_ROW ? &t->root : &t->rows[parent];
}

/* Of a function there is no whole: it is what the outermost frames have. */
static void measure_after(struct tree *t)
{
	for (uint32_t r = 0; r < t->d->row_count; r++) {
		const struct pl_diff_value *v = &t->d->table[r].total;

		t->rows[r] = (struct pl_share){.samples = v->after_samples, .share = v->after};
		if (t->d->table[r].parent == NO_ROW)
			add(&t->root, &t->rows[r]);
	}
	if (t->d->scale != PL_DIFF_BY_FUNCTION)
		t->root = (struct pl_share){.samples = t->d->sides[PL_DIFF_AFTER].samples, .share = 1};
}

/* What is called by something that is gone is in that one's figures already. */
static void measure_gone(struct tree *t)
{
	for (uint32_t r = t->d->row_count; r-- > 0;) {
		const struct pl_diff_row *row = &t->d->table[r];

		if (pl_diff_svg_is_gone(row))
			t->rows[r] =
				(struct pl_share){.samples = row->total.before_samples, .share = row->total.before};
		if (row->parent == NO_ROW || !pl_diff_svg_is_gone(&t->d->table[row->parent]))
			add(parent_of(t, r), &t->rows[r]);
	}
}

static struct pl_text name_of(const struct pl_diff *d, uint32_t row)
{
	const struct pl_diff_key *k = &d->keys[d->table[row].key];

	return pl_frame_qualname(k->profile, &k->profile->functions[k->function]);
}

static int compare_rows(const void *va, const void *vb, void *ctx)
{
	const struct tree *t = ctx;
	uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;
	uint32_t parent_a = t->d->table[a].parent, parent_b = t->d->table[b].parent;
	int names;

	if (parent_a != parent_b)
		return parent_a < parent_b ? -1 : 1;
	if (t->rows[a].share != t->rows[b].share)
		return t->rows[a].share > t->rows[b].share ? -1 : 1;
	names = strcmp(name_of(t->d, a).s, name_of(t->d, b).s);
	return names ? names : (a > b) - (a < b);
}

static void link_rows(struct tree *t)
{
	uint32_t count = t->d->row_count;

	for (uint32_t r = 0; r < count; r++)
		t->order[r] = r;
	qsort_r(t->order, count, sizeof *t->order, compare_rows, t);
	memset(t->first, 0xff, count * sizeof *t->first);
	t->outermost = NO_ROW;
	for (uint32_t i = count; i-- > 0;) {
		uint32_t r = t->order[i], parent = t->d->table[r].parent;
		uint32_t *list = parent == NO_ROW ? &t->outermost : &t->first[parent];

		t->next[r] = *list;
		if (t->rows[r].samples)
			*list = r;
	}
}

static bool tree_init(struct tree *t, const struct pl_diff *d)
{
	size_t count = (size_t)d->row_count + 1;

	t->d = d;
	t->rows = calloc(count, sizeof *t->rows);
	t->order = calloc(count, sizeof *t->order);
	t->first = calloc(count, sizeof *t->first);
	t->next = calloc(count, sizeof *t->next);
	return t->rows && t->order && t->first && t->next;
}

static void tree_deinit(struct tree *t)
{
	free(t->rows);
	free(t->order);
	free(t->first);
	free(t->next);
}

/* One share is @p unit of the picture wide. */
static bool place(const struct tree *t, double x, double unit, double least, struct pl_svg_boxes *boxes)
{
	double width = t->root.share * unit;
	bool ok = pl_svg_boxes_root(boxes, x, width > least ? width : least, &t->root);
	uint32_t row = t->outermost, depth = 1;

	while (ok && row != NO_ROW) {
		ok = pl_svg_boxes_frame(boxes, depth, t->rows[row].share * unit, row, &t->rows[row]);
		if (t->first[row] != NO_ROW) {
			row = t->first[row];
			depth++;
			continue;
		}
		for (; row != NO_ROW && t->next[row] == NO_ROW; depth--)
			row = t->d->table[row].parent;
		row = row == NO_ROW ? row : t->next[row];
	}
	return ok && pl_svg_boxes_end(boxes);
}

static bool place_both(const struct tree *after, const struct tree *gone, struct pl_diff_svg_layout *l)
{
	double shares = after->root.share + gone->root.share, room = 1 - GAP - ROOT_LEAST, unit;

	if (!gone->root.samples)
		room = 1;
	unit = shares > 0 ? room / shares : 0;
	if (!place(after, 0, unit, 0, &l->boxes))
		return false;
	l->gone = l->boxes.list.len;
	return !gone->root.samples || place(gone, after->root.share * unit + GAP, unit, ROOT_LEAST, &l->boxes);
}

struct plumb_error *pl_diff_svg_layout_make(const struct pl_diff *d, double min_width, struct pl_diff_svg_layout *ret)
{
	struct pl_diff_svg_layout l = {.boxes = {.min_width = min_width}};
	struct tree after = {0}, gone = {0};
	bool ok = tree_init(&after, d) && tree_init(&gone, d);

	if (ok) {
		measure_after(&after);
		link_rows(&after);
		measure_gone(&gone);
		link_rows(&gone);
		ok = place_both(&after, &gone, &l);
	}
	tree_deinit(&after);
	tree_deinit(&gone);
	if (!ok) {
		pl_svg_boxes_deinit(&l.boxes);
		return &pl_err_no_memory;
	}
	*ret = l;
	return NULL;
}

void pl_diff_svg_layout_deinit(struct pl_diff_svg_layout *l)
{
	pl_svg_boxes_deinit(&l->boxes);
}
