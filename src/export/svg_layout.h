/* SPDX-License-Identifier: Apache-2.0 */
/* Where the boxes of a flame graph lie, and what each stands for. */
#ifndef PL_SVG_LAYOUT_H
#define PL_SVG_LAYOUT_H

#include "vec.h"
#include "view.h"

/** What a box is coloured by. */
enum pl_svg_kind {
	PL_SVG_APPLICATION,
	PL_SVG_LIBRARY,
	PL_SVG_STANDARD, /* Python's own library */
	PL_SVG_NATIVE,
	PL_SVG_KERNEL,
	PL_SVG_WAITING, /* mostly the end of stacks, and there the thread mostly waited */
	PL_SVG_GC,	/* likewise, in the garbage collector */
	PL_SVG_OTHER,	/* markers and tasks */
	PL_SVG_NARROW,	/* a strip */
	PL_SVG_KINDS,
};

struct pl_svg_box {
	double x, width; /* of the whole, 0..1 */
	uint32_t depth;	 /* 0: everything; an outermost frame: 1 */
	uint32_t frames; /* of a strip: how many boxes it stands for; 0: a frame */
	uint32_t function;
	int32_t line;
	uint8_t kind; /* enum pl_svg_kind */
	struct pl_share total;
};

struct pl_svg_layout {
	PL_VEC(struct pl_svg_box) boxes; /* the first is everything */
	uint32_t depth;			 /* the greatest */
	struct pl_totals totals;
};

/** Boxes narrower than @p min_width are put together with their neighbours into strips, which stand where the first of
 * them began. On success release with pl_svg_layout_deinit. Errors: PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_svg_layout_make(const struct plumb_profile *p, bool lines, double min_width,
				       struct pl_svg_layout *ret) PLUMB_MUST_CHECK;
void pl_svg_layout_deinit(struct pl_svg_layout *l);

#endif
