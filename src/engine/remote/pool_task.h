/* SPDX-License-Identifier: Apache-2.0 */
/* What the worker of a pool works on: the function that it was handed, found on its stack below the loop in which such
 * workers wait, as the tag "[task=count]". Pools of multiprocessing, concurrent.futures and joblib with loky. */
#ifndef PL_POOL_TASK_H
#define PL_POOL_TASK_H

#include <plumb/tags.h>

#include "profile.h"
#include "tagged.h"
#include "vec.h"

struct pl_pool_tasks {
	PL_VEC(uint8_t) functions; /* by function: what it is to a worker */
	PL_VEC(uint32_t) stacks;   /* by stack: what a thread with it works on */
	PL_VEC(uint32_t) path;
	const struct plumb_profile *p; /* while a stack is put on its tag */
	struct plumb_tags tags;
	struct pl_tagged tagged;
};

/** @p max: of stacks with a tag; 0: as many as pl_tagged has. @p t stays where it is. */
void pl_pool_tasks_init(struct pl_pool_tasks *t, size_t max);
void pl_pool_tasks_deinit(struct pl_pool_tasks *t);
/** @p stack on the tag of its task, or itself. Always of one profile. */
struct plumb_error *pl_pool_task_stack(struct pl_pool_tasks *t, struct plumb_profile *p, uint32_t stack,
				       uint32_t *ret) PLUMB_MUST_CHECK;

#endif
