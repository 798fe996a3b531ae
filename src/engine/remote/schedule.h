/* SPDX-License-Identifier: Apache-2.0 */
/* When to sample: once in each period, at a random point of it. Pure arithmetic; sampling thread only.
 *
 * Periods are counted from the start, so lateness never adds up. The point is random so that a program in step with the
 * sampler is seen as it is; the same seed gives the same points. */
#ifndef PL_SCHEDULE_H
#define PL_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "clock.h"

struct pl_schedule {
	uint64_t start_ns, period_ns, tick, due_ns;
	struct pl_rng rng;
	bool jitter; /* else in the middle of each period */
};

/** Periods of @p period_ns from now on; the random numbers go on where they are. 0: always due. */
void pl_schedule_begin(struct pl_schedule *s, uint64_t now, uint64_t period_ns);

/** The same from the beginning of the period that is next: none is cut short, as its sample stands for all of it. */
void pl_schedule_change(struct pl_schedule *s, uint64_t period_ns);

/** On to the next period that is not over yet: nothing is caught up. Not with a period of 0.
 * @return how many periods were missed. */
uint64_t pl_schedule_next(struct pl_schedule *s, uint64_t now);

/** How many periods are over whose sample was not taken. Not with a period of 0. */
uint64_t pl_schedule_over(const struct pl_schedule *s, uint64_t now);

#endif
