/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread that waits in a futex waits for, in terms of Python. */
#ifndef PL_LOCK_WAIT_H
#define PL_LOCK_WAIT_H

#include "frame.h"
#include "lock.h"

/* Those of dumps, and then those that only this layer tells apart. */
enum pl_wait_for {
#define PLUMB_AWAITED(name, ...) PL_FOR_##name,
#include <plumb/words.def>
	PL_FOR_TASKS, /* of asyncio: other tasks */
	PL_FOR_COUNT,
};

struct pl_lock_wait {
	enum pl_wait_for what;
	pl_addr object;		 /* id() of the lock, the queue, ...; 0 only if unknown */
	char type[PL_TYPE_NAME]; /* of it, as programs call it: "threading.Lock" */
	enum pl_lock_kind kind;	 /* of a lock */
	uint64_t ident;		 /* of a thread: its threading.get_ident(); 0 not known */
};

/** @p frames: the thread's, innermost first; it stands still and waits in the futex at @p futex. */
void pl_lock_wait_find(struct pl_values *v, const pl_frame_vec *frames, pl_addr futex, struct pl_lock_wait *ret);

/** The lock behind what a `with` statement entered: itself, or that of a Condition. 0: it is no lock. */
pl_addr pl_lock_behind(struct pl_values *v, pl_addr obj, enum pl_lock_kind *kind_ret);

/** The lock that the function of this frame has let go of while it waits: of Condition.wait that of the Condition. 0:
 * it is another function. */
pl_addr pl_lock_released(struct pl_values *v, const struct pl_frame *f);
/** Can pl_lock_released find one in a frame of this code? Much cheaper to ask once than that of each frame. */
bool pl_lock_may_release(struct pl_values *v, pl_addr code);

/** As programs call it: "threading.Lock" for "_thread.lock". */
void pl_lock_public_name(char type[static PL_TYPE_NAME]);

#endif
