/* SPDX-License-Identifier: Apache-2.0 */
/* What asyncio tasks wait for, and who has it, for a dump. */
#ifndef PL_DUMP_TASK_WAITS_H
#define PL_DUMP_TASK_WAITS_H

#include "asyncio.h"
#include "dump_model.h"
#include "value.h"

/** What a dump says of @p task, but for its name, its frames, its thread and its interpreter. Without memory for what
 * it needs: false, and it is to be freed all the same. */
bool pl_dump_task_of(struct pl_dump *d, const struct pl_tasks *all, const struct pl_task *task,
		     struct pl_dump_task *ret);

/** Fill in what the tasks of @p p from @p first on, which are those of @p all in their order, wait for, and who holds
 * it. Errors: PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_dump_task_waits(struct pl_dump *d, struct pl_dump_process *p, struct pl_values *v,
				       const struct pl_tasks *all, size_t first) PLUMB_MUST_CHECK;

#endif
