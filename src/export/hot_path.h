/* SPDX-License-Identifier: Apache-2.0 */
/* The hot path: the few rows of a call tree that tell where the time went. */
#ifndef PL_HOT_PATH_H
#define PL_HOT_PATH_H

#include "view.h"

#define PL_HOT_NO_ROW SIZE_MAX
#define PL_HOT_ABOVE  4

struct pl_hot_row {
	size_t row;		    /* index in the call tree */
	size_t above[PL_HOT_ABOVE]; /* functions that only call this one, the outermost first; told in the same line */
	int above_count;
	bool above_more; /* there are further ones, outside of these */
	size_t into;	 /* of its only child, library frames that are told in the same line; PL_HOT_NO_ROW */
	uint32_t depth;	 /* in what is left */
	uint32_t folded; /* frames left out between this row and its parent here */
};
typedef PL_VEC(struct pl_hot_row) pl_hot_rows;

/**
 * Choose at most @p max_rows of @p tree. A function that does little but call a library has one line with it, and so
 * have functions that do little but call one another. Then the rows that tell least go: branches that are light, and
 * functions that only pass the time on. *cut_ret is the share of the heaviest branch left out (0: none was). Rows of
 * which it is not sure that they are there at all, as 0 is within their interval, are left out unless @p unsure; the
 * heaviest never is.
 */
struct plumb_error *pl_hot_path(const struct plumb_profile *p, const pl_tree_rows *tree, size_t max_rows, bool unsure,
				pl_hot_rows *ret, double *cut_ret) PLUMB_MUST_CHECK;

#endif
