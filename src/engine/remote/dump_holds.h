/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the locks that are waited for a living thread has. */
#ifndef PL_DUMP_HOLDS_H
#define PL_DUMP_HOLDS_H

#include "dump_locks.h"
#include "watch.h"

/** Add them to l->holds: those that two readings of the stack, one after the other, agree on. */
void pl_dump_take_holds(struct pl_lock_finder *l, struct pl_reader *r, struct pl_watch *w);

#endif
