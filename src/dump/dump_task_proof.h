/* SPDX-License-Identifier: Apache-2.0 */
/* Deadlocks of asyncio tasks of a living process: a second look. */
#ifndef PL_DUMP_TASK_PROOF_H
#define PL_DUMP_TASK_PROOF_H

#include "dump_look.h"

/** Keep those deadlocks that were whole at one moment, while the thread of their loop stood still. Errors:
 * PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_dump_prove_task_deadlocks(struct pl_looker *u, struct pl_dump_process *p) PLUMB_MUST_CHECK;

#endif
