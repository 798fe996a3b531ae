/* SPDX-License-Identifier: Apache-2.0 */
/* What a report answers with: the summary, the tree of the program's own functions, the functions by self time. */
#ifndef PL_ANSWER_H
#define PL_ANSWER_H

#include "own_code.h"
#include "summary.h"

/** Large, as its summary is: not for the stack of a small thread. */
struct pl_answer {
	struct pl_summary summary; /* judged by the least certain of the shares that can be shown */
	pl_tree_rows tree;
	pl_function_rows functions;
};

/** @p min_share: of rows of the tree. Deinit in any case. Errors: PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_answer_make(struct pl_answer *a, const struct plumb_profile *p, const struct pl_filter *f,
				   bool unicode, double min_share) PLUMB_MUST_CHECK;
void pl_answer_deinit(struct pl_answer *a);
/** How many functions have time of their own. They come first. */
size_t pl_answer_with_self(const struct pl_answer *a);

#endif
