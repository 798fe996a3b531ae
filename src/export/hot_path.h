/* SPDX-License-Identifier: Apache-2.0 */
/* The hot path: the few rows of a call tree that tell where the time went. */
#ifndef PL_HOT_PATH_H
#define PL_HOT_PATH_H

#include "view.h"

struct pl_hot_row {
	size_t row;	 /* index in the call tree */
	uint32_t depth;	 /* in what is left */
	uint32_t folded; /* frames left out between this row and its parent here */
};
typedef PL_VEC(struct pl_hot_row) pl_hot_rows;

/**
 * Choose at most @p max_rows of @p tree. Frames that only pass the time on are folded first, library frames before the
 * program's own; then the lightest branches go, and *cut_ret is the share of the heaviest branch left out (0: none
 * was).
 */
struct plumb_error *pl_hot_path(const struct plumb_profile *p, const pl_tree_rows *tree, size_t max_rows,
				pl_hot_rows *ret, double *cut_ret) PLUMB_MUST_CHECK;

#endif
