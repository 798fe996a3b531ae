/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes are followed: children come, processes end. Sampling thread only. */
#ifndef PL_TREE_H
#define PL_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"

struct pl_engine;
struct pl_target;

/** Begin without a process. Errors: PLUMB_ERR_SYSTEM. */
struct plumb_error *pl_tree_open(struct pl_engine *e) PLUMB_MUST_CHECK;
/** Follow a process that was asked for. Errors: PLUMB_ERR_NO_PROCESS, PLUMB_ERR_SYSTEM. */
struct plumb_error *pl_tree_ask(struct pl_engine *e, pid_t pid, struct pl_target **ret) PLUMB_MUST_CHECK;
/** The one that came last, and cannot be sampled, was not there. */
void pl_tree_forget(struct pl_engine *e, struct pl_target *t);
/** Find what those that were asked for have started before. */
void pl_tree_find_children(struct pl_engine *e);
void pl_tree_close(struct pl_engine *e);
/** Look for children that have been born. */
void pl_tree_look(struct pl_engine *e, uint64_t now);
/** Part with those that have ended. */
void pl_tree_reap(struct pl_engine *e, uint64_t now);
void pl_tree_end(struct pl_engine *e, struct pl_target *t, uint64_t now);
/** Nothing is left that sampling should wait for. False between two looks. */
bool pl_tree_over(struct pl_engine *e, uint64_t now);

#endif
