/* SPDX-License-Identifier: Apache-2.0 */
/* What tasks waited for (layer model). One owner at a time. */
#include <stdlib.h>

#include "index.h"
#include "profile.h"

/* No room: it is known how much there was, and no more. */
static void lose(struct plumb_profile *p, const struct pl_wait *w)
{
	p->waited.lost_ns = pl_sum_u64(p->waited.lost_ns, w->task_ns);
}

static struct plumb_error *add_row(struct plumb_profile *p, const struct pl_wait *w)
{
	struct pl_profile_index *x = p->index;
	struct plumb_error *err = pl_row_room(p, (void **)&p->waits, &x->wait_cap, p->wait_count, sizeof *p->waits);

	if (err)
		return err;
	if (!pl_map_set(&x->waits, (uint64_t)w->stack << 32 | w->thread, w->what, p->wait_count))
		return &pl_err_no_memory;
	p->waits[p->wait_count++] = *w;
	return NULL;
}

struct plumb_error *pl_profile_wait(struct plumb_profile *p, const struct pl_wait *w)
{
	uint32_t row;

	if (pl_map_get(&p->index->waits, (uint64_t)w->stack << 32 | w->thread, w->what, &row)) {
		p->waits[row].tasks = pl_sum_u64(p->waits[row].tasks, w->tasks);
		p->waits[row].task_ns = pl_sum_u64(p->waits[row].task_ns, w->task_ns);
		return NULL;
	}
	if (p->wait_count < PL_MAX_WAITS)
		return add_row(p, w);
	lose(p, w);
	return NULL;
}

void pl_profile_waited(struct plumb_profile *p, const struct pl_waited *more)
{
	p->waited.looks = pl_sum_u64(p->waited.looks, more->looks);
	p->waited.covered_ns = pl_sum_u64(p->waited.covered_ns, more->covered_ns);
	p->waited.lost_ns = pl_sum_u64(p->waited.lost_ns, more->lost_ns);
}

struct plumb_error *pl_profile_waits_only(const struct plumb_profile *p, struct plumb_profile *ret)
{
	struct pl_cell *cells = calloc((size_t)p->wait_count + 1, sizeof *cells);

	if (!cells)
		return &pl_err_no_memory;
	for (uint32_t i = 0; i < p->wait_count; i++)
		cells[i] = (struct pl_cell){.stack = p->waits[i].stack,
					    .thread = p->waits[i].thread,
					    .samples = p->waits[i].tasks,
					    .weight_ns = p->waits[i].task_ns};
	*ret = *p;
	ret->cells = cells;
	ret->cell_count = p->wait_count;
	return NULL;
}
