/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine; see budget.h. */
#include "budget.h"

#include <math.h>

#define LOOK_NS		100000000ull
#define FIRST_LOOK_NS	10000000ull   /* until it has settled */
#define CLOCK_NS	100000ull     /* as fast as possible: shorter periods are not slept through */
#define SLOWEST_NS	1000000000ull /* a sample in a second is always allowed */
#define SLOWER_AT_MOST	8.0	      /* times, at one look: one look can be wrong */
#define FASTER_AT_MOST	0.5
#define SAVED_WITHIN	4	     /* looks */
#define SAVING_NS	100000000ull /* as slow as it goes to save what was too much */
#define DEBT_AT_MOST_NS 1e10	     /* for so long it may go slowly afterwards */
#define COMFORTABLE	0.8	     /* of the limit: below this it may go faster */
#define AIM		0.9	     /* of the limit */
#define COST_NS		20000.0	     /* of a sample, before anything is known */
#define LEFT_MOST_NS	5e6	     /* of what a program stood still, without the rate falling */
#define HURRY_NS	1e6 /* more than that: the rate has to fall at once, or there is nothing left for stops */

void pl_stood_still_begin(struct pl_stood_still *s, uint64_t now)
{
	s->tell_ns = now;
	s->left_ns = LEFT_MOST_NS;
}

uint64_t pl_stood_still_tell(struct pl_stood_still *s, uint64_t taken_ns, double limit, uint64_t now)
{
	double taken = (double)(taken_ns - s->told_ns), usual = limit * (double)(now - s->tell_ns), beyond = 0;

	s->told_ns = taken_ns;
	s->tell_ns = now;
	s->left_ns += usual - taken;
	if (s->left_ns < 0)
		beyond = -s->left_ns, s->left_ns = 0;
	if (s->left_ns > LEFT_MOST_NS)
		s->left_ns = LEFT_MOST_NS;
	return (uint64_t)((taken < usual ? taken : usual) + beyond);
}

bool pl_stood_still_hurries(const struct pl_stood_still *s, uint64_t taken_ns, double limit, uint64_t now)
{
	double taken = (double)(taken_ns - s->told_ns), usual = limit * (double)(now - s->tell_ns);

	return taken - usual - s->left_ns > HURRY_NS;
}

bool pl_budget_unlimited(const struct pl_budget *b)
{
	return b->cpu.limit <= 0 && b->still.limit <= 0;
}

bool pl_budget_due(const struct pl_budget *b, uint64_t now, bool hurry)
{
	return !pl_budget_unlimited(b) && (hurry || now - b->since_ns >= (b->settled ? LOOK_NS : FIRST_LOOK_NS));
}

static uint64_t no_slower_than_slowest(const struct pl_budget *b, double period)
{
	double slowest = (double)(b->asked_period_ns > SLOWEST_NS ? b->asked_period_ns : SLOWEST_NS);

	return (uint64_t)(period < slowest ? period : slowest);
}

static uint64_t no_faster_than_asked(const struct pl_budget *b, double period)
{
	uint64_t shortest = b->asked_period_ns ? b->asked_period_ns : CLOCK_NS;

	return period < (double)shortest ? b->asked_period_ns : no_slower_than_slowest(b, period);
}

/* For how long @p ns is enough. */
static double lasts_ns(const struct pl_allowance *a, double ns)
{
	return a->limit > 0 ? ns / a->limit : 0;
}

uint64_t pl_budget_init(struct pl_budget *b, double limit, double still_limit, uint64_t period_ns, uint64_t now)
{
	*b = (struct pl_budget){
		.cpu.limit = limit, .still.limit = still_limit, .asked_period_ns = period_ns, .since_ns = now};
	uint64_t begin_ns = no_faster_than_asked(b, fmax(lasts_ns(&b->cpu, COST_NS), lasts_ns(&b->still, COST_NS)));
	b->settled = begin_ns == period_ns;
	return begin_ns;
}

void pl_budget_skip(struct pl_budget *b, uint64_t now, const struct pl_used *used)
{
	b->since_ns = now;
	b->used = *used;
}

static void keep_account(struct pl_allowance *a, double passed, double used)
{
	a->debt_ns += used - passed;
	if (a->debt_ns < 0)
		a->debt_ns = 0; /* what was not used is not saved up */
	if (a->debt_ns > DEBT_AT_MOST_NS)
		a->debt_ns = DEBT_AT_MOST_NS;
}

/* How many times @p period the next one should be, after a look of @p passed that used as much as may be used in
 * @p used. 1: it is right as it is. */
static double factor(struct pl_allowance *a, double period, double passed, double used)
{
	keep_account(a, passed, used);
	if (a->debt_ns == 0 && used > COMFORTABLE * passed)
		return 1;
	double may = passed * AIM - a->debt_ns / SAVED_WITHIN;
	double f = may > used / SLOWER_AT_MOST ? used / may : SLOWER_AT_MOST;
	if (used < passed * AIM)
		f = fmin(f, SAVING_NS / period);
	return a->debt_ns > 0 ? fmax(f, 1) : f;
}

/* What stops would cost is no matter where none was needed. */
static bool needs_none(const struct pl_budget *b, const struct pl_used *sums)
{
	return sums->stopped_ns == b->used.stopped_ns && sums->refused == b->used.refused;
}

uint64_t pl_budget_period(struct pl_budget *b, uint64_t period_ns, uint64_t now, const struct pl_used *sums)
{
	double passed = (double)(now - b->since_ns), period = (double)(period_ns ? period_ns : CLOCK_NS);
	double cpu = factor(&b->cpu, period, passed, lasts_ns(&b->cpu, (double)(sums->cpu_ns - b->used.cpu_ns)));
	double still =
		factor(&b->still, period, passed, lasts_ns(&b->still, (double)(sums->stopped_ns - b->used.stopped_ns)));
	bool none = needs_none(b, sums);
	double longer = none ? cpu : fmax(cpu, still);

	b->settled = longer >= 1 || period_ns == b->asked_period_ns || (b->settled && !(none && still >= 1));
	pl_budget_skip(b, now, sums);
	if (longer == 1)
		return period_ns;
	if (longer > 1)
		return no_slower_than_slowest(b, period * longer);
	return no_faster_than_asked(b, (double)period_ns * fmax(longer, FASTER_AT_MOST));
}

uint64_t pl_budget_at_least(const struct pl_budget *b, uint64_t period_ns, uint64_t wait_ns)
{
	uint64_t wait = wait_ns < SAVING_NS ? wait_ns : SAVING_NS;

	return wait > period_ns ? wait : period_ns;
}
