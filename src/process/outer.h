/* SPDX-License-Identifier: Apache-2.0 */
/* The outer part of a stack whose inner part changes while it is read: the frames that stood on it throughout.
 * docs/design/002-true-stacks.md has the proof.
 *
 * A look follows the links from the thread state outward, each frame read after the word that led to it, until it comes
 * to a frame that is known; the known ones are copied before and after. What no copy and no look contradicts was on the
 * stack. A frame that was popped contradicts, though its words may be as they were: that it stands no more is told by
 * its count of references (<= 3.10) or by the top of the data stack (3.11+). */
#ifndef PL_OUTER_H
#define PL_OUTER_H

#include "reading.h"

/** A known frame's bytes in a copy. */
struct pl_outer_piece {
	uint32_t frame; /* number from the root */
	uint32_t at, range;
};

struct pl_outer {
	pl_frame_vec known; /* root first, shims included; what is contradicted is dropped, and all inside of it */
	pl_addr root;	    /* where their chain ends */
	pl_range_vec ranges;
	PL_VEC(struct pl_outer_piece) pieces; /* each known frame's, then those that are copied twice */
	size_t planned;			      /* ranges and pieces are for so many known frames */
	uint32_t stack_at;		      /* the thread's words on its data stack, in `bytes` */
	PL_VEC(uint8_t) bytes;
	PL_VEC(uint32_t) nodes; /* of the known frames */
	uint32_t tag;		/* that the thread bore meanwhile; 0: none, or several */
	uint64_t random;
};

void pl_outer_deinit(struct pl_outer *o);

/**
 * @param walked is the last reading of @p s complete, and its root @p root? Then its frames are the known ones from now
 * on; else those that were found last time.
 * @param node_ret the stack of those frames that stood throughout, 0: none is proved.
 * Errors: pl_err_target_exited, pl_err_no_memory.
 */
struct plumb_error *pl_outer_read(struct pl_reader *r, struct pl_stack_reader *s, struct pl_outer *o, bool walked,
				  pl_addr root, uint32_t *node_ret) PLUMB_MUST_CHECK;

#endif
