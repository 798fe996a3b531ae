/* SPDX-License-Identifier: Apache-2.0 */
/* How long tasks wait: looks at them between rounds. Sampling thread only. */
#ifndef PL_TASK_LOOKS_H
#define PL_TASK_LOOKS_H

#include <stdint.h>

struct pl_engine;
struct pl_target;

/** With options.tasks: go on looking at the tasks of @p t. */
void pl_task_looks_take(struct pl_engine *e, struct pl_target *t, uint64_t now);

#endif
