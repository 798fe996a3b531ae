/* SPDX-License-Identifier: Apache-2.0 */
/* How a thread left its CPU last. Pure: the counts are the kernel's, whoever calls has read them.
 *
 * A thread that is ready and has no CPU looks as one that runs. If it gave up its CPU, to wait, it has been woken and
 * has not run since: it is still in the call that slept. If others took it, it is where it ran, which counts once and
 * not for as long as it has to wait. */
#ifndef PL_LEAVES_H
#define PL_LEAVES_H

#include <stdbool.h>
#include <stdint.h>

#include "thread_clock.h"
#include "thread_state.h"

/* All zeros: it is not known. */
struct pl_leaves {
	uint64_t runs, blocks, taken; /* that are accounted for */
	bool gave_up;		      /* by itself, as far as the counts tell which was last */
	bool stood;		      /* it has not run since the look before the last one */
};

/** What the kernel says now; @p c was asked for first. A stop of ours counts there as if the thread had blocked. */
void pl_leaves_note(struct pl_leaves *l, const struct pl_run_counters *c, const struct pl_thread_state *now);
/** We have stopped it, which the kernel counts now or when the stop comes about. */
void pl_leaves_stopped(struct pl_leaves *l);
/** It is ready and has no CPU, as the last note found it: has it used one since the look before that? */
static inline bool pl_leaves_used_cpu(const struct pl_leaves *l)
{
	return !l->gave_up && !l->stood;
}

#endif
