/* SPDX-License-Identifier: Apache-2.0 */
/* A copy of a profile (layer model). One owner at a time.
 *
 * Tables and hash maps are copied as they lie in memory: the copy of one that is being filled must not take long, as
 * whoever fills it waits. */
#include <stdlib.h>
#include <string.h>

#include "axis.h"
#include "index.h"
#include "profile.h"

/* At least one byte: NULL is no memory. */
static bool copy_rows(void *ret, const void *rows, size_t count, size_t size)
{
	void *copy = malloc(count * size + 1);

	memcpy(ret, &copy, sizeof copy);
	if (copy && count)
		memcpy(copy, rows, count * size);
	return copy;
}

static bool copy_map(struct pl_map *ret, const struct pl_map *m)
{
	*ret = (struct pl_map)PL_MAP_INIT;
	if (!m->cap)
		return true;
	if (!copy_rows(&ret->slots, m->slots, m->cap, sizeof *m->slots))
		return false;
	ret->cap = m->cap;
	ret->len = m->len;
	return true;
}

static bool copy_row_index(struct pl_row_index *ret, const struct pl_row_index *x)
{
	*ret = (struct pl_row_index){0};
	if (!x->cap)
		return true;
	if (!copy_rows(&ret->slots, x->slots, x->cap, sizeof *x->slots))
		return false;
	ret->cap = x->cap;
	ret->len = x->len;
	return true;
}

static bool copy_cell_indices(struct pl_profile_index *ret, const struct pl_profile_index *x)
{
	for (unsigned b = 0; b < PL_BATCHES; b++)
		if (!copy_row_index(&ret->cells[b], &x->cells[b]))
			return false;
	return true;
}

static bool copy_maps(struct pl_profile_index *ret, const struct pl_profile_index *x)
{
	return copy_map(&ret->names, &x->names) && copy_map(&ret->functions, &x->functions) &&
	       copy_map(&ret->spans, &x->spans) && copy_map(&ret->hosts, &x->hosts) && copy_map(&ret->pids, &x->pids) &&
	       copy_map(&ret->uses, &x->uses) && copy_map(&ret->locations, &x->locations) &&
	       copy_map(&ret->threads, &x->threads) && copy_map(&ret->processes, &x->processes) &&
	       copy_map(&ret->sources, &x->sources) && copy_map(&ret->waits, &x->waits) &&
	       copy_map(&ret->modules, &x->modules) && copy_map(&ret->events, &x->events) &&
	       copy_row_index(&ret->stacks, &x->stacks) && copy_row_index(&ret->locks, &x->locks) &&
	       copy_cell_indices(ret, x);
}

static bool copy_index(struct plumb_profile *ret, const struct plumb_profile *p)
{
	struct pl_profile_index *x = ret->index = calloc(1, sizeof *x);

	if (!x)
		return false;
	x->batch_shift = p->index->batch_shift;
	x->last_cell = p->index->last_cell;
	x->event_text = p->index->event_text;
	x->cells_indexed = p->index->cells_indexed;
	x->function_cap = p->function_count;
	x->location_cap = p->location_count;
	x->stack_cap = p->stack_count;
	x->thread_cap = x->thread_weight_cap = p->thread_count;
	x->process_cap = p->process_count;
	x->source_cap = p->source_count;
	x->module_cap = p->module_count;
	x->cell_cap = p->cell_count;
	x->wait_cap = p->wait_count;
	x->lock_cap = p->lock_count;
	x->event_cap = p->event_count;
	return copy_maps(x, p->index) && copy_rows(&x->thread_weight_ns, p->index->thread_weight_ns, p->thread_count,
						   sizeof *x->thread_weight_ns);
}

static bool copy_sources(struct plumb_profile *ret, const struct plumb_profile *p)
{
	if (!copy_rows(&ret->sources, p->sources, p->source_count, sizeof *p->sources))
		return false;
	for (; ret->source_count < p->source_count; ret->source_count++) {
		const struct pl_source *s = &p->sources[ret->source_count];

		if (!copy_rows(&ret->sources[ret->source_count].text, s->text, s->len + 1, 1))
			return false;
	}
	return true;
}

static bool copy_tables(struct plumb_profile *ret, const struct plumb_profile *p)
{
	ret->meta = p->meta;
	ret->batch_ns = p->batch_ns;
	ret->function_count = p->function_count;
	ret->location_count = p->location_count;
	ret->stack_count = p->stack_count;
	ret->thread_count = p->thread_count;
	ret->process_count = p->process_count;
	ret->module_count = p->module_count;
	ret->cell_count = p->cell_count;
	ret->wait_count = p->wait_count;
	ret->waited = p->waited;
	ret->lock_count = p->lock_count;
	ret->event_count = p->event_count;
	return copy_rows(&ret->functions, p->functions, p->function_count, sizeof *p->functions) &&
	       copy_rows(&ret->locations, p->locations, p->location_count, sizeof *p->locations) &&
	       copy_rows(&ret->stacks, p->stacks, p->stack_count, sizeof *p->stacks) &&
	       copy_rows(&ret->threads, p->threads, p->thread_count, sizeof *p->threads) &&
	       copy_rows(&ret->processes, p->processes, p->process_count, sizeof *p->processes) &&
	       copy_rows(&ret->modules, p->modules, p->module_count, sizeof *p->modules) &&
	       copy_rows(&ret->cells, p->cells, p->cell_count, sizeof *p->cells) &&
	       copy_rows(&ret->waits, p->waits, p->wait_count, sizeof *p->waits) &&
	       copy_rows(&ret->locks, p->locks, p->lock_count, sizeof *p->locks) &&
	       copy_rows(&ret->events, p->events, p->event_count, sizeof *p->events) && copy_sources(ret, p) &&
	       pl_axis_copy(&ret->axis, &p->axis);
}

struct plumb_error *pl_profile_copy(const struct plumb_profile *p, struct plumb_profile **ret)
{
	struct plumb_profile *copy = calloc(1, sizeof *copy);

	if (!copy)
		return &pl_err_no_memory;
	if (!copy_index(copy, p) || !copy_tables(copy, p) || pl_strtab_copy(p->strings, &copy->strings)) {
		pl_profile_destroy(copy);
		return &pl_err_no_memory;
	}
	*ret = copy;
	return NULL;
}
