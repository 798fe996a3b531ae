/* SPDX-License-Identifier: Apache-2.0 */
/* The flame graph of a profile: its boxes, and what each stands for. */
#ifndef PL_SVG_LAYOUT_H
#define PL_SVG_LAYOUT_H

#include "svg_boxes.h"

struct pl_svg_layout {
	struct pl_svg_boxes boxes; /* the first is everything */
	pl_tree_rows rows;
	uint8_t *categories; /* enum pl_category, per row */
	struct pl_totals totals;
};

/** On success release with pl_svg_layout_deinit. Errors: PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_svg_layout_make(const struct plumb_profile *p, bool lines, double min_width,
				       struct pl_svg_layout *ret) PLUMB_MUST_CHECK;
void pl_svg_layout_deinit(struct pl_svg_layout *l);

#endif
