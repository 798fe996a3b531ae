/* SPDX-License-Identifier: Apache-2.0 */
/* The locks that a thread has entered, by its frames. */
#ifndef PL_LOCK_HOLDS_H
#define PL_LOCK_HOLDS_H

#include "frame.h"
#include "map.h"
#include "value.h"
#include "vec.h"

/** A frame of a thread stands inside `with` of a lock; or the thread has let go of one that it has not entered. */
struct pl_lock_hold {
	pl_addr lock;
	bool inside;
	bool innermost;
	pl_addr frame; /* that is inside */
};
typedef PL_VEC(struct pl_lock_hold) pl_lock_hold_vec;

/** Start with {0}; whoever looks sets the first four. */
struct pl_hold_finder {
	struct pl_values *values;
	const struct pl_map *only;    /* of these locks: (address, PL_FOR_LOCK); NULL: of all */
	size_t thread_frames, frames; /* that may be looked at: of one thread, of all that are left */
	uint64_t end_ns;	      /* until when; CLOCK_MONOTONIC */
	struct pl_map outside;	      /* (code, instruction): inside of nothing */
	struct pl_map codes;	      /* what frames of a code can tell */
	bool in_part; /* not all was looked at that may tell who has a lock: there were too many frames, or no time */
};

/** What frames of a code can tell; a set. */
enum pl_code_may {
	PL_MAY_ENTER = 1,   /* they are inside `with` */
	PL_MAY_RELEASE = 2, /* they have let go of a lock: Condition.wait */
};
unsigned pl_hold_finder_may(struct pl_hold_finder *f, pl_addr code);

void pl_hold_finder_deinit(struct pl_hold_finder *f);
/** Append what the frames of a thread tell, innermost first; it stands still. */
void pl_hold_finder_find(struct pl_hold_finder *f, const pl_frame_vec *frames, pl_lock_hold_vec *ret);

#endif
