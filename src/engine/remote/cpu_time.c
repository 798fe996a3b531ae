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
	if (thread->waiting.len >= SHARED_BY || now - thread->waiting.data[0].time_ns > SHARED_AFTER_NS)
		share_run_time(e, thread);
}

/* It ended before the kernel told anything: each sample stands for the time that passed between two of them. Of one
 * that is known to have run, what waits has not: it was ready, or stood in a stop. */
static uint64_t time_waited_for(const struct pl_sampled *thread)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < thread->waiting.len; i++)
		sum += thread->waiting.data[i].weight_ns;
	return sum;
}

void pl_cpu_time_rest(struct pl_engine *e, struct pl_sampled *thread)
{
	if (thread->waiting.len == 0)
		return;
	if (thread->sampler.ran_ns == 0 && thread->sampler.cpu_ns == 0)
		thread->sampler.ran_ns = time_waited_for(thread);
	share_run_time(e, thread);
}
