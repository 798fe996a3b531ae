/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: the figures of engine and profile since counting began. Under `work`. */
#include "session_parts.h"

#include "clock.h"

/* Who samples the process that it is in answers for its own threads only. */
uint64_t pl_session_cost_ns(const struct plumb_session *s)
{
	return s->options.own ? s->stats.cpu_ns : pl_clock_process_cpu_ns();
}

struct pl_engine_stats pl_session_stats_since(const struct plumb_session *s)
{
	const struct pl_engine_stats *from = &s->since.stats;
	struct pl_engine_stats st = s->stats;

	st.elapsed_ns -= from->elapsed_ns;
	st.ticks -= from->ticks;
	st.taken_ns -= from->taken_ns;
	st.missed_ns -= from->missed_ns;
	st.stops -= from->stops;
	st.stopped_ns -= from->stopped_ns;
	st.halted_ns -= from->halted_ns;
	st.used_cpu_ns -= from->used_cpu_ns;
	for (int i = 0; i < PL_LOSSES; i++)
		st.losses[i] -= from->losses[i];
	for (int i = 0; i < PL_REFUSALS; i++)
		st.refusals.by_cause[i] -= from->refusals.by_cause[i];
	return st;
}

static void fit_meta(const struct plumb_session *s, struct pl_meta *m)
{
	struct pl_engine_stats st = pl_session_stats_since(s);

	m->start_real_ns = s->since.real_ns;
	m->period_ns = s->options.period_ns;
	m->duration_ns = st.elapsed_ns;
	m->ticks = st.ticks;
	m->taken_ns = st.taken_ns;
	m->missed_ns = st.missed_ns;
	m->stops = st.stops;
	m->stopped_ns = st.stopped_ns;
	m->halted_ns = st.halted_ns;
	m->used_cpu_ns = st.used_cpu_ns;
	for (int i = 0; i < PL_LOSSES; i++)
		m->losses[i] -= s->since.stats.losses[i];
	for (int i = 0; i < PL_REFUSALS; i++)
		m->refused[i] -= s->since.stats.refusals.by_cause[i];
	m->profiler_cpu_ns -= s->since.cpu_ns;
}

void pl_session_fit(const struct plumb_session *s, struct plumb_profile *p)
{
	fit_meta(s, &p->meta);
	for (size_t i = 0; i < s->since.thread_cpu_ns.len; i++)
		p->threads[i].cpu_ns -= s->since.thread_cpu_ns.data[i];
}
