/* SPDX-License-Identifier: Apache-2.0 */
/* From what was taken of a thread to one stack of native and Python frames. docs/design/013-native-stacks.md */
#ifndef PL_NATIVE_STACK_H
#define PL_NATIVE_STACK_H

#include "native.h"
#include "native_join.h"

struct pl_native_stack {
	pl_join_vec entries; /* what is to be shown, innermost first */
	enum pl_joined joined;
	pl_native_frame_vec native; /* what entries refer to; and not only those */
	const char **names;	    /* of each; NULL: it has none. Until the process is looked at again */
};

/** Errors: PLUMB_ERR_NO_MEMORY. Release with pl_native_stack_deinit, also after an error. */
struct plumb_error *pl_native_stack_make(struct pl_native *n, const struct pl_native_taken *taken,
					 struct pl_native_stack *ret) PLUMB_MUST_CHECK;
void pl_native_stack_deinit(struct pl_native_stack *s);

#endif
