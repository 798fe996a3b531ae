/* SPDX-License-Identifier: Apache-2.0 */
/* Which exception a thread handles. Whatever can handle one, a thread or a generator that runs in it, has an item
 * {exception, previous item} of its own (3.7+); the last is the thread's, embedded in its state. */
#ifndef PL_EXCEPTIONS_H
#define PL_EXCEPTIONS_H

#include "threads.h"

/**
 * 3.13 and 3.14 do not publish where these words are, 3.15 not all of them: fill in those of the minor's reference row
 * if the items of one of @p threads end where that row says. Nothing is changed if those of none do.
 */
void pl_exceptions_learn(struct pl_mem *mem, struct pl_py *py, const pl_tstate_vec *threads);

/** Is an exception raised or handled, by a generator too? The thread must stand still. False where it is not known. */
bool pl_exception_handled(struct pl_mem *mem, const struct pl_py *py, const struct pl_tstate *ts);

#endif
