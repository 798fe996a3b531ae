/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine; see budget.h. */
#include "budget.h"

#define LOOK_NS		100000000ull
#define FASTEST_NS	10000ull
#define SLOWEST_NS	1000000000ull /* a sample in a second is always allowed */
#define SLOWER_AT_MOST	8.0	      /* times, at one look: one look can be wrong */
#define FASTER_AT_MOST	0.5
#define SAVED_WITHIN	4	/* looks */
#define DEBT_AT_MOST_NS 1e10	/* of the time: for so long it may go slowly afterwards */
#define COMFORTABLE	0.8	/* of the limit: below this it may go faster */
#define AIM		0.9	/* of the limit */
#define COST_NS		20000.0 /* of a sample, before anything is known */

bool pl_budget_due(const struct pl_budget *b, uint64_t now)
{
	return b->limit > 0 && now - b->since_ns >= LOOK_NS;
}

static uint64_t clamp(double period, const struct pl_budget *b)
{
	double slowest = (double)(b->asked_period_ns > SLOWEST_NS ? b->asked_period_ns : SLOWEST_NS);

	if (period < (double)b->asked_period_ns)
		return b->asked_period_ns;
	return (uint64_t)(period < slowest ? period : slowest);
}

uint64_t pl_budget_init(struct pl_budget *b, double limit, double still_limit, uint64_t period_ns, uint64_t now)
{
	if (limit > 0 && period_ns == 0)
		period_ns = FASTEST_NS;
	*b = (struct pl_budget){
		.limit = limit, .still_limit = still_limit, .asked_period_ns = period_ns, .since_ns = now};
	return limit > 0 ? clamp(COST_NS / limit, b) : period_ns;
}

void pl_budget_skip(struct pl_budget *b, uint64_t now, uint64_t cpu_ns, uint64_t stopped_ns)
{
	b->since_ns = now;
	b->cpu_ns = cpu_ns;
	b->stopped_ns = stopped_ns;
}

/* What may be used until the next look, if it lasts as long as this one did. */
static double allowed(struct pl_budget *b, double passed, double used)
{
	b->debt_ns += used - b->limit * passed;
	if (b->debt_ns < 0)
		b->debt_ns = 0; /* what was not used is not saved up */
	if (b->debt_ns > b->limit * DEBT_AT_MOST_NS)
		b->debt_ns = b->limit * DEBT_AT_MOST_NS;
	return b->limit * passed * AIM - b->debt_ns / SAVED_WITHIN;
}

uint64_t pl_budget_period(struct pl_budget *b, uint64_t period_ns, uint64_t now, uint64_t cpu_ns, uint64_t stopped_ns)
{
	double passed = (double)(now - b->since_ns), cpu = (double)(cpu_ns - b->cpu_ns);
	double stopped = (double)(stopped_ns - b->stopped_ns) * b->limit / b->still_limit;
	double used = cpu > stopped ? cpu : stopped;
	double may = allowed(b, passed, used);
	double factor = may > used / SLOWER_AT_MOST ? used / may : SLOWER_AT_MOST;

	pl_budget_skip(b, now, cpu_ns, stopped_ns);
	if (b->debt_ns == 0 && used > COMFORTABLE * b->limit * passed)
		return period_ns;
	if (factor < FASTER_AT_MOST)
		factor = FASTER_AT_MOST;
	if (b->debt_ns > 0 && factor < 1)
		factor = 1;
	return clamp((double)period_ns * factor, b);
}
