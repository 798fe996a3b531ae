/* SPDX-License-Identifier: Apache-2.0 */
/* How much the sampling may cost, and how fast it may therefore go. Pure arithmetic; sampling thread only.
 *
 * Two costs are limited: the time for which the target stood still, and the CPU time of the profiler, each as a share
 * of the time that has passed. Both grow with the rate, so the rate follows the larger one, a tenth of a second at a
 * time, and never exceeds what was asked for. What was used too much is saved afterwards: a program may be dear to
 * sample whenever the rate has risen. */
#ifndef PL_BUDGET_H
#define PL_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct pl_budget {
	double limit; /* of the CPU time; 0.01 is one percent; 0: no limit of both */
	double still_limit;
	uint64_t asked_period_ns;	       /* never faster than this */
	uint64_t since_ns, cpu_ns, stopped_ns; /* at the last look */
	double debt_ns;			       /* used too much, and not saved yet */
};

/** @param period_ns as asked for; 0, as fast as possible, becomes 10 us: a budget needs a clock.
 * @return the period to begin with. */
uint64_t pl_budget_init(struct pl_budget *b, double limit, double still_limit, uint64_t period_ns, uint64_t now);

/** What was used until now does not count. */
void pl_budget_skip(struct pl_budget *b, uint64_t now, uint64_t cpu_ns, uint64_t stopped_ns);

/** True when it is time for pl_budget_period. */
bool pl_budget_due(const struct pl_budget *b, uint64_t now);

/** @param cpu_ns, stopped_ns sums since the start.
 * @return the period to go on with, from @p period_ns until now. */
uint64_t pl_budget_period(struct pl_budget *b, uint64_t period_ns, uint64_t now, uint64_t cpu_ns, uint64_t stopped_ns);

#endif
