/* SPDX-License-Identifier: Apache-2.0 */
/* The report page of a comparison: both sides whole, and what is said of them. */
#ifndef PL_DIFF_PAGE_H
#define PL_DIFF_PAGE_H

#include "diff_export.h"
#include "export.h"

struct pl_diff_page {
	const struct plumb_profile *sides[PL_DIFF_SIDES];
	const struct pl_diff *functions, *paths;
	const struct pl_diff_look *look;
	struct pl_export_options options; /* of the profiles */
};

/** Errors: PLUMB_ERR_NOT_BUILT, PLUMB_ERR_NO_MEMORY, those of the streams; what goes wrong with @p out shows in
 * ferror(). */
struct plumb_error *pl_diff_page_write(const struct pl_diff_page *d, FILE *out) PLUMB_MUST_CHECK;

#endif
