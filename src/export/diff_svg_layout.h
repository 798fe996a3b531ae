/* SPDX-License-Identifier: Apache-2.0 */
/* The differential flame graph of a comparison of paths: its boxes. */
#ifndef PL_DIFF_SVG_LAYOUT_H
#define PL_DIFF_SVG_LAYOUT_H

#include "diff.h"
#include "svg_boxes.h"

struct pl_diff_svg_layout {
	struct pl_svg_boxes boxes; /* their rows are those of the comparison */
	size_t gone; /* from this box on: what was there only before; the number of boxes if nothing was */
};

/** @p d is of paths. On success release with pl_diff_svg_layout_deinit. Errors: PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_diff_svg_layout_make(const struct pl_diff *d, double min_width,
					    struct pl_diff_svg_layout *ret) PLUMB_MUST_CHECK;
void pl_diff_svg_layout_deinit(struct pl_diff_svg_layout *l);

/** No sample after has that path. */
bool pl_diff_svg_is_gone(const struct pl_diff_row *r);

#endif
