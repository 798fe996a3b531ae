/* SPDX-License-Identifier: Apache-2.0 */
/* For which locks threads waited, where, and who held them meanwhile. docs/design/020-lock-blame.md */
#ifndef PL_LOCK_WAITS_H
#define PL_LOCK_WAITS_H

#include "view.h"

/** Where threads waited for a lock, or a function that was inside `with` of it. */
struct pl_lock_place {
	uint32_t function;
	int32_t line;	       /* of a function that held it: its first */
	struct pl_share share; /* of the time that was waited for this lock */
};

/** Who held a lock. */
struct pl_lock_holding {
	uint64_t tid;
	uint32_t name;	   /* string id, of the thread */
	uint32_t inside;   /* 1 + location: where it stood inside `with` of the lock; 0: not known */
	uint32_t function; /* that ran there, or that one called, innermost: 1 + function; 0: not known */
	struct pl_share held;
};

struct pl_lock_row {
	uint32_t process;
	uint64_t object;
	bool recursive;
	uint32_t threads;	/* that waited */
	struct pl_share waited; /* of the time that was waited for locks */
	/* Of the time that was waited for this lock; the heaviest first. */
	PL_VEC(struct pl_lock_place) places, held_in;
	PL_VEC(struct pl_lock_holding) holders;
	struct pl_share passed_on, unknown; /* nobody held it; who did is not known */
};

struct pl_lock_blame {
	uint64_t samples, weight_ns;	 /* of those that waited for a lock */
	PL_VEC(struct pl_lock_row) rows; /* the most waited for first */
	struct pl_share others;		 /* of locks that are no rows: there are too many */
};

/* So many locks have a row. */
#define PL_LOCK_ROWS 100

/** Of the waiting threads that pass @p f, however little they ran; whoever held the lock, passes or not. @p ret is to
 * be released with pl_lock_blame_deinit, also after an error. */
struct plumb_error *pl_lock_blame_find(const struct plumb_profile *p, const struct pl_filter *f,
				       struct pl_lock_blame *ret) PLUMB_MUST_CHECK;
void pl_lock_blame_deinit(struct pl_lock_blame *b);

#endif
