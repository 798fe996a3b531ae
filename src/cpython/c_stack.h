/* SPDX-License-Identifier: Apache-2.0 */
/* What the interpreter keeps on the C stack: which call of its eval loop runs which Python frames.
 * docs/design/013-native-stacks.md */
#ifndef PL_C_STACK_H
#define PL_C_STACK_H

#include "frame.h"

/** One call of the eval loop from C. */
struct pl_eval {
	pl_addr anchor;	       /* of an object in the native frame of that call; 0: there is none that we know */
	uint32_t first, count; /* its Python frames: those of kind PL_FRAME_PYTHON, numbered from the innermost one */
};
typedef PL_VEC(struct pl_eval) pl_eval_vec;

/** Has this release objects on the C stack by which evaluations are found? */
bool pl_evals_have_anchors(const struct pl_py *py);
/** Are they found by the chain of C frames that the thread state begins? */
bool pl_evals_have_cframes(const struct pl_py *py);

/**
 * The evaluations of a thread, innermost first, appended. @p frames: as pl_frame_walk gives them, shims included.
 * @p mem: where the C stack can be read, for 3.11. Errors: pl_err_corrupt: frames and C stack are not of one moment;
 * pl_err_unreadable, pl_err_no_memory.
 */
struct plumb_error *pl_evals_find(struct pl_mem *mem, const struct pl_py *py, pl_addr cframe,
				  const pl_frame_vec *frames, pl_eval_vec *ret) PLUMB_MUST_CHECK;

#endif
