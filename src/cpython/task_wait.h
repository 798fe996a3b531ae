/* SPDX-License-Identifier: Apache-2.0 */
/* What a suspended asyncio task waits for, and which asyncio locks it is inside of, by the frames of its chain. */
#ifndef PL_TASK_WAIT_H
#define PL_TASK_WAIT_H

#include "lock_wait.h"

struct pl_task_await {
	enum pl_wait_for what;	 /* PL_FOR_UNKNOWN: in none of asyncio's own functions */
	pl_addr object;		 /* id() of the lock, the queue, ...; of tasks: see `tasks`; 0: none */
	char type[PL_TYPE_NAME]; /* of it, as programs call it: "asyncio.Lock" */
	bool limited;		 /* it gives up by itself: inside a time limit */
	enum pl_tasks_in {
		PL_TASKS_IN_NONE,
		PL_TASKS_IN_GROUP, /* `object` is a TaskGroup that waits for all of its tasks */
		PL_TASKS_IN_SET,   /* a set: asyncio.wait, for one of its members or for all */
		PL_TASKS_ALONE,	   /* the task or future itself, which another one stands for: wait_for up to 3.11 */
	} tasks;
};

/** Called with each asyncio.Lock. @p inside: the task is inside of it; else it has let go of it in Condition.wait, and
 * it was another task that had entered it, or nobody. */
typedef void pl_task_lock_fn(void *ctx, pl_addr lock, bool inside);

/**
 * @p frames: a task's chain of awaits, innermost first. @p fn is called with each lock that the task is inside of by
 * `async with`, itself or by its Condition, and has not let go of; and with those that it has let go of for another
 * one. What cannot be read is left out.
 */
void pl_task_wait_find(struct pl_values *v, const struct pl_frame *frames, size_t count, pl_task_lock_fn *fn, void *ctx,
		       struct pl_task_await *ret);

/** Is an asyncio.Lock held? False also if that cannot be read: then *known_ret is false, too. */
bool pl_task_lock_held(struct pl_values *v, pl_addr lock, bool *known_ret);

/** As programs call it: "asyncio.Future" for "_asyncio.Future". */
void pl_task_public_name(char type[static PL_TYPE_NAME]);

#endif
