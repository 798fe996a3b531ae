/* SPDX-License-Identifier: Apache-2.0 */
/* Which threads of a process run no Python: the kernel lists them, and no interpreter does. For one reading of the
 * lists of threads (thread_list.h). */
#ifndef PL_NATIVE_TIDS_H
#define PL_NATIVE_TIDS_H

#include "map.h"
#include "proc.h"
#include "work.h"

struct pl_thread_list;

/** Starts as {0}. */
struct pl_native_tids {
	pl_tid_vec tids;
	bool known; /* they could be listed */
	pid_t pid;
	struct pl_map have; /* tid -> whether the list of threads has it */
};

/** Before the lists of Python are read: a thread that has a state then is in these. */
void pl_native_tids_read(struct pl_native_tids *n, pid_t pid, struct pl_work *work);
/** After it: threads that have lost their state, and live, are in the list as those that run no Python, and these stay
 * in it while they live. @p all: a thread that is on no list of Python has no state.
 * Errors: PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_native_tids_settle(struct pl_native_tids *n, struct pl_thread_list *list,
					  bool all) PLUMB_MUST_CHECK;
/** Does the list lack this one? */
bool pl_native_tids_lacks(const struct pl_native_tids *n, pid_t tid);
void pl_native_tids_deinit(struct pl_native_tids *n);

#endif
