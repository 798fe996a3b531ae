/* SPDX-License-Identifier: Apache-2.0 */
/* An order of functions, locations and stacks by what they say. Layer export; pure, any thread.
 *
 * Two stacks may be alike for thousands of frames. So each has a rank, found once, level by level: by the rank of its
 * location, then by that of its parent. */
#include "stack_ranks.h"

#include <stdlib.h>
#include <string.h>

#include "frame_name.h"

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_texts(const struct plumb_profile *p, uint32_t a, uint32_t b)
{
	struct pl_text s = pl_text_of(p, a), t = pl_text_of(p, b);
	int order = a == b ? 0 : memcmp(s.s, t.s, s.len < t.len ? s.len : t.len);

	return order ? order : compare_u64(s.len, t.len);
}

int pl_order_functions(const struct plumb_profile *p, uint32_t a, uint32_t b)
{
	const struct pl_function *f = &p->functions[a], *g = &p->functions[b];
	int order = compare_texts(p, f->file, g->file);

	if (!order)
		order = compare_u64(f->firstline, g->firstline);
	return order ? order : compare_texts(p, f->qualname, g->qualname);
}

int pl_order_locations(const struct plumb_profile *p, uint32_t a, uint32_t b)
{
	const struct pl_location *l = &p->locations[a], *m = &p->locations[b];
	int order = pl_order_functions(p, l->function, m->function);

	if (!order)
		order = (l->line > m->line) - (l->line < m->line);
	return order ? order : (l->column > m->column) - (l->column < m->column);
}

struct ranking {
	const struct plumb_profile *p;
	uint32_t *order;	   /* scratch: ids of what is sorted */
	const uint32_t *locations; /* rank of each */
	uint32_t *ends;		   /* by depth: behind the last stack in order */
	uint32_t *ranks;
};

static int compare_locations(const void *a, const void *b, void *ctx)
{
	return pl_order_locations(((const struct ranking *)ctx)->p, *(const uint32_t *)a, *(const uint32_t *)b);
}

/* Of one depth, whose callers have their ranks. */
static int compare_stacks(const void *a, const void *b, void *ctx)
{
	const struct ranking *r = ctx;
	const struct pl_stack *s = &r->p->stacks[*(const uint32_t *)a], *t = &r->p->stacks[*(const uint32_t *)b];
	int order = compare_u64(r->locations[s->location], r->locations[t->location]);

	return order ? order : compare_u64(r->ranks[s->parent], r->ranks[t->parent]);
}

/* Those from order[from] on, before order[to]: a rank is 1 and the place of the first that says the same. */
static void rank(struct ranking *r, uint32_t from, uint32_t to, int (*compare)(const void *, const void *, void *),
		 uint32_t *ranks)
{
	const uint32_t *order = r->order;

	if (to - from > 1)
		qsort_r(r->order + from, to - from, sizeof *order, compare, r);
	for (uint32_t i = from; i < to; i++)
		ranks[order[i]] = i > from && compare(&order[i - 1], &order[i], r) == 0 ? ranks[order[i - 1]] : i + 1;
}

/* @return the depth of the deepest. A stack comes behind its parent. */
static uint32_t want_callers(struct ranking *r)
{
	const struct pl_stack *stacks = r->p->stacks;
	uint32_t deepest = 0;

	for (uint32_t i = r->p->stack_count; i-- > 1;) {
		if (!r->ranks[i])
			continue;
		r->ranks[stacks[i].parent] = 1;
		if (stacks[i].depth > deepest)
			deepest = stacks[i].depth;
	}
	r->ranks[0] = 0;
	return deepest;
}

/* Counting sort: ends has a place for each depth, and one more. */
static void sort_by_depth(struct ranking *r, uint32_t deepest)
{
	const struct pl_stack *stacks = r->p->stacks;

	for (uint32_t i = 1; i < r->p->stack_count; i++)
		if (r->ranks[i])
			r->ends[stacks[i].depth + 1]++;
	for (uint32_t d = 1; d <= deepest; d++)
		r->ends[d + 1] += r->ends[d];
	for (uint32_t i = 1; i < r->p->stack_count; i++)
		if (r->ranks[i])
			r->order[r->ends[stacks[i].depth]++] = i;
}

static struct plumb_error *rank_locations(const struct plumb_profile *p, uint32_t *ranks)
{
	struct ranking r = {.p = p, .order = calloc((size_t)p->location_count + 1, sizeof *r.order)};

	if (!r.order)
		return &pl_err_no_memory;
	for (uint32_t i = 0; i < p->location_count; i++)
		r.order[i] = i;
	rank(&r, 0, p->location_count, compare_locations, ranks);
	free(r.order);
	return NULL;
}

struct plumb_error *pl_stack_ranks_by(const struct plumb_profile *p, const uint32_t *locations, uint32_t *ranks)
{
	struct ranking r = {.p = p, .locations = locations, .ranks = ranks};
	uint32_t deepest = want_callers(&r);

	r.order = calloc((size_t)p->stack_count + 1, sizeof *r.order);
	r.ends = calloc((size_t)deepest + 2, sizeof *r.ends);
	bool ok = r.order && r.ends;
	if (ok) {
		sort_by_depth(&r, deepest);
		for (uint32_t d = 1; d <= deepest; d++)
			rank(&r, r.ends[d - 1], r.ends[d], compare_stacks, ranks);
	}
	free(r.order);
	free(r.ends);
	return ok ? NULL : &pl_err_no_memory;
}

struct plumb_error *pl_stack_ranks(const struct plumb_profile *p, uint32_t *ranks)
{
	uint32_t *locations = calloc((size_t)p->location_count + 1, sizeof *locations);
	struct plumb_error *err = locations ? rank_locations(p, locations) : &pl_err_no_memory;

	if (!err)
		err = pl_stack_ranks_by(p, locations, ranks);
	free(locations);
	return err;
}
