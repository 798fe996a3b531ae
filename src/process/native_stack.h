/* SPDX-License-Identifier: Apache-2.0 */
/* From what was taken of a thread to one stack of native and Python frames. docs/design/013-native-stacks.md */
#ifndef PL_NATIVE_STACK_H
#define PL_NATIVE_STACK_H

#include "native.h"
#include "native_join.h"
#include "native_names.h"

struct pl_native_stack {
	pl_join_vec entries; /* innermost first */
	enum pl_joined joined;
	pl_native_frame_vec native; /* what entries refer to; and not only those */
	uint32_t python;	    /* the image of the interpreter */
	size_t steps;		    /* that it took */
	const char **names;	    /* of each, by pl_native_stack_choose; NULL: it has none. Until the process is
				       looked at again */
};

/** All entries. Errors: PLUMB_ERR_NO_MEMORY. Release with pl_native_stack_deinit, also after an error. */
struct plumb_error *pl_native_stack_make(struct pl_native *n, const struct pl_native_taken *taken,
					 struct pl_native_stack *ret) PLUMB_MUST_CHECK;
/** Name the functions, which takes reading their files, and leave those entries that are to be shown. Errors:
 * PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_native_stack_choose(struct pl_native *n, struct pl_native_stack *s) PLUMB_MUST_CHECK;
void pl_native_stack_deinit(struct pl_native_stack *s);

/** Is image @p image of the interpreter: the program, or libpython? */
bool pl_native_stack_in_interpreter(const struct pl_native *n, const struct pl_native_stack *s, uint32_t image);

/** Goes through the entries from the innermost one on. */
struct pl_native_order {
	size_t outermost; /* behind the last Python frame */
	bool inner;	  /* a Python frame was passed */
};
void pl_native_order_begin(struct pl_native_order *o, const struct pl_native_stack *s);
/** The role of entry @p i, which is the next one. */
struct pl_native_role pl_native_order_next(struct pl_native_order *o, const struct pl_native *n,
					   const struct pl_native_stack *s, size_t i);

#endif
