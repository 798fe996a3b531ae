/* SPDX-License-Identifier: Apache-2.0 */
/* Instants for formats with an axis of time. Layer export; pure, any thread. */
#include "timeline.h"

#define DEFAULT_INTERVAL_NS 1000000u
#define PIDS		    (UINT64_C(1) << 22) /* more than the kernel gives */

void pl_timeline_start(struct pl_timeline *t, const struct plumb_profile *p)
{
	*t = (struct pl_timeline){.interval_ns = p->meta.period_ns ? p->meta.period_ns : DEFAULT_INTERVAL_NS,
				  .timed = pl_profile_is_timed(p),
				  .weighed = p->meta.mode != PL_MODE_CPU && !p->meta.counted};
	t->period_ns = t->interval_ns;
}

static uint64_t times(uint64_t a, uint64_t b)
{
	uint64_t v;

	return __builtin_mul_overflow(a, b, &v) ? UINT64_MAX / 4 : v;
}

uint64_t pl_timeline_next(struct pl_timeline *t, const struct pl_sample *s)
{
	uint64_t at = t->timed ? s->time_ns : t->now_ns + times(1 + s->extra, t->interval_ns);

	t->started = true;
	t->count = 1 + s->extra;
	uint64_t stands_for_ns = t->weighed && t->count ? s->weight_ns / t->count : 0;
	t->period_ns = stands_for_ns > t->interval_ns ? stands_for_ns : t->interval_ns;
	t->now_ns = at > t->now_ns ? at : t->now_ns;
	return t->now_ns;
}

uint64_t pl_timeline_length(const struct pl_timeline *t, uint64_t gap_ns, uint64_t count)
{
	uint64_t most = times(count, times(2, t->period_ns));

	return gap_ns < most ? gap_ns : most;
}

uint64_t pl_timeline_pid(const struct plumb_profile *p, uint32_t process)
{
	return p->processes[process].pid + p->processes[process].before * PIDS;
}

uint64_t pl_timeline_tid(const struct plumb_profile *p, const struct pl_thread *t)
{
	return t->tid + pl_timeline_pid(p, t->process) - p->processes[t->process].pid;
}
