/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; one thread at a time. See late_stack.h. */
#include "late_stack.h"

#include "prove.h"

bool pl_late_stack_is_due(const struct pl_thread_sampler *thread, const struct pl_stopper *stopper,
			  const struct pl_raw_sample *s)
{
	return s->native_untold && (s->quality == PL_STOPPED || pl_thread_sampler_is_native(thread)) &&
	       pl_stopper_holds(stopper, thread->tid);
}

void pl_late_stack_read(struct pl_late_stack *l, struct pl_thread_sampler *thread, struct pl_reader *r,
			struct pl_stopper *stopper)
{
	struct pl_raw_sample none;
	struct pl_attempt a = {.thread = thread, .r = r, .stopper = stopper, .reading = &l->reading, .ret = &none};
	pl_addr root = thread->stack.root;

	*l = (struct pl_late_stack){0};
	struct plumb_error *err = pl_attempt_read(&a);
	l->whole = !err && pl_attempt_is_whole(&a, root);
	if (l->whole)
		pl_attempt_take_native(&a, NULL);
	l->counted = l->whole && pl_thread_sampler_count_standing(thread);
	plumb_error_destroy(err); /* whoever samples it next meets the same */
}

void pl_late_stack_make(struct pl_late_stack *l, struct pl_thread_sampler *thread, struct pl_reader *r)
{
	struct pl_attempt a = {.thread = thread, .r = r, .reading = &l->reading, .ret = &l->python};

	if (!l->whole)
		return;
	(void)pl_attempt_take(&a, PL_ACTIVITY_RUNNING, NULL, PL_STOPPED);
	pl_attempt_see_native(&a);
	a.ret = &l->all;
	(void)pl_attempt_take(&a, PL_ACTIVITY_RUNNING, NULL, PL_STOPPED);
	thread->stood = pl_late_stack_give(l, &thread->last) && l->counted;
}

bool pl_late_stack_give(const struct pl_late_stack *l, struct pl_raw_sample *s)
{
	if (!l->whole || s->node != l->python.node || s->quality != l->python.quality)
		return false;
	s->node = l->all.node;
	s->quality = l->all.quality;
	s->native_untold = l->all.native_untold;
	s->task_untold = l->all.task_untold;
	if (s->marker == l->python.marker)
		s->marker = l->all.marker;
	return true;
}
