/* SPDX-License-Identifier: Apache-2.0 */
/* Locks: threading.Lock and RLock, and the queue that waits by itself. */
#ifndef PL_LOCK_H
#define PL_LOCK_H

#include "value.h"

enum pl_lock_kind {
	PL_LOCK_NONE, /* no lock */
	PL_LOCK_PLAIN,
	PL_LOCK_RECURSIVE,
	PL_LOCK_PYTHON, /* an RLock written in Python: all of 2.7 are */
	PL_LOCK_QUEUE,	/* _queue.SimpleQueue: threads wait inside it */
};

struct pl_lock {
	bool held;
	uint64_t owner; /* threading.get_ident() of the thread that has an RLock; 0: nobody, or it is no RLock */
	uint64_t count; /* how often an RLock was taken */
	pl_addr futex;	/* what threads wait in: its semaphore; 0: it has none, pl_lock_parked finds it */
};

enum pl_lock_kind pl_lock_kind_of(struct pl_values *v, pl_addr obj);
/** @p kind: as pl_lock_kind_of. False if it cannot be read; of a queue only `futex` is told. */
bool pl_lock_read(struct pl_mem *mem, const struct pl_py *py, pl_addr obj, enum pl_lock_kind kind, struct pl_lock *ret);

/** The address that a thread is parked at which waits in the futex at @p futex, if it is parked at all: what it is, the
 * caller proves. A mutex is the first word of a lock after the object's header. 0: none. 3.13+. */
pl_addr pl_lock_parked(struct pl_mem *mem, const struct pl_py *py, pl_addr futex);

#endif
