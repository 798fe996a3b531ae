/* SPDX-License-Identifier: Apache-2.0 */
/* The geometry of a flame graph. Layer export; any thread.
 *
 * The rows of the call tree come depth first, the heaviest sibling first: one pass places them, with the next free
 * place of each depth. What is too narrow to be seen is not left out: it goes into the strip of its depth, which ends
 * where a box or a gap follows. */
#include "svg_layout.h"

#include <assert.h>
#include <string.h>

#include "frame_name.h"
#include "map.h"

#define NO_ROW UINT32_MAX

/* What the threads did where a row is the end of the stack. */
struct doing {
	uint64_t waiting, in_gc;
};

struct strip {
	struct pl_svg_box box;
	double end;
};

struct layout {
	const struct plumb_profile *p;
	struct pl_svg_layout *l;
	double min_width;
	pl_tree_rows rows;
	struct doing *doing; /* per row */
	PL_VEC(double) next; /* per depth: where the next box begins */
	PL_VEC(struct strip) strips;
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

	for (uint32_t i = 0; ok && i < y->rows.len; i++) {
		const struct pl_tree_row *r = &y->rows.data[i];
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

		if (d && (c->state & PL_STATE_IN_GC))
			d->in_gc += cost;
		else if (d && !(c->state & (PL_STATE_ON_CPU | PL_STATE_UNKNOWN)))
			d->waiting += cost;
	}
	pl_map_deinit(&rows);
	free(row_of);
	return err;
}

static bool holds(struct pl_text t, const char *part)
{
	return memmem(t.s, t.len, part, strlen(part)) != NULL;
}

static uint8_t kind_of_function(const struct plumb_profile *p, const struct pl_function *f)
{
	struct pl_text file = pl_text_of(p, f->file);

	switch (f->origin) {
	case PL_ORIGIN_PYTHON:
		if (!pl_frame_is_library(p, f))
			return PL_SVG_APPLICATION;
		return holds(file, "/site-packages/") || holds(file, "/dist-packages/") ? PL_SVG_LIBRARY
											: PL_SVG_STANDARD;
	case PL_ORIGIN_NATIVE:
		return PL_SVG_NATIVE;
	case PL_ORIGIN_KERNEL:
		return PL_SVG_KERNEL;
	default:
		return PL_SVG_OTHER;
	}
}

/* A box has the colour of what its threads did only where that is most of what it stands for: its callers did not wait,
 * they called. */
static uint8_t kind_of(const struct layout *y, uint32_t row)
{
	const struct pl_tree_row *r = &y->rows.data[row];
	uint64_t half = cost_of(y, &r->total) / 2;

	if (y->doing[row].in_gc > half)
		return PL_SVG_GC;
	if (y->doing[row].waiting > half)
		return PL_SVG_WAITING;
	return kind_of_function(y->p, &y->p->functions[r->function]);
}

static bool end_strip(struct layout *y, uint32_t depth)
{
	struct strip *s = &y->strips.data[depth];
	struct pl_svg_box box = s->box;

	s->box.frames = 0;
	if (box.frames == 0)
		return true;
	box.width = s->end - box.x > y->min_width ? s->end - box.x : y->min_width;
	return pl_vec_push(&y->l->boxes, box);
}

static bool add_to_strip(struct layout *y, const struct pl_svg_box *box)
{
	struct strip *s = &y->strips.data[box->depth];

	if (s->box.frames && box->x - s->end > y->min_width && !end_strip(y, box->depth))
		return false;
	if (s->box.frames == 0)
		s->box = (struct pl_svg_box){.x = box->x, .depth = box->depth, .kind = PL_SVG_NARROW};
	s->box.frames++;
	s->box.total.samples += box->total.samples;
	s->box.total.weight_ns += box->total.weight_ns;
	s->box.total.share += box->total.share;
	s->end = box->x + box->width;
	return true;
}

static bool reach_depth(struct layout *y, uint32_t depth)
{
	while (y->next.len <= depth + 1) {
		if (!pl_vec_push(&y->next, 0.0) || !pl_vec_push(&y->strips, (struct strip){0}))
			return false;
	}
	if (depth > y->l->depth)
		y->l->depth = depth;
	return true;
}

static bool place(struct layout *y, uint32_t row)
{
	const struct pl_tree_row *r = &y->rows.data[row];
	struct pl_svg_box box = {.depth = r->depth + 1, .function = r->function, .line = r->line, .total = r->total};

	if (!reach_depth(y, box.depth))
		return false;
	box.x = y->next.data[box.depth];
	box.width = fraction(y, &r->total);
	y->next.data[box.depth] = box.x + box.width;
	y->next.data[box.depth + 1] = box.x;
	if (box.width < y->min_width)
		return add_to_strip(y, &box);
	box.kind = kind_of(y, row);
	return end_strip(y, box.depth) && pl_vec_push(&y->l->boxes, box);
}

static bool place_all(struct layout *y)
{
	const struct pl_totals *t = &y->l->totals;
	struct pl_svg_box all = {.width = 1, .kind = PL_SVG_OTHER};
	bool ok;

	all.total = (struct pl_share){.samples = t->samples, .weight_ns = t->weight_ns, .share = 1};
	ok = pl_vec_push(&y->l->boxes, all);
	for (uint32_t i = 0; ok && i < y->rows.len; i++)
		ok = place(y, i);
	for (uint32_t d = 0; ok && d < y->strips.len; d++)
		ok = end_strip(y, d);
	return ok;
}

struct plumb_error *pl_svg_layout_make(const struct plumb_profile *p, bool lines, double min_width,
				       struct pl_svg_layout *ret)
{
	const struct pl_filter everything = {.idle = PL_IDLE_KEEP, .lines = lines};
	struct pl_svg_layout l = {0};
	struct layout y = {.p = p, .l = &l, .min_width = min_width};
	struct plumb_error *err = pl_view_totals(p, &everything, &l.totals);

	if (!err)
		err = pl_view_tree(p, &everything, 0, &y.rows);
	y.doing = calloc(y.rows.len + 1, sizeof *y.doing);
	if (!err && !y.doing)
		err = &pl_err_no_memory;
	if (!err)
		err = find_doing(&y, lines);
	if (!err && !place_all(&y))
		err = &pl_err_no_memory;
	pl_vec_deinit(&y.rows);
	pl_vec_deinit(&y.next);
	pl_vec_deinit(&y.strips);
	free(y.doing);
	if (err)
		pl_svg_layout_deinit(&l);
	else
		*ret = l;
	return err;
}

void pl_svg_layout_deinit(struct pl_svg_layout *l)
{
	pl_vec_deinit(&l->boxes);
}
