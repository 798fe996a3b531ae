/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine; see schedule.h. */
#include "schedule.h"

static void due_at(struct pl_schedule *s, uint64_t tick)
{
	double point = s->jitter ? pl_rng_unit(&s->rng) : 0.5;

	s->tick = tick;
	s->due_ns = s->start_ns + tick * s->period_ns + (uint64_t)(point * (double)s->period_ns);
}

void pl_schedule_begin(struct pl_schedule *s, uint64_t now, uint64_t period_ns)
{
	s->start_ns = now;
	s->period_ns = period_ns;
	due_at(s, 0);
}

void pl_schedule_change(struct pl_schedule *s, uint64_t period_ns)
{
	pl_schedule_begin(s, s->start_ns + s->tick * s->period_ns, period_ns);
}

uint64_t pl_schedule_next(struct pl_schedule *s, uint64_t now)
{
	uint64_t next = s->tick + 1, current = now > s->start_ns ? (now - s->start_ns) / s->period_ns : 0;
	uint64_t missed = current > next ? current - next : 0;

	due_at(s, next + missed);
	return missed;
}

uint64_t pl_schedule_over(const struct pl_schedule *s, uint64_t now)
{
	uint64_t current = now > s->start_ns ? (now - s->start_ns) / s->period_ns : 0;

	return current > s->tick ? current - s->tick : 0;
}
