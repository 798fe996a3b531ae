/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; pure, one thread at a time. See ready_time.h. What the kernel tells is owed, and samples pay it: one
 * does if more is owed than a random part of its weight. So the sum is right to one sample, and samples that pay do not
 * keep in step with what the program does by turns. */
#include "ready_time.h"

/* The kernel brings run times up to date at its ticks, every 10 ms or more often: who has run for so long is told. */
#define STANDS_NS 50000000ull
/* Where there are no ticks (nohz_full) who runs looks as if he stood: so much is believed before the kernel tells it.
 */
#define MOST_AHEAD_NS 1000000000ll

void pl_ready_time_begin(struct pl_ready_time *r, const struct pl_run_counters *c, uint64_t now, uint64_t seed)
{
	*r = (struct pl_ready_time){.seen = *c, .looked_ns = now, .moved_ns = now, .rng = {seed}};
}

/* Of the time since the last look this sample stands for its weight. What lies between two samples is a period more or
 * less; what is more than that in all was missed. */
static void note_time(struct pl_ready_time *r, uint64_t now, uint64_t weight_ns)
{
	r->weighed_ns += weight_ns;
	r->slack_ns += (int64_t)(now - r->looked_ns) - (int64_t)weight_ns;
	if (weight_ns == 0 || r->slack_ns <= (int64_t)weight_ns)
		return;
	uint64_t missed_ns = (uint64_t)r->slack_ns / weight_ns * weight_ns;
	r->missed_ns += missed_ns;
	r->slack_ns -= (int64_t)missed_ns;
}

/* The kernel tells of a wait when it is over: it was somewhere since the counters moved last. Of that time samples
 * stand for a part (ticks are missed, there are pauses), and they are owed the same part of the wait. */
static int64_t delay_since(const struct pl_ready_time *r, const struct pl_run_counters *c)
{
	if (c->delay_ns <= r->seen.delay_ns)
		return 0;
	double delay_ns = (double)(c->delay_ns - r->seen.delay_ns), weighed_ns = (double)r->weighed_ns;
	return (int64_t)(r->missed_ns ? delay_ns * weighed_ns / (weighed_ns + (double)r->missed_ns) : delay_ns);
}

static bool has_moved(const struct pl_ready_time *r, const struct pl_run_counters *c)
{
	return c->runs != r->seen.runs || c->run_ns != r->seen.run_ns;
}

static bool pays(struct pl_ready_time *r, uint64_t now, uint64_t weight_ns)
{
	if (now - r->moved_ns > STANDS_NS && r->owed_ns > -MOST_AHEAD_NS)
		return true;
	return (double)r->owed_ns > pl_rng_unit(&r->rng) * (double)weight_ns;
}

bool pl_ready_time_take(struct pl_ready_time *r, const struct pl_run_counters *c, uint64_t now, uint64_t weight_ns,
			bool may_be)
{
	note_time(r, now, weight_ns);
	r->owed_ns += delay_since(r, c);
	if (has_moved(r, c)) {
		r->moved_ns = now;
		r->weighed_ns = r->missed_ns = 0;
	}
	r->seen = *c;
	r->looked_ns = now;
	if (!may_be || !pays(r, now, weight_ns))
		return false;
	r->owed_ns -= (int64_t)weight_ns;
	return true;
}
