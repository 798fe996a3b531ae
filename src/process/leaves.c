/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; pure, one thread at a time. See leaves.h. */
#include "leaves.h"

/* Where both counts have moved it is not known which was last: then as where others took it, which is what a sampler
 * on its processor does. */
void pl_leaves_note(struct pl_leaves *l, const struct pl_run_counters *c, const struct pl_thread_state *now)
{
	if (now->ends == UINT64_MAX)
		return;
	uint64_t taken = now->ends - now->blocks;
	bool gave_up = now->blocks > l->blocks, lost = taken != l->taken;

	if (gave_up || lost)
		l->gave_up = gave_up && !lost;
	l->stood = c->runs == l->runs;
	l->runs = c->runs;
	l->taken = taken;
	if (gave_up)
		l->blocks = now->blocks;
}

void pl_leaves_stopped(struct pl_leaves *l)
{
	l->blocks++;
	l->gave_up = false;
}
