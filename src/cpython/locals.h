/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments and local variables of a frame, as text. */
#ifndef PL_LOCALS_H
#define PL_LOCALS_H

#include "frame.h"
#include "value.h"

#define PL_MAX_LOCALS 4096

struct pl_local {
	const char *name, *text; /* UTF-8, not NUL-terminated; valid during the call only */
	size_t name_len, text_len;
	bool is_arg;  /* a parameter of the function, *args and **kwargs included */
	bool is_free; /* of an enclosing function */
};

/** Called for each variable that has a value, arguments first, in the order of the source. False: no more. */
typedef bool pl_local_fn(void *ctx, const struct pl_local *local);

/**
 * The variables of a frame that pl_frame_walk or pl_tasks_read found; cells are followed. Module and class bodies keep
 * theirs in a dict and have none here. A frame that runs meanwhile gives values of several moments; values are told by
 * pl_value_add, which never fails for what they are.
 * Errors: PLUMB_ERR_NOT_SUPPORTED (this release: says so), pl_err_corrupt, pl_err_unreadable (the code object or the
 * frame itself), PLUMB_ERR_NO_MEMORY.
 */
struct plumb_error *pl_locals_each(struct pl_values *v, const struct pl_frame *f, pl_local_fn *fn,
				   void *ctx) PLUMB_MUST_CHECK;

#endif
