/* SPDX-License-Identifier: Apache-2.0 */
/* Native frames and Python frames of one thread as one stack. Pure. docs/design/013-native-stacks.md, "The anchors
 * rule". */
#ifndef PL_NATIVE_JOIN_H
#define PL_NATIVE_JOIN_H

#include "c_stack.h"
#include "unwind.h"

enum pl_join_kind {
	PL_JOIN_NATIVE,
	PL_JOIN_EVAL, /* a native frame too: the one that runs the Python frames in front of it */
	PL_JOIN_PYTHON,
	PL_JOIN_MISSING, /* native frames that are not known */
};

struct pl_join_entry {
	enum pl_join_kind kind;
	uint32_t index; /* of the native frame or of the Python frame */
};
typedef PL_VEC(struct pl_join_entry) pl_join_vec;

enum pl_joined {
	PL_JOINED_WHOLE,
	PL_JOINED_IN_PART, /* native frames are missing */
	PL_JOINED_APART,   /* the frames do not belong together: all Python frames come first */
};

struct pl_join {
	const pl_native_frame_vec *native;
	bool to_root; /* the native frames are all there are */
	const pl_eval_vec *evals;
	bool anchors;	     /* evaluations have anchors; else they are told by: */
	const bool *is_eval; /* of each native frame: its function is the eval loop */
};

/** How many of the native frames are those of the stack at hand. A greenlet begins with a function of its library,
 * which nothing returns to; what lies behind on the C stack is what others have left there. @p greenlets: of each
 * native frame, its function is of that library. */
size_t pl_native_join_own(const struct pl_join *j, const bool *greenlets);

/** The entries, innermost first, appended. Errors: PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_native_join(const struct pl_join *j, pl_join_vec *ret,
				   enum pl_joined *joined_ret) PLUMB_MUST_CHECK;

#endif
