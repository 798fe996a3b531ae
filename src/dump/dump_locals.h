/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments and local variables for a dump. */
#ifndef PL_DUMP_LOCALS_H
#define PL_DUMP_LOCALS_H

#include "dump_model.h"
#include "locals.h"

/** The variables of the Python frames of one stack, innermost first; read at one moment, used later or not at all. */
struct pl_taken_frame {
	pl_dump_local_vec locals;
	bool had; /* they could be read */
};
struct pl_taken_locals {
	PL_VEC(struct pl_taken_frame) frames;
};
void pl_taken_locals_deinit(struct pl_taken_locals *t);

/** Forget what was taken, then read the variables of @p frames for at most @p limit_ns (UINT64_MAX: as long as it
 * takes) and what one value takes; what is not reached is left out, and of the frame that it was in "..." tells so. */
void pl_dump_take_locals(struct pl_dump *d, struct pl_values *v, const pl_frame_vec *frames, uint64_t limit_ns,
			 struct pl_taken_locals *ret);
/** Hand over those of frame @p i. */
void pl_dump_give_locals(struct pl_taken_locals *t, size_t i, struct pl_dump_frame *f);
/** Those of one frame, at once. */
void pl_dump_add_locals(struct pl_dump *d, struct pl_values *v, const struct pl_frame *f, struct pl_dump_frame *ret);

#endif
