/* SPDX-License-Identifier: Apache-2.0 */
/* Locks for a dump: what threads wait for, and who has it. */
#ifndef PL_DUMP_LOCKS_H
#define PL_DUMP_LOCKS_H

#include "dump_model.h"
#include "lock_holds.h"
#include "lock_wait.h"
#include "map.h"

/** A thread is inside `with` of a lock that is waited for, or has let go of it in the stead of another one. */
struct pl_dump_hold {
	uint32_t awaited; /* position in the process's `awaited` */
	uint64_t tid;
	bool inside;
	bool innermost;
};

/** What is waited for in one process. Start with {0} and pl_lock_finder_init. */
struct pl_lock_finder {
	struct pl_dump *d;
	struct pl_dump_process *p;
	struct pl_values values;
	struct pl_map by_object;	   /* (object, what) -> position in p->awaited */
	PL_VEC(struct pl_lock_wait) found; /* of the same positions */
	PL_VEC(struct pl_dump_hold) holds;
	struct pl_hold_finder finder; /* in part: nobody is named who does not say so himself */
};

/** @p mem and @p py are for the reader of values. What `end_ns` leaves no time for is not known. */
void pl_lock_finder_init(struct pl_lock_finder *l, struct pl_dump *d, struct pl_dump_process *p, struct pl_mem *mem,
			 const struct pl_py *py, uint64_t end_ns);
void pl_lock_finder_deinit(struct pl_lock_finder *l);

/** The thread waits for this: fills in t->awaited. Without memory, or for nothing that is known: as it was. */
void pl_lock_finder_add(struct pl_lock_finder *l, const struct pl_lock_wait *w, struct pl_dump_thread *t);
/** Thread @p tid has told this of a lock that is waited for. Of more than there may be nobody is named. */
void pl_lock_finder_take(struct pl_lock_finder *l, const struct pl_lock_hold *h, uint64_t tid);
/** Whether each lock is held and by whom, by `holds`; all threads are known. Takes time that follows their number. */
void pl_lock_finder_tell(struct pl_lock_finder *l);

#endif
