/* SPDX-License-Identifier: Apache-2.0 */
/* Going on where the unwind tables end. Some frames can be told by an address on the stack that lies in them (an
 * anchor: the interpreter has one in each frame of its eval loop). All of these frames are alike: from the anchor to
 * the CFA it is the same distance. What is found by a guess counts only if it lands exactly there. */
#ifndef PL_UNWIND_RESUME_H
#define PL_UNWIND_RESUME_H

#include "unwind.h"

/** What the frames that anchors lie in have in common; the same for a whole process. Starts as {0}. */
struct pl_landing {
	uint64_t distance;		  /* from the anchor to the CFA; 0: not known yet */
	uint64_t below;			  /* from the stack pointer to the anchor, while it calls; 0: not known yet */
	uint64_t saved;			  /* a bit for each register that such a frame has saved, at */
	int64_t offset[PL_REGISTERS_MAX]; /* these places from the CFA */
};

/**
 * As pl_unwind, from the innermost frame to the root, into @p ret, which is empty. @p anchors: @p n of them, ascending.
 * Where it goes on at an anchor there is a frame with PL_NATIVE_RESUMED in place of the one that the anchor lies in.
 * *landing is learnt from frames that the tables led to, or found by trying.
 */
enum pl_unwind_end pl_unwind_on(struct pl_unwinder *u, struct pl_registers *regs, const pl_addr *anchors, size_t n,
				struct pl_landing *landing, pl_native_frame_vec *ret);

/** Does the frame cover the address? */
static inline bool pl_native_frame_has(const struct pl_native_frame *f, pl_addr addr)
{
	return addr >= f->sp && addr < f->cfa;
}

#endif
