/* SPDX-License-Identifier: Apache-2.0 */
/* Where the boxes of a flame graph lie. */
#ifndef PL_SVG_BOXES_H
#define PL_SVG_BOXES_H

#include "vec.h"
#include "view.h"

struct pl_svg_box {
	double x, width; /* of the picture, 0..1 */
	uint32_t depth;	 /* 0: a root; an outermost frame: 1 */
	uint32_t frames; /* of a strip: how many boxes it stands for; else 0 */
	uint32_t row;	 /* of a frame: whose it is */
	struct pl_share total;
};

/* What was too narrow to be drawn at one depth, since the last box there. */
struct pl_svg_strip {
	struct pl_svg_box box;
	double end;
};

struct pl_svg_boxes {
	PL_VEC(struct pl_svg_box) list;
	uint32_t depth;	     /* the greatest */
	double min_width;    /* boxes narrower than that are put together with their neighbours into strips, which stand
			      * where the first of them began */
	PL_VEC(double) next; /* per depth: where the next box begins */
	PL_VEC(struct pl_svg_strip) strips;
};

/* In the order of drawing: a root, its frames depth first, the next root right of it, the end. Each returns false
 * without memory. */
bool pl_svg_boxes_root(struct pl_svg_boxes *b, double x, double width, const struct pl_share *total);
bool pl_svg_boxes_frame(struct pl_svg_boxes *b, uint32_t depth, double width, uint32_t row,
			const struct pl_share *total);
bool pl_svg_boxes_end(struct pl_svg_boxes *b);
void pl_svg_boxes_deinit(struct pl_svg_boxes *b);

#endif
