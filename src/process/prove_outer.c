/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; one thread at a time. Where nothing proves the whole stack: the frames that stood throughout, from the
 * root. See outer.h, prove.h. */
#include "prove.h"

#define WALK_TRIES 4

/* Has the last reading come to the thread's outermost frame? */
static bool came_to_root(const struct pl_attempt *a)
{
	return a->reading->complete && a->reading->root && a->reading->root == a->thread->stack.root;
}

/* Frames to look for: those that were found last time, or those of a whole walk, whatever it is worth. */
static struct plumb_error *walk_to_root(struct pl_attempt *a)
{
	const struct pl_outer *o = &a->thread->outer;
	bool known = o->known.len && o->root == a->thread->stack.root;
	struct plumb_error *err = NULL;

	for (int i = 0; !err && i < WALK_TRIES && !came_to_root(a) && !(known && a->reading->tstate.addr); i++)
		err = pl_stack_read(a->r, &a->thread->stack, a->reading);
	return err;
}

enum pl_take_result pl_prove_outer(struct pl_attempt *a, enum pl_activity activity)
{
	struct pl_stack_reader *stack = &a->thread->stack;
	struct pl_outer *o = &a->thread->outer;
	struct plumb_error *err = walk_to_root(a);
	uint32_t node = 0;

	if (err)
		return pl_attempt_failed(err);
	if (a->reading->tstate.addr == 0)
		return PL_TAKE_UNREADABLE;
	/* Where no walk came to the root that is known, it may have become another. */
	bool walked = a->reading->complete && a->reading->root && (came_to_root(a) || o->root != stack->root);
	if (walked || (o->known.len && o->root == stack->root))
		err = pl_outer_read(a->r, stack, o, walked, a->reading->root, &node);
	if (err)
		return pl_attempt_failed(err);
	a->reading->node = node && pl_stack_root_known(a->r, stack, o->root) ? node : 0;
	a->reading->tag = a->reading->node ? o->tag : 0;
	(void)pl_attempt_take(a, activity, NULL, PL_PARTIAL);
	a->ret->marker = PL_MARKER_MOVING;
	return PL_TAKE_SAMPLE;
}
