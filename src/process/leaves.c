/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; pure, one thread at a time. See leaves.h. */
#include "leaves.h"

/* Its run time may go on once when it has left its CPU already: while the one count was read, and not yet the other. */
#define ADVANCES_ON_CPU 2

/* Where both counts have moved it is not known which was last: then as where others took its CPU, which is what a
 * sampler on its processor does. */
static void note_last(struct pl_leaves *l, const struct pl_thread_state *now)
{
	uint64_t taken = now->ends - now->blocks;
	bool gave_up = now->blocks > l->blocks, lost = taken != l->taken;

	if (gave_up || lost)
		l->gave_up = gave_up && !lost;
	l->taken = taken;
	if (gave_up)
		l->blocks = now->blocks;
}

static void know_uncounted(struct pl_leaves *l, uint64_t comings, uint64_t runs)
{
	l->unknown = comings < runs;
	l->uncounted = l->unknown ? 0 : comings - runs;
}

/* Who ran on while no count moved has a CPU: it has come to one once more than it has left one. */
static void note_uncounted(struct pl_leaves *l, const struct pl_run_counters *c, const struct pl_thread_state *now)
{
	if (c->runs != l->runs || now->ends != l->ends)
		l->advances = 0;
	else if (c->run_ns != l->run_ns && l->advances < ADVANCES_ON_CPU)
		l->advances++;
	if (l->advances == ADVANCES_ON_CPU)
		know_uncounted(l, now->ends + 1, c->runs);
	else if (now->ends > c->runs + l->uncounted)
		l->unknown = true;
}

void pl_leaves_note(struct pl_leaves *l, const struct pl_run_counters *c, const struct pl_thread_state *now)
{
	if (now->ends == UINT64_MAX) {
		l->unknown = true;
		return;
	}
	note_last(l, now);
	note_uncounted(l, c, now);
	l->often = now->ends > l->ends + 1;
	l->stood = c->runs == l->runs;
	l->runs = c->runs;
	l->run_ns = c->run_ns;
	l->ends = now->ends;
}

void pl_leaves_stopped(struct pl_leaves *l)
{
	l->blocks++;
	l->gave_up = false;
}

/* It has left its CPU since if that was counted. Who has run again meanwhile may have one by now. */
bool pl_leaves_slept(struct pl_leaves *l, const struct pl_run_counters *c, const struct pl_thread_state *now)
{
	if (now->ends == UINT64_MAX || c->runs != l->runs)
		return false;
	know_uncounted(l, now->ends, c->runs);
	return now->ends > l->ends;
}

bool pl_leaves_may_have_cpu(const struct pl_leaves *l)
{
	return l->unknown || l->runs + l->uncounted > l->ends;
}

bool pl_leaves_only_waits(const struct pl_leaves *l)
{
	return !pl_leaves_may_have_cpu(l) && (l->gave_up || l->stood);
}
