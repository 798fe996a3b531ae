/* SPDX-License-Identifier: Apache-2.0 */
/* The variables of a stack: read at one moment, told later or not at all. Quick, as the thread may be stopped
 * meanwhile. */
#ifndef PL_VARIABLES_H
#define PL_VARIABLES_H

#include "locals.h"
#include "vec.h"

/** One that has a value; both as UTF-8 in the text of all. */
struct pl_variable {
	size_t name_at, name_len, value_at, value_len;
	bool argument, closure; /* closure: of an enclosing function */
};

/** Those of a frame. */
struct pl_frame_variables {
	size_t first, count; /* in the list of all */
	bool had;	     /* they could be read */
	bool late;	     /* there are more, for which there was no time */
};

/** Start with zeros. */
struct pl_variables {
	PL_VEC(struct pl_frame_variables) frames; /* of each Python frame, innermost first, as far as there was time */
	PL_VEC(struct pl_variable) list;
	PL_VEC(char) text;
	bool no_memory; /* some are missing */
};
void pl_variables_deinit(struct pl_variables *t);

/** Forget what was taken, then read the variables of @p frames for at most @p limit_ns (UINT64_MAX: as long as it
 * takes) and what one value takes. */
void pl_variables_take(struct pl_variables *t, struct pl_values *v, const pl_frame_vec *frames, uint64_t limit_ns);
/** One frame more, as long as it takes. */
void pl_variables_add(struct pl_variables *t, struct pl_values *v, const struct pl_frame *f);

#endif
