/* SPDX-License-Identifier: Apache-2.0 */
/* Each side of a comparison as one profile, for outputs that show it whole. */
#ifndef PL_DIFF_SIDES_H
#define PL_DIFF_SIDES_H

#include "diff.h"

struct pl_diff_sides {
	const struct plumb_profile *shown[PL_DIFF_SIDES];
	struct plumb_profile *sum[PL_DIFF_SIDES];  /* of several recordings; NULL: it is one */
	struct plumb_profile *part[PL_DIFF_SIDES]; /* what @p filter lets pass of it; NULL: all */
};

/** Threads and processes that @p filter does not name, and samples that it skips, are left out; idle threads stay. To
 * be released with pl_diff_sides_deinit, also after an error, before @p sides are. */
struct plumb_error *pl_diff_sides_init(struct pl_diff_sides *s, const struct pl_diff_input sides[PL_DIFF_SIDES],
				       const struct pl_filter *filter) PLUMB_MUST_CHECK;
void pl_diff_sides_deinit(struct pl_diff_sides *s);

#endif
