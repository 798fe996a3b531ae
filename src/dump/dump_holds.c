/* SPDX-License-Identifier: Apache-2.0 */
/* Layer dump: which of the locks that are waited for a thread has. A living one may run meanwhile, and its innermost
 * frames change; those that are inside `with` stand longer. What both of two readings find in the same frame was there
 * at two moments, while the lock's waiters waited. One of a core is read once, as far as it goes. */
#include "dump_holds.h"

#include "clock.h"

#define TRIES 8

/* False: its stack could not be read as a whole. */
static bool read_holds(struct pl_lock_finder *l, struct pl_reader *r, struct pl_thread_sampler *thread,
		       pl_lock_hold_vec *ret)
{
	struct pl_reading reading;
	bool complete = false;

	pl_vec_clear(ret);
	for (int i = 0; i < TRIES && !complete && pl_clock_monotonic_ns() < l->finder.end_ns; i++) {
		struct plumb_error *err = pl_stack_read(r, &thread->stack, &reading);
		complete = !err && (reading.complete || !r->live);
		plumb_error_destroy(err);
		if (err)
			break;
	}
	if (complete)
		pl_hold_finder_find(&l->finder, &thread->stack.frames, ret);
	return complete;
}

/* Those that two readings of the stack, one after the other, agree on; and what it had let go of at one of them. */
static void take_both(struct pl_lock_finder *l, uint64_t tid, const pl_lock_hold_vec *first,
		      const pl_lock_hold_vec *second)
{
	struct pl_map frames = PL_MAP_INIT; /* (frame, lock) of the first */
	uint32_t any;

	for (size_t i = 0; i < first->len && !l->finder.in_part; i++) {
		const struct pl_lock_hold *h = &first->data[i];

		if (h->inside)
			l->finder.in_part = !pl_map_set(&frames, h->frame, h->lock, 1);
		else
			pl_lock_finder_take(l, h, tid);
	}
	for (size_t i = 0; i < second->len && !l->finder.in_part; i++) {
		const struct pl_lock_hold *h = &second->data[i];

		if (!h->inside || pl_map_get(&frames, h->frame, h->lock, &any))
			pl_lock_finder_take(l, h, tid);
	}
	pl_map_deinit(&frames);
}

static void take_holds(struct pl_lock_finder *l, struct pl_reader *r, struct pl_thread_sampler *thread)
{
	pl_lock_hold_vec first = {0}, second = {0};

	if (!l->finder.in_part && read_holds(l, r, thread, &first) && first.len) {
		if (!r->live)
			take_both(l, (uint64_t)thread->tid, &first, &first);
		else if (read_holds(l, r, thread, &second))
			take_both(l, (uint64_t)thread->tid, &first, &second);
	}
	pl_vec_deinit(&first);
	pl_vec_deinit(&second);
}

bool pl_dump_add_waiter(struct pl_lock_finder *locks, pl_lock_waiter_vec *waiters,
			const struct pl_thread_sampler *thread, const struct pl_look *l, struct pl_dump_thread *t)
{
	const struct pl_lock_waiter waiter = {.thread = locks->p->threads.len, .sampler = thread, .stand = l->stand};

	if (t->in_call && l->agrees)
		pl_lock_finder_add(locks, &l->lock_wait, t);
	return !t->awaited || pl_vec_push(waiters, waiter);
}

/* Waits that lasted until the holders had been found were all there at one moment. */
void pl_dump_tell_locks(struct pl_looker *u, struct pl_lock_finder *locks, const pl_lock_waiter_vec *waiters)
{
	const struct pl_thread_list *list = &u->process->threads;
	if (!waiters->len)
		return;
	for (size_t i = 0; i < list->samplers.len && !locks->finder.in_part; i++) {
		locks->finder.in_part = pl_clock_monotonic_ns() >= u->end_ns;
		take_holds(locks, &u->process->reader, list->samplers.data[i]);
	}
	pl_lock_finder_tell(locks);
	for (size_t i = 0; i < waiters->len; i++) {
		const struct pl_lock_waiter *waiter = &waiters->data[i];
		locks->p->threads.data[waiter->thread].waits_on = pl_stand_holds(&waiter->stand, waiter->sampler);
	}
}
