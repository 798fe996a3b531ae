/* SPDX-License-Identifier: Apache-2.0 */
/* How long tasks wait: looks at them between rounds. Sampling thread only. */
#ifndef PL_TASK_LOOKS_H
#define PL_TASK_LOOKS_H

#include <stdint.h>

struct pl_engine;

/** With options.tasks: look at the tasks of a process, if it is time to. */
void pl_task_looks_take(struct pl_engine *e, uint64_t now);

#endif
