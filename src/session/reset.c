/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: counting from anew. The engine and the recording go on; what they say is seen from there. Under
 * `work`. */
#include "session_parts.h"

#include "clock.h"

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
