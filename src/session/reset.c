/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: counting from anew. The engine and the recording go on; what they say is seen from there. Under
 * `work`. */
#include "session_parts.h"

#include "clock.h"

/* A guest answers for its own threads only. */
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
	st.folded -= from->folded;
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

/* Without memory a thread's CPU time is that since the session began, at worst. */
static void note_thread_times(struct plumb_session *s)
{
	const struct plumb_profile *p = s->profile;

	pl_vec_clear(&s->since.thread_cpu_ns);
	for (uint32_t i = 0; i < p->thread_count; i++)
		if (!pl_vec_push(&s->since.thread_cpu_ns, p->threads[i].cpu_ns))
			return;
}

static void forget(struct plumb_session *s)
{
	pl_session_take(s);
	s->since.stats = s->stats;
	s->since.real_ns = pl_clock_real_ns();
	s->since.cpu_ns = pl_session_cost_ns(s);
	s->since.reset = true;
	note_thread_times(s);
	pl_profile_forget(s->profile);
	pl_cycles_clear(&s->cycles);
	s->samples = 0;
	for (int i = 0; i < PL_QUALITIES; i++)
		s->by_quality[i] = 0;
}

void plumb_session_reset(struct plumb_session *s)
{
	if (pl_session_forked(s))
		return;
	pl_session_order(s, (struct pl_order){.kind = PL_ORDER_TELL_THREADS});
	pthread_mutex_lock(&s->work);
	if (s->consuming)
		forget(s);
	pthread_mutex_unlock(&s->work);
}
