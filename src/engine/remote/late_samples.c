/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine, sampling thread only: samples that wait for the stop of their thread. See late_samples.h. */
#include "late_samples.h"

#include "late_stack.h"
#include "mode.h"
#include "remote_engine.h"
#include "send.h"
#include "target.h"

#define KEPT_MAX 1024 /* at 1 kHz a second: who gets no processor for so long is told without */

void pl_late_samples_deinit(struct pl_late_samples *l)
{
	pl_vec_deinit(&l->kept);
	*l = (struct pl_late_samples){0};
}

bool pl_late_samples_keep(struct pl_target *t, struct pl_sampled *thread, const struct pl_raw_sample *s,
			  uint64_t time_ns, uint64_t weight_ns)
{
	struct pl_late_samples *l = &t->late;

	if (!pl_late_stack_is_due(&thread->sampler, &t->python.stopper, s) || (l->thread && l->thread != thread))
		return false;
	if (l->kept.len == KEPT_MAX || !pl_vec_push(&l->kept, ((struct pl_waiting_sample){time_ns, weight_ns, *s})))
		return false;
	l->thread = thread;
	return true;
}

static void send_kept(struct pl_engine *e, struct pl_target *t, const struct pl_late_stack *stack)
{
	struct pl_late_samples *l = &t->late;

	for (size_t i = 0; i < l->kept.len; i++) {
		struct pl_waiting_sample *w = &l->kept.data[i];

		(void)pl_late_stack_give(stack, &w->sample);
		pl_mode_rules(e->options.mode)->send(e, l->thread, &w->sample, w->time_ns, w->weight_ns);
	}
	pl_vec_clear(&l->kept);
	l->thread = NULL;
}

/* The thread stands from its arrival on, so all that can be done when it runs again is. */
bool pl_late_samples_settle(struct pl_engine *e, struct pl_target *t)
{
	struct pl_late_stack stack = {0};
	struct pl_stopper *s = &t->python.stopper;
	struct pl_thread_sampler *thread = t->late.thread ? &t->late.thread->sampler : NULL;

	if (thread && pl_stopper_has_come(s, thread->tid))
		pl_late_stack_read(&stack, thread, &t->python.reader, s);
	bool none = pl_stopper_settle(s);
	if (!thread || pl_stopper_holds(s, thread->tid))
		return none;
	pl_late_stack_make(&stack, thread, &t->python.reader);
	pl_send_judge_codes(e, t, thread->tid);
	send_kept(e, t, &stack);
	return none;
}

void pl_late_samples_give_up(struct pl_engine *e, struct pl_sampled *thread)
{
	const struct pl_late_stack unknown = {0};

	if (thread->target->late.thread == thread)
		send_kept(e, thread->target, &unknown);
}
