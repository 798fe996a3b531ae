/* SPDX-License-Identifier: Apache-2.0 */
/* asyncio tasks for a dump. */
#ifndef PL_DUMP_TASKS_H
#define PL_DUMP_TASKS_H

#include "asyncio.h"
#include "dump_parts.h"
#include "value.h"

/** What the tasks of all interpreters have in common. */
struct pl_task_dumper {
	struct pl_dump *d;
	struct pl_dump_process *p; /* its threads are there already */
	struct pl_mem *mem;	   /* ends at some time: made-up tasks can take as long as they like */
	const struct pl_py *py;
	struct pl_dump_sources *sources; /* NULL: no source lines */
	struct pl_values *values;	 /* NULL: no variables */
};

/** Add the tasks of all interpreters, what they wait for and, as far as one look can tell, their deadlocks. Tasks that
 * cannot be read are counted. Errors: PLUMB_ERR_NO_MEMORY, PLUMB_ERR_TARGET_EXITED. */
struct plumb_error *pl_dump_tasks(const struct pl_task_dumper *u, const pl_interp_vec *interps) PLUMB_MUST_CHECK;

#endif
