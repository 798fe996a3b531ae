/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine, sampling thread only: what a sample weighs in CPU mode.
 *
 * The kernel brings the run time of a thread up to date at its own ticks and when the thread blocks, not when we look.
 * So samples wait, and many of them share the run time that has become known meanwhile. Sharing it among few would be
 * wrong: a sample would be given the time since the one before, and the parts of a program that follow a wait would be
 * given the end of the part before it. */
#include "cpu_time.h"

#include "sampled.h"
#include "send.h"

#define SHARED_BY	32 /* samples */
#define SHARED_AFTER_NS 500000000ull
#define SHARED_LEAST	4 /* what waits at the end of a brief thread takes the time behind the last sample */

static void share_run_time(struct pl_engine *e, struct pl_sampled *thread)
{
	uint64_t share = thread->sampler.ran_ns / thread->waiting.len;

	for (size_t i = 0; i < thread->waiting.len; i++)
		pl_send_weighed(e, thread, &thread->waiting.data[i].sample, thread->waiting.data[i].time_ns, share);
	pl_vec_clear(&thread->waiting);
	thread->sampler.ran_ns = 0;
}

void pl_cpu_time_send(struct pl_engine *e, struct pl_sampled *thread, const struct pl_raw_sample *s, uint64_t now,
		      uint64_t weight_ns)
{
	if (s && !thread->announced) /* a process that has ended cannot be asked any more what it ran */
		pl_send_thread(e, thread);
	if (s && !thread->sampler.counted)
		pl_send_weighed(e, thread, s, now, weight_ns); /* the kernel does not tell run times */
	else if (s)
		(void)pl_vec_push(&thread->waiting,
				  ((struct pl_waiting_sample){now, weight_ns, *s})); /* else the others get its time */
	if (thread->waiting.len == 0 || thread->sampler.ran_ns == 0)
		return;
	if (thread->waiting.len >= SHARED_BY ||
	    (thread->waiting.len >= SHARED_LEAST && now - thread->waiting.data[0].time_ns > SHARED_AFTER_NS))
		share_run_time(e, thread);
}

/* Of a time for which it was ready: as much as it had a processor of all such time. */
static uint64_t ran_of(const struct pl_sampled *thread, double ready_ns)
{
	const struct pl_run_counters *c = &thread->sampler.counters;
	double all_ns = (double)c->run_ns + (double)c->delay_ns;

	return (uint64_t)(all_ns > 0 ? ready_ns * ((double)c->run_ns / all_ns) : ready_ns);
}

/* It ended before the kernel told anything: each sample stands for the time that passed between two of them. Of one
 * that is known to have run, what waits has not: it was ready, or stood in a stop. */
static uint64_t ran_while_waiting(const struct pl_sampled *thread)
{
	double sum = 0;

	for (size_t i = 0; i < thread->waiting.len; i++)
		sum += (double)thread->waiting.data[i].weight_ns;
	return ran_of(thread, sum);
}

void pl_cpu_time_rest(struct pl_engine *e, struct pl_sampled *thread)
{
	if (thread->waiting.len == 0)
		return;
	if (thread->sampler.ran_ns == 0 && thread->sampler.cpu_ns == 0)
		thread->sampler.ran_ns = ran_while_waiting(thread);
	share_run_time(e, thread);
}

/* It ended half a period after its last sample, on average. Of a brief thread that is much, where the rate is lowered.
 */
void pl_cpu_time_end(struct pl_engine *e, struct pl_sampled *thread)
{
	const struct pl_waiting_sample *last =
		thread->waiting.len ? &thread->waiting.data[thread->waiting.len - 1] : NULL;

	if (last && thread->sampler.cpu_ns && (last->sample.state & PL_STATE_ON_CPU))
		thread->sampler.ran_ns += ran_of(thread, (double)last->weight_ns / 2);
	pl_cpu_time_rest(e, thread);
}
