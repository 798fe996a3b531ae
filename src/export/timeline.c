/* SPDX-License-Identifier: Apache-2.0 */
/* Instants for formats with an axis of time. Layer export; pure, any thread. */
#include "timeline.h"

#define DEFAULT_INTERVAL_NS 1000000u
#define PIDS		    (UINT64_C(1) << 22) /* more than the kernel gives */

void pl_timeline_start(struct pl_timeline *t, const struct plumb_profile *p)
{
	*t = (struct pl_timeline){.interval_ns = p->meta.period_ns ? p->meta.period_ns : DEFAULT_INTERVAL_NS,
				  .timed = pl_profile_is_timed(p)};
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
	t->now_ns = at > t->now_ns ? at : t->now_ns;
	return t->now_ns;
}

uint64_t pl_timeline_length(const struct pl_timeline *t, uint64_t gap_ns, uint64_t count)
{
	uint64_t most = times(count, 2 * t->interval_ns);

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
