/* SPDX-License-Identifier: Apache-2.0 */
/* The rule of what holds an event loop: callbacks and tasks that kept one, which waits else, for so long that asyncio's
 * own debug mode would warn. Layer export; one owner at a time. */
#include "faults.h"

#include "loop_holds.h"

#define FEWEST 3 /* once may be a start, twice chance */
/* A loop that is never idle computes: a callback may then be called again and again unseen. */
#define WAITED_LEAST 0.1
/* A stretch of fewer intervals is not judged. */
#define INTERVALS_LEAST 5

static enum pl_cell_kind is_outside(const void *ctx, const struct pl_cell *c)
{
	const struct pl_loop_stacks *l = ctx;

	if (!l->threads[c->thread])
		return PL_CELL_OUT;
	return !l->entry[c->stack] && !(c->state & (PL_STATE_ON_CPU | PL_STATE_UNKNOWN)) ? PL_CELL_HIT : PL_CELL_REST;
}

/* The time of the threads that run loops. */
static uint64_t loops_ns(const struct pl_fault_case *c, const struct pl_loop_stacks *l)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < c->p->cell_count; i++) {
		const struct pl_cell *cell = &c->p->cells[i];

		if (l->threads[cell->thread] && pl_view_passes(c->p, c->filter, cell))
			ns += cell->weight_ns;
	}
	return ns;
}

static struct plumb_error *look_at_loops(const struct pl_fault_case *c, struct pl_share *waited, uint64_t *ns_ret)
{
	struct pl_loop_stacks stacks;
	struct plumb_error *err = pl_loop_stacks_init(&stacks, c->p);

	if (!err)
		err = pl_view_share(c->p, c->filter, is_outside, &stacks, waited);
	if (!err)
		*ns_ret = loops_ns(c, &stacks);
	pl_loop_stacks_deinit(&stacks);
	return err;
}

static void tell(const struct pl_fault_case *c, const struct pl_loop_holds *h, uint64_t loops_ns,
		 struct pl_faults *faults)
{
	const struct pl_loop_holder *most = &h->holders.data[0];
	uint64_t times = 0, held_ns = 0, longest_ns = 0;
	struct pl_fault *fault;

	for (size_t i = 0; i < h->holders.len; i++) {
		const struct pl_loop_holder *holder = &h->holders.data[i];

		times += holder->slow;
		held_ns += holder->slow_ns;
		longest_ns = holder->slowest_ns > longest_ns ? holder->slowest_ns : longest_ns;
		most = holder->slow_ns > most->slow_ns ? holder : most;
	}
	if (times < FEWEST)
		return;
	fault = pl_fault_add(faults, "loop-held", (double)held_ns / (double)(loops_ns + 1));
	pl_fault_say(fault, "the event loop was held for 100 ms or more %llu times, for up to %.0f ms; most by ",
		     (unsigned long long)times, (double)longest_ns / 1e6);
	pl_fault_name(fault, c, most->function, (int32_t)c->p->functions[most->function].firstline);
	pl_fault_figure(fault, "times", (double)times);
	pl_fault_figure(fault, "longest", (double)longest_ns / 1e9);
	pl_fault_figure(fault, "holder", (double)most->slow_ns / (double)held_ns);
}

struct plumb_error *pl_fault_rule_loop_holds(const struct pl_fault_case *c, struct pl_faults *faults)
{
	struct pl_loop_holds holds;
	struct pl_share waited = {0};
	uint64_t loops_ns = 0;
	struct plumb_error *err = pl_loop_holds_find(c->p, c->filter, &holds);

	if (!err && holds.count && c->p->meta.period_ns * INTERVALS_LEAST <= PL_LOOP_HOLD_LONG_NS)
		err = look_at_loops(c, &waited, &loops_ns);
	if (!err && pl_fault_is_sure(&waited, WAITED_LEAST))
		tell(c, &holds, loops_ns, faults);
	pl_loop_holds_deinit(&holds);
	return err;
}
