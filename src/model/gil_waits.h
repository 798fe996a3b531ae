/* SPDX-License-Identifier: Apache-2.0 */
/* Who held the GIL while threads waited for it.
 *
 * A round samples all threads of a process, one right after the other, and tells of each whether it held the GIL or
 * waited for it. So who held it when a sample of a waiting thread was taken is the thread that was nearest in time, of
 * the same process, in a sample that held it: no further away than half the time that the sample stands for. It is
 * known of wall clock samples with instants only. */
#ifndef PL_GIL_WAITS_H
#define PL_GIL_WAITS_H

#include "view.h"

/* `held_by` of a sample that waited for the GIL, where nobody was seen to hold it. */
#define PL_GIL_UNSEEN UINT32_MAX

/** Whether samples tell it: of their instants, and of threads that wait for the GIL. */
bool pl_gil_is_told(const struct plumb_profile *p);
/** Give all samples to @p fn, as pl_profile_each, with `held_by`: of those that waited for the GIL the function that
 * held it, its innermost frame of Python. They come later than others, so that they are not quite in order. Where it is
 * not told all have 0. */
struct plumb_error *pl_gil_each(const struct plumb_profile *p, pl_sample_fn *fn, void *ctx) PLUMB_MUST_CHECK;

struct pl_gil_row {
	uint32_t function;
	struct pl_share held; /* of the time that was waited */
};
typedef PL_VEC(struct pl_gil_row) pl_gil_rows;

struct pl_gil_blame {
	uint64_t samples, weight_ns; /* of those that waited for the GIL */
	pl_gil_rows rows;	     /* who held it meanwhile, most first */
	struct pl_share unseen;
};

/** Of the waiting threads that pass @p f; whoever held it, passes or not. @p ret is to be released with
 * pl_gil_blame_deinit, also after an error. */
struct plumb_error *pl_gil_blame_find(const struct plumb_profile *p, const struct pl_filter *f,
				      struct pl_gil_blame *ret) PLUMB_MUST_CHECK;
void pl_gil_blame_deinit(struct pl_gil_blame *b);

#endif
