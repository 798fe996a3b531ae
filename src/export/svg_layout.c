/* SPDX-License-Identifier: Apache-2.0 */
/* The flame graph of a profile: the rows of its call tree as boxes, and their categories. Layer export; any thread. The
 * rows come as svg_boxes.c wants them: depth first, the heaviest sibling first. */
#include "svg_layout.h"

#include <assert.h>

#include "categories.h"
#include "map.h"

#define NO_ROW UINT32_MAX

/* What the threads did where a row is the end of the stack. */
struct doing {
	uint64_t waiting, in_gc;
};

struct layout {
	const struct plumb_profile *p;
	struct pl_svg_layout *l;
	struct doing *doing;   /* per row */
	uint8_t *of_functions; /* categories */
};

/* Weights, or where no sample has any, samples. */
static uint64_t cost_of(const struct layout *y, const struct pl_share *s)
{
	return y->l->totals.weight_ns ? s->weight_ns : s->samples;
}

static double fraction(const struct layout *y, const struct pl_share *s)
{
	uint64_t all = y->l->totals.weight_ns ? y->l->totals.weight_ns : y->l->totals.samples;

	return all ? (double)cost_of(y, s) / (double)all : 0;
}

/* (row of the caller, function, line) -> row. */
static struct plumb_error *index_rows(const struct layout *y, struct pl_map *rows)
{
	PL_VEC(uint32_t) path = {0};
	bool ok = true;

	for (uint32_t i = 0; ok && i < y->l->rows.len; i++) {
		const struct pl_tree_row *r = &y->l->rows.data[i];
		uint32_t parent = NO_ROW;

		assert(r->depth <= path.len && (r->depth == 0 || path.data)); /* depth first */
		if (r->depth)
			parent = path.data[r->depth - 1];
		path.len = r->depth;
		ok = pl_vec_push(&path, i) &&
		     pl_map_set(rows, (uint64_t)r->function << 32 | (uint32_t)r->line, parent, i);
	}
	pl_vec_deinit(&path);
	return ok ? NULL : &pl_err_no_memory;
}

/* Parents have smaller ids than their children, so one pass maps the whole trie. */
static void map_stacks(const struct layout *y, const struct pl_map *rows, bool lines, uint32_t *row_of)
{
	const struct plumb_profile *p = y->p;

	row_of[0] = NO_ROW;
	for (uint32_t i = 1; i < p->stack_count; i++) {
		const struct pl_location *l = &p->locations[p->stacks[i].location];
		uint32_t parent = p->stacks[i].parent;
		uint64_t key = (uint64_t)l->function << 32 | (lines ? (uint32_t)l->line : 0);

		row_of[i] = NO_ROW;
		if (parent == 0 || row_of[parent] != NO_ROW)
			pl_map_get(rows, key, row_of[parent], &row_of[i]);
	}
}

static struct plumb_error *find_doing(struct layout *y, bool lines)
{
	const struct plumb_profile *p = y->p;
	uint32_t *row_of = calloc((size_t)p->stack_count + 1, sizeof *row_of);
	struct pl_map rows = PL_MAP_INIT;
	struct plumb_error *err = row_of ? index_rows(y, &rows) : &pl_err_no_memory;

	if (!err)
		map_stacks(y, &rows, lines, row_of);
	for (uint32_t i = 0; !err && i < p->cell_count; i++) {
		const struct pl_cell *c = &p->cells[i];
		struct doing *d = row_of[c->stack] == NO_ROW ? NULL : &y->doing[row_of[c->stack]];
		uint64_t cost = y->l->totals.weight_ns ? c->weight_ns : c->samples;

		enum pl_category doing = pl_category_of_state(c->state);

		if (d && doing == PL_CATEGORY_GC)
			d->in_gc += cost;
		else if (d && doing == PL_CATEGORY_WAITING)
			d->waiting += cost;
	}
	pl_map_deinit(&rows);
	free(row_of);
	return err;
}

/* A box has the colour of what its threads did only where that is most of what it stands for: its callers did not wait,
 * they called. */
static enum pl_category category_of(const struct layout *y, uint32_t row)
{
	const struct pl_tree_row *r = &y->l->rows.data[row];
	uint64_t half = cost_of(y, &r->total) / 2;

	if (y->doing[row].in_gc > half)
		return PL_CATEGORY_GC;
	if (y->doing[row].waiting > half)
		return PL_CATEGORY_WAITING;
	return y->of_functions[r->function];
}

/* There can be far more rows than functions, and a path may be long. */
static uint8_t *categories_of_functions(const struct plumb_profile *p)
{
	uint8_t *all = calloc((size_t)p->function_count + 1, sizeof *all);

	for (uint32_t i = 0; all && i < p->function_count; i++)
		all[i] = (uint8_t)pl_category_of_function(p, &p->functions[i]);
	return all;
}

static struct plumb_error *categorize(struct layout *y, bool lines)
{
	size_t rows = y->l->rows.len;
	struct plumb_error *err;

	y->doing = calloc(rows + 1, sizeof *y->doing);
	y->l->categories = calloc(rows + 1, sizeof *y->l->categories);
	y->of_functions = categories_of_functions(y->p);
	err = y->doing && y->l->categories && y->of_functions ? find_doing(y, lines) : &pl_err_no_memory;
	for (uint32_t i = 0; !err && i < rows; i++)
		y->l->categories[i] = (uint8_t)category_of(y, i);
	free(y->doing);
	free(y->of_functions);
	return err;
}

static struct plumb_error *place(const struct layout *y)
{
	const struct pl_totals *t = &y->l->totals;
	struct pl_share all = {.samples = t->samples, .weight_ns = t->weight_ns, .share = 1};
	struct pl_svg_boxes *boxes = &y->l->boxes;
	bool ok = pl_svg_boxes_root(boxes, 0, 1, &all);

	for (uint32_t i = 0; ok && i < y->l->rows.len; i++) {
		const struct pl_tree_row *r = &y->l->rows.data[i];

		ok = pl_svg_boxes_frame(boxes, r->depth + 1, fraction(y, &r->total), i, &r->total);
	}
	return ok && pl_svg_boxes_end(boxes) ? NULL : &pl_err_no_memory;
}

struct plumb_error *pl_svg_layout_make(const struct plumb_profile *p, bool lines, double min_width,
				       struct pl_svg_layout *ret)
{
	const struct pl_filter everything = {.idle = PL_IDLE_KEEP, .lines = lines};
	struct pl_svg_layout l = {.boxes = {.min_width = min_width}};
	struct layout y = {.p = p, .l = &l};
	struct plumb_error *err = pl_view_totals(p, &everything, &l.totals);

	if (!err)
		err = pl_view_tree(p, &everything, 0, &l.rows);
	if (!err)
		err = categorize(&y, lines);
	if (!err)
		err = place(&y);
	if (err)
		pl_svg_layout_deinit(&l);
	else
		*ret = l;
	return err;
}

void pl_svg_layout_deinit(struct pl_svg_layout *l)
{
	pl_svg_boxes_deinit(&l->boxes);
	pl_vec_deinit(&l->rows);
	free(l->categories);
}
