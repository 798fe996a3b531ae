/* SPDX-License-Identifier: Apache-2.0 */
/* What reading the stacks of tasks needs to know of each interpreter of a target. */
#ifndef PL_TASK_FINDERS_H
#define PL_TASK_FINDERS_H

#include "mem_live.h"
#include "ration.h"
#include "task_stack.h"
#include "vec.h"

struct pl_task_finder {
	pl_addr interp;
	struct pl_task_stacks *stacks; /* NULL: not known (yet) */
	bool failed;		       /* it uses asyncio, and its tasks cannot be read */
	uint64_t next_ns;	       /* when to look again, or when there are not so many modules any more: */
	uint64_t modules;
};

struct pl_task_finders {
	PL_VEC(struct pl_task_finder) list;
	struct pl_ration looks; /* where asyncio is in an interpreter: a process may say that it has ever new ones */
};

/** The addresses mean nothing any more. */
void pl_task_finders_forget(struct pl_task_finders *f);
void pl_task_finders_deinit(struct pl_task_finders *f);

/** That of an interpreter; @p interp as it is now. *ret: NULL: no task runs there, as asyncio is not used. Errors:
 * pl_err_unreadable, pl_err_target_exited, pl_err_no_memory. */
struct plumb_error *pl_task_finders_get(struct pl_task_finders *f, const struct pl_py *py, struct pl_mem_live *live,
					const struct pl_interp *interp, struct pl_task_stacks **ret) PLUMB_MUST_CHECK;

#endif
