/* SPDX-License-Identifier: Apache-2.0 */
/* Ready time: which samples of a thread that runs or is ready are of the time in which it is ready and has no CPU. The
 * kernel tells how long that was (schedstat's run_delay) when the thread gets its CPU at last. Pure, no clock of its
 * own. docs/design/021-reasons-of-waits.md */
#ifndef PL_READY_TIME_H
#define PL_READY_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "clock.h"
#include "thread_clock.h"

struct pl_ready_time {
	struct pl_run_counters seen; /* at the last look, at looked_ns */
	uint64_t looked_ns, moved_ns;
	/* Of the time since the counters moved: what samples stand for, and what was missed. */
	uint64_t weighed_ns, missed_ns;
	int64_t slack_ns; /* more time than samples stand for, in which no whole period is missed yet */
	int64_t owed_ns;  /* told by the kernel, and by no sample yet; below 0: the other way round */
	struct pl_rng rng;
};

void pl_ready_time_begin(struct pl_ready_time *r, const struct pl_run_counters *c, uint64_t now, uint64_t seed);

/** A sample of @p weight_ns at @p now, when the counters were @p c: is it ready, and has no CPU? @p may_be: it runs or
 * is ready. All such samples together weigh what the kernel tells of the time that samples stand for, but for one. */
bool pl_ready_time_take(struct pl_ready_time *r, const struct pl_run_counters *c, uint64_t now, uint64_t weight_ns,
			bool may_be);

#endif
