/* SPDX-License-Identifier: Apache-2.0 */
/* A flame graph as an SVG file, whatever its boxes stand for. */
#ifndef PL_SVG_PAGE_H
#define PL_SVG_PAGE_H

#include <stdio.h>

#include "frame_name.h"
#include "svg_boxes.h"

#define PL_SVG_MARGIN 10.0
#define PL_SVG_INNER  1180.0
/* Of the picture: what is less wide goes into a strip. */
#define PL_SVG_NARROW (0.1 / PL_SVG_INNER)
/* Of the heading beside the buttons, and of the command that made the file. */
#define PL_SVG_TITLE_COLUMNS 80
#define PL_SVG_MAKER_COLUMNS 100

struct pl_svg_page {
	const void *ctx; /* of the functions */
	const struct pl_svg_boxes *boxes;
	int lines; /* above the legend: the first is the heading */
	void (*write_line)(const void *ctx, int line, FILE *out);
	void (*write_legend)(const void *ctx, double y, FILE *out);
	struct pl_text (*name)(const void *ctx, const struct pl_svg_box *b); /* of a root or a frame */
	/* Of the tooltip: what stands behind the name, and the figures, each on a line. Of strips only the latter. */
	void (*write_place)(const void *ctx, const struct pl_svg_box *b, FILE *out);
	void (*write_figures)(const void *ctx, const struct pl_svg_box *b, FILE *out);
	const char *(*fill)(const void *ctx, const struct pl_svg_box *b); /* of a root or a frame */
};

void pl_svg_page_write(const struct pl_svg_page *page, FILE *out);

/** @p t printable and escaped, at most @p columns of it. */
void pl_svg_text(struct pl_text t, int columns, FILE *out);
void pl_svg_string(const char *s, FILE *out);
/** " (file:line)", nothing for a frame without a place. */
void pl_svg_place(const struct plumb_profile *p, const struct pl_function *f, int32_t line, FILE *out);
/** One colour and what it means; *x moves on. */
void pl_svg_legend(double *x, double y, const char *fill, const char *label, FILE *out);
/** That of strips, if there are any. */
void pl_svg_legend_strips(const struct pl_svg_boxes *b, double *x, double y, FILE *out);

#endif
