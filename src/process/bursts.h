/* SPDX-License-Identifier: Apache-2.0 */
/* How long a thread runs until it blocks, on average. Pure: the counters are the kernel's, whoever calls has read them.
 *
 * The cheap counter is that of its runs (schedstat). But a run ends also when another thread gets the CPU, and with
 * each stop of ours: on a busy machine a thread that never blocks has runs of some microseconds. What counts blocking
 * alone costs eight times as much to read. So that is asked only when there were more runs than our stops account for,
 * and these were so short that it matters which of them it ended by itself.
 */
#ifndef PL_BURSTS_H
#define PL_BURSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "thread_clock.h"

/* A thread that blocks after shorter than this would often have blocked before a stop reaches it. */
#define PL_BURST_BRIEF_NS 200000ull

struct pl_bursts {
	uint64_t mean_ns;      /* of those that have ended, the last ones most */
	uint64_t begin_ns;     /* its run time when the burst that goes on began */
	uint64_t so_far_ns;    /* what that has been seen to last */
	uint64_t runs, blocks; /* that are accounted for */
};

/** @p blocks here and below: how often it has blocked so far; UINT64_MAX: not known, then each run counts. */
void pl_bursts_begin(struct pl_bursts *b, const struct pl_run_counters *now, uint64_t blocks);
/** We have stopped it: to the kernel that is a run that ends, and a thread that blocks. */
void pl_bursts_stopped(struct pl_bursts *b);
/** Can it have blocked? Then pl_bursts_end, else pl_bursts_go_on. */
bool pl_bursts_may_have_ended(const struct pl_bursts *b, const struct pl_run_counters *now);
/** Asked when it can: were its runs so long that it is not brief, however many of them it has ended by itself? Then
 * they are accounted for, without pl_bursts_end. */
bool pl_bursts_stay_long(struct pl_bursts *b, const struct pl_run_counters *now);
/** Not while a stop of ours has still to come about: it would be taken for one of its own. */
void pl_bursts_end(struct pl_bursts *b, const struct pl_run_counters *now, uint64_t blocks);
void pl_bursts_go_on(struct pl_bursts *b, const struct pl_run_counters *now);
/** Is it likely to block soon? Not in a burst that has lasted for long already, whatever the others were like. */
bool pl_bursts_brief(const struct pl_bursts *b);

#endif
