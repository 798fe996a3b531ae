/* SPDX-License-Identifier: Apache-2.0 */
/* The whole stack of a thread whose stop has come late. From the question on it has run none of its code, so what it
 * stands at now is what it stood at in each sample since: those that had to do without native frames get them.
 * docs/design/013-native-stacks.md, "Stops that come late" */
#ifndef PL_LATE_STACK_H
#define PL_LATE_STACK_H

#include "thread_sampler.h"

struct pl_late_stack {
	bool whole;   /* its stack was read while it stood */
	bool counted; /* and how often it had run by then */
	struct pl_reading reading;
	struct pl_raw_sample python, all; /* a sample of it without native frames, and with them */
};

/** May @p s, which pl_thread_sampler_take has just brought, get its native frames when the stop comes? */
bool pl_late_stack_is_due(const struct pl_thread_sampler *thread, const struct pl_stopper *stopper,
			  const struct pl_raw_sample *s);
/** The stop has come, and the thread stands. Quick: it does so because of us. */
void pl_late_stack_read(struct pl_late_stack *l, struct pl_thread_sampler *thread, struct pl_reader *r,
			struct pl_stopper *stopper);
/** The thread may run again: what was read becomes a stack, which holds until it runs. */
void pl_late_stack_make(struct pl_late_stack *l, struct pl_thread_sampler *thread, struct pl_reader *r);
/** @p s gets what the stop has told; not if its Python stack was another one. */
bool pl_late_stack_give(const struct pl_late_stack *l, struct pl_raw_sample *s);

#endif
