/* SPDX-License-Identifier: Apache-2.0 */
/* Locks for a dump: what threads wait for, and who has it. */
#ifndef PL_DUMP_LOCKS_H
#define PL_DUMP_LOCKS_H

#include "dump_model.h"
#include "frame.h"
#include "lock_wait.h"
#include "map.h"

/** A frame of a thread stands inside `with` of a lock that is waited for; or the thread has let go of one that it has
 * not entered. */
struct pl_lock_hold {
	uint32_t awaited; /* position in the process's `awaited` */
	uint64_t tid;
	bool inside;
	bool innermost;
	pl_addr frame; /* that is inside */
};
typedef PL_VEC(struct pl_lock_hold) pl_lock_hold_vec;

/** What is waited for in one process. Start with {0} and pl_lock_finder_init. */
struct pl_lock_finder {
	struct pl_dump *d;
	struct pl_dump_process *p;
	struct pl_values values;
	struct pl_map by_object;	   /* (object, what) -> position in p->awaited */
	PL_VEC(struct pl_lock_wait) found; /* of the same positions */
	pl_lock_hold_vec holds;
	struct pl_map keeping; /* code that lets go of no lock */
	size_t frames;	       /* looked at for them */
	uint64_t end_ns;       /* until when */
	bool in_part; /* of some thread not all that may tell who has a lock was looked at: nobody is named then */
};

/** @p mem and @p py are for the reader of values. What `end_ns` leaves no time for is not known. */
void pl_lock_finder_init(struct pl_lock_finder *l, struct pl_dump *d, struct pl_dump_process *p, struct pl_mem *mem,
			 const struct pl_py *py, uint64_t end_ns);
void pl_lock_finder_deinit(struct pl_lock_finder *l);

/** The thread waits for this: fills in t->awaited. Without memory, or for nothing that is known: as it was. */
void pl_lock_finder_add(struct pl_lock_finder *l, const struct pl_lock_wait *w, struct pl_dump_thread *t);
/** Append the locks that are waited for and that thread @p tid is inside of, or has let go of for another one, by its
 * frames, innermost first. Where there are too many frames or too little time, `in_part` is set. */
void pl_lock_finder_holds(struct pl_lock_finder *l, const pl_frame_vec *frames, uint64_t tid, pl_lock_hold_vec *ret);
/** Append to `holds`, which has a bound as all else. */
void pl_lock_finder_take(struct pl_lock_finder *l, const struct pl_lock_hold *h);
/** Whether each lock is held and by whom, by `holds`; all threads are known. Takes time that follows their number. */
void pl_lock_finder_tell(struct pl_lock_finder *l);

#endif
