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

/* All zeros: none of its returns is missing, until more leaves are counted than can be. */
struct pl_leaves {
	uint64_t runs, run_ns, ends; /* at the last look */
	uint64_t blocks, taken;	     /* that are accounted for */
	/* Times it came back to a CPU that `runs` does not have: the kernel counts none of a thread that lost its CPU
	 * while it was about to sleep (waiting for the GIL or for children does that). They add up. */
	uint64_t uncounted;
	bool unknown;	  /* how many these are */
	uint8_t advances; /* of run_ns, while no count moved */
	bool gave_up;	  /* by itself, as far as the counts tell which was last */
	bool often;	  /* it left one more than once since the look before */
	bool stood;	  /* it has not run since the look before the last one */
};

/** What the kernel says now; @p c was asked for last. A stop of ours counts there as if the thread had blocked. */
void pl_leaves_note(struct pl_leaves *l, const struct pl_run_counters *c, const struct pl_thread_state *now);
/** We have stopped it, which the kernel counts now or when the stop comes about. */
void pl_leaves_stopped(struct pl_leaves *l);
/** It was said to be off its CPU after the last note, and this came after that. Did it have one at that note? */
bool pl_leaves_slept(struct pl_leaves *l, const struct pl_run_counters *c, const struct pl_thread_state *now);
/** Had it a CPU at the last note, or is that not known? */
bool pl_leaves_may_have_cpu(const struct pl_leaves *l);
/** It is said to run or to be ready: is it known to have no CPU, and to have used none since the look before? */
bool pl_leaves_only_waits(const struct pl_leaves *l);

#endif
