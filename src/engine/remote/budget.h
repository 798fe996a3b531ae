/* SPDX-License-Identifier: Apache-2.0 */
/* How much the sampling may cost, and how fast it may therefore go. Pure arithmetic; sampling thread only.
 *
 * Two costs are limited: the time for which the target stood still, and the CPU time of the profiler, each as a share
 * of the time that has passed. Both grow with the rate, so the rate follows the one that is nearer its limit, a tenth
 * of a second at a time, and never exceeds what was asked for. It begins at a rate that can be afforded whatever a
 * sample turns out to cost, and looks more often until it has found its own. What was used too much is saved
 * afterwards: a program may be dear to sample whenever the rate has risen.
 *
 * A period of 0 is as fast as possible: a round begins when the last one is over. */
#ifndef PL_BUDGET_H
#define PL_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/** Sums since the start. */
struct pl_used {
	uint64_t rounds, cpu_ns, stopped_ns;
	uint64_t refused; /* times that a thread should have stood still and there was nothing left for it */
};

struct pl_allowance {
	double limit;	/* of the time; 0.01 is one percent; 0: no limit */
	double debt_ns; /* how long what was used too much, and is not saved yet, would have lasted */
};

struct pl_budget {
	struct pl_allowance cpu, still; /* of CPU time, of time stood still */
	uint64_t asked_period_ns;	/* never faster than this */
	uint64_t since_ns;		/* the last look */
	struct pl_used used;		/* then */
	bool settled;			/* it has found a rate that it does not exceed */
};

/** What the budget has been told of the time for which one process stood still. */
struct pl_stood_still {
	uint64_t told_ns, tell_ns; /* of it; when that was */
	double left_ns;		   /* so much more may be taken without being told */
};

/** Its Python was found, for the first time. */
void pl_stood_still_begin(struct pl_stood_still *s, uint64_t now);
/** What was taken since the last call: @p taken_ns is the sum. What is more than the share @p limit of the time that
 * has passed is left out as long as it is made up for by what was left over before, or is the first: one stop can last
 * long. */
uint64_t pl_stood_still_tell(struct pl_stood_still *s, uint64_t taken_ns, double limit, uint64_t now);
/** Is what was taken since the last call of that much more than it would leave out? */
bool pl_stood_still_hurries(const struct pl_stood_still *s, uint64_t taken_ns, double limit, uint64_t now);

/** @return the period to begin with. */
uint64_t pl_budget_init(struct pl_budget *b, double limit, double still_limit, uint64_t period_ns, uint64_t now);

/** What was used until now does not count. */
void pl_budget_skip(struct pl_budget *b, uint64_t now, const struct pl_used *used);

/** Nothing has a limit: it is never time for pl_budget_period. */
bool pl_budget_unlimited(const struct pl_budget *b);
/** True when it is time for pl_budget_period. @p hurry: more is being used than can wait for that. */
bool pl_budget_due(const struct pl_budget *b, uint64_t now, bool hurry);

/** @return the period to go on with, from @p period_ns until now. */
uint64_t pl_budget_period(struct pl_budget *b, uint64_t period_ns, uint64_t now, const struct pl_used *used);

/** @p period_ns, or @p wait_ns if that is longer, but no more than a tenth of a second of it. */
uint64_t pl_budget_at_least(const struct pl_budget *b, uint64_t period_ns, uint64_t wait_ns);

#endif
