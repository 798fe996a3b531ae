/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of a process that wait for locks and the like, and who has these. */
#ifndef PL_DUMP_HOLDS_H
#define PL_DUMP_HOLDS_H

#include "dump_locks.h"
#include "dump_look.h"

/** A thread that waits for something in Python. */
struct pl_lock_waiter {
	size_t thread; /* position in the process's */
	const struct pl_thread_sampler *sampler;
	struct pl_stand stand; /* when it was read */
};
typedef PL_VEC(struct pl_lock_waiter) pl_lock_waiter_vec;

/** The thread, which is about to be added to the process, may wait for something, as the look at it says: note it.
 * False without memory. */
bool pl_dump_add_waiter(struct pl_lock_finder *locks, pl_lock_waiter_vec *waiters,
			const struct pl_thread_sampler *thread, const struct pl_look *l, struct pl_dump_thread *t);

/** All threads are known: who has what is waited for, and which of them still wait for it. */
void pl_dump_tell_locks(struct pl_looker *u, struct pl_lock_finder *locks, const pl_lock_waiter_vec *waiters);

#endif
