/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine, sampling thread only: who held the lock that a thread waited for. Who runs is sampled before or after
 * who waits, so it is asked once for all when the round is over. */
#include "lock_samples.h"

#include "clock.h"
#include "remote_engine.h"
#include "sampled.h"
#include "send.h"
#include "target.h"

#define NOT_ASKED UINT32_MAX

bool pl_lock_samples_take(struct pl_target *t, struct pl_sampled *thread, const struct pl_raw_sample *s,
			  uint64_t time_ns, uint64_t weight_ns)
{
	struct pl_lock_looks *looks = t->python.reader.lock_looks;
	struct pl_lock_sample sample = {thread, *s, time_ns, weight_ns, NOT_ASKED};

	if (!looks || !thread->sampler.awaits.object)
		return false;
	if (!t->lock_samples.list.len)
		pl_lock_looks_begin(looks);
	if (!pl_lock_looks_add(looks, &thread->sampler.awaits, &sample.lock))
		sample.lock = NOT_ASKED;
	return pl_vec_push(&t->lock_samples.list, sample);
}

static void send_one(struct pl_engine *e, const struct pl_lock_looks *looks, const struct pl_lock_sample *s)
{
	struct pl_look_at_lock unknown = {.lock = s->thread->sampler.awaits};
	const struct pl_look_at_lock *look = s->lock == NOT_ASKED ? &unknown : &looks->locks.data[s->lock];

	pl_send_lock(e, s->thread, look);
	pl_send_weighed(e, s->thread, &s->sample, s->time_ns, s->weight_ns);
}

static void judge_codes(void *ctx, const struct pl_thread_sampler *thread)
{
	struct pl_target *t = ctx;

	pl_send_judge_codes(t->engine, t, thread->tid);
}

void pl_lock_samples_send(struct pl_engine *e, struct pl_target *t)
{
	struct pl_lock_looks *looks = t->python.reader.lock_looks;

	if (!t->lock_samples.list.len)
		return;
	pl_lock_looks_ask(looks, &t->python, judge_codes, t);
	for (size_t i = 0; i < t->lock_samples.list.len; i++)
		send_one(e, looks, &t->lock_samples.list.data[i]);
	pl_vec_clear(&t->lock_samples.list);
}
