/* SPDX-License-Identifier: Apache-2.0 */
/* The rule of event loops: one that waits most of the time, so that what it computes is told by itself. Layer export;
 * pure.
 *
 * A loop waits where its _run_once() has called the selector and the thread is on no CPU, and where it has called
 * nothing and the thread is known to wait for events, as one in C does. */
#include "faults.h"

#include <stdlib.h>

#include "frame_name.h"
#include "loop_holds.h"
#include "words.h"

#define WAITED_MUCH  0.5  /* of the loop's time */
#define LOOP_IS_MUCH 0.5  /* of the time of all threads */
#define CPU_MUCH     0.15 /* of the CPU time of the loop, by one function itself */

struct loops {
	const struct plumb_profile *p;
	struct pl_loop_stacks stacks;
	bool *selects;	  /* stacks: _run_once() has called the selector */
	uint64_t *cpu_ns; /* of each function itself, on the loops' threads */
	uint32_t hottest; /* of them */
};

static const struct pl_function *function_of(const struct plumb_profile *p, uint32_t stack)
{
	return &p->functions[p->locations[p->stacks[stack].location].function];
}

static bool is_run_once(const struct plumb_profile *p, uint32_t stack)
{
	return stack && pl_frame_is(p, function_of(p, stack), "_run_once", "/asyncio/base_events.py");
}

static struct plumb_error *find_loops(struct loops *l)
{
	const struct plumb_profile *p = l->p;

	for (uint32_t i = 1; i < p->stack_count; i++)
		l->selects[i] = is_run_once(p, p->stacks[i].parent) &&
				pl_frame_is(p, function_of(p, i), "select", "/selectors.py");
	return pl_loop_stacks_init(&l->stacks, p);
}

static bool waits(const struct loops *l, const struct pl_cell *c)
{
	if (c->state & (PL_STATE_ON_CPU | PL_STATE_UNKNOWN))
		return false;
	return l->selects[c->stack] || (l->stacks.own[c->stack] && pl_reason_of(c->state) == PL_REASON_POLL);
}

static void find_hottest(struct loops *l, const struct pl_filter *f)
{
	const struct plumb_profile *p = l->p;

	for (uint32_t i = 0; i < p->cell_count; i++) {
		const struct pl_cell *c = &p->cells[i];
		uint32_t function = p->locations[p->stacks[c->stack].location].function;

		if (!c->stack || !l->stacks.threads[c->thread] || !(c->state & PL_STATE_ON_CPU) ||
		    !pl_view_passes(p, f, c))
			continue;
		l->cpu_ns[function] += c->weight_ns;
		if (l->cpu_ns[function] > l->cpu_ns[l->hottest])
			l->hottest = function;
	}
}

static enum pl_cell_kind is_of_loop(const void *ctx, const struct pl_cell *c)
{
	const struct loops *l = ctx;

	return l->stacks.threads[c->thread] ? PL_CELL_HIT : PL_CELL_REST;
}

static enum pl_cell_kind is_waiting(const void *ctx, const struct pl_cell *c)
{
	const struct loops *l = ctx;

	if (!l->stacks.threads[c->thread])
		return PL_CELL_OUT;
	return waits(l, c) ? PL_CELL_HIT : PL_CELL_REST;
}

static enum pl_cell_kind is_hottest(const void *ctx, const struct pl_cell *c)
{
	const struct loops *l = ctx;

	if (!l->stacks.threads[c->thread] || !(c->state & PL_STATE_ON_CPU))
		return PL_CELL_OUT;
	return c->stack && l->p->locations[l->p->stacks[c->stack].location].function == l->hottest ? PL_CELL_HIT
												   : PL_CELL_REST;
}

static struct plumb_error *judge(const struct pl_fault_case *c, struct loops *l, struct pl_faults *faults)
{
	struct pl_share of_all, waited, cpu;
	struct pl_fault *fault;
	struct plumb_error *err = find_loops(l);

	if (!err)
		err = pl_view_share(c->p, c->filter, is_of_loop, l, &of_all);
	if (!err)
		err = pl_view_share(c->p, c->filter, is_waiting, l, &waited);
	if (err || !pl_fault_is_sure(&waited, WAITED_MUCH) || of_all.share < LOOP_IS_MUCH)
		return err;
	find_hottest(l, c->filter);
	err = pl_view_share(c->p, c->filter, is_hottest, l, &cpu);
	if (err)
		return err;
	fault = pl_fault_add(faults, "event-loop", 0);
	pl_fault_say(fault, "the event loop waited %.0f %% of the time", waited.share * 100);
	pl_fault_figure(fault, "waited", waited.share);
	if (!pl_fault_is_sure(&cpu, CPU_MUCH))
		return NULL;
	pl_fault_say(fault, "; of its CPU time ");
	pl_fault_name(fault, c, l->hottest, 0);
	pl_fault_say(fault, " took %.0f %%", cpu.share * 100);
	pl_fault_figure(fault, "cpu_share", cpu.share);
	fault->cost = cpu.share * (1 - waited.share) * of_all.share;
	return NULL;
}

struct plumb_error *pl_fault_rule_event_loop(const struct pl_fault_case *c, struct pl_faults *faults)
{
	const struct plumb_profile *p = c->p;
	struct loops l = {.p = p,
			  .selects = calloc((size_t)p->stack_count + 1, sizeof *l.selects),
			  .cpu_ns = calloc((size_t)p->function_count + 1, sizeof *l.cpu_ns)};
	struct plumb_error *err = &pl_err_no_memory;

	if (l.selects && l.cpu_ns)
		err = judge(c, &l, faults);
	pl_loop_stacks_deinit(&l.stacks);
	free(l.selects);
	free(l.cpu_ns);
	return err;
}
