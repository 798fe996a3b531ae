/* SPDX-License-Identifier: Apache-2.0 */
/* What of a profile is the program's own code, and the tree of it. */
#ifndef PL_OWN_CODE_H
#define PL_OWN_CODE_H

#include "view.h"

/** Whether a function is of a library, and not the program's own. Tasks and tags are the program's. */
bool pl_own_code_is_library(const struct plumb_profile *p, const struct pl_function *f);
/** Of each function whether it is of a library. Owner: the caller, free(). NULL: no memory. */
bool *pl_own_code_libraries(const struct plumb_profile *p);
/** The script in some bin/ that starts an installed program. */
bool pl_own_code_is_launcher(const struct plumb_profile *p, const struct pl_function *f);
/** The tree of the program's own functions (pl_view_own_tree), or, where next to nothing is the program's own (a tool
 * that is all library), that of all functions. Rows are for the caller to release. Errors: PLUMB_ERR_NO_MEMORY. */
#define PL_OWN_CODE_MIN_SHARE 0.03 /* of the rows that are worth a line */
struct plumb_error *pl_own_code_tree(const struct plumb_profile *p, const struct pl_filter *f, double min_share,
				     pl_tree_rows *ret) PLUMB_MUST_CHECK;
/** The widest half width among the shares of @p rows that can be shown: not of those whose interval has 0 in it. Where
 * there are none, @p otherwise: that of what is told instead. */
double pl_own_code_half_width(const pl_tree_rows *rows, double otherwise);

#endif
