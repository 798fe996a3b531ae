/* SPDX-License-Identifier: Apache-2.0 */
/* The stack of the asyncio task that a thread runs: its own frames, then those of the coroutines that await it. */
#ifndef PL_TASK_STACK_H
#define PL_TASK_STACK_H

#include "frame.h"

#define PL_TASK_STACK_TASKS  32	  /* that await the one that runs, one above the other */
#define PL_TASK_STACK_FRAMES 1024 /* of all of them */

/** What is looked up for it once in an interpreter. */
struct pl_task_stacks;

/** Later readings may be made through another reader than @p mem. A program that does not use asyncio (yet) has none:
 * *ret is NULL then. Errors: PLUMB_ERR_NOT_SUPPORTED, PLUMB_ERR_CORRUPT, PLUMB_ERR_TARGET_EXITED, PLUMB_ERR_NO_MEMORY.
 */
struct plumb_error *pl_task_stacks_create(struct pl_mem *mem, const struct pl_py *py, const struct pl_interp *interp,
					  struct pl_task_stacks **ret) PLUMB_MUST_CHECK;
void pl_task_stacks_destroy(struct pl_task_stacks *t);

/** Append the frames of those that await the task at @p task, of those that await these, and so on. Errors: as below.
 */
struct plumb_error *pl_task_awaiters_read(struct pl_task_stacks *t, struct pl_mem *mem, pl_addr task,
					  pl_frame_vec *ret) PLUMB_MUST_CHECK;

/** Is @p future what asyncio.shield gave for a task that has not ended? Who waits for it waits for that. Errors: as
 * below. */
struct plumb_error *pl_task_shields(struct pl_task_stacks *t, struct pl_mem *mem, pl_addr future,
				    bool *ret) PLUMB_MUST_CHECK;

/**
 * Append the stack of the task that runs on the thread @p tstate, innermost first. The task's outermost coroutine is
 * one of the frames of @p stack, and what is outside of it is the event loop. A task that waits for this one, itself or
 * by futures of asyncio's own functions (gather, wait, wait_for, shield, a TaskGroup), gives the frames of its chain of
 * awaits; of more than one that waits, the first. Nothing but this is read while nothing of it may move, or not proved.
 * @param own_ret how many frames of @p stack it begins with; 0: the thread runs no task.
 * Errors: pl_err_limit (more tasks or frames than the bounds), pl_err_corrupt and others of reading.
 */
struct plumb_error *pl_task_stack_read(struct pl_task_stacks *t, struct pl_mem *mem, pl_addr tstate,
				       const pl_frame_vec *stack, pl_frame_vec *ret, size_t *own_ret) PLUMB_MUST_CHECK;

#endif
